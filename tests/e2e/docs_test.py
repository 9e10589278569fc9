# SPDX-License-Identifier: Apache-2.0
"""The committed documents are those that the program writes, and their links lead somewhere."""
import re
import subprocess

from harness import ROOT, Case, main


class Docs(Case):
    def test_the_command_line_reference_is_not_stale(self):
        text = self.expect(0, "help", "--markdown").stdout.decode()
        self.assertEqual((ROOT / "docs/reference/cli.md").read_text(), text, "run ./dev docs")

    def test_the_reference_of_rules_is_not_stale(self):
        done = subprocess.run([ROOT / "tools/make_reference", "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_links_between_documents(self):
        pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
        self.assertGreater(len(pages), 8)
        for page in pages:
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
                if "://" not in target:
                    self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")

    def test_every_confusion_has_its_tests(self):
        unit = set()
        for path in (ROOT / "src").rglob("*_test.cpp"):
            unit |= {".".join(found) for found in re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(), re.M)}
        rows = [line for line in (ROOT / "docs/confusions.md").read_text().splitlines() if re.match(r"\| (?!---)", line)]
        self.assertGreater(len(rows), 40)
        for row in rows:
            tests = row.rsplit("|", 2)[1]
            names = re.findall(r"`([^`]+)`", tests)
            self.assertTrue(names or tests.strip() == "tests", f"no test: {row}")
            for name in names:
                known = name in unit if "." in name else (ROOT / "tests/incidents" / name / "expect.json").exists()
                self.assertTrue(known, f"no such test: {name}")

    def test_every_folder_of_the_source_has_a_readme(self):
        for folder in [*(ROOT / "src").iterdir(), ROOT / "apps", ROOT / "rules", ROOT / "tests", ROOT / "tools"]:
            if folder.is_dir():
                self.assertTrue((folder / "README.md").exists(), folder.name)
                self.assertLessEqual(len((folder / "README.md").read_text().splitlines()), 20, folder.name)


if __name__ == "__main__":
    main()
