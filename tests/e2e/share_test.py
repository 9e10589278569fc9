# SPDX-License-Identifier: Apache-2.0
"""--share: what was planted in a job's files is in no format of the report; what the diagnosis needs is."""
import json
import pickle
import re

from harness import Case, holter, main

# Files of one job, in the form of the tools that write them. Names, addresses and texts are invented.
FILES = {
    "dmesg_10.77.4.26_saturn.txt": """\
Dec  1 10:11:09 saturn kernel: NVRM: Xid (PCI:0000:c4:00): 79, pid=4101, name=zephyr_pretrain, GPU has fallen off the bus.
Dec  1 10:11:10 saturn kernel: zephyr_loader invoked oom-killer: gfp_mask=0xcc0, order=0, oom_score_adj=0
Dec  1 10:11:10 saturn kernel: oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task_memcg=/slurm/uid_1234/job_7,task=zephyr_loader,pid=4200,uid=1234
Dec  1 10:11:10 saturn kernel: Out of memory: Killed process 4200 (zephyr_loader) total-vm:9kB, anon-rss:8kB
""",
    "gpu-q12_rank1.log": """\
secret-q14 is the host of the store; node venus is unreachable; ip-10-77-30-99 and 10_77_30_98 too
gpu-q12:4101:4101 [1] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.77.4.12<0>
USER=marigold SLURM_JOB_USER=marigold SLURM_JOB_NAME=nightjar-7 SLURM_JOB_NODELIST=gpu-q[11-13] run_as: petunia (uid begonia)
git remote https://foxglove:hunter2pw@git.quokka-labs.io/x.git?token=abcdefgh and ssh://lobelia@wombat7/data
gpu-q12:4101:4188 [1] NCCL WARN NET/IB : Got completion from peer 10.77.4.13<41000> with status=12 opcode=0 len=0 vendor err 129 (Recv) hca mlx5_0
launch --job-name nightjar-8 --model quokka-labs/Zephyr-13B --checkpoint quokka-labs/zephyr-ckpt C:\\Users\\Snap Dragon\\zephyr\\run.yaml \\\\filer9\\secretshare\\a.txt
[rank1]:[E1201 10:11:12.000001 4101 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88, OpType=ALLREDUCE, NumelIn=512, NumelOut=512, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.
[rank1]:[E1201 10:11:12.000002 4101 ProcessGroupNCCL.cpp:700] [PG ID 2 PG GUID 5(zephyr_moe_group) Rank 1] Process group watchdog thread terminated with exception
HF_TOKEN=hf_AbCdEfGhIjKlMn NODE_SERIAL_NUMBER: 1650123098765 GPU-3f2a1b00-aaaa-bbbb-cccc-0123456789ab
[rank1]: Traceback (most recent call last):
[rank1]:   File "/home/marigold/zephyr/losses.py", line 41, in compute_zephyr_loss
[rank1]:     marsupial = zephyr_scale(batch)
[rank1]:   File "/opt/env/lib/python3.10/site-packages/torch/distributed/distributed_c10d.py", line 2806, in all_reduce
[rank1]:     work = group.allreduce([tensor], opts)
[rank1]: torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error at gpu-q13, host gpu-q12
""",
    "rank0.pyspy.txt": """\
Process 4100: python -u train.py --job-name nightjar-7 --served-model-name zephyr-13b
Python v3.10.12 (/usr/bin/python3.10)

Thread 4100 (active): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2806)
    compute_zephyr_loss (zephyr/losses.py:41)
    quokka_step (zephyr/trainer.py:7)
    main (train.py:12)
""",
    "env.txt": "HOSTNAME=gpu-q11\nSLURM_JOB_USER=marigold\nLOGNAME=marigold\nHF_TOKEN=hf_AbCdEfGhIjKlMn\nMASTER_ADDR=gpu-q11\n",
    "nvidia-smi.txt": """\
==============NVSMI LOG==============
Timestamp                                 : Tue Dec  1 10:12:00 2026
Driver Version                            : 550.54.15
Attached GPUs                             : 1
GPU 00000000:C4:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Serial Number                         : 1650123098765
    GPU UUID                              : GPU-3f2a1b00-aaaa-bbbb-cccc-0123456789ab
    Processes
        GPU instance ID                   : N/A
        Process ID                        : 4101
            Type                          : C
            Name                          : /home/marigold/zephyr/bin/run
""",
}

PLANTED = ("marigold", "petunia", "begonia", "foxglove", "hunter2pw", "lobelia", "nightjar", "quokka", "zephyr", "Zephyr",
           "Snap Dragon", "Dragon", "filer9", "secretshare", "saturn", "venus", "wombat7", "gpu-q", "secret-q14", "10-77",
           "10_77", "10.77", "marsupial", "hf_AbCd", "1650123098765", "3f2a1b00", "losses", "abcdefgh")
# Of the first report only where the text is shown there at all.
KEPT = ("rank 1", "Xid", "79", "NCCL WARN NET/IB", "status=12", "vendor err 129", "mlx5_0", "ALLREDUCE", "SeqNum=88",
        "ProcessGroupNCCL.cpp", "0000:c4:00", "fallen off the bus", "invoked oom-killer", "Killed process 4200",
        "DistBackendError", "distributed_c10d.py", "is the host of the store", "Watchdog caught collective operation timeout",
        "is unreachable", "all_reduce", "Traceback (most recent call last)", "remote process exited")


def dump(rank):
    entry = {"record_id": 0, "pg_id": 2, "process_group": ("5", "zephyr_moe_group"), "collective_seq_id": 7, "p2p_seq_id": 0,
             "op_id": 7, "profiling_name": "nccl:all_reduce", "time_created_ns": 1764583000000000000 + rank,
             "input_sizes": [[512]], "input_dtypes": ["Float"], "output_sizes": [[512]], "output_dtypes": ["Float"],
             "state": "scheduled", "time_discovered_started_ns": None, "time_discovered_completed_ns": None,
             "retired": False, "timeout_ms": 600000, "is_p2p": False,
             "frames": [{"name": "compute_zephyr_loss", "filename": "/home/marigold/zephyr/losses.py", "line": 41}]}
    return {"version": "2.5", "entries": [entry] if rank == 0 else [],
            "pg_config": {"5": {"name": "5", "desc": "zephyr_moe_group", "ranks": "[0, 1]"}},
            "pg_status": {"2": {"last_enqueued_collective": 7 if rank == 0 else 6, "last_started_collective": 6,
                                "last_completed_collective": 6}}}


class Share(Case):
    def setUp(self):
        super().setUp()
        self.job = self.folder / "nightjar-7"
        self.job.mkdir()
        for name, text in FILES.items():
            (self.job / name).write_text(text)
        for rank in (0, 1):
            (self.job / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(dump(rank), protocol=2))

    def report(self, *arguments):
        done = holter("diagnose", self.job, "--reproducible", *arguments)
        self.assertIn(done.returncode, (1, 3), done.stderr)
        return done.stdout.decode()

    def test_no_format_shows_what_was_planted(self):
        for arguments in (["--full"], [], ["-o", "json"], ["-o", "md"], ["-o", "html"]):
            text = self.report("--share", *arguments)
            leaks = {word: re.search(f".{{0,60}}{re.escape(word)}.{{0,20}}", text)[0] for word in PLANTED if word in text}
            self.assertEqual(leaks, {}, arguments)

    def test_the_report_without_share_shows_it(self):
        text = self.report("-o", "json")
        missing = [word for word in PLANTED if word not in text]
        self.assertLess(len(missing), len(PLANTED) / 4, missing)  # else the test above tests little

    def test_what_the_diagnosis_needs_survives(self):
        plain, shared = self.report("-o", "json"), self.report("-o", "json", "--share")
        present = [word for word in KEPT if word in plain]
        self.assertGreater(len(present), len(KEPT) * 2 / 3, set(KEPT) - set(present))
        self.assertEqual([word for word in present if word not in shared], [])

    def test_verdict_culprits_and_evidence_are_the_same(self):
        plain, shared = json.loads(self.report("-o", "json")), json.loads(self.report("-o", "json", "--share"))
        facts = lambda r: [(f["cause"], f["role"], f["certainty"], [c.get("rank") for c in f["culprits"]], len(f["evidence"]))
                           for f in r["findings"]]
        self.assertEqual(facts(plain), facts(shared))
        self.assertEqual(plain["verdict"]["kind"], shared["verdict"]["kind"])

    def test_exports_are_scrubbed_too(self):
        for target in ("perfetto", "speedscope", "folded"):
            text = holter("export", "--to", target, "--share", self.job).stdout.decode()
            self.assertNotEqual(text, "", target)
            self.assertEqual([word for word in PLANTED if word in text], [], target)


if __name__ == "__main__":
    main()
