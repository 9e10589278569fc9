#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `holter collect --hosts` over emulated hosts (tests/e2e/hosts.py: namespaces of one machine behind a real sshd),
five of which fail in different ways: frozen, gone, packets dropped, /tmp full, and dying during the collection.

  bench/collect_hosts.py --holter build/release/bin/holter --hosts 64 --deadline 15s
Needs root, iproute2, nftables and openssh-server."""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/e2e"))
import hosts  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--holter", default=str(ROOT / "build/release/bin/holter"))
    parser.add_argument("--hosts", type=int, default=64)
    parser.add_argument("--deadline", default="15s")
    parser.add_argument("--parallel", default="32")
    args = parser.parse_args()
    if why := hosts.missing():
        sys.exit(why)
    lab = hosts.Hosts(args.hosts)
    try:
        n = args.hosts
        lab.freeze(n)
        lab.kill(n - 1)
        subprocess.run(["ip", "netns", "exec", f"{lab.name}-{n - 2}", "nft", "add table inet f; add chain inet f i "
                        "{ type filter hook input priority 0; }; add rule inet f i tcp dport 22 drop"], check=True)
        lab.fill(n - 3)
        threading.Timer(2, lambda: lab.kill(n - 4)).start()
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            (scratch / "hostfile").write_text("".join(f"node{i}\n" for i in range(1, n + 1)))
            command = lab.outside(args.holter, "collect", "--hosts", scratch / "hostfile", "--ssh", lab.ssh(), "--output",
                                  scratch / "out", "--deadline", args.deadline, "--parallel", args.parallel, "--no-diagnose")
            start = time.time()
            done = subprocess.run(command, capture_output=True, text=True)
            wall = time.time() - start
            cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
            rows = json.loads((scratch / "out/manifest.json").read_text())["hosts"]
            folder = sum(f.stat().st_size for f in (scratch / "out/hosts").iterdir())
            start = time.time()
            subprocess.run([args.holter, "diagnose", scratch / "out"], capture_output=True)
            print(f"{sum(r['status'] == 'taken' for r in rows)} of {n} hosts in {wall:.1f} s wall "
                  f"({os.cpu_count()} cores, load before {os.getloadavg()[0]:.1f}), {folder / 1e6:.1f} MB, exit {done.returncode}")
            print(f"diagnose of the folder: {time.time() - start:.2f} s; children so far {cpu.ru_utime + cpu.ru_stime:.1f} s CPU")
            for r in rows:
                if r["status"] != "taken":
                    print(f"  {r['host']}: {r['status']}, {r.get('detail')} ({r['took_ms']} ms)")
            times = sorted(r["took_ms"] for r in rows if r["status"] == "taken")
            if times:
                print(f"a host: median {times[len(times) // 2]} ms, slowest {times[-1]} ms")
    finally:
        lab.close()


main()
