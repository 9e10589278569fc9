# SPDX-License-Identifier: Apache-2.0
"""A real Slurm (slurmctld, slurmd, munged of Debian) on the hosts of hosts.py. No accounting, no systemd."""
import os
import pathlib
import shutil
import subprocess
import time

import hosts

PROGRAMS = ("slurmctld", "slurmd", "srun", "sbatch", "scontrol", "squeue", "munged")

# slurmd ends without these folders, although no control group is used.
CGROUPS = ("mount -t tmpfs cg /sys/fs/cgroup; for c in freezer memory cpuset; do mkdir /sys/fs/cgroup/$c; "
           "mount -t cgroup -o $c cgroup /sys/fs/cgroup/$c 2>/dev/null; done; mkdir /sys/fs/cgroup/systemd; "
           "mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd 2>/dev/null")


def missing():
    why = hosts.missing()
    if why:
        return why
    absent = [p for p in PROGRAMS if not shutil.which(p) and not os.path.exists(f"/usr/sbin/{p}")]
    return f"Slurm tests need {', '.join(absent)}" if absent else None


class Slurm:
    def __init__(self, count):
        self.hosts = hosts.Hosts(count, init=CGROUPS)
        self.folder = self.hosts.folder
        self.running = []
        try:
            self._start(count)
        except BaseException:
            self.close()
            raise

    def _configure(self, count):
        f = self.folder
        f.chmod(0o755)
        for name in ("state", "spool"):
            (f / name).mkdir()
        (f / "munge.key").write_bytes(os.urandom(1024))
        (f / "munge.key").chmod(0o600)
        nodes = "".join(f"NodeName=node{i} NodeAddr=10.77.0.{i} CPUs=2 RealMemory=256 State=UNKNOWN\n"
                        for i in range(1, count + 1))
        (f / "slurm.conf").write_text(
            "ClusterName=lab\nSlurmctldHost=ctl(10.77.0.254)\nSlurmUser=root\nAuthType=auth/munge\n"
            f"AuthInfo=socket={f}/munge.sock\nStateSaveLocation={f}/state\nSlurmdSpoolDir={f}/spool/%n\n"
            f"SlurmctldPidFile={f}/ctld.pid\nSlurmdPidFile={f}/slurmd-%n.pid\nSlurmctldLogFile={f}/ctld.log\n"
            f"SlurmdLogFile={f}/slurmd-%n.log\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
            "JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\nMpiDefault=none\n"
            "SwitchType=switch/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nReturnToService=2\n"
            "SlurmctldTimeout=10\nSlurmdTimeout=30\nInactiveLimit=0\nKillWait=2\n"
            "SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1\n"
            f"{nodes}PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n")
        self.conf = f / "slurm.conf"

    def _background(self, command, name, **options):
        with open(self.folder / f"{name}.out", "wb") as log:
            self.running.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                                 env=self.environment(), **options))

    def _start(self, count):
        self._configure(count)
        f = self.folder
        self._background(["munged", "-F", f"--socket={f}/munge.sock", f"--key-file={f}/munge.key",
                          f"--pid-file={f}/munge.pid", f"--log-file={f}/munge.log", f"--seed-file={f}/munge.seed"], "munged")
        self._background(self.hosts.outside("unshare", "--uts", "--fork", "--kill-child", "sh", "-c",
                                            "hostname ctl; exec slurmctld -D"), "slurmctld")
        for i in range(1, count + 1):
            (f / "spool" / f"node{i}").mkdir()
            self._background(["nsenter", "-t", str(self.hosts.init(i)), "-n", "-u", "-m", "-p", "--", "slurmd", "-D"],
                             f"slurmd{i}")
        for _ in range(300):
            done = self.run("sinfo", "-h", "-o", "%T")
            if set(done.stdout.split()) == {"idle"}:
                return
            time.sleep(0.1)
        raise RuntimeError(f"Slurm does not start: {done.stdout}{done.stderr}")

    def environment(self):
        return dict(os.environ, SLURM_CONF=str(self.conf), PATH=os.environ["PATH"] + ":/usr/sbin")

    def run(self, *command, **options):
        options.setdefault("env", self.environment())
        return subprocess.run(self.hosts.outside(*command), capture_output=True, text=True, cwd=self.folder, **options)

    def close(self):
        if self.running:
            subprocess.run(self.hosts.outside("scancel", "--user=root"), capture_output=True, env=self.environment(), timeout=30)
            time.sleep(0.5)
        for process in self.running:
            process.kill()
            process.wait()
        self.hosts.close()
