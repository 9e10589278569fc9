# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the program under test, evidence to read, a way to run it."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOLTER = os.environ.get("HOLTER", str(ROOT / "build/release/bin/holter"))

# Text written by us in the form of PyTorch's watchdog and a Python traceback.
LOG = """\
[rank0]:[E1130 10:11:12.000001 4101 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: \
WorkNCCL(SeqNum=88, OpType=ALLREDUCE, NumelIn=512, NumelOut=512, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.
[rank1]: Traceback (most recent call last):
[rank1]:   File "train.py", line 41, in <module>
[rank1]:     main()
[rank1]: FileNotFoundError: [Errno 2] No such file or directory: '/data/shard-0007.tar'
"""

# What must not leak from the caller's environment into a test.
NEUTRAL = {"NO_COLOR", "CLICOLOR_FORCE", "TERM", "LANG", "LC_ALL", "LC_CTYPE"}


def environment(**extra):
    env = {k: v for k, v in os.environ.items() if k not in NEUTRAL and not k.startswith("HOLTER_")}
    return env | extra


def holter(*arguments, env=None, **options):
    options.setdefault("timeout", 60)
    return subprocess.run([HOLTER, *map(str, arguments)], capture_output=True, env=env or environment(), **options)


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.log = self.folder / "job" / "train.log"
        self.log.parent.mkdir()
        self.log.write_text(LOG)

    def expect(self, code, *arguments, **options):
        done = holter(*arguments, **options)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done


def main():
    sys.exit(0 if unittest.main(exit=False, verbosity=1).result.wasSuccessful() else 1)
