"""Runs the program in an empty directory and states what every run must keep to."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["MTUSCOPE"]
DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "cli"
# A sweep that takes milliseconds: one round of few messages.
QUICK = ["--messages", "100", "--arrangements", "1", "--min-trials", "3", "--max-trials", "3"]


class ProgramTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)

    def run_ok(self, *arguments):
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, 0, result)
        return result

    def assert_refused(self, code, words, *arguments):
        """One line that names what failed, the right exit code, nothing printed, nothing left behind."""
        before = sorted(self.folder.iterdir())
        result = self.run_program(*arguments)
        codes = code if isinstance(code, tuple) else (code,)
        self.assertIn(result.returncode, codes, result)
        self.assertEqual(result.stdout, "", result)
        self.assertRegex(result.stderr, r"\Amtuscope: [^\n]+\n\Z")
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before, "files were left behind")
        return result

    def sweep_record(self, *arguments):
        return json.loads(self.run_ok("sweep", *arguments, "--out", "-").stdout)
