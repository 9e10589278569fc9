# SPDX-License-Identifier: Apache-2.0
"""holter advise: from evidence, from a saved report, from the id of a collected job; what a shell gets of it."""
import json
import shutil
import subprocess

from harness import ROOT, Case, environment, holter, main

INCIDENTS = ROOT / "tests/incidents"


class Advise(Case):
    def test_a_saved_report_and_its_evidence_give_the_same_advice(self):
        for name in ("sxid_fatal", "gpu_lost_xid_79", "rank0_saves_in_collective", "logs_preempted", "slow_start_server"):
            evidence = INCIDENTS / name / "input"
            report = self.folder / f"{name}.json"
            holter("diagnose", evidence, "-o", "json", "--output", report)
            direct = holter("advise", evidence, "-o", "json")
            saved = holter("advise", report, "-o", "json")
            self.assertEqual(direct.stdout, saved.stdout, name)
            self.assertEqual(direct.returncode, saved.returncode, name)
            advice = json.loads(saved.stdout)
            self.assertEqual(saved.returncode, {"yes": 0, "no": 1, "unknown": 3}[advice["restart"]], name)

    def test_the_advice_of_a_job_that_was_collected_here(self):
        older, newer = (self.folder / f"holter-slurm_88123-2026051{i}T021402Z" for i in (1, 2))
        shutil.copytree(INCIDENTS / "rank0_saves_in_collective" / "input", older)
        shutil.copytree(INCIDENTS / "logs_preempted" / "input", newer)
        done = self.expect(0, "advise", "88123", "-o", "slurm", cwd=self.folder)
        self.assertTrue(done.stdout.decode().endswith("scontrol requeue 88123\n"))
        done = self.expect(2, "advise", "88124", cwd=self.folder)
        self.assertIn("holter collect --slurm 88124", done.stderr.decode())

    def test_hostile_evidence_gives_a_shell_nothing_to_run(self):
        report = {"schema": "holter.report/1", "verdict": {"kind": "hang", "certainty": "confirmed", "summary": "a\ntouch 1"},
                  "decision": {"restart": "now", "why": "b\ntouch 2", "resume_from": "$(touch 3)",
                               "exclude_nodes": ["`touch 4`", "gn7;touch 5", "gn8", "-x"]},
                  "owner": "$(touch 6)",
                  "findings": [{"severity": "application", "needs": ["c\ntouch 7"], "actions": [{"text": "d\rtouch 8"}]}]}
        path = self.folder / "report.json"
        path.write_text(json.dumps(report, indent=1))
        bin_folder = self.folder / "bin"
        bin_folder.mkdir()
        (bin_folder / "scontrol").write_text('#!/bin/sh\necho "$@" >>called\n')
        (bin_folder / "scontrol").chmod(0o700)
        for form in ("slurm", "torchrun", "k8s"):
            script = self.expect(0, "advise", path, "-o", form, "--job", "5").stdout
            if form != "k8s":
                subprocess.run(["sh", "-eu"], input=script, cwd=self.folder, check=True,
                               env=environment(PATH=f"{bin_folder}:/usr/bin:/bin"))
        self.assertEqual((self.folder / "called").read_text(), "update JobId=5 ExcNodeList=gn8\nrequeue 5\n")
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.isdigit()], [])

    def test_what_is_no_report_is_said(self):
        path = self.folder / "report.json"
        path.write_text('{\n "schema": "holter.report/1", ')
        self.assertIn("ends early", self.expect(2, "advise", path).stderr.decode())
        self.assertIn("no Slurm", self.expect(2, "advise", "x", "--job", "1;reboot", cwd=self.folder).stderr.decode()
                      .replace("takes a Slurm job id", "no Slurm"))


if __name__ == "__main__":
    main()
