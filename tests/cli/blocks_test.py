#!/usr/bin/env python3
"""A block study end to end: the model of the posted card through sweep and analysis, against the posted drops."""
import re
import unittest

from support import ProgramTest

# Blocks of 32 KiB, and the message sizes [KiB] up to which bandwidth holds: going up, going down. From "Problems with GM".
POSTED = {2200: (28, 28), 2400: (28, 24), 2500: (24, 24), 2800: (24, 20), 3300: (20, 20), 3400: (16, 16)}


class BlockStudy(ProgramTest):
    def test_the_model_drops_where_the_page_says(self):
        self.run_ok("--quiet", "sweep", "--backend", "model:lanai9", "--blocks", ",".join(map(str, POSTED)),
                    "--size", "1K:32K:+1K", "--direction", "both", "--out", "run.json")
        study = self.run_ok("blocks", "run.json")
        self.assertIn("MODEL, not measured", study.stdout)
        rows = re.findall(r"^ *(\d+) +32 +fifo +1 +- +(\d+) \(\d+\) +(\d+) \(\d+\)", study.stdout, re.MULTILINE)
        found = {int(blocks): (int(up), int(down)) for blocks, up, down in rows}
        self.assertEqual(found.keys(), POSTED.keys(), study)
        errors = [abs(a - b) for blocks in POSTED for a, b in zip(found[blocks], POSTED[blocks])]
        self.assertGreaterEqual(errors.count(0), 10, found)
        self.assertLessEqual(max(errors), 1, found)


if __name__ == "__main__":
    unittest.main()
