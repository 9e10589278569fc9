# SPDX-License-Identifier: Apache-2.0
"""Completion in the shells that are installed, and the manual page through groff."""
import shutil
import subprocess

from harness import Case, environment, holter, main


class Completion(Case):
    def complete(self, *words):
        script = self.expect(0, "completion", "bash").stdout.decode()
        quoted = " ".join(f"'{w}'" for w in words)
        ask = f"COMP_WORDS=(holter {quoted}); COMP_CWORD={len(words)}; _holter; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        done = subprocess.run(["bash", "--norc", "-c", script + "\n" + ask], capture_output=True, text=True,
                              cwd=self.folder, env=environment())
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash(self):
        self.assertEqual(self.complete("diag"), ["diagnose"])
        self.assertIn("--fail-on", self.complete("diagnose", "--f"))
        self.assertIn("gpu_fatal", self.complete("diagnose", "--fail-on", ""))
        self.assertEqual(self.complete("diagnose", "--fail-on", "gpu"), ["gpu_fatal"])
        self.assertEqual(self.complete("diagnose", "--color", "al"), ["always"])
        self.assertEqual(self.complete("completion", "f"), ["fish"])
        self.assertEqual(self.complete("diagnose", "jo"), ["job"])
        self.assertEqual(self.complete("version", "--js"), ["--json"])

    def test_other_shells_accept_their_script(self):
        for shell in ("bash", "zsh", "fish"):
            if not shutil.which(shell):
                continue
            script = self.expect(0, "completion", shell).stdout
            done = subprocess.run([shell, "-n"], input=script, capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, b""), shell)

    def test_manual_page_has_no_warning_and_names_every_command(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        page = self.expect(0, "help", "--man").stdout
        done = subprocess.run(["groff", "-ww", "-man", "-Tascii", "-P-cbu"], input=page, capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        for word in (b"holter diagnose", b"EXIT STATUS", b"NO_COLOR", b"--fail-on"):
            self.assertIn(word, done.stdout)


if __name__ == "__main__":
    main()
