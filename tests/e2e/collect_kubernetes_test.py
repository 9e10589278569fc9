# SPDX-License-Identifier: Apache-2.0
"""holter collect --k8s against a double of kubectl (double_kubectl.py): no cluster was at hand. Pods are hosts of
hosts.py; the training processes are doubles."""
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

import hosts
from harness import HOLTER, Case, environment, main

GENERATE = pathlib.Path(HOLTER).parent / "holter-generate"
HERE = pathlib.Path(__file__).parent


@unittest.skipIf(hosts.missing(), hosts.missing())
class CollectKubernetes(Case):
    @classmethod
    def setUpClass(cls):
        cls.lab = hosts.Hosts(3)
        cls.addClassCleanup(cls.lab.close)
        folder = cls.lab.folder
        (folder / "bin").mkdir()
        (folder / "bin/kubectl").symlink_to(HERE / "double_kubectl.py")
        subprocess.run([GENERATE, "--out", folder / "dumps", "--kind", "host_stuck", "--ranks", "2", "--tensor", "1",
                        "--pipeline", "1", "--expert", "1", "--seed", "5", "--after", "120", "--end", str(int(time.time()))],
                       check=True)
        cls.stuck = json.loads((folder / "dumps.truth.json").read_text())["culprits"]
        ranks = []
        for rank in range(2):
            env = environment(RANK=str(rank), WORLD_SIZE="2", TORCH_NCCL_DEBUG_INFO_PIPE_FILE="/tmp/pipe_")
            ranks.append(cls.lab.start(rank + 1, [sys.executable, HERE / "double_rank.py",
                                                  folder / f"dumps/nccl_trace_rank_{rank}", f"/tmp/rank{rank}.log"], env=env))
        cls.addClassCleanup(lambda: [p.kill() or p.wait() for p in ranks])
        for rank in range(2):
            for _ in range(200):
                if cls.lab.on(rank + 1, f"test -p /tmp/pipe_{rank}.pipe").returncode == 0:
                    break
                time.sleep(0.05)

    def pods(self):
        def pod(host, phase="Running", **more):
            return {"namespace": "train", "labels": {"app": "pretrain", "job": "7"}, "phase": phase,
                    "containers": {"pytorch": self.lab.init(host), "sidecar": self.lab.init(3)}, **more}
        return {"pretrain-0": pod(1), "pretrain-1": pod(2), "pretrain-2": pod(3, "Pending"), "pretrain-3": pod(3, gone=True),
                "other": {**pod(3), "labels": {"app": "other"}}}

    def collect(self, where, folder, *more):
        env = environment(PODS=json.dumps(self.pods()), PATH=f"{self.lab.folder}/bin:{os.environ['PATH']}")
        return subprocess.run([HOLTER, "collect", "--k8s", where, "--output", folder, *more], capture_output=True, text=True,
                              env=env, timeout=120)

    def test_running_pods_of_the_selector_are_asked(self):
        folder = self.folder / "out"
        done = self.collect("train/app=pretrain,job=7", folder, "--deadline", "40s")
        hosts_of = {h["host"]: h for h in json.loads((folder / "manifest.json").read_text())["hosts"]}
        self.assertEqual(sorted(hosts_of), ["pretrain-0", "pretrain-1", "pretrain-3"])
        self.assertEqual(hosts_of["pretrain-0"]["status"], "taken", hosts_of)
        self.assertIn("not found", hosts_of["pretrain-3"]["detail"])
        self.assertIn(f"rank {self.stuck[0]}", done.stdout, done.stderr)
        self.assertEqual(self.lab.on(1, "ls -d /tmp/holter.* 2>/dev/null").stdout, "")

    def test_one_pod_and_one_container(self):
        folder = self.folder / "out"
        self.collect("train/pod/pretrain-0", folder, "--container", "sidecar", "--no-diagnose", "--no-ras")
        self.assertEqual(json.loads((folder / "manifest.json").read_text())["hosts"][0]["status"], "taken")
        done = self.collect("train/pod/pretrain-0", self.folder / "out2", "--container", "nobody", "--no-diagnose")
        self.assertEqual(done.returncode, 4)
        self.assertIn("is not valid for pod", done.stderr)

    def test_wrong_selectors_are_said(self):
        for where, words in (("train/app=nobody", "no running pod"), ("train", "NAMESPACE/SELECTOR"),
                             ("-x/app=a", "NAMESPACE/SELECTOR"), ("train/-lapp", "NAMESPACE/SELECTOR"),
                             ("train/pod/$(x)", "is no pod")):
            done = self.collect(where, self.folder / "out")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    main()
