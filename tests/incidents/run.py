#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Diagnoses every golden incident and compares the report with expect.json.

Usage: run.py --holter PROGRAM [--only NAME,...] [--jobs N] [-v]

An incident is a folder with input/, expect.json and README.md (tests/incidents/README.md explains the
fields). Prints a line for each failure and a table by source of the evidence: figures of different
sources are never averaged together. Exit status 0 when all hold, 1 otherwise, 2 when nothing ran.
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FIELDS = {"cause", "kind", "certainty", "culprits", "exact_ranks", "mention", "not_claim", "not_root_ranks", "source",
          "restart", "owner", "exit"}
DENIAL = re.compile(r"\b(no|not|never|without|ruled out|rather than|isn't|secondary)\b[^.;]*$")


def texts(node):
    """All strings of a JSON value."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from texts(value)
    elif isinstance(node, list):
        for value in node:
            yield from texts(value)


def claims(phrase, text):
    """True where the phrase stands in the text without a denial just before it."""
    for match in re.finditer(re.escape(phrase.lower()), text.lower()):
        if not DENIAL.search(text.lower()[max(0, match.start() - 40):match.start()]):
            return True
    return False


def fits(want, culprit):
    return all(culprit.get(key) == value for key, value in want.items())


def rank_set(culprits):
    return {c["rank"] for c in culprits if c.get("kind") == "rank" and "rank" in c}


def causes(expect):
    """The cause, or the list of names that describe the same state as truly."""
    cause = expect["cause"]
    return cause if isinstance(cause, list) else [cause]


def compare(expect, report):
    """The list of differences, empty when the report holds."""
    wrong = [f"expect.json: unknown field '{key}'" for key in expect if key not in FIELDS]
    findings = report.get("findings") or []
    verdict = report.get("verdict", {})
    root = findings[0] if findings else {}
    cause = root.get("cause", "no_fault" if verdict.get("certainty") == "no_fault" else None)
    culprits = root.get("culprits") or []
    if "cause" in expect and cause not in causes(expect):
        wrong.append(f"cause is {cause}, not {' or '.join(causes(expect))}")
    for field in ("kind", "certainty"):
        want = expect.get(field)
        if want and verdict.get(field) not in ([want] if isinstance(want, str) else want):
            wrong.append(f"{field} is {verdict.get(field)}, not {want}")
    if "culprits" in expect:
        if not expect["culprits"] and culprits:
            wrong.append(f"names {culprits} where nobody is to blame")
        for want in expect["culprits"]:
            if not any(fits(want, c) for c in culprits):
                wrong.append(f"culprit {want} is not among {culprits}")
    if expect.get("exact_ranks") and rank_set(culprits) != rank_set(expect.get("culprits", [])):
        wrong.append(f"ranks are {sorted(rank_set(culprits))}, not {sorted(rank_set(expect.get('culprits', [])))}")
    blamed = rank_set(culprits) & set(expect.get("not_root_ranks", []))
    if blamed:
        wrong.append(f"blames ranks {sorted(blamed)}")
    said = "\n".join(texts([root, verdict]))
    wrong += [f"nothing matches /{p}/" for p in expect.get("mention", []) if not re.search(p, said, re.I)]
    asserted = "\n".join(texts([root.get("title", ""), verdict.get("summary", ""), root.get("actions", [])]))
    wrong += [f"claims '{p}'" for p in expect.get("not_claim", []) if claims(p, asserted)]
    if "restart" in expect and report.get("decision", {}).get("restart") != expect["restart"]:
        wrong.append(f"restart is {report.get('decision', {}).get('restart')}, not {expect['restart']}")
    if "owner" in expect and report.get("owner") != expect["owner"]:
        wrong.append(f"owner is {report.get('owner')}, not {expect['owner']}")
    return wrong, cause


def run(holter, folder):
    expect = json.loads((folder / "expect.json").read_text())
    command = [holter, "diagnose", str(folder / "input"), "-o", "json", "--reproducible"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        wrong, cause = compare(expect, json.loads(done.stdout))
        if done.returncode not in (0, 1, 3, 4) or done.returncode != expect.get("exit", done.returncode):
            wrong.append(f"exit status {done.returncode}")
    except subprocess.TimeoutExpired:
        wrong, cause = ["timed out after 120 s"], None
    except ValueError as error:
        wrong, cause = [f"no report: {error}; {done.stderr.strip()[:200]}"], None
    return folder.name, expect, wrong, cause


def interval(hits, total):
    """Wilson's 95 % interval in per cent."""
    if not total:
        return "-"
    z, p = 1.96, hits / total
    centre, spread = p + z * z / (2 * total), z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    low, high = (max(0.0, (centre - spread) / (1 + z * z / total)), min(1.0, (centre + spread) / (1 + z * z / total)))
    return f"{hits}/{total} ({100 * low:.0f}-{100 * high:.0f} %)"


def table(results):
    """Recall, false roots and abstentions by source; a case that asks for abstention counts apart."""
    print(f"\n{'source of the evidence':<36} {'recall (95 %)':<22} {'false roots':<12} {'abstained':<10} all checks")
    for source in sorted({r[1].get("source", "not stated") for r in results}):
        rows = [r for r in results if r[1].get("source", "not stated") == source]
        decided = [r for r in rows if "cause" in r[1]]
        hits = sum(r[3] in causes(r[1]) for r in decided)
        silent = sum(r[3] is None for r in decided)
        print(f"{source:<36} {interval(hits, len(decided)):<22} {len(decided) - hits - silent:<12} {silent:<10} "
              f"{sum(not r[2] for r in rows)}/{len(rows)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--holter", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-v", action="store_true", help="also name the incidents that hold")
    args = parser.parse_args()
    only = set(filter(None, args.only.split(",")))
    folders = [p.parent for p in sorted(HERE.glob("*/expect.json")) if not only or p.parent.name in only]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda f: run(args.holter, f), folders))
    for name, _, wrong, _ in results:
        if wrong or args.v:
            print(f"{'FAIL' if wrong else 'ok  '} {name}{': ' if wrong else ''}{'; '.join(wrong)}")
    if not results:
        print("no incidents", file=sys.stderr)
        return 2
    table(results)
    failed = sum(bool(r[2]) for r in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
