"""The checker finds planted violations, and takes nothing else for one."""
import pathlib
import tempfile
import unittest

import check_architecture

DOCUMENT = """
| room | may include | what |
| --- | --- | --- |
| `core` | | values |
| `verbs` | `core` | devices |
| `stats` | `core` | numbers |
"""


class Planted(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.write("docs/architecture.md", DOCUMENT)
        for room in ("core", "verbs", "stats"):
            self.write(f"lib/mtuscope/{room}/own.hpp", f'#include "mtuscope/{room}/other.hpp"\n')
        self.write("bench/cli/main.cpp", '#include "mtuscope/verbs/own.hpp"\n#include <cstdio>\nint main() { puts(""); }\n')

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def found(self):
        return list(check_architecture.violations(self.root))

    def expect(self, path, text, *words):
        self.write(path, text)
        found = self.found()
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_a_tree_within_the_rules_is_clean(self):
        self.write("lib/mtuscope/verbs/handles.cpp",
                   '#include <infiniband/verbs.h>\n#include "mtuscope/core/own.hpp"\nauto* p = ibv_alloc_pd(context);\n')
        self.write("lib/mtuscope/stats/distributions.cpp", "#include <boost/math/distributions/normal.hpp>\n")
        self.assertEqual(self.found(), [])

    def test_an_arrow_not_in_the_table(self):
        self.expect("lib/mtuscope/core/a.cpp", '\n#include "mtuscope/stats/own.hpp"\n', "core/a.cpp:2", "core may not include stats")

    def test_an_arrow_written_with_angle_brackets(self):
        self.expect("lib/mtuscope/stats/a.hpp", "#  include <mtuscope/verbs/own.hpp>\n", "stats may not include verbs")

    def test_mpi_header_outside_its_folders(self):
        self.expect("bench/cli/a.cpp", "#include <mpi.h>\n", "bench/cli/a.cpp:1", "mpi.h")

    def test_verbs_headers_outside_their_room(self):
        self.expect("bench/cli/a.cpp", "#include <infiniband/verbs.h>\n", "bench/cli/a.cpp:1")
        self.expect("bench/cli/a.cpp", "#include <rdma/rdma_cma.h>\n", "bench/cli/a.cpp:1")

    def test_a_costly_header_in_a_header_of_ours(self):
        self.expect("lib/mtuscope/stats/a.hpp", "#include <boost/math/distributions/normal.hpp>\n", "stats/a.hpp:1")

    def test_a_costly_header_in_another_room(self):
        self.expect("lib/mtuscope/core/a.cpp", "#include <nlohmann/json.hpp>\n", "core/a.cpp:1")

    def test_a_bare_create_call(self):
        for call in ("ibv_create_qp(pd, &attributes)", "ibv_reg_mr(pd, a, n, f)", "rdma_create_id(c, &id, x, RDMA_PS_TCP)"):
            self.expect("lib/mtuscope/verbs/a.cpp", f"auto* x = {call};\n", "bare", call.split("(")[0])

    def test_printing_exiting_and_environment_in_the_library(self):
        for code in ('std::printf("x");', "std::cout << 1;", 'fprintf(stderr, "x");', 'std::getenv("HOME");', "std::exit(1);"):
            self.expect("lib/mtuscope/core/a.cpp", f"void f() {{ {code} }}\n", "core/a.cpp:1")

    def test_words_in_comments_and_strings_are_not_code(self):
        self.write("lib/mtuscope/core/a.cpp",
                   '// never std::cout; exit(1)\n/* getenv("X")\n ibv_create_qp(p) */ auto s = "ibv_create_qp(pd) failed";\n'
                   'auto r = R"(printf("x"))"; int snprintf_like = 0; void on_exit_code(int);\n')
        self.assertEqual(self.found(), [])

    def test_a_line_number_after_a_long_comment(self):
        self.expect("lib/mtuscope/core/a.cpp", "/* a\n b */\nauto x = getenv(n);\n", "core/a.cpp:3")

    def test_a_room_without_a_row(self):
        self.expect("lib/mtuscope/fabric/a.hpp", "\n", "lacks fabric")

    def test_a_row_without_a_room(self):
        self.expect("docs/architecture.md", DOCUMENT + "| `model` | `core` | x |\n", "has model")

    def test_a_circle(self):
        self.expect("docs/architecture.md", DOCUMENT.replace("| `core` | |", "| `core` | `stats` |"), "circle", "core")


if __name__ == "__main__":
    unittest.main()
