"""compare and tables: the posted points, crossovers, laws and exit codes."""
import json
import re
import unittest

from support import DATA, ProgramTest

TABLE = "tavor-mpi-2006"
SIZES = "posted:tavor-mpi-2006,3000,1975:1980:+1"


class Compare(ProgramTest):
    def setUp(self):
        super().setUp()
        self.run_ok("sweep", "--backend", "model:tavor", "--size", SIZES, "--out", "run.json")

    def edit(self, old, new, name="edited.json"):
        text = (self.folder / "run.json").read_text()
        self.assertIn(old, text)
        (self.folder / name).write_text(text.replace(old, new))
        return name

    def test_output_is_golden(self):
        self.assertEqual(self.run_ok("compare", "run.json", "--to", TABLE).stdout,
                         (DATA / "compare_tavor.txt").read_text())

    def test_all_twelve_posted_points_are_within_four_percent(self):
        text = self.run_ok("compare", "run.json", "--to", TABLE).stdout
        self.assertIn("12 of 12 posted points", text)
        rows = re.findall(r"^[12]K .*?([-+]?\d+\.\d+)$", text, re.MULTILINE)
        self.assertEqual(len(rows), 12, text)
        self.assertLess(max(abs(float(residual)) for residual in rows), 4.0)

    def test_laws_and_crossovers_are_there(self):
        text = self.run_ok("compare", "run.json", "--to", TABLE).stdout
        for number in "1234":
            self.assertRegex(text, rf"(?m)^  {number}\. .*: pass$")
        self.assertIn("between posted sizes", text)
        self.assertRegex(text, r"crossovers, run, 1K against 2K: [1-9]")

    def test_require(self):
        self.run_ok("compare", "run.json", "--to", TABLE, "--require")
        self.run_ok("sweep", "--backend", "model:tavor", "--size", "512,1500", "--out", "few.json")
        self.run_ok("compare", "few.json", "--to", TABLE)
        self.assertEqual(self.run_program("compare", "few.json", "--to", TABLE, "--require").returncode, 4)
        # Swapping the two MTUs turns laws 2 to 4 round.
        text = (self.folder / "run.json").read_text()
        swapped = text.replace('"path_mtu_bytes":1024', '"path_mtu_bytes":0').replace(
            '"path_mtu_bytes":2048', '"path_mtu_bytes":1024').replace('"path_mtu_bytes":0', '"path_mtu_bytes":2048')
        self.assertNotEqual(text, swapped)
        (self.folder / "swapped.json").write_text(swapped)
        self.run_ok("compare", "swapped.json", "--to", TABLE)
        self.assertEqual(self.run_program("compare", "swapped.json", "--to", TABLE, "--require").returncode, 1)

    def test_require_needs_a_table_with_laws(self):
        self.assert_refused(2, ["--require", TABLE], "compare", "run.json", "--to", "run.json", "--require")

    def test_a_ping_pong_is_refused(self):
        name = self.edit('"stream"', '"ping-pong"')
        result = self.assert_refused(4, ["ping-pong", "stream"], "compare", name, "--to", TABLE)
        self.assertNotIn("MB/s", result.stderr)

    def test_sizes_that_do_not_meet_are_refused(self):
        self.run_ok("sweep", "--backend", "model:tavor", "--size", "64", "--out", "small.json")
        self.assert_refused(4, ["no wire size"], "compare", "small.json", "--to", TABLE)

    def test_names_that_are_neither_file_nor_table(self):
        self.assert_refused(2, ["missing.json"], "compare", "missing.json", "--to", TABLE)
        self.assert_refused(2, ["nosuch"], "compare", "run.json", "--to", "nosuch")

    def test_the_table_keeps_its_own_laws(self):
        text = self.run_ok("compare", TABLE, "--to", TABLE).stdout
        self.assertIn("largest residual 0.00 %", text)
        self.assertEqual(len(re.findall(r"(?m)^  [123]\. .*: pass$", text)), 3, text)
        self.assertRegex(text, r"(?m)^  4\. .*: not tested: ")


class Tables(ProgramTest):
    def test_list(self):
        text = self.run_ok("tables").stdout
        self.assertTrue(text.startswith("POSTED"))
        self.assertRegex(text, rf"(?m)^{TABLE} +12 ")

    def test_json(self):
        tables = json.loads(self.run_ok("tables", "--json").stdout)
        tavor = next(table for table in tables if table["id"] == TABLE)
        self.assertEqual(tavor["point_count"], 12)
        self.assertTrue(tavor["reference"])
        self.assertTrue(tavor["not_stated"])


class Devices(ProgramTest):
    def test_text_and_json(self):
        self.assertTrue(self.run_ok("devices").stdout)
        self.assertIsInstance(json.loads(self.run_ok("devices", "--json").stdout), list)


if __name__ == "__main__":
    unittest.main()
