# SPDX-License-Identifier: Apache-2.0
"""Input that cannot be read, output that cannot be written, too little memory: said, and nothing left behind."""
import json
import pathlib
import pickle
import resource
import signal
import subprocess
import time

from harness import HOLTER, LOG, Case, environment, holter, main


def dump(rank, world, calls, group="0", start=1764583000000000000):
    entry = lambda seq: {
        "record_id": seq, "pg_id": 0, "process_group": (group, "default_pg"), "collective_seq_id": seq, "p2p_seq_id": 0,
        "op_id": seq, "profiling_name": "nccl:all_reduce", "time_created_ns": start + seq * 1000000,
        "input_sizes": [[8]], "input_dtypes": ["Float"], "output_sizes": [[8]], "output_dtypes": ["Float"],
        "state": "completed", "time_discovered_started_ns": start + seq * 1000000 + 10,
        "time_discovered_completed_ns": start + seq * 1000000 + 20, "retired": True, "timeout_ms": 600000,
        "is_p2p": False, "frames": []}
    return pickle.dumps({"version": "2.5", "entries": [entry(n) for n in range(1, calls + 1)],
                         "pg_config": {group: {"name": group, "desc": "default_pg", "ranks": str(list(range(world)))}},
                         "pg_status": {}}, protocol=2)


class Unread(Case):
    def test_every_file_is_named_with_its_reason_when_nothing_could_be_read(self):
        self.log.write_bytes(b"PK\x03\x04 zipped")
        (self.log.parent / "a.bin").write_bytes(b"\0\1\2\3" * 9)
        done = self.expect(2, "diagnose", self.log.parent)
        for text in (b"train.log: a zip archive", b"a.bin: binary data of an unknown format", b"nothing there could be read"):
            self.assertIn(text, done.stderr)
        for n in range(40):
            (self.log.parent / f"{n}.bin").write_bytes(b"\0\1\2\3" * 9)
        self.assertLess(len(self.expect(2, "diagnose", self.log.parent).stderr.splitlines()), 20)

    def test_the_first_screen_counts_what_was_not_read(self):
        (self.log.parent / "a.bin").write_bytes(b"\0\1\2\3" * 9)
        (self.log.parent / "dump_rank_1").write_bytes(dump(1, 2, 50)[:900])
        (self.log.parent / "README.md").write_text("a document is no evidence\n")
        screen = holter("diagnose", self.log.parent).stdout.decode().splitlines()
        self.assertLessEqual(len(screen), 25)
        line = [x for x in screen if "could not be read" in x]
        self.assertEqual(len(line), 1, screen)
        self.assertIn("1 of 4 files could not be read: a.bin (binary", line[0])
        self.assertTrue(line[0].endswith("; see --full"), line[0])
        self.assertIn("a.bin: not read (binary data", holter("diagnose", "--full", self.log.parent).stdout.decode())

    def test_a_log_in_utf_16_is_read(self):
        expected = json.loads(holter("diagnose", self.log, "--json", "--reproducible").stdout)["verdict"]
        for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"):
            self.log.write_bytes(LOG.encode(encoding))
            got = json.loads(holter("diagnose", self.log, "--json", "--reproducible").stdout)["verdict"]
            self.assertEqual(got, expected, encoding)

    def test_a_rank_that_no_job_has_is_a_problem(self):
        for name in ("nccl_trace_rank_99999999999999999999", "nccl_trace_rank_4000000000"):
            (self.log.parent / name).write_bytes(dump(0, 2, 3))
        report = json.loads(holter("diagnose", self.log.parent, "--json").stdout)
        said = [p for p in report["evidence"]["problems"] if "rank that no job has" in p["what"]]
        self.assertEqual(len(said), 2, report["evidence"]["problems"])


class TwoJobs(Case):
    def dumps(self, folder, world, ranks, **options):
        (self.log.parent / folder).mkdir(exist_ok=True)
        for rank in ranks:
            (self.log.parent / folder / f"nccl_trace_rank_{rank}").write_bytes(dump(rank, world, 3 + rank % 2, **options))

    def test_dumps_of_two_jobs_are_called_so_and_lead_to_no_verdict(self):
        self.log.unlink()
        self.dumps("blue", 4, range(4))
        self.dumps("green", 8, range(8))
        report = json.loads(holter("diagnose", self.log.parent, "--json").stdout)
        self.assertIn("of 2 jobs", report["evidence"]["gaps"][0])
        for folder in ("of 4 ranks in blue/nccl_trace_rank_* (4 files)", "of 8 ranks in green/nccl_trace_rank_* (8 files)"):
            self.assertIn(folder, report["evidence"]["gaps"][0])
        self.assertEqual(report["verdict"]["certainty"], "inconclusive")
        self.assertIn(b"of 2 jobs", holter("diagnose", self.log.parent).stdout)

    def test_attempts_and_repeated_dumps_are_one_job(self):
        self.log.unlink()
        self.dumps("attempt_0", 8, range(8))
        self.dumps("attempt_1", 4, range(4))
        report = json.loads(holter("diagnose", self.log.parent, "--json").stdout)
        self.assertEqual([g for g in report["evidence"].get("gaps", []) if "jobs" in g], [])


class Output(Case):
    def test_a_signal_leaves_no_part_of_the_output(self):
        for rank in range(16):
            (self.log.parent / f"nccl_trace_rank_{rank}").write_bytes(dump(rank, 16, 2000))
        target, hit = self.folder / "trace.json", 0
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            run = subprocess.Popen([HOLTER, "export", self.log.parent, "--output", target], env=environment())
            while run.poll() is None and not list(self.folder.glob("trace.json.part*")):
                time.sleep(0.001)
            run.send_signal(number)
            hit += run.wait() == -number
            self.assertEqual(list(self.folder.glob("*.part*")), [])
        self.assertGreater(hit, 0)

    def test_errors_name_the_file_that_was_asked_for(self):
        target = self.folder / "no" / "x.json"
        for arguments in (["diagnose", self.log], ["export", "--to", "perfetto", self.calls()]):
            done = self.expect(4, *arguments, "--output", target)
            self.assertIn(f"{target}: No such file".encode(), done.stderr)
            self.assertNotIn(b".part", done.stderr)

    def calls(self):
        folder = self.folder / "calls"
        folder.mkdir()
        (folder / "nccl_trace_rank_0").write_bytes(dump(0, 1, 3))
        return folder

    def test_a_trace_of_logs_alone_is_not_written(self):
        self.log.write_text("2026-03-01T02:51:07 gx17 kernel: NVRM: Xid (PCI:0000:c4:00): 79, GPU has fallen off the bus.\n")
        target = self.folder / "trace.json"
        done = self.expect(3, "export", "--to", "perfetto", self.log, "--output", target)
        self.assertIn(b"nothing is written", done.stderr)
        self.assertFalse(target.exists())
        self.assertEqual(self.expect(3, "export", "--to", "perfetto", self.log).stdout, b"")


class Memory(Case):
    def test_too_little_of_it_is_said_and_exits_with_4(self):
        for rank in range(8):
            (self.log.parent / f"nccl_trace_rank_{rank}").write_bytes(dump(rank, 8, 2000))
        seen = set()
        for megabytes in range(24, 200, 8):
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
            done = holter("diagnose", self.log.parent, "-j", 2, "--json", preexec_fn=limit)
            if b"shared libraries" in done.stderr or b"memory for" in done.stderr:
                continue  # the program itself does not fit
            self.assertIn(done.returncode, (0, 1, 3, 4), (megabytes, done.stderr))
            if done.returncode == 4:
                self.assertIn(b"holter: error: ", done.stderr)
            seen.add(done.returncode)
        self.assertIn(4, seen)


if __name__ == "__main__":
    main()
