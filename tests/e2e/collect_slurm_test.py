# SPDX-License-Identifier: Apache-2.0
"""holter collect --slurm against a real Slurm. The training processes are doubles (double_rank.py)."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import slurm_lab
from harness import HOLTER, Case, main

GENERATE = pathlib.Path(HOLTER).parent / "holter-generate"
DOUBLE = pathlib.Path(__file__).with_name("double_rank.py")
WORLD = 4

# Each task becomes the rank that Slurm gives it.
BATCH = """#!/bin/sh
#SBATCH --nodes=2 --ntasks-per-node=2 --output={folder}/job-%j.log
echo "starting, HF_TOKEN=hf_verysecretvalue0001"
srun sh -c 'export RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/tmp/pipe_
  exec {python} {double} {folder}/dumps/nccl_trace_rank_$RANK /tmp/rank$RANK.log'
"""


@unittest.skipIf(slurm_lab.missing(), slurm_lab.missing())
class CollectSlurm(Case):
    @classmethod
    def setUpClass(cls):
        cls.slurm = slurm_lab.Slurm(3)
        cls.addClassCleanup(cls.slurm.close)
        folder = cls.slurm.folder
        subprocess.run([GENERATE, "--out", folder / "dumps", "--kind", "host_stuck", "--ranks", str(WORLD), "--tensor", "1",
                        "--pipeline", "1", "--expert", "1", "--seed", "3", "--after", "120", "--end", str(int(time.time()))],
                       check=True)
        cls.stuck = json.loads((folder / "dumps.truth.json").read_text())["culprits"]
        script = folder / "job.sh"
        script.write_text(BATCH.format(folder=folder, python=sys.executable, double=DOUBLE))
        done = cls.slurm.run("sbatch", "--parsable", script)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        cls.job = done.stdout.strip()
        for _ in range(300):
            nodes = cls.slurm.run("squeue", "-h", "-j", cls.job, "-t", "running", "-o", "%N").stdout.strip()
            if nodes and all(cls.pipe_of(rank) for rank in range(WORLD)):
                return
            time.sleep(0.1)
        raise RuntimeError(f"job {cls.job} does not run: {cls.slurm.run('scontrol', 'show', 'job', cls.job).stdout}")

    @classmethod
    def pipe_of(cls, rank):
        return any(cls.slurm.hosts.on(i, f"test -p /tmp/pipe_{rank}.pipe").returncode == 0 for i in (1, 2, 3))

    def collect(self, job, folder, *more):
        return self.slurm.run(HOLTER, "collect", "--slurm", job, "--output", folder, *more, timeout=120)

    def test_the_nodes_of_the_job_are_asked_and_the_stuck_rank_is_named(self):
        folder = self.folder / "out"
        done = self.collect(self.job, folder, "--deadline", "40s")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(f"rank {self.stuck[0]}", done.stdout)
        hosts = json.loads((folder / "manifest.json").read_text())["hosts"]
        self.assertEqual([(h["host"], h["status"]) for h in hosts], [("node1", "taken"), ("node2", "taken")])
        self.assertIn(f"JobId={self.job} ", (folder / "slurm/scontrol-job.txt").read_text())
        log = (folder / f"slurm/job-{self.job}.log").read_text()
        self.assertIn("starting", log)
        self.assertNotIn("hf_verysecret", log)
        for i in (1, 2):
            self.assertEqual(self.slurm.hosts.on(i, "ls -d /tmp/holter.* 2>/dev/null").stdout, "")
        still = self.slurm.run("squeue", "-h", "-j", self.job, "-o", "%T").stdout.strip()
        self.assertEqual(still, "RUNNING", "the job was not touched")

    def test_a_frozen_node_costs_its_deadline_and_no_more(self):
        pids = [int(p) for p in subprocess.run(["pgrep", "-x", "slurmd"], capture_output=True, text=True).stdout.split()]
        frozen = [p for p in pids if os.readlink(f"/proc/{p}/ns/uts") == os.readlink(f"/proc/{self.slurm.hosts.init(2)}/ns/uts")]
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        try:
            start = time.time()
            folder = self.folder / "out"
            done = self.collect(self.job, folder, "--deadline", "12s")
            self.assertLess(time.time() - start, 40)
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)
        hosts = {h["host"]: h for h in json.loads((folder / "manifest.json").read_text())["hosts"]}
        self.assertEqual(hosts["node1"]["status"], "taken", done.stderr)
        self.assertNotEqual(hosts["node2"]["status"], "taken")

    def test_a_job_that_does_not_run_is_said(self):
        done = self.collect("99999", self.folder / "out")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"Invalid job id|has no nodes")
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    main()
