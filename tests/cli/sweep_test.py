"""Sweeps on back ends that need no device: what is measured, what is printed where, interruption and resumption."""
import json
import os
import resource
import signal
import subprocess
import unittest

from support import PROGRAM, QUICK, ProgramTest

MODEL = ["--backend", "model:tavor"]


def outcome_words(record):
    return [next(k for k in ("skipped", "failed", "measured") if k in json.dumps(point)) for point in record["points"]]


class Record(ProgramTest):
    def test_standard_output_is_the_record_alone(self):
        result = self.run_ok("sweep", *MODEL, "--size", "64,4096", "--out", "-")
        record = json.loads(result.stdout)
        self.assertEqual(record["source"], "model")
        self.assertEqual(len(record["points"]), 4)
        self.assertIn("MODEL", result.stderr)
        self.assertIn("MB/s", result.stderr)

    def test_quiet_leaves_the_record_only(self):
        result = self.run_ok("--quiet", "sweep", *MODEL, "--size", "64", "--out", "-")
        json.loads(result.stdout)
        self.assertEqual(result.stderr, "")
        result = self.run_ok("sweep", "--quiet", *MODEL, "--size", "64", "--out", "run.json")
        self.assertEqual(result.stdout + result.stderr, "")
        self.assertEqual([f.name for f in self.folder.iterdir()], ["run.json"])

    def test_file_is_written_and_named_and_no_journal_stays(self):
        result = self.run_ok("sweep", *MODEL, "--size", "64", "--out", "run.json")
        self.assertIn("record: run.json", result.stdout)
        self.assertEqual([f.name for f in self.folder.iterdir()], ["run.json"])
        self.run_ok("validate", "run.json")

    def test_without_out_nothing_is_saved_and_the_way_to_is_told(self):
        result = self.run_ok("sweep", *MODEL, "--size", "64")
        self.assertIn("--out FILE", result.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(result.stderr, "")

    def test_default_plan_is_the_two_mtus_of_the_mail_and_sizes_at_their_edges(self):
        record = self.sweep_record(*MODEL)
        spec = record.get("spec") or record["plan"]
        self.assertEqual(spec["path_mtus_bytes"], [1024, 2048])
        self.assertEqual(spec["connections"], ["mpi"])
        self.assertEqual(spec["header_bytes"], 50)
        for size in (1, 2**20, 1023, 1024, 1025, 3 * 2048 - 1, 4 * 2048 + 1):
            self.assertIn(size, spec["message_sizes_bytes"])

    def test_sizes_join_presets_ranges_and_lists(self):
        record = self.sweep_record(*MODEL, "--size", "posted:tavor-mpi-2006,8:32,1K:1200:+100")
        spec = record.get("spec") or record["plan"]
        self.assertEqual(spec["message_sizes_bytes"],
                         [8, 16, 32, 512, 1024, 1124, 1500, 1800, 2048, 4096, 131072])

    def test_posted_preset_gives_an_rc_run_the_wire_sizes(self):
        record = self.sweep_record(*MODEL, "--connection", "rc", "--size", "posted:tavor-mpi-2006")
        spec = record.get("spec") or record["plan"]
        self.assertEqual(spec["message_sizes_bytes"], [562, 1074, 1550, 1850, 2098, 4146, 131072])
        self.assertEqual(spec["header_bytes"], 0)


class Tables(ProgramTest):
    def test_every_table_of_a_model_says_so(self):
        text = self.run_ok("sweep", *MODEL, "--connection", "mpi,rc,ud", "--size", "64,1024").stdout
        titles = [line for line in text.splitlines() if "bandwidth in MB/s" in line]
        self.assertEqual(len(titles), 3, text)
        for title in titles:
            self.assertTrue(title.startswith("MODEL"), title)
        self.assertIn("wire B", text)
        self.assertIn("exact", text)

    def test_what_is_skipped_is_listed_once_with_its_reason(self):
        text = self.run_ok("sweep", *MODEL, "--mtu", "1K,4K", "--size", "64,128,256").stdout
        self.assertEqual(text.count("4096; it knows 1024 and 2048"), 1, text)
        self.assertIn("3 points", text)

    def test_a_run_of_nothing_but_skipped_points_has_failed(self):
        result = self.run_program("sweep", *MODEL, "--pattern", "ping-pong", "--size", "64")
        self.assertEqual(result.returncode, 3, result)
        self.assertIn("no point could be measured", result.stderr)

    def test_the_null_back_end_is_measured(self):
        record = self.sweep_record("--backend", "null", *QUICK, "--size", "64")
        self.assertEqual(record["source"], "measured")
        self.assertEqual(len(record["points"]), 2)

    def test_a_pipe_gets_the_record_and_no_journal(self):
        os.mkfifo(self.folder / "pipe")
        (self.folder / "pipe.journal").write_text("of something else")
        reader = subprocess.Popen(["cat", "pipe"], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)  # before the wait
        self.run_ok("sweep", "--backend", "null", *QUICK, "--size", "64", "--out", "pipe")
        self.assertEqual(json.loads(reader.communicate(timeout=60)[0])["source"], "measured")
        self.assertEqual((self.folder / "pipe.journal").read_text(), "of something else")

    def test_an_existing_record_is_replaced_only_on_demand(self):
        (self.folder / "run.json").write_text("old")
        quick = ["sweep", "--backend", "null", *QUICK, "--size", "64", "--ci", "100%", "--max-time", "0",
                 "--out", "run.json"]
        self.assert_refused(2, ["run.json", "--overwrite"], *quick)
        self.assertEqual((self.folder / "run.json").read_text(), "old")
        self.run_ok(*quick, "--overwrite")
        self.assertEqual([f.name for f in self.folder.iterdir()], ["run.json"])
        self.run_ok("validate", "run.json")

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, "sweep", *MODEL, "--size", "64"], stdout=full, stderr=subprocess.PIPE,
                                    text=True, timeout=60, cwd=self.folder)
        self.assertEqual(result.returncode, 3, result)
        self.assertIn("standard output", result.stderr)

    def test_no_colour_when_it_is_no_terminal(self):
        self.assertNotIn("\x1b", self.run_ok("sweep", *MODEL, "--size", "4096").stdout)


class Interruption(ProgramTest):
    # Only the trial limit tells the two apart, and it is no part of the plan: the second run may go on with the first.
    plan = ["--backend", "memset", "--size", "1M", "--mtu", "1K", "--messages", "16", "--arrangements", "1",
            "--min-trials", "3", "--out", "run.json"]
    endless = ["--max-trials", "100000", "--ci", "0.0000001%"]
    short = ["--max-trials", "3"]

    def interrupt(self, number):
        with subprocess.Popen([PROGRAM, "sweep", *self.plan, *self.endless], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
            introduction = program.stdout.readline()
            self.assertIn("memset", introduction)
            program.send_signal(number)
            _, errors = program.communicate(timeout=60)
        return program.returncode, errors

    def test_a_signal_ends_the_run_cleanly_and_resume_completes_it(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                code, errors = self.interrupt(number)
                self.assertEqual(code, 3, errors)
                self.assertIn("interrupted", errors)
                self.assertNotEqual([f.name for f in self.folder.iterdir()], ["run.json"], "the journal is gone")
                self.run_ok("validate", "run.json")
                self.run_ok("sweep", *self.plan, *self.short, "--resume")
                self.assertEqual([f.name for f in self.folder.iterdir()], ["run.json"])
                self.assertTrue(json.loads((self.folder / "run.json").read_text())["points"])
                (self.folder / "run.json").unlink()

    def test_resume_refuses_another_plan_and_a_missing_journal(self):
        self.assert_refused(2, ["journal"], "sweep", *self.plan, *self.short, "--resume")
        self.interrupt(signal.SIGINT)
        self.assert_refused(2, ["plan"], "sweep", *self.plan, *self.short, "--resume", "--tx-depth", "17")
        other = ["null" if word == "memset" else word for word in self.plan]
        self.assert_refused(2, ["null", "memset"], "sweep", *other, *self.short, "--resume")

    def test_a_record_that_cannot_be_written_is_kept_in_the_journal(self):
        with subprocess.Popen([PROGRAM, "sweep", *self.plan, *self.endless], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
            program.stdout.readline()
            (self.folder / "run.json").mkdir()  # the name was free when the run began
            program.send_signal(signal.SIGINT)
            _, errors = program.communicate(timeout=60)
        self.assertEqual(program.returncode, 3, errors)
        self.assertRegex(errors, r"run\.json\.journal: .*--resume")
        (self.folder / "run.json").rmdir()
        self.assertEqual([f.name for f in self.folder.iterdir()], ["run.json.journal"])
        self.run_ok("sweep", *self.plan, *self.short, "--resume")
        self.run_ok("validate", "run.json")

    def test_a_journal_that_is_left_is_not_overwritten(self):
        self.interrupt(signal.SIGINT)
        self.assert_refused(2, ["ended early", "--resume"], "sweep", *self.plan, *self.short)

    def test_a_second_run_is_told_that_the_file_is_in_use(self):
        with subprocess.Popen([PROGRAM, "sweep", *self.plan, *self.endless], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
            program.stdout.readline()
            self.assert_refused(2, ["in use by another run"], "sweep", *self.plan, *self.short)
            program.send_signal(signal.SIGINT)
            program.communicate(timeout=60)

    def test_a_file_made_during_the_run_is_left_alone(self):
        with subprocess.Popen([PROGRAM, "sweep", *self.plan, *self.endless], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
            program.stdout.readline()
            (self.folder / "run.json").write_text("somebody else's")
            program.send_signal(signal.SIGINT)
            _, errors = program.communicate(timeout=60)
        self.assertEqual(program.returncode, 3, errors)
        self.assertIn("made by somebody else", errors)
        self.assertEqual((self.folder / "run.json").read_text(), "somebody else's")
        self.assertTrue((self.folder / "run.json.journal").exists())

    def test_resume_warns_of_limits_that_differ(self):
        self.interrupt(signal.SIGINT)
        result = self.run_ok("sweep", *self.plan, *self.short, "--resume")
        self.assertIn("--max-trials 100000", result.stderr)

    def test_a_file_size_limit_is_a_failed_write(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        plan = ["1:1M" if word == "1M" else word for word in self.plan]
        result = subprocess.run([PROGRAM, "sweep", *plan, "--max-trials", "3"], cwd=self.folder,
                                env=self.environment, preexec_fn=limit, capture_output=True, text=True, timeout=60,
                                check=False)
        self.assertEqual(result.returncode, 3, result)
        self.assertIn("cannot write", result.stderr)
        self.assertTrue((self.folder / "run.json.journal").exists())


if __name__ == "__main__":
    unittest.main()
