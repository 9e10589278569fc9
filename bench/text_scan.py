#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a scan of one large log by holter with ripgrep and grep -E counting the same patterns.

The log is text written by us: lines as launchers, frameworks and NCCL print them, drawn with a fixed seed,
with a known failure once in a million lines. Times are CPU seconds (user + system) of the best of
some runs, one thread, file in the page cache; holter runs everything that `diagnose` does.

  bench/text_scan.py --holter build/release/bin/holter --megabytes 256 --folder /tmp
"""
import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FAILURES = [
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 GiB",
    "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.",
]


def stamp(i):
    return f"2025-11-03 {i // 360000 % 24:02}:{i // 6000 % 60:02}:{i // 100 % 60:02},{i * 10 % 1000:03}"


def line(rng, i, kind):
    if kind == "progress" and i % 2 == 0:
        step = i // 2
        return (f" [{stamp(i)[:-4]}] iteration {step:8}/ 5000000 | consumed samples: {step * 1024:12} | "
                f"elapsed time per iteration (ms): {4000 + rng.randrange(900) / 10:.1f} | learning rate: 1.500E-04 | "
                f"global batch size:  1024 | lm loss: {2 + rng.random():.6E} | loss scale: 1.0 | "
                f"grad norm: {rng.random():.3f} | number of skipped iterations:   0 |")
    pick = rng.randrange(10)
    if pick < 3:
        return (f"{stamp(i)} - INFO - trainer.data - shard {rng.randrange(4096)}: {rng.randrange(9000)} samples buffered, "
                f"{rng.random():.3f} s since the last refill, prefetch queue {rng.randrange(64)}/64")
    if pick < 5:
        return (f"{stamp(i)} - DEBUG - trainer.model - layer {rng.randrange(96)} activations mean {rng.random():.5f} "
                f"std {rng.random():.5f} max {rng.random() * 9:.4f}")
    if pick < 7:
        return (f"[rank{rng.randrange(1024)}]: {stamp(i)} INFO metrics pushed: tokens/s {rng.randrange(9000, 12000)} "
                f"mfu {rng.random():.3f} memory allocated {rng.randrange(60, 78)}.{rng.randrange(10)} GiB")
    if pick < 9:
        return (f"{stamp(i)} - INFO - trainer.checkpoint - wrote /scratch/run42/step_{i // 40}/shard_{rng.randrange(512)}.distcp "
                f"({rng.randrange(1, 4096)} MiB) in {rng.random() * 3:.2f} s")
    return f"{stamp(i)} - INFO - http - GET /healthz 200 {rng.randrange(2000)} us from 10.4.{rng.randrange(255)}.{rng.randrange(255)}"


def write_log(path, kind, size):
    rng = random.Random(7)
    written = i = 0
    with open(path, "w", buffering=1 << 20) as out:
        while written < size:
            text = FAILURES[i // 1_000_000 % 2] if i % 1_000_000 == 500_000 else line(rng, i, kind)
            written += out.write(text + "\n")
            i += 1
    return written


def patterns():
    """All patterns of the signatures, as ripgrep and grep take them."""
    found = []
    folder = os.path.join(ROOT, "rules", "signatures")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            for signature in tomllib.load(file)["signature"]:
                many = signature["pattern"]
                found += [many] if isinstance(many, str) else many
    return found


def cpu_of(command, runs):
    best = None
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode > 3 or done.stderr.strip().startswith((b"grep:", b"rg:", b"regex")):
            return None, done.stderr.decode(errors="replace")[:200]
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = spent if best is None else min(best, spent)
    return best, done.stdout.decode(errors="replace").strip()[:40]


def commands(args, log, folder):
    everything, plain = os.path.join(folder, "all.txt"), os.path.join(folder, "plain.txt")
    # One name may stand in many patterns; ripgrep takes no needless backslash.
    unnamed = [re.sub(r"\\(['\"])", r"\1", re.sub(r"\(\?P<\w+>", "(", p)) for p in patterns()]
    with open(everything, "w") as out:
        out.write("\n".join(unnamed))
    # grep -E knows no lazy repeats and no switches: those patterns are left out.
    simple = [p.replace("(?:", "(").replace("\\d", "[0-9]") for p in unnamed]
    simple = [p for p in simple if not re.search(r"\(\?|[*+?}]\?|\[[^]]*\\", p)]
    with open(plain, "w") as out:
        out.write("\n".join(simple))
    yield "holter", [args.holter, "diagnose", "-j1", "-o", "json", log]
    if shutil.which("rg"):
        yield f"ripgrep, all {len(unnamed)} patterns", ["rg", "-j1", "-a", "-c", "--no-unicode", "--dfa-size-limit", "1G",
                                                        "--regex-size-limit", "1G", "-f", everything, log]
    if shutil.which("rg"):
        yield f"ripgrep, {len(simple)} plain patterns", ["rg", "-j1", "-a", "-c", "--no-unicode", "-f", plain, log]
    yield f"grep -E, {len(simple)} plain patterns", ["env", "LC_ALL=C", "grep", "-a", "-c", "-E", "-f", plain, log]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--holter", default=os.path.join(ROOT, "build", "release", "bin", "holter"))
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", help="where the log is written (and deleted)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for kind in ("chatty", "progress"):
            log = os.path.join(folder, kind + ".log")
            size = write_log(log, kind, args.megabytes << 20)
            for name, command in commands(args, log, folder):
                seconds, said = cpu_of(command, args.runs)
                if seconds is None:
                    print(f"{kind:10} {name:32} failed: {said}")
                else:
                    print(f"{kind:10} {name:32} {seconds:7.2f} s CPU {size / 1e6 / seconds:8.0f} MB/s  {said.splitlines()[0] if said else ''}")
                sys.stdout.flush()
            os.remove(log)


if __name__ == "__main__":
    main()
