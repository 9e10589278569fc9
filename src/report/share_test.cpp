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
  EXPECT_EQ(scrubbed("/usr/local/cuda/lib64/libcudart.so.12 in gn70"), "libcudart.so.12 in gn70");
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

TEST(Share, is_stable) {
  auto once = testing::hang(16);
  scrub(once);
  auto twice = once;
  scrub(twice);
  EXPECT_EQ(twice.verdict.summary, once.verdict.summary);
}

}  // namespace
}  // namespace holter::report
