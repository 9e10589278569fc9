// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/each_text.h"
#include "report/report.h"
#include "report/sample_report.h"
#include "report/share.h"

namespace holter::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string scrubbed(const std::string& text) {
  model::Report r;
  r.job.nodes = {"gn7", "trainer-12.pool.example.internal"};
  r.verdict.summary = text;
  scrub(r);
  return r.verdict.summary;
}

// Every text of a report holds all of these; none may survive in any renderer's output.
TEST(Share, no_name_survives_anywhere) {
  const std::vector<std::string> private_parts{"gn7",
                                               "trainer-12",
                                               "alice",
                                               "10.20.0.9",
                                               "fe80::1ff:fe23",
                                               "b8:59:9f:aa:00:01",
                                               "secretproj",
                                               "hunter2",
                                               "hf_AbCdEfGhIjKl",
                                               "wandb.corp",
                                               "bob@corp",
                                               "0x506b4b0300a1b2c3",
                                               "pretrain-7",
                                               "shard-0231",
                                               "GPU-3f2a",
                                               "deadbeefdeadbeefdeadbeefdeadbeef",
                                               "s3cr3tvalue"};
  auto report = testing::poisoned(
      " gn7 trainer-12.pool.example.internal /home/alice/secretproj/train.py user=alice 10.20.0.9 fe80::1ff:fe23 b8:59:9f:aa:00:01 "
      "password=hunter2 HF_TOKEN: hf_AbCdEfGhIjKl https://wandb.corp/x bob@corp.example 0x506b4b0300a1b2c3 GPU-3f2a1b00-aaaa-bbbb-cccc-0123456789ab "
      "deadbeefdeadbeefdeadbeefdeadbeef secretproj/loss.py:7 pretrain-7 --token s3cr3tvalue");
  report.job.nodes = {"gn7", "trainer-12.pool.example.internal"};
  report.impact.jobs = {"pretrain-7"};
  report.tool_version = "0.1.0";
  scrub(report);
  for (const auto& output : {to_json(report), to_text(report, {.full = true}), to_markdown(report), to_html(report)}) {
    for (const auto& part : private_parts) EXPECT_THAT(output, Not(HasSubstr(part)));
  }
}

TEST(Share, equal_names_get_equal_placeholders) {
  EXPECT_EQ(scrubbed("gn7 waits for trainer-12; gn7 again"), "NODE-1 waits for NODE-2; NODE-1 again");
  EXPECT_EQ(scrubbed("10.0.0.1 10.0.0.2 10.0.0.1"), "ADDR-1 ADDR-2 ADDR-1");
}

TEST(Share, the_diagnosis_stays) {
  const std::string text =
      "rank 413 waits in all_reduce #90211 (NET/IB/0, P2P/CUMEM) since 02:51:07 at 0000:c4:00.0, Xid 79, c10d::work std::f, 2.28.9+cuda12.2";
  EXPECT_EQ(scrubbed(text), text);
  EXPECT_EQ(scrubbed("File \"/opt/env/lib/python3.10/site-packages/torch/distributed/c10d.py\", line 7"),
            "File \"torch/distributed/c10d.py\", line 7");
  EXPECT_EQ(scrubbed("/usr/local/cuda/lib64/libcudart.so.12 in gn7x"), "libcudart.so.12 in gn7x");
  EXPECT_EQ(scrubbed("read (mylib/dataset.py:88)"), "read (PATH-1.py:88)");
  EXPECT_EQ(scrubbed("/dev/nvidia3 is busy"), "/dev/nvidia3 is busy");
}

TEST(Share, a_report_keeps_ranks_and_links_between_its_parts) {
  auto report = testing::hang(16);
  scrub(report);
  const auto& root = report.findings[0];
  EXPECT_EQ(root.culprits[0].rank, 7);
  EXPECT_EQ(root.culprits[0].node, report.decision.exclude_nodes[0]);
  EXPECT_THAT(root.title, HasSubstr(root.culprits[0].node));
  EXPECT_EQ(root.evidence[1].source, report.evidence.files[1].path);
  EXPECT_THAT(root.evidence[0].source, AllOf(HasSubstr("FILE-"), HasSubstr("rank7"), HasSubstr(".txt")));
  EXPECT_EQ(report.waits[0].op, "all_reduce");
  EXPECT_EQ(report.tool_version, "0.1.0");
}

TEST(Share, names_are_known_from_what_stands_around_them) {
  EXPECT_EQ(scrubbed("SLURM_JOB_USER=carol; (uid carol); carol_x"), "SLURM_JOB_USER=USER-1; (uid USER-1); USER-1_x");
  EXPECT_EQ(scrubbed("--job-name nightjar, later nightjar-2"), "--job-name JOB-1, later JOB-1-2");
  EXPECT_EQ(scrubbed("Xid 79, pid=1, name=zephyr_x; zephyr_x ended"), "Xid 79, pid=1, name=PROC-1; PROC-1 ended");
  EXPECT_EQ(scrubbed("--model quokka/Bird-7B from quokka"), "--model MODEL-1 from MODEL-2");
  EXPECT_EQ(scrubbed("host saturn is down; saturn_dmesg"), "host NODE-3 is down; NODE-3_dmesg");
  EXPECT_EQ(scrubbed("SLURM_JOB_NODELIST=kw[08-09]; kw09 and kw11"), "SLURM_JOB_NODELIST=NODE-3; NODE-5 and NODE-6");
  EXPECT_EQ(scrubbed("ip-10-1-2-3, x_10.9.8.7_y, 10_9_8_7"), "NODE-3, x_ADDR-1_y, ADDR-2");
  EXPECT_EQ(scrubbed("https://bob:pw@h.x/y?token=abcdef of bob"), "URL-1 of USER-1");
  EXPECT_EQ(scrubbed(R"(C:\Users\A B\x.yaml and \\srv\d\y.txt)"), "PATH-1.yaml and PATH-2.txt");
  EXPECT_EQ(scrubbed("secret-9: reachable"), "NODE-3: reachable");
  EXPECT_EQ(scrubbed("hostname=ib06, ib0 of ib06"), "hostname=NODE-3, ib0 of NODE-3");
  EXPECT_EQ(scrubbed("gn8 is like gn7"), "NODE-3 is like NODE-1");
}

TEST(Share, functions_of_private_code_are_names_and_those_of_frameworks_are_not) {
  EXPECT_EQ(scrubbed("bird_loss (x/y.py:3) calls all_gather (torch/distributed/c10d.py:2)"),
            "FUNC-1 (PATH-1.py:3) calls all_gather (torch/distributed/c10d.py:2)");
  EXPECT_EQ(scrubbed("File \"a.py\", line 3, in bird_loss"), "File \"PATH-1.py\", line 3, in FUNC-1");
  model::Report r;
  r.findings.emplace_back().evidence.emplace_back().context = {
      "[rank1]:   File \"a.py\", line 3, in f", "[rank1]:     bird = 1",
      "[rank1]:   File \"/x/site-packages/torch/a.py\", line 3, in g", "[rank1]:     work.wait()"};
  scrub(r);
  EXPECT_THAT(r.findings[0].evidence[0].context,
              ::testing::ElementsAre("[rank1]:   File \"PATH-1.py\", line 3, in f", "[rank1]:     ...",
                                     "[rank1]:   File \"torch/a.py\", line 3, in g", "[rank1]:     work.wait()"));
}

TEST(Share, words_of_the_trade_are_no_names) {
  for (const std::string text :
       {"#new-token: 0, max_num_batched_tokens=2048, tokenizer: building", "secret service: not reachable",
        "host memory is low", "node failure on the host; user code raised RuntimeError: x",
        "NVIDIA driver; memlock; nvidia-nvswitch2: SXid", "NET/IB/0 /GDRDMA at ProcessGroupNCCL.cpp:616]",
        "41 TENSOR_MODEL_PARALLEL_GROUP", "<x>2</x>", "127.0.0.1", "memcpy@GLIBC_2.14 and nvidia.com/gpu",
        "name=python3, pid=7", "GID: link local", "expired token: the service says so",
        "see https://docs.nvidia.com/deploy/xid-errors/"}) {
    EXPECT_EQ(scrubbed(text), text);
  }
}

TEST(Share, is_stable) {
  auto once = testing::hang(16);
  scrub(once);
  auto twice = once;
  scrub(twice);
  EXPECT_EQ(twice.verdict.summary, once.verdict.summary);
}

}  // namespace
}  // namespace holter::report
