// SPDX-License-Identifier: Apache-2.0
#include "hang/stack_threads.h"

#include <gmock/gmock.h>

#include "formats/rules/rules.h"
#include "hang/stack_meaning.h"
#include "hang/stack_testing.h"

namespace holter::hang {
namespace {

using testing::add_main;
using ::testing::ElementsAre;
using testing::frames;

const model::StackRules& rules() { return formats::rules::builtin().stacks; }

std::vector<std::string> functions(const model::Evidence& ev, const ThreadStack& t) {
  std::vector<std::string> out;
  for (const auto& f : t.frames) out.emplace_back(ev.text(f.function));
  return out;
}

StackMeaning explain(model::Evidence& ev, std::string_view text) {
  ThreadStack t;
  t.frames = frames(ev, text);
  return StackDictionary(rules()).explain(ev, t);
}

TEST(StackThreads, native_and_python_samples_of_one_thread_are_spliced) {
  model::Evidence ev;
  add_main(ev, 2, "<module>@t.py:1;load@data.py:9", 70);
  auto& c =
      add_main(ev, 2, "main;Py_RunMain;_PyEval_EvalFrameDefault;cv::imdecode;__cxa_atexit;__lll_lock_wait_private", 70);
  c.tool = ev.intern("gdb");
  const auto threads = join_threads(ev, {}, rules());
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_THAT(functions(ev, threads[0]),
              ElementsAre("<module>", "load", "cv::imdecode", "__cxa_atexit", "__lll_lock_wait_private"));
  EXPECT_EQ(threads[0].motion, Motion::kOnce) << "two tools are no two samples";
}

TEST(StackThreads, two_samples_tell_still_from_moving) {
  model::Evidence ev;
  add_main(ev, 0, "<module>@t.py:1;f@t.py:9");
  add_main(ev, 0, "<module>@t.py:1;f@t.py:9");
  add_main(ev, 1, "<module>@t.py:1;f@t.py:9");
  add_main(ev, 1, "<module>@t.py:1;f@t.py:12");
  const auto threads = join_threads(ev, {}, rules());
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].motion, Motion::kStill);
  EXPECT_EQ(threads[1].motion, Motion::kMoving);
}

TEST(StackThreads, workers_belong_to_the_rank_of_their_parent_and_helpers_are_marked) {
  model::Evidence ev;
  add_main(ev, 3, "<module>@t.py:1;f@t.py:9", 500);
  auto& worker = add_main(ev, -1, "_worker_loop@worker.py:1;fetch@fetch.py:9", 501);
  worker.parent_pid = 500;
  auto& helper = add_main(ev, 3, "poll", 500);
  helper.role = model::ThreadRole::kUnknown;
  helper.tid = 505;
  helper.thread_name = ev.intern("pt_nccl_watchdg");
  const auto threads = join_threads(ev, {}, rules());
  ASSERT_EQ(threads.size(), 3u);
  EXPECT_EQ(threads[0].role, model::ThreadRole::kMain);
  EXPECT_EQ(threads[1].role, model::ThreadRole::kWorker);
  EXPECT_EQ(threads[1].ranks, model::RankSet{3});
  EXPECT_EQ(threads[2].role, model::ThreadRole::kHelper);
}

TEST(StackThreads, a_dump_without_thread_names_has_its_main_thread_at_module) {
  model::Evidence ev;
  for (const auto* text : {"_bootstrap@threading.py:1;run@threading.py:2", "<module>@t.py:1;f@t.py:9"}) {
    auto& s = add_main(ev, 4, text);
    s.role = model::ThreadRole::kUnknown;
    s.pid = -1;
    s.tid = static_cast<std::int64_t>(0x7f00 + ev.stacks.size());
  }
  const auto threads = join_threads(ev, {}, rules());
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].role, model::ThreadRole::kMain);
  EXPECT_THAT(functions(ev, threads[0]), ElementsAre("<module>", "f"));
}

TEST(StackDictionary, a_barrier_inside_a_save_waits_and_a_save_writes) {
  model::Evidence ev;
  const auto waits =
      explain(ev, "<module>@t.py:1;save_checkpoint@t.py:9;barrier@torch/distributed/distributed_c10d.py:4");
  EXPECT_EQ(waits.doing, Doing::kCollective);
  EXPECT_TRUE(waits.phase("save"));
  const auto writes = explain(ev, "<module>@t.py:1;save_checkpoint@t.py:9;_save@torch/serialization.py:4");
  EXPECT_EQ(writes.doing, Doing::kReason);
  EXPECT_EQ(writes.reason.rule->cause, "checkpoint_stall");
}

TEST(StackDictionary, collection_inside_a_collective_is_work) {
  model::Evidence ev;
  const auto m = explain(ev, "<module>@t.py:1;all_reduce@torch/distributed/distributed_c10d.py:4;_collect@gc:1");
  EXPECT_EQ(m.doing, Doing::kReason);
  EXPECT_EQ(m.reason.rule->cause, "python_gc");
}

TEST(StackDictionary, families) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"<module>@t.py:1;_map_single@datasets/arrow_dataset.py:4;tokenize_fn@prep.py:3", "barrier_long_prep"},
      {"<module>@t.py:1;build_sample_idx@gpt_dataset.py:3", "barrier_long_prep"},
      {"<module>@t.py:1;compile_fx@torch/_inductor/compile_fx.py:3;precompile@torch/_inductor/select_algorithm.py:1",
       "compile_skew"},
      {"<module>@t.py:1;_next_data@torch/utils/data/dataloader.py:3;_try_get_data@torch/utils/data/dataloader.py:1",
       "dataloader_deadlock"},
      {"<module>@t.py:1;destroy_process_group@torch/distributed/distributed_c10d.py:1;ncclCommAbort", "teardown_order"},
      {"<module>@t.py:1;f@t.py:2;nfs_wait_bit_killable", "storage_slow"},
      {"<module>@t.py:1;get_object@botocore/client.py:2;readinto@socket.py:7", "object_store_throttled"},
      {"<module>@t.py:1;hf_hub_download@huggingface_hub/file_download.py:2;read@ssl.py:7", "name_service_or_hub_limit"},
      {"<module>@t.py:1;compute_score@reward/client.py:2;readinto@socket.py:7", "reward_or_sandbox_stuck"},
      {"<module>@t.py:1;all_gather@torch/distributed/distributed_c10d.py:2;ncclLocalOpAppend", "nccl_bug"},
      {"<module>@t.py:1;wait_async@ckpt.py:1;maybe_finalize_async_calls@ckpt.py:2", "checkpoint_stall"},
  };
  for (const auto& [text, cause] : cases) {
    model::Evidence ev;
    const auto m = explain(ev, text);
    ASSERT_TRUE(m.reason) << text;
    EXPECT_EQ(m.reason.rule->cause, cause) << text;
    EXPECT_EQ(m.doing, Doing::kReason) << text;
  }
}

TEST(StackDictionary, waits) {
  for (const auto* text :
       {"<module>@t.py:1;all_reduce@torch/distributed/distributed_c10d.py:2", "main;c10d::Work::wait;pthread_cond_wait",
        "<module>@t.py:1;recv_forward@megatron/p2p_communication.py:2",
        "<module>@t.py:1;get@torch/distributed/rendezvous.py:2",
        "<module>@t.py:1;broadcast_one_to_all@multihost_utils.py:2"}) {
    model::Evidence ev;
    EXPECT_EQ(explain(ev, text).doing, Doing::kCollective) << text;
  }
  model::Evidence ev;
  EXPECT_EQ(explain(ev, "<module>@t.py:1;tolist@torch/_tensor.py:3").doing, Doing::kDevice);
  EXPECT_EQ(explain(ev, "<module>@t.py:1;my_code@t.py:3").doing, Doing::kOther);
  EXPECT_TRUE(explain(ev, "<module>@t.py:1;my_code@t.py:3").user_innermost);
}

}  // namespace
}  // namespace holter::hang
