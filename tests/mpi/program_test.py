"""mtuscope-mpi from outside: two ranks of this machine, started as a user starts them."""
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.environ["MTUSCOPE_MPI"]
VALIDATOR = os.environ["MTUSCOPE"]
LAUNCHER = shlex.split(os.environ["MTUSCOPE_MPIEXEC"])
# A sweep that takes milliseconds: one round of few messages.
QUICK = ["--messages", "100", "--arrangements", "1", "--min-trials", "3", "--max-trials", "3"]
# One that outlives every patience of this file, its trials short enough to be many.
ENDLESS = ["--size", "64", "--messages", "1000", "--min-trials", "50000", "--max-trials", "100000", "--arrangements", "1"]
PATIENCE_S = 60


def ranks_of(pid):
    """The mtuscope-mpi processes below a launcher."""
    found = []
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        name = pathlib.Path(f"/proc/{child}/comm").read_text().strip()
        if name == pathlib.Path(PROGRAM).name[:15]:
            found.append(int(child))
    return found


class MpiProgramTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def launch(self, count, *arguments):
        return [*LAUNCHER, str(count), PROGRAM, *map(str, arguments)]

    def run_ranks(self, *arguments, count=2):
        return subprocess.run(self.launch(count, *arguments), cwd=self.folder, capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False, stdin=subprocess.DEVNULL)

    def sweep(self, *arguments):
        result = self.run_ranks("sweep", *QUICK, *arguments, "--out", "record.json", "--quiet")
        self.assertEqual(result.returncode, 0, result)
        checked = subprocess.run([VALIDATOR, "validate", "record.json"], cwd=self.folder, capture_output=True,
                                 text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual(checked.returncode, 0, checked)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["record.json"])
        return json.loads((self.folder / "record.json").read_text())

    def assert_refused(self, code, words, *arguments, count=2):
        """One line of ours that names what failed (the launcher adds its own), the exit code, nothing left behind."""
        result = self.run_ranks(*arguments, count=count)
        self.assertEqual(result.returncode, code, result)
        ours = [line for line in result.stderr.splitlines() if line.startswith("mtuscope-mpi: ")]
        self.assertEqual(len(ours), 1, result)
        for word in words:
            self.assertIn(word, ours[0])
        self.assertEqual(list(self.folder.iterdir()), [])

    def launched(self, *arguments, launcher=None):
        """`mtuscope mpi` with this machine's launcher; what follows -- is for the ranks."""
        command = shlex.join(launcher or [*LAUNCHER, "2"])
        return subprocess.run([VALIDATOR, "mpi", "--launcher", command, "--mpi-program", PROGRAM, *map(str, arguments)],
                              cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    def test_one_launch_per_path_mtu_and_arrangement(self):
        result = self.launched("--mtu", "1K,2K", "--out", "record.json", "--", "--size", "64,4K", "--messages", "50",
                               "--pattern", "ping-pong,stream", "--arrangements", "2", "--min-trials", "4",
                               "--max-trials", "4")
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["record.json"])
        record = json.loads((self.folder / "record.json").read_text())
        self.assertTrue(record["complete"])
        self.assertEqual([(s["arrangement"], s["proof"]["asked_bytes"]) for s in record["sessions"]],
                         [(0, 1024), (0, 2048), (1, 2048), (1, 1024)])
        self.assertEqual(len(record["points"]), 8)
        columns = {name: i for i, name in enumerate(record["trial_columns"])}
        for point in record["points"]:
            self.assertEqual([row[columns["round"]] for row in point["trials"]], [0, 1, 2, 3])
            self.assertEqual([row[columns["arrangement"]] for row in point["trials"]], [0, 0, 1, 1])
            if point["pattern"] == "ping-pong":
                self.assertEqual(point["summary"]["latency_distribution"]["sample_count"], 200)
        checked = subprocess.run([VALIDATOR, "validate", "record.json"], cwd=self.folder, capture_output=True,
                                 text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual(checked.returncode, 0, checked)

    def test_another_setting_is_named_in_the_proof(self):
        result = self.launched("--mtu-env", "SEG_SIZE=%d", "--mtu", "1K", "--", *QUICK, "--size", "64")
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("asked by SEG_SIZE=1024", result.stdout)

    def test_a_rank_is_told_apart_before_mpi_starts(self):
        self.assert_refused(2, ["--env", "=rank-0"], "sweep", *QUICK, "--env", "=rank-{rank}")

    def test_a_launcher_that_cannot_launch_is_quoted(self):
        result = self.launched("--mtu", "1K", "--", *QUICK, launcher=["sh", "-c", "echo no route to host b >&2; exit 7"])
        self.assertEqual(result.returncode, 3, result)
        self.assertIn("exit code 7", result.stderr)
        self.assertIn("no route to host b", result.stderr)
        for wrong in (["--", "--mtu", "1K"], ["--", "--backend", "verbs"], ["--mtu-knob", "lam", "--"],
                      ["--mtu-env", "X", "--"], ["--", "--size", "0"], ["--", "--nonsense"]):
            self.assertEqual(self.launched(*wrong).returncode, 2, wrong)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_all_patterns_in_one_record(self):
        record = self.sweep("--pattern", "ping-pong,stream,bidirectional", "--size", "1,4K,64K,1M", "--header", "50")
        points = record["points"]
        self.assertEqual(len(points), 12)
        for point in points:
            self.assertEqual(point["connection"], "mpi")
            self.assertIsNone(point["path_mtu_bytes"])
            self.assertEqual(point["wire_size_bytes"], point["message_size_bytes"] + 50)
            self.assertEqual(point["tx_depth"], 64)
            self.assertEqual(point["outcome"], "measured", point)
            latency = point["pattern"] == "ping-pong"
            self.assertEqual("latency_histogram" in point, latency)
        self.assertEqual(record["header"]["backend"] if "header" in record else record["backend"], "mpi")

    def test_the_window_and_the_path_mtu_asked_are_recorded(self):
        record = self.sweep("--window", "7", "--mtu", "2K", "--size", "100")
        point = record["points"][0]
        self.assertEqual((point["tx_depth"], point["rx_depth"], point["path_mtu_bytes"]), (7, 14, 2048))
        proof = record["sessions"][0]
        self.assertIn("asked, not proved", json.dumps(proof))

    def test_tables_say_that_the_path_mtu_is_not_stated(self):
        result = self.run_ranks("sweep", *QUICK, "--size", "64")
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("not stated", result.stdout)

    def test_wrong_rank_counts(self):
        self.assert_refused(2, ["1 rank", "mpirun -np 2"], "sweep", count=1)
        self.assert_refused(2, ["3 ranks", "--pairs"], "sweep", count=3)

    def test_options_that_mpi_does_not_have(self):
        self.assert_refused(2, ["--mtu", "at launch"], "sweep", "--mtu", "1K,2K")
        self.assert_refused(2, ["--backend", "null"], "sweep", "--backend", "null")
        self.assert_refused(2, ["--ib-dev", "settings of its own"], "sweep", "--ib-dev", "none0")
        self.assert_refused(2, ["--peer", "mtuscope-mpi sweep --help"], "sweep", "--peer", "localhost")
        self.assert_refused(2, ["out", "no-such-folder"], "sweep", "--out", "no-such-folder/record.json")
        self.assert_refused(3, ["no point could be measured", "--qp"], "sweep", *QUICK, "--size", "8", "--qp", "2",
                            "--quiet")

    def test_verbs_without_a_device(self):
        self.assert_refused(2, ["no-such-device"], "sweep", "--backend", "verbs", "--ib-dev", "no-such-device")

    def test_help_once(self):
        result = self.run_ranks("--help")
        self.assertEqual((result.returncode, result.stdout.count("sweep")), (0, 1), result)

    def start_endless(self, *options):
        process = subprocess.Popen(self.launch(2, "sweep", *ENDLESS, *options, "--out", "record.json", "--quiet"),
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   stdin=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        limit = time.monotonic() + PATIENCE_S
        journal = self.folder / "record.json.journal"
        while not journal.exists() or journal.read_text(errors="replace").count("\n") < 20:
            self.assertIsNone(process.poll(), "it ended by itself")
            self.assertLess(time.monotonic(), limit, "no trial was ever written")
            time.sleep(0.01)  # a poll of a file, not a wait for time to pass
        return process, journal

    def test_a_rank_that_dies_ends_the_run_and_leaves_the_trials(self):
        process, journal = self.start_endless()
        os.kill(ranks_of(process.pid)[-1], signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
        self.assertNotEqual(process.returncode, 0)
        self.assertGreaterEqual(journal.read_text().count("\n"), 20)

    def test_a_rank_that_hangs_ends_the_run_at_the_deadline(self):
        process, journal = self.start_endless("--timeout", "1s")
        ranks = ranks_of(process.pid)
        os.kill(ranks[-1], signal.SIGSTOP)
        self.addCleanup(lambda: pathlib.Path(f"/proc/{ranks[-1]}").exists() and os.kill(ranks[-1], signal.SIGKILL))
        _, words = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 3, words)
        self.assertRegex(words, r"mtuscope-mpi: [^\n]*(no message moved|did not answer in time|takes no messages)")
        self.assertGreaterEqual(journal.read_text().count("\n"), 20)

    def test_resume_completes_a_killed_run(self):
        process, _ = self.start_endless()
        for rank in ranks_of(process.pid):
            os.kill(rank, signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
        result = self.run_ranks("sweep", *ENDLESS, "--max-time", "100ms", "--out", "record.json", "--quiet", "--resume")
        self.assertEqual(result.returncode, 0, result)
        record = json.loads((self.folder / "record.json").read_text())
        self.assertGreater(len(record["points"][0]["trials"]), 10)

    def pairs(self, count, *arguments, code=0):
        """A run of pairs: its result and its record, which is valid."""
        result = self.run_ranks("sweep", *QUICK, "--size", "64", "--out", "record.json", *arguments, count=count)
        self.assertEqual(result.returncode, code, result)
        checked = subprocess.run([VALIDATOR, "validate", "record.json"], cwd=self.folder, capture_output=True,
                                 text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual(checked.returncode, 0, checked)
        return result, json.loads((self.folder / "record.json").read_text())

    def ranks_in(self, record):
        """Who met whom, by rank numbers: ranks of one host are called host:rank."""
        met = []
        for point in record["points"]:
            self.assertEqual(point["outcome"], "measured")
            met.append(tuple(int(point["pair"][end].rsplit(":", 1)[1]) for end in ("initiator", "responder")))
        return sorted(met)

    def test_every_pair_of_an_odd_number_of_ranks_once(self):
        result, record = self.pairs(5, "--pairs", "all")
        self.assertEqual(self.ranks_in(record), [(i, j) for i in range(5) for j in range(i + 1, 5)])
        self.assertTrue(record["complete"])
        self.assertEqual(record["pairs"], {"schedule": "all", "both_directions": False, "at_once": None})
        self.assertEqual([rank["name"].rsplit(":", 1)[1] for rank in record["environment"]["ranks"]], list("01234"))
        self.assertIn("10 pairs in 5 rounds", result.stdout)
        self.assertIn("5 ranks on 1 host", result.stderr)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["record.json"])

    def test_a_list_of_pairs_in_both_directions(self):
        (self.folder / "pairs.txt").write_text("# two of the three\n0 1\n2 1\n")
        result, record = self.pairs(4, "--pairs", "halves", "--pairs-at-once", "1")
        self.assertEqual(self.ranks_in(record), [(0, 2), (1, 3)])
        self.assertEqual(result.stdout.count("round 1 of 1: 1 pair,"), 2)
        os.remove(self.folder / "record.json")
        _, record = self.pairs(3, "--pairs", "list:pairs.txt", "--both-directions", "--pattern", "ping-pong")
        self.assertEqual(self.ranks_in(record), [(0, 1), (1, 0), (1, 2), (2, 1)])

    def test_pairs_that_cannot_be_planned(self):
        (self.folder / "pairs.txt").write_text("0 1\n1 7\n")
        words = ("sweep", *QUICK, "--size", "64")
        for refused, arguments in (("--out FILE", ("--pairs", "all")),
                                   ("not \"some\"", ("--pairs", "some", "--out", "r.json")),
                                   ("line 2", ("--pairs", "list:pairs.txt", "--out", "r.json")),
                                   ("cannot read", ("--pairs", "list:none.txt", "--out", "r.json"))):
            result = self.run_ranks(*words, *arguments, count=3)
            ours = [line for line in result.stderr.splitlines() if line.startswith("mtuscope-mpi: --pairs")]
            self.assertEqual((result.returncode, len(ours)), (2, 1), result)
            self.assertIn(refused, ours[0])
        self.assertEqual([file.name for file in self.folder.iterdir()], ["pairs.txt"])
        self.assert_refused_alone(words)

    def assert_refused_alone(self, words):
        result = self.run_ranks(*words, "--pairs", "all", "--out", "r.json", count=1)
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("1 rank only", result.stderr)

    def start_pairs(self, count, *arguments):
        """A run of pairs that takes a while, when its first round is in the journal."""
        command = self.launch(count, "sweep", "--pairs", "all", "--size", "64", "--arrangements", "1", "--min-trials",
                              "3", "--max-trials", "3", "--trial-time", "300ms", "--out", "record.json", *arguments)
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        journal = self.folder / "record.json.journal"
        deadline = time.monotonic() + PATIENCE_S
        while not journal.exists() or journal.read_text().count("\n") < 1 + count // 2:
            self.assertIsNone(process.poll(), "it ended before its first round")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return process, command

    def test_a_rank_that_dies_leaves_the_finished_rounds_and_resume_measures_the_others(self):
        process, command = self.start_pairs(6)
        os.kill(ranks_of(process.pid)[-1], signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
        self.assertNotEqual(process.returncode, 0)
        journal = self.folder / "record.json.journal"
        finished = journal.read_text().splitlines()[1:4]
        result = subprocess.run([*command, "--resume"], cwd=self.folder, capture_output=True, text=True,
                                timeout=PATIENCE_S, check=False)
        self.assertEqual(result.returncode, 0, result)
        self.assertNotIn("round 1 of 5", result.stdout)
        record = json.loads((self.folder / "record.json").read_text())
        self.assertEqual(len(self.ranks_in(record)), 15)
        self.assertFalse(journal.exists())
        trials = {tuple(map(tuple, point["trials"])) for point in record["points"]}
        for line in finished:
            self.assertIn(tuple(map(tuple, json.loads(line)["points"][0]["trials"])), trials)

    def test_the_user_ends_a_run_of_pairs_between_rounds(self):
        process, command = self.start_pairs(6)
        os.kill(ranks_of(process.pid)[0], signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 3, errors)
        self.assertIn("of 15 pairs were measured", errors)
        record = json.loads((self.folder / "record.json").read_text())
        self.assertFalse(record["complete"])
        self.assertGreaterEqual(len(record["points"]), 3)
        for change in (("--size", "128"), ("--pairs", "ring")):
            other = subprocess.run([*command, "--resume", *change], cwd=self.folder, capture_output=True, text=True,
                                   timeout=PATIENCE_S, check=False)
            self.assertEqual(other.returncode, 2, other)
            self.assertIn("belongs to another run", other.stderr)

    def test_a_round_has_a_deadline(self):
        (self.folder / "pairs.txt").write_text("1 2\n")
        result = self.run_ranks("sweep", "--pairs", "list:pairs.txt", "--size", "64", "--arrangements", "1", "--min-trials", "3",
                                "--max-trials", "3", "--trial-time", "1s", "--round-timeout", "300ms", "--out", "record.json",
                                count=3)
        self.assertEqual(result.returncode, 3, result)
        self.assertIn("was lost: no report within", result.stderr)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["pairs.txt"])

    def test_a_rank_tells_the_faults_of_its_own_options(self):
        (self.folder / "options-0").write_text("")
        (self.folder / "options-1").write_text("--nonsense")
        result = self.run_ranks("sweep", *QUICK, "--options-file", "options-{rank}", "--timeout", "3s")
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("mtuscope-mpi: The following argument was not expected: --nonsense", result.stderr)

    def test_options_of_a_host_from_its_file(self):
        host = os.uname().nodename.split(".")[0]
        (self.folder / f"{host}.options").write_text("# this host\n--window 8\n--size '64,128'\n")
        record = self.sweep_with_files("--options-file", "{host}.options")
        self.assertEqual({point["message_size_bytes"] for point in record["points"]}, {64, 128})
        self.assertEqual({point["tx_depth"] for point in record["points"]}, {8})
        result = self.run_ranks("sweep", "--options-file", "none-{rank}")
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("--options-file: cannot read none-0", result.stderr)

    def sweep_with_files(self, *arguments):
        result = self.run_ranks("sweep", *QUICK, *arguments, "--out", "record.json", "--quiet")
        self.assertEqual(result.returncode, 0, result)
        return json.loads((self.folder / "record.json").read_text())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--verbose", *sys.argv[1:]])
