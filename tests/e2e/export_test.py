# SPDX-License-Identifier: Apache-2.0
"""Exports as their viewers read them: the trace and the stacks are checked against what is required of
them, for golden incidents, hostile names and a scrubbed export."""
import collections
import json
import pathlib
import subprocess

from harness import HOLTER, ROOT, Case, environment, holter, main

INCIDENTS = sorted(p.parent for p in (ROOT / "tests/incidents").glob("*/expect.json"))
HOSTILE = 'x;y\n"</script>\x1b[31m\u202e\\ \'{}'
START = 1_772_333_467_000_000_000
MS = 1_000_000


def dump(rank, entries, name="default_pg"):
    """A Flight Recorder dump as JSON (text written by us in PyTorch's format)."""
    return json.dumps({
        "version": "2.10", "pg_config": {"0": {"name": "0", "desc": name, "ranks": "[0, 1]"}},
        "pg_status": {"0": {"last_enqueued_collective": len(entries) - 1, "last_started_collective": -1,
                            "last_completed_collective": sum(e[2] is not None for e in entries) - 1}},
        "rank": rank,
        "entries": [{"record_id": n, "pg_id": 0, "process_group": ["0", name], "collective_seq_id": n,
                     "p2p_seq_id": 0, "op_id": n, "profiling_name": f"nccl:{op}", "time_created_ns": START + begin * MS,
                     "time_discovered_started_ns": START + begin * MS,
                     "time_discovered_completed_ns": None if end is None else START + end * MS,
                     "input_sizes": [[4096]], "input_dtypes": ["BFloat16"], "output_sizes": [[4096]],
                     "output_dtypes": ["BFloat16"], "state": "started" if end is None else "completed",
                     "timeout_ms": 600000, "is_p2p": False, "retired": end is not None,
                     "frames": [{"name": op, "filename": "/home/alice/run/train.py", "line": 7}]}
                    for n, (op, begin, end) in enumerate(entries)]})


def check_trace(case, data):
    """What ui.perfetto.dev needs of Chrome's trace format: types, ids, nesting, flows that end."""
    trace = json.loads(data)
    named, threads, flows = set(), collections.defaultdict(list), collections.defaultdict(list)
    for e in trace["traceEvents"]:
        case.assertIsInstance(e["name"], str)
        for field in ("pid", "tid"):
            case.assertIs(type(e[field]), int)
            case.assertTrue(0 <= e[field] < 2**31)
        if e["ph"] == "M":
            case.assertIn(e["name"], ("process_name", "process_sort_index", "thread_name", "thread_sort_index"))
            if e["name"] == "thread_name":
                named.add((e["pid"], e["tid"]))
            case.assertEqual(len(e["args"]), 1)
            continue
        case.assertIn(e["ph"], "XBistf")
        case.assertGreaterEqual(e["ts"], 0)
        if e["ph"] == "X":
            threads[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
        elif e["ph"] == "B":
            threads[e["pid"], e["tid"]].append((e["ts"], float("inf")))
        elif e["ph"] == "i":
            case.assertIn(e["s"], "gpt")
        else:
            flows[e["id"]].append(e)
    for key, spans in threads.items():
        case.assertIn(key, named)
        spans.sort()
        for (_, end), (begin, _) in zip(spans, spans[1:]):
            case.assertTrue(begin >= end - 0.002 or end == float("inf"), key)
    for steps in flows.values():
        phases = [s["ph"] for s in sorted(steps, key=lambda s: (s["ts"], "stf".index(s["ph"])))]
        case.assertEqual((phases[0], phases[-1]), ("s", "f"))
        case.assertEqual(set(phases[1:-1]) - {"t"}, set())
    return trace


def check_speedscope(case, data):
    """The parts of https://www.speedscope.app/file-format-schema.json that a sampled profile needs."""
    file = json.loads(data)
    case.assertEqual(file["$schema"], "https://www.speedscope.app/file-format-schema.json")
    case.assertLessEqual(set(file), {"$schema", "exporter", "name", "activeProfileIndex", "profiles", "shared"})
    case.assertTrue(0 <= file["activeProfileIndex"] < len(file["profiles"]))
    frames = file["shared"]["frames"]
    for frame in frames:
        case.assertLessEqual(set(frame), {"name", "file", "line", "col"})
        case.assertTrue(frame["name"])
        case.assertIsInstance(frame.get("line", 0), int)
    for profile in file["profiles"]:
        case.assertEqual(set(profile), {"type", "name", "unit", "startValue", "endValue", "samples", "weights"})
        case.assertEqual((profile["type"], profile["unit"], profile["startValue"]), ("sampled", "none", 0))
        case.assertEqual(len(profile["samples"]), len(profile["weights"]))
        case.assertEqual(profile["endValue"], sum(profile["weights"]))
        case.assertTrue(all(0 <= f < len(frames) for sample in profile["samples"] for f in sample))
    return file


def check_folded(case, data):
    """Lines as flamegraph.pl reads them: a stack, a blank, a count."""
    lines = data.decode().splitlines()
    for line in lines:
        stack, _, count = line.rpartition(" ")
        case.assertGreater(int(count), 0)
        case.assertTrue(all(stack.split(";")), line)
    return lines


CHECKS = {"perfetto": check_trace, "speedscope": check_speedscope, "folded": check_folded}


class Export(Case):
    def export(self, form, *arguments, code=0):
        done = self.expect(code, "export", "--to", form, *arguments)
        return CHECKS[form](self, done.stdout) if done.stdout else None

    def calls(self, op="all_reduce", name="default_pg"):
        folder = self.folder / "dumps"
        folder.mkdir(exist_ok=True)
        (folder / "nccl_trace_rank_0.json").write_text(dump(0, [(op, 0, 5), (op, 6, 11), (op, 12, None)], name))
        (folder / "nccl_trace_rank_1.json").write_text(dump(1, [(op, 1, 5), (op, 4, 11)], name))
        return folder

    def test_calls_with_their_flow_and_the_one_that_never_ended(self):
        trace = self.export("perfetto", self.calls())
        events = trace["traceEvents"]
        self.assertEqual([e["ts"] for e in events if e["ph"] == "X"], [0, 6000, 1000, 4000])
        (unfinished,) = [e for e in events if e["ph"] == "B"]
        self.assertIn("unfinished", unfinished["name"])
        self.assertEqual(unfinished["args"]["seq"], 2)
        self.assertEqual(unfinished["args"]["input_dtype"], "BFloat16")

    def test_every_golden_incident(self):
        written = collections.Counter()
        for incident in INCIDENTS:
            for form, check in CHECKS.items():
                done = holter("export", "--to", form, incident / "input")
                self.assertIn(done.returncode, (0, 3), (incident.name, form, done.stderr))
                if done.stdout:
                    check(self, done.stdout)
                    written[form] += 1
                if done.returncode == 3:
                    self.assertIn(b"hint: ", done.stderr)
        self.assertGreater(written["speedscope"], 5)
        self.assertGreater(written["folded"], 5)
        self.assertGreater(written["perfetto"], 5)

    def test_hostile_names(self):
        folder = self.calls(HOSTILE, HOSTILE)
        (folder / "stack.txt").write_text(
            "Process 41: python train.py\nPython v3.11\n\nThread 41 (idle): \"MainThread\"\n"
            "    we;ird\x1b[2J<b> (/x/;y.py:3)\n    main (/x/\u202etrain.py:9)\n")
        for form in CHECKS:
            done = self.expect(0, "export", "--to", form, folder)
            CHECKS[form](self, done.stdout)
            for bad in (b"\x1b", "\u202e".encode()):
                self.assertNotIn(bad, done.stdout)

    def test_nothing_of_the_kind_is_3_with_a_hint_and_touches_no_file(self):
        target = self.folder / "out"
        target.write_text("kept")
        text = self.folder / "plain.txt"
        text.write_text("hello\n")
        for form in CHECKS:
            done = self.expect(3, "export", "--to", form, text, "--output", target)
            self.assertEqual(done.stdout, b"")
            self.assertIn(b"hint: ", done.stderr)
        self.assertEqual(target.read_text(), "kept")
        self.expect(2, "export", self.folder / "absent")
        self.expect(2, "export", "--to", "svg", text)

    def test_output_to_a_file_is_the_same(self):
        folder = self.calls()
        target = self.folder / "trace.json"
        self.expect(0, "export", folder, "--output", target)
        self.assertEqual(target.read_bytes(), self.expect(0, "export", folder).stdout)
        self.assertEqual([p for p in self.folder.iterdir() if ".part" in p.name], [])
        self.expect(4, "export", folder, "--output", self.folder / "no" / "x.json")
        if pathlib.Path("/dev/full").exists():
            with open("/dev/full", "wb") as full:
                done = subprocess.run([HOLTER, "export", folder], stdout=full, stderr=subprocess.PIPE, env=environment())
            self.assertEqual(done.returncode, 4)

    def test_shared_exports_hold_no_names_and_those_of_the_shared_report(self):
        folder = self.calls()
        (folder / "gx17.log").write_text("2026-03-01T02:51:07 gx17 kernel: NVRM: Xid (PCI:0000:c4:00): 79, GPU has fallen off the bus.\n")
        report = json.loads(holter("diagnose", folder, "--json", "--share").stdout)
        trace = self.export("perfetto", folder, "--share")
        self.assertNotIn("gx17", json.dumps(trace))
        self.assertNotIn("alice", json.dumps(trace))
        names = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}
        self.assertIn(f"node {report['job']['nodes'][0]}", names)

    def test_folded_stacks_can_be_read_again(self):
        again = self.folder / "again.folded"
        lines = 0
        for incident in INCIDENTS:
            if not incident.name.startswith("stacks_"):
                continue
            done = holter("export", "--to", "folded", incident / "input")
            again.write_bytes(done.stdout)
            back = self.expect(0, "export", "--to", "folded", again).stdout
            frames = [line.rpartition(b" ")[0].split(b";")[-1] for line in done.stdout.splitlines()]
            for frame in frames:
                self.assertIn(frame.split(b" (")[0], back, incident.name)
            lines += len(frames)
        self.assertGreater(lines, 10)


if __name__ == "__main__":
    main()
