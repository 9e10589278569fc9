# SPDX-License-Identifier: Apache-2.0
"""Hosts for tests: each a set of namespaces of this machine with its own network address, name, processes and /tmp,
reached through a real sshd. Needs root, iproute2 and openssh-server."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

SSHD = "/usr/sbin/sshd"


def missing():
    """Why there can be no such hosts here, or None."""
    if os.geteuid() != 0:
        return "test hosts need root"
    for program in (SSHD, "ip", "unshare", "nsenter", "ssh"):
        if not shutil.which(program):
            return f"test hosts need {program}"
    probe = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "true"], capture_output=True)
    return None if probe.returncode == 0 else "test hosts need namespaces"


class Hosts:
    def __init__(self, count, tmp_size="64m", init=":"):
        self.count = count
        self.init_script = init  # run on each host before its sshd
        self.name = f"hl{os.getpid()}"
        # Not below /tmp: every host mounts its own there.
        self.folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        self.servers = {}
        os.makedirs("/run/sshd", exist_ok=True)
        try:
            self._keys()
            self._network()
            for i in range(1, count + 1):
                self._start(i, tmp_size)
            self._wait()
        except BaseException:
            self.close()
            raise

    def _run(self, *command):
        subprocess.run(command, check=True, capture_output=True)

    def _keys(self):
        for name in ("host", "id"):
            self._run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name))
        (self.folder / "sshd").write_text(
            f"HostKey {self.folder}/host\nAuthorizedKeysFile {self.folder}/id.pub\nStrictModes no\nUsePAM no\n"
            "PasswordAuthentication no\nPermitRootLogin prohibit-password\nPidFile none\nMaxStartups 100\n")
        config = (f"Host *\n  User root\n  IdentityFile {self.folder}/id\n  IdentitiesOnly yes\n"
                  f"  UserKnownHostsFile {self.folder}/known\n  StrictHostKeyChecking accept-new\n")
        for i in range(1, self.count + 1):
            config += f"Host node{i}\n  HostName 10.77.0.{i}\n"
        (self.folder / "ssh").write_text(config)

    def _network(self):
        hub = f"{self.name}-0"
        self._run("ip", "netns", "add", hub)
        for command in (["link", "set", "lo", "up"], ["link", "add", "br0", "type", "bridge"],
                        ["addr", "add", "10.77.0.254/24", "dev", "br0"], ["link", "set", "br0", "up"]):
            self._run("ip", "-n", hub, *command)

    def _start(self, i, tmp_size):
        hub, net = f"{self.name}-0", f"{self.name}-{i}"
        self._run("ip", "netns", "add", net)
        self._run("ip", "-n", net, "link", "set", "lo", "up")
        self._run("ip", "-n", hub, "link", "add", f"p{i}", "type", "veth", "peer", "name", "eth0", "netns", net)
        self._run("ip", "-n", hub, "link", "set", f"p{i}", "master", "br0", "up")
        self._run("ip", "-n", net, "addr", "add", f"10.77.0.{i}/24", "dev", "eth0")
        self._run("ip", "-n", net, "link", "set", "eth0", "up")
        # No start-up files of this machine's root in the shells of the hosts.
        files = "for f in .bashrc .profile .bash_profile; do test -e ~/$f && mount --bind /dev/null ~/$f; done"
        boot = (f"{files}; hostname node{i}; mount -t tmpfs -o size={tmp_size} tmpfs /tmp; {self.init_script}; "
                f"exec {SSHD} -D -e -f {self.folder}/sshd")
        with open(self.folder / f"log{i}", "wb") as log:
            self.servers[i] = subprocess.Popen(
                ["ip", "netns", "exec", net, "unshare", "--uts", "--mount", "--pid", "--fork", "--kill-child",
                 "--mount-proc", "sh", "-c", boot], stderr=log, stdin=subprocess.DEVNULL)

    def _wait(self):
        for i in self.servers:
            for _ in range(400):
                if b"Server listening" in (self.folder / f"log{i}").read_bytes():
                    break
                time.sleep(0.02)
            else:
                raise RuntimeError(f"sshd of node{i} does not start")

    # --- use ---
    def outside(self, *command):
        """A command in the network of the hosts, on no host."""
        return ["ip", "netns", "exec", f"{self.name}-0", *map(str, command)]

    def ssh(self):
        return f"ssh -F {self.folder}/ssh"

    def on(self, i, script, **options):
        """A shell on host i, not through ssh."""
        return subprocess.run(["nsenter", "-t", str(self.init(i)), "-a", "sh", "-c", script], capture_output=True,
                              text=True, **options)

    def start(self, i, command, **options):
        return subprocess.Popen(["nsenter", "-t", str(self.init(i)), "-a", *map(str, command)],
                                stdin=subprocess.DEVNULL, **options)

    def init(self, i):
        """Process 1 of host i, as seen from outside."""
        children = subprocess.run(["pgrep", "-P", str(self.servers[i].pid)], capture_output=True, text=True)
        return int(children.stdout.split()[0])

    # --- faults ---
    def freeze(self, i):
        os.kill(self.init(i), signal.SIGSTOP)

    def kill(self, i):
        self.servers[i].kill()
        self.servers[i].wait()

    def fill(self, i):
        self.on(i, "head -c 200m /dev/zero >/tmp/fill 2>/dev/null; true")

    def close(self):
        for server in self.servers.values():
            server.kill()
            server.wait()
        for i in range(self.count + 1):
            subprocess.run(["ip", "netns", "del", f"{self.name}-{i}"], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
