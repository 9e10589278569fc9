# SPDX-License-Identifier: Apache-2.0
"""Exit codes, streams, inputs, rules and files of the command line."""
import json
import os
import pathlib
import signal
import subprocess

from harness import HOLTER, ROOT, Case, environment, holter, main


class Usage(Case):
    def test_mistakes_say_what_was_meant_and_exit_with_2(self):
        for arguments, hint in (([], b"--help"), (["diagnoes"], b"'diagnose'"),
                                (["diagnose", "--formt=json", "."], b"'--format'"),
                                (["diagnose", "-o", "jsno", "."], b"'json'"), (["diagnose"], b"PATH"),
                                (["version", "now"], b"it describes this program"),
                                (["completion", "bash", "zsh"], b"one shell"), (["diagnose", "-j", "x", "."], b"number")):
            done = self.expect(2, *arguments)
            self.assertEqual(done.stdout, b"")
            self.assertIn(hint, done.stderr)

    def test_help_opens_with_three_examples(self):
        listing = self.expect(0, "--help").stdout.decode()
        names = [line.split()[0] for line in listing.split("Commands:\n")[1].split("\n\n")[0].splitlines()
                 if line.startswith("  ") and not line.startswith("   ")]
        self.assertIn("diagnose", names)
        for name in names:
            text = self.expect(0, name, "--help").stdout.decode()
            self.assertEqual(text, self.expect(0, "help", name).stdout.decode())
            examples = text.split("\n\n")[1].splitlines()
            self.assertEqual(examples[0], "Examples:", name)
            self.assertGreaterEqual(sum(not line.startswith("   ") for line in examples[1:]), 3, name)
            self.assertLessEqual(max(map(len, text.splitlines())), 110, name)

    def test_version(self):
        facts = json.loads(self.expect(0, "version", "--json").stdout)
        self.assertEqual(facts["schema"], "holter.version/1")
        self.assertIn(facts["version"].encode(), self.expect(0, "--version").stdout)

    def test_doctor_hints_at_everything_that_is_missing(self):
        probes = json.loads(self.expect(0, "doctor", "--json").stdout)["probes"]
        self.assertGreater(len(probes), 8)
        for probe in probes:
            self.assertEqual(probe["hint"] == "", probe["state"] == "yes", probe)


class Inputs(Case):
    def test_nothing_to_read_is_2(self):
        empty = self.folder / "empty"
        empty.mkdir()
        for path in (empty, self.folder / "absent"):
            done = self.expect(2, "diagnose", path)
            self.assertEqual(done.stdout, b"")
            self.assertIn(b"hint: ", done.stderr)

    def test_no_permission_is_4_beside_a_report_and_2_alone(self):
        secret = self.folder / "secret.log"
        secret.write_text("x\n")
        secret.chmod(0)
        self.folder.chmod(0o755)
        drop = {"user": 65534} if os.geteuid() == 0 else {}
        done = self.expect(4, "diagnose", self.log.parent, secret, "-o", "json", **drop)
        self.assertEqual(json.loads(done.stdout)["schema"], "holter.report/1")
        self.expect(2, "diagnose", secret, **drop)

    def test_standard_input_is_read_like_a_file(self):
        done = holter("diagnose", "-", "-o", "json", input=self.log.read_bytes())
        self.assertIn(done.returncode, (0, 1, 3))
        report = json.loads(done.stdout)
        self.assertEqual([f["path"] for f in report["evidence"]["files"]], ["<stdin>"])

    def test_a_long_argument_list(self):
        paths = []
        for n in range(5000):
            paths.append(self.folder / f"rank{n}.log")
            paths[-1].write_text(f"step {n}\n")
        report = json.loads(holter("diagnose", *paths, "-o", "json").stdout)
        self.assertEqual(len(report["evidence"]["files"]), 5000)

    def test_a_path_that_begins_with_a_dash(self):
        (self.folder / "-o").write_text("hello\n")
        done = holter("diagnose", "-o", "json", "--", "-o", cwd=self.folder)
        self.assertEqual(json.loads(done.stdout)["evidence"]["files"][0]["path"], "-o")


class Output(Case):
    def test_data_on_stdout_only_and_equal_bytes(self):
        first = holter("diagnose", self.log.parent, "-o", "json", "--reproducible", "-j1")
        self.assertIn(first.returncode, (1, 3))
        self.assertEqual(first.stderr, b"")
        json.loads(first.stdout)
        for _ in range(3):
            again = holter("diagnose", self.log.parent, "-o", "json", "--reproducible", "-j2")
            self.assertEqual(again.stdout, first.stdout)

    def test_created_is_there_unless_reproducible(self):
        self.assertIn("created", json.loads(holter("diagnose", self.log, "--json").stdout))
        self.assertNotIn("created", json.loads(holter("diagnose", self.log, "--json", "--reproducible").stdout))

    def test_file_output_takes_its_format_from_the_name(self):
        for name, begins in (("r.json", b"{"), ("r.md", b"#"), ("r.html", b"<!")):
            path = self.folder / name
            done = holter("diagnose", self.log, "--output", path)
            self.assertIn(done.returncode, (1, 3), done.stderr)
            self.assertEqual(done.stdout, b"")
            self.assertTrue(path.read_bytes().startswith(begins), path.read_bytes()[:80])
        self.assertEqual([p for p in self.folder.iterdir() if ".part" in p.name], [])
        self.expect(4, "diagnose", self.log, "--output", self.folder / "no" / "r.json")

    def test_a_full_disk_is_4(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("no /dev/full here")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([HOLTER, "--help"], stdout=full, stderr=subprocess.PIPE, env=environment())
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"cannot write", done.stderr)

    def test_a_reader_that_leaves_ends_it_by_sigpipe(self):
        for ignored in (False, True):
            read_end, write_end = os.pipe()
            os.close(read_end)
            setup = (lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)) if ignored else None
            done = subprocess.run([HOLTER, "help", "--man"], stdout=write_end, stderr=subprocess.PIPE, env=environment(),
                                  preexec_fn=setup)
            os.close(write_end)
            self.assertEqual(done.returncode, -signal.SIGPIPE)
            self.assertEqual(done.stderr, b"")

    def test_environment_gives_defaults_and_the_command_line_wins(self):
        env = environment(HOLTER_FORMAT="json")
        self.assertTrue(holter("diagnose", self.log, env=env).stdout.startswith(b"{"))
        self.assertFalse(holter("diagnose", self.log, "-o", "text", env=env).stdout.startswith(b"{"))
        self.expect(2, "diagnose", self.log, env=environment(HOLTER_FORMAT="xml"))

    def test_fail_on_moves_the_threshold(self):
        usual = holter("diagnose", self.log, "--json")
        self.assertEqual(usual.returncode, 1, usual.stdout[:500])
        self.assertNotEqual(holter("diagnose", self.log, "--json", "--fail-on", "replace").returncode, 1)


class Rules(Case):
    SIGNATURE = """
[[signature]]
id = "site.quota"
pattern = ['QUOTA-EXCEEDED on (?P<volume>\\S+)']
meaning = "The volume of the site is full"
causes = { storage_or_checkpoint_io = 0.9 }
"""

    def rules(self, text, name="signatures/site.toml"):
        path = self.folder / "rules" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return self.folder / "rules"

    def cause(self):
        lines = (ROOT / "rules/causes.csv").read_text().splitlines()
        return next(line.split(",")[0] for line in lines if "disk" in line or "storage" in line)

    def test_a_signature_of_the_site_is_found(self):
        rules = self.rules(self.SIGNATURE.replace("storage_or_checkpoint_io", self.cause()))
        log = self.folder / "site.log"
        log.write_text("2026-01-02 03:04:05 ERROR QUOTA-EXCEEDED on vol7\n")
        with_rules = holter("diagnose", log, "--json", "--rules", rules)
        self.assertIn(b"QUOTA-EXCEEDED", with_rules.stdout)
        self.assertNotIn(b"QUOTA-EXCEEDED", holter("diagnose", log, "--json").stdout)
        self.assertIn(b"is added", holter("diagnose", log, "--json", "-v", "--rules", rules).stderr)

    def test_broken_rules_are_a_usage_error_that_names_the_file(self):
        for text, part in (("[[signature]\n", b"site.toml"), (self.SIGNATURE, b"storage_or_checkpoint_io")):
            self.assertIn(part, self.expect(2, "diagnose", self.log, "--rules", self.rules(text)).stderr)
        self.expect(2, "diagnose", self.log, "--rules", self.folder / "none")


if __name__ == "__main__":
    main()
