// SPDX-License-Identifier: Apache-2.0
// Lines written by us.
#include "formats/text/stance.h"

#include <gtest/gtest.h>

namespace holter::formats::text {
namespace {

TEST(Stance, what_is_absent_checked_expected_or_explained_is_denied) {
  for (const auto* line : {
           "INFO preflight: No space left on device check: passed",
           "INFO node check: ECC errors: 0, Xid events: 0",
           "INFO health: no OOM kills since boot",
           "INFO health: 0 NCCL errors",
           "tests/test_parse.py::test_xid[NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.] PASSED [ 20%]",
           "[       OK ] Parser.cuda_out_of_memory (0 ms)",
           "INFO chaos: rank 3 exited with signal 9 (SIGKILL) as expected",
           "[bench] usable before OutOfMemoryError (by design)",
           "  --oom-retry         on torch.OutOfMemoryError: CUDA out of memory, halve the batch",
           "If you see CUDA error: an illegal memory access was encountered, run again with CUDA_LAUNCH_BLOCKING=1",
           "INFO 05-12 02:12:00 [logger.py:43] Received request cmpl-1: prompt: 'What does Xid 79 mean', params: x",
           "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"CUDA out of memory\"}]}",
           "[10:01] anna: did anyone see CUDA out of memory on node 7",
           "ok: [gn1] => fail when memlock is not unlimited",
           "worker-3: received SIGKILL from chaos-mesh",
           "runbook.md:12:RuntimeError: CUDA error: an illegal memory access was encountered",
       })
    EXPECT_EQ(stance_of(line), Stance::kDenies) << line;
}

TEST(Stance, a_program_that_goes_on_survived) {
  for (
      const auto* line : {
          "INFO tuner: caught RuntimeError: CUDA out of memory. Tried to allocate 20.00 GiB, falling back to micro batch 4",
          "WARNING batch size 64 does not fit (CUDA out of memory), trying 32",
          "INFO wandb: Network error resolved after 0:00:04, resuming normal operation.",
          "INFO amp: Gradient overflow. Skipping step, loss scaler 0 reducing loss scale to 32768.0",
          "Exception ignored in: <function _ConnectionBase.__del__ at 0x7f>",
      })
    EXPECT_EQ(stance_of(line), Stance::kHandled) << line;
}

TEST(Stance, errors_are_said) {
  for (
      const auto* line : {
          "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 GiB",
          "RuntimeError: CUDA error: no kernel image is available for execution on the device",
          "RuntimeError: expected all tensors to be on the same device",
          "ValueError: no errors given",
          "OSError: [Errno 28] No space left on device",
          "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.",
          "[Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=412, OpType=ALLREDUCE)",
          "slurmstepd: error: Detected 1 oom_kill event in StepId=5.0. Some of the step tasks have been OOM Killed.",
          "NCCL WARN Call to ibv_modify_qp failed with error Connection timed out",
          "ERROR health check failed: GPU 3: ECC errors: 12",
          "rank3.log:1821:RuntimeError: CUDA error: an illegal memory access was encountered",
          "socket.gaierror: [Errno -3] Temporary failure in name resolution, retry 3/5",
          "Killed",
      })
    EXPECT_EQ(stance_of(line), Stance::kSays) << line;
}

TEST(Stance, links_come_up_after_the_boot) {
  EXPECT_TRUE(trains_at_boot("Jun  2 07:00:09 gn3 kernel: [   14.000000] mlx5_core 0000:4b:00.0 ib0: Link down"));
  EXPECT_FALSE(trains_at_boot("[81234.000000] mlx5_core 0000:4b:00.0 ib0: Link down"));
  EXPECT_FALSE(trains_at_boot("[   14.000000] mlx5_core 0000:4b:00.0 ib0: Link up"));
}

}  // namespace
}  // namespace holter::formats::text
