# SPDX-License-Identifier: Apache-2.0
"""A double of one training process for tests of collection: it has the environment, the log, the Flight Recorder pipe
and the dump of a PyTorch rank, and does no training. The dump is one of `holter-generate`.

  double_rank.py DUMP LOG     with RANK, WORLD_SIZE and TORCH_NCCL_DEBUG_INFO_PIPE_FILE in the environment
"""
import os
import pathlib
import select
import shutil
import sys
import time


def main():
    dump, log = sys.argv[1:3]
    rank = os.environ["RANK"]
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    for step in range(3):
        print(f"2026-05-12 02:1{step}:00 INFO train: step {step} loss {2.0 - step / 10:.3f}", flush=True)
    print("2026-05-12 02:13:00 INFO hub: using HF_TOKEN=hf_verysecretvalue0001", flush=True)
    pipe = os.environ["TORCH_NCCL_DEBUG_INFO_PIPE_FILE"] + rank + ".pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    until = time.time() + 300
    while time.time() < until:
        select.select([reader], [], [], 0.2)
        if os.read(reader, 100):
            target = pathlib.Path(f"/tmp/nccl_trace_rank_{rank}")
            shutil.copyfile(dump, target.with_suffix(".part"))
            target.with_suffix(".part").rename(target)
        time.sleep(0.05)


main()
