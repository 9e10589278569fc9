#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two 16-rank runs with injected faults (third-party, truth included): the exact ranks are named, and
with any one dump removed no rank outside the truth is named as the root.

Reads $HOLTER_TEST_DATA/fr_traces (default: ../shared/data beside the checkout); skips without it.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HOLTER = os.environ.get("HOLTER", "build/release/bin/holter")
SOURCE = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("HOLTER_TEST_DATA") or SOURCE.parent / "shared" / "data") / "fr_traces"
CAUSE = {"GPU_ERROR": "device_kernel_stuck", "LOCK_GIL": "host_stuck"}


def truth_of(case):
    text = (case / "fault_injection.log").read_text()
    ranks = {int(r) for r in re.findall(r"Rank (\d+), fault_type", text)}
    return ranks, CAUSE[re.search(r"fault_type: (\w+)", text).group(1)]


def diagnose(folder):
    run = subprocess.run([HOLTER, "diagnose", str(folder), "-o", "json"], capture_output=True, text=True, check=False)
    report = json.loads(run.stdout)
    root = next((f for f in report["findings"] if f["role"] == "root"), None)
    return report, root, {c["rank"] for c in root["culprits"] if "rank" in c} if root else set()


def main():
    cases = sorted(p.parent for p in DATA.glob("*/fault_injection.log"))
    if not cases:
        print(f"skipped: no dumps in {DATA} (set HOLTER_TEST_DATA)")
        return 0
    failures, runs = [], 0
    for case in cases:
        truth, cause = truth_of(case)
        dumps = sorted(case.glob("_dump_*"))
        for left_out in [None, *dumps]:
            with tempfile.TemporaryDirectory() as scratch:
                for dump in dumps:
                    if dump != left_out:
                        shutil.copy2(dump, scratch)
                report, root, ranks = diagnose(scratch)
            runs += 1
            name = f"{case.name} without {left_out.name if left_out else 'nothing'}"
            if not ranks <= truth:
                failures.append(f"{name}: names {sorted(ranks - truth)}, truth {sorted(truth)}")
            if left_out is None and (ranks != truth or root["cause"] != cause):
                failures.append(f"{name}: {sorted(ranks)} {root and root['cause']}, want {sorted(truth)} {cause}")
            if root is None and not any(f.get("needs") for f in report["findings"]):
                failures.append(f"{name}: undecided, and does not say what it needs")
    for failure in failures:
        print(failure)
    print(f"{runs} runs, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
