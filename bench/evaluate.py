#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Accuracy of `holter diagnose` on synthetic jobs (text written by us), with Wilson 95 % intervals.

    bench/evaluate.py --bin build/release/bin [--seeds tuning|report] [--per-kind 10] [--missing 0 10 30]

Seeds below 1,000 are for tuning rules, seeds from 1,000 on only for reporting.
exact: the ranks of the root finding are exactly the culprits, and the finding is confirmed or likely.
innocent: a confirmed or likely root finding names a rank that is no culprit.
abstained: inconclusive (or no fault, for a hang). Healthy jobs: exact means that nobody is blamed.
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import subprocess
import sys
import tempfile

KINDS = ["healthy", "host_stuck", "device_stuck", "shape_mismatch", "order_mismatch", "divergent_flow",
         "multi_pg_order", "moe_order", "p2p_unmatched", "p2p_cycle", "rank0_only", "uneven_inputs",
         "never_joined", "crashed", "data_path_stall"]
# Layouts: ranks, tensor, pipeline, expert.
LAYOUTS = [(16, 2, 2, 2), (32, 2, 4, 2), (64, 4, 2, 4), (24, 1, 4, 3)]
# Another name that describes the same state as truly.
SAME = {
    "host_stuck": {"python_loop", "gil_deadlock"},
    "rank_divergent_control_flow": {"collective_order_mismatch", "rank0_only_collective"},
    "collective_order_mismatch": {"rank_divergent_control_flow"},
    "moe_zero3_order": {"collective_shape_mismatch", "collective_order_mismatch"},
    "rank0_only_collective": {"rank_divergent_control_flow", "collective_order_mismatch"},
    "uneven_inputs": {"rank_divergent_control_flow"},
}


def wilson(hits, total):
    if total == 0:
        return 0.0, 0.0, 1.0
    z, p = 1.96, hits / total
    mid = (p + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return p, max(0.0, mid - half), min(1.0, mid + half)


def run_one(job):
    bins, kind, seed, missing, truncated, entries = job
    ranks, tensor, pipeline, expert = LAYOUTS[seed % len(LAYOUTS)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "job"
        command = [f"{bins}/holter-generate", "--out", str(folder), "--kind", kind, "--ranks", str(ranks),
                   "--tensor", str(tensor), "--pipeline", str(pipeline), "--expert", str(expert), "--seed", str(seed),
                   "--missing", str(missing), "--truncated", str(truncated), "--entries", str(entries),
                   "--format", "json" if seed % 3 == 0 else "pickle"]
        if seed % 2:
            command.append("--timing")
        if seed % 5 == 0:
            command.append("--only-active")
        if seed % 4 == 1 and kind != "healthy":
            command += ["--after", "45"]
        if subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0:
            return None
        truth = json.loads((pathlib.Path(scratch) / "job.truth.json").read_text())
        done = subprocess.run([f"{bins}/holter", "diagnose", "--json", str(folder)], capture_output=True, text=True)
        try:
            report = json.loads(done.stdout)
        except ValueError:
            return {"kind": kind, "seed": seed, "failed": done.stderr[-300:] or f"exit {done.returncode}"}
    return judge(kind, seed, truth, report)


def judge(kind, seed, truth, report):
    certainty = report["verdict"]["certainty"]
    sure = certainty in ("confirmed", "likely")
    root = next((f for f in report.get("findings", []) if f.get("role") == "root"), {})
    named = {c["rank"] for c in root.get("culprits", []) if c.get("kind") == "rank" and "rank" in c} if sure else set()
    culprits = set(truth["culprits"])
    healthy = kind == "healthy"
    cause = root.get("cause", "") if sure else ""
    return {
        "kind": kind, "seed": seed, "named": sorted(named), "culprits": sorted(culprits), "cause": cause,
        "certainty": certainty,
        "exact": not sure if healthy else sure and named == culprits,
        "innocent": sure and bool(named - culprits),
        "abstained": not sure,
        "cause_right": (not sure) if healthy else cause == truth["cause"] or cause in SAME.get(truth["cause"], set()),
    }


def table(results, label):
    print(f"\n{label}: text written by us (generated); {len(results)} jobs")
    print(f"{'kind':16} {'n':>4} {'exact set':>22} {'innocent root':>22} {'abstained':>10} {'cause':>6}")

    def row(name, rows):
        cells = []
        for field in ("exact", "innocent"):
            p, low, high = wilson(sum(r[field] for r in rows), len(rows))
            cells.append(f"{100 * p:5.1f} % [{100 * low:4.1f}, {100 * high:5.1f}]")
        abstained = sum(r["abstained"] for r in rows)
        cause = 100 * sum(r["cause_right"] for r in rows) / max(1, len(rows))
        print(f"{name:16} {len(rows):4} {cells[0]:>22} {cells[1]:>22} {abstained:10} {cause:5.0f}%")

    for kind in KINDS:
        rows = [r for r in results if r["kind"] == kind]
        if rows:
            row(kind, rows)
    row("all faults", [r for r in results if r["kind"] != "healthy"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--seeds", choices=["tuning", "report"], default="tuning")
    parser.add_argument("--per-kind", type=int, default=8)
    parser.add_argument("--missing", type=float, nargs="*", default=[0])
    parser.add_argument("--truncated", type=float, default=0)
    parser.add_argument("--entries", type=int, default=200, help="calls that a ring holds")
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true", help="print every job that is not exact")
    options = parser.parse_args()
    base = 0 if options.seeds == "tuning" else 1000
    status = 0
    for missing in options.missing:
        jobs = [(options.bin, kind, base + i, missing, options.truncated, options.entries) for kind in options.kinds
                for i in range(options.per_kind)]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = [r for r in pool.map(run_one, jobs) if r]
        for failure in [r for r in results if "failed" in r]:
            print(f"FAILED {failure['kind']} seed {failure['seed']}: {failure['failed']}", file=sys.stderr)
            status = 1
        results = [r for r in results if "failed" not in r]
        if options.verbose:
            for r in results:
                if not r["exact"] or not r["cause_right"]:
                    print(f"{r['kind']} seed {r['seed']}: {r['certainty']} {r['cause']} named {r['named']}, culprits {r['culprits']}")
        table(results, f"{options.seeds} seeds, {missing:g} % of dumps missing, {options.truncated:g} % cut, rings of {options.entries}")
    return status


if __name__ == "__main__":
    sys.exit(main())
