"""What is shown on a terminal: the growing table, the progress line, and colour only where it is wanted."""
import os
import pty
import subprocess
import unittest

from support import PROGRAM, QUICK, ProgramTest

SWEEP = ["sweep", "--backend", "model:tavor", "--size", "64,4096"]


class Terminal(ProgramTest):
    def run_on_terminal(self, *arguments):
        """What a terminal on all three streams receives, with its line ends turned back to plain ones."""
        ours, theirs = pty.openpty()
        self.environment.setdefault("TERM", "xterm")
        with subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, env=self.environment, stdin=theirs, stdout=theirs,
                              stderr=theirs, close_fds=True) as program:
            os.close(theirs)
            received = b""
            while True:
                try:
                    part = os.read(ours, 65536)
                except OSError:  # the program closed its end
                    break
                if not part:
                    break
                received += part
            self.assertEqual(program.wait(timeout=60), 0, received)
        os.close(ours)
        return received.decode().replace("\r\n", "\n")

    def test_better_mtu_is_coloured_and_marked(self):
        text = self.run_on_terminal(*SWEEP)
        self.assertIn("\x1b[32m", text)
        self.assertRegex(text, r"\d\*")

    def test_colour_can_be_switched_off(self):
        self.assertNotIn("\x1b[32m", self.run_on_terminal(*SWEEP, "--no-color"))
        self.environment["NO_COLOR"] = "1"
        self.assertNotIn("\x1b[32m", self.run_on_terminal(*SWEEP))
        self.environment["NO_COLOR"] = ""
        self.assertIn("\x1b[32m", self.run_on_terminal(*SWEEP))

    def test_the_growing_table_is_printed_once(self):
        text = self.run_on_terminal(*SWEEP)
        self.assertEqual(text.count("MODEL, not measured: mpi send stream"), 1)
        self.assertLess(text.index("\n       64 "), text.index("\n     4096 "))

    def test_progress_is_drawn_and_taken_away(self):
        text = self.run_on_terminal("sweep", "--backend", "null", *QUICK, "--size", "64")
        self.assertRegex(text, r"\r\x1b\[K\d+ of 2 points")
        last = text.rindex("\r\x1b[K")
        self.assertNotRegex(text[last:], r"of 2 points, \d+ of")

    def test_no_progress_where_a_line_cannot_be_drawn_over(self):
        self.environment["TERM"] = "dumb"
        self.assertNotIn("\x1b[K", self.run_on_terminal("sweep", "--backend", "null", *QUICK, "--size", "64"))

    def test_quiet_shows_nothing(self):
        self.assertEqual(self.run_on_terminal(*SWEEP, "--quiet"), "")


if __name__ == "__main__":
    unittest.main()
