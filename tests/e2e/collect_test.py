# SPDX-License-Identifier: Apache-2.0
"""holter collect: this host, and hosts behind a real sshd that hang, refuse, are full or die. The training processes
are doubles (double_rank.py)."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import hosts
from harness import HOLTER, Case, environment, main

GENERATE = os.environ.get("HOLTER_GENERATE", str(pathlib.Path(HOLTER).parent / "holter-generate"))
DOUBLE = pathlib.Path(__file__).with_name("double_rank.py")

def manifest(path):
    return json.loads((pathlib.Path(path) / "manifest.json").read_text())


def rank_environment(rank, world):
    return environment(RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(rank % 2), NCCL_DEBUG="INFO",
                       WANDB_API_KEY="wandbsecretvalue0001",
                       TORCH_NCCL_DEBUG_INFO_PIPE_FILE="/tmp/pipe_", TORCH_NCCL_DEBUG_INFO_TEMP_FILE="/tmp/nccl_trace_rank_")


class ThisHost(Case):
    def test_every_item_has_a_result_and_the_folder_is_readable(self):
        folder = self.folder / "out"
        self.expect(0, "collect", "--local", "--output", folder, "--no-diagnose", "--deadline", "20s")
        items = {r["item"]: r for r in manifest(folder)["items"]}
        self.assertEqual(items["versions_kernel"]["status"], "taken")
        for r in items.values():
            self.assertIn(r["status"], ("taken", "cut", "missing", "refused", "timeout", "failed", "skipped"))
            self.assertTrue(r["status"] == "taken" or r["detail"], r)
            self.assertTrue("file" not in r or (folder / r["file"]).is_file(), r)

    def test_dry_run_names_the_commands_and_does_nothing(self):
        (self.folder / "hostfile").write_text("gn1\ngn2\n")
        done = self.expect(0, "collect", "--hosts", "hostfile", "--dry-run", "--deadline", "30s", cwd=self.folder)
        text = done.stdout.decode()
        self.assertEqual(text.count("ssh -o BatchMode=yes"), 2)
        for part in ("-- gn2 ", "--deadline=25s", "dmesg", "nvidia-smi -q -x", "RAS"):
            self.assertIn(part, text)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["hostfile", "job"])

    def test_wrong_use_is_said_in_one_line(self):
        for arguments, words in ((["collect"], "one of --slurm"), (["collect", "--local", "--slurm", "1"], "one of"),
                                 (["collect", "--local", "--deadline", "0s"], "1s to 60m"),
                                 (["collect", "--hosts", "/nowhere"], "No such file"),
                                 (["collect", "--slurm", "x;y"], "no Slurm job id")):
            done = self.expect(2, *arguments)
            self.assertIn(words, done.stderr.decode())
        (self.folder / "evil").write_text("-oProxyCommand=touch${IFS}x\n")
        done = self.expect(2, "collect", "--hosts", "evil", cwd=self.folder)
        self.assertIn("names no host", done.stderr.decode())


@unittest.skipIf(hosts.missing(), hosts.missing())
class ManyHosts(Case):
    WORLD = 8

    @classmethod
    def setUpClass(cls):
        cls.lab = hosts.Hosts(5)
        cls.addClassCleanup(cls.lab.close)
        job = cls.lab.folder / "job"
        subprocess.run([GENERATE, "--out", job, "--kind", "host_stuck", "--ranks", str(cls.WORLD), "--tensor", "2",
                        "--pipeline", "2", "--seed", "4", "--after", "120", "--end", str(int(time.time()))], check=True)
        cls.stuck = json.loads((cls.lab.folder / "job.truth.json").read_text())["culprits"]
        cls.ranks = [cls.lab.start(1 + rank // 2, [sys.executable, DOUBLE, job / f"nccl_trace_rank_{rank}",
                                                   f"/tmp/rank{rank}.log"], env=rank_environment(rank, cls.WORLD))
                     for rank in range(cls.WORLD)]
        cls.addClassCleanup(lambda: [p.kill() or p.wait() for p in cls.ranks])
        for rank in range(cls.WORLD):
            for _ in range(200):
                if cls.lab.on(1 + rank // 2, f"test -p /tmp/pipe_{rank}.pipe").returncode == 0:
                    break
                time.sleep(0.05)
            else:
                raise RuntimeError(f"the double of rank {rank} does not start")

    def collect(self, names, folder, *more, **options):
        hostfile = self.folder / "hostfile"
        hostfile.write_text("\n".join(names) + "\n")
        command = self.lab.outside(HOLTER, "collect", "--hosts", hostfile, "--ssh", self.lab.ssh(), "--output", folder, *more)
        return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment(), **options)

    def outcomes(self, folder):
        return {h["host"]: h for h in manifest(folder)["hosts"]}

    def test_a_hung_job_is_named_and_nothing_is_left_behind(self):
        folder = self.folder / "out"
        done = self.collect([f"node{i}" for i in range(1, 5)], folder, "--deadline", "40s")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("HANG", done.stdout)
        self.assertIn(f"rank {self.stuck[0]}", done.stdout)
        self.assertIn("4 of 4 hosts", done.stderr)
        self.assertRegex(done.stderr, r"watchdog kills in \d+:\d\d")
        for host in self.outcomes(folder).values():
            self.assertEqual(host["status"], "taken", host)
        for i in range(1, 5):
            left = self.lab.on(i, "ls -d /tmp/holter.* 2>/dev/null").stdout
            self.assertEqual(left, "", f"node{i}")
            packed = subprocess.run(["sh", "-c", f"zstd -dc {folder}/hosts/node{i}.tar.zst | tar xOf - "],
                                    capture_output=True).stdout
            self.assertIn(b"NCCL_DEBUG=INFO", packed)
            for secret in (b"hf_verysecretvalue", b"wandbsecretvalue"):
                self.assertNotIn(secret, packed)

    def test_hosts_that_fail_are_in_the_folder_and_the_others_decide(self):
        self.lab.freeze(5)
        self.addCleanup(lambda: os.kill(self.lab.init(5), signal.SIGCONT))
        self.lab.fill(4)
        self.addCleanup(lambda: self.lab.on(4, "rm -f /tmp/fill"))
        folder = self.folder / "out"
        names = ["node1", "node2", "node3", "node4", "node5", "node77"]
        done = self.collect(names, folder, "--deadline", "20s")
        self.assertIn(f"rank {self.stuck[0]}", done.stdout, done.stderr)
        got = self.outcomes(folder)
        self.assertEqual(got["node5"]["status"], "failed")
        self.assertIn("timed out", got["node5"]["detail"])
        self.assertEqual(got["node77"]["status"], "failed")
        self.assertIn("node77", got["node77"]["detail"])
        report = json.loads(self.expect(1, "diagnose", folder, "-o", "json").stdout)
        gaps = "\n".join(report["evidence"]["gaps"])
        self.assertIn("not collected from node5", gaps)
        self.assertIn("not collected from node77", gaps)
        # A full /tmp: another folder serves.
        self.assertEqual(got["node4"]["status"], "taken", got["node4"])

    def test_an_interrupted_collection_goes_on(self):
        folder = self.folder / "out"
        self.lab.freeze(5)
        hostfile = self.folder / "hostfile"
        hostfile.write_text("node1\nnode5\n")
        command = self.lab.outside(HOLTER, "collect", "--hosts", hostfile, "--ssh", self.lab.ssh(), "--output", folder,
                                   "--no-diagnose")
        running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment())
        for _ in range(300):
            if (folder / "hosts" / "node1.tar.zst").exists():
                break
            time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=30)
        self.assertEqual(running.returncode, 143, said)
        self.assertIn("goes on where it was interrupted", said)
        os.kill(self.lab.init(5), signal.SIGCONT)
        done = self.collect(["node1", "node5"], folder, "--no-diagnose")
        self.assertEqual(done.returncode, 0, done.stderr)
        got = self.outcomes(folder)
        self.assertEqual(got["node1"]["detail"], "collected before")
        self.assertEqual(got["node5"]["status"], "taken")


if __name__ == "__main__":
    main()
