"""validate: faults are found and their JSON path is named."""
import json
import unittest

from support import ProgramTest


class Validate(ProgramTest):
    def setUp(self):
        super().setUp()
        self.run_ok("sweep", "--backend", "model:tavor", "--size", "64,4096", "--out", "run.json")
        self.record = json.loads((self.folder / "run.json").read_text())

    def write(self, name):
        (self.folder / name).write_text(json.dumps(self.record))
        return name

    def test_a_good_record(self):
        self.assertEqual(self.run_ok("validate", "run.json").stdout, "run.json: valid\n")
        self.assertEqual(self.run_ok("validate", self.write("again.json")).stdout, "again.json: valid\n")

    def test_a_planted_fault_is_named_by_its_path(self):
        self.record["source"] = "guessed"
        self.assert_refused(2, ["bad.json", "/source"], "validate", self.write("bad.json"))

    def test_a_fault_in_a_point_is_named_by_its_path(self):
        def plant(value):
            if isinstance(value, dict):
                for key, inner in value.items():
                    if key == "message_size_bytes":
                        value[key] = "many"
                        return True
                    if plant(inner):
                        return True
            return False
        self.assertTrue(plant(self.record["points"][1]))
        self.assert_refused(2, ["/points/1/", "message_size_bytes"], "validate", self.write("bad.json"))

    def test_a_summary_that_does_not_follow_from_its_trials_is_named_by_its_path(self):
        self.record["points"][1]["trials"][0][4] += 1000
        self.assert_refused(2, ["/points/1/summary/bandwidth_bytes_per_s"], "validate", self.write("bad.json"))

    def test_other_files_are_still_looked_at(self):
        result = self.run_program("validate", "missing.json", "run.json")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "run.json: valid\n")
        self.assertIn("missing.json", result.stderr)

    def test_a_truncated_file(self):
        text = (self.folder / "run.json").read_text()
        (self.folder / "cut.json").write_text(text[:len(text) // 2])
        self.assert_refused(2, ["cut.json"], "validate", "cut.json")

    def test_an_empty_file_and_a_folder(self):
        (self.folder / "empty.json").write_text("")
        self.assert_refused(2, ["empty.json"], "validate", "empty.json")
        (self.folder / "folder").mkdir()
        self.assert_refused(2, ["folder"], "validate", "folder")


if __name__ == "__main__":
    unittest.main()
