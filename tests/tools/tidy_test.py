# SPDX-License-Identifier: Apache-2.0
"""Breaks each rule of tools/tidy once, in a small tree that is clean otherwise."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "tidy"))

import cpp_source  # noqa: E402
import rules_build  # noqa: E402
import rules_cpp  # noqa: E402
import rules_text  # noqa: E402
from tree import Tree  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = SPDX + "/// Purpose.\n#pragma once\n"
CLEAN = {
    "README.md": "# It\n\nSee [the design](docs/ARCHITECTURE.md#the-tree).\n",
    "docs/ARCHITECTURE.md": "# Design\n\n## The tree\n",
    "parallel/base/CMakeLists.txt": "add_module(base SOURCES text.cc HEADERS text.h)\n",
    "parallel/base/text.h": HEADER,
    "parallel/base/text.cc": SPDX + '#include "parallel/base/text.h"\n',
    "parallel/mesh/CMakeLists.txt": "add_module(mesh SOURCES mesh.cc HEADERS mesh.h DEPENDS base)\n",
    "parallel/mesh/mesh.h": HEADER + '#include "parallel/base/text.h"\n',
    "parallel/mesh/mesh.cc": SPDX + '#include "parallel/mesh/mesh.h"\n',
    "parallel/tensor/CMakeLists.txt": "add_module(tensor TORCH SOURCES cast.cc HEADERS cast.h DEPENDS mesh)\n",
    "parallel/tensor/cast.h": HEADER + "#include <ATen/core/Tensor.h>\n",
    "parallel/tensor/cast.cc": SPDX + '#include <ATen/ATen.h>\n#include "parallel/base/text.h"\n',
    "tests/CMakeLists.txt": (
        "add_unit_test(all SOURCES parallel/base/text_test.cc parallel/mesh/mesh_test.cc parallel/tensor/cast_test.cc)\n"
    ),
    "tests/parallel/base/text_test.cc": SPDX + "TEST(Text, Joins) {\n}\n",
    "tests/parallel/mesh/mesh_test.cc": SPDX,
    "tests/parallel/tensor/cast_test.cc": SPDX,
}


class Tidy(unittest.TestCase):
    def findings(self, changes: dict) -> list[tuple[str, int, str]]:
        """(path, line, rule) of each finding in the clean tree with `changes`; None removes a file."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in (CLEAN | changes).items():
                if text is not None:
                    (root / path).parent.mkdir(parents=True, exist_ok=True)
                    (root / path).write_text(text)
            self.tree = Tree(root)
            found = [f for rules in (rules_text, rules_cpp, rules_build) for f in rules.check(self.tree)]
            return sorted(finding[:3] for finding in found)

    def expect(self, changes: dict, *expected) -> None:
        self.assertEqual(self.findings(changes), sorted(expected))

    def test_finds_nothing_in_a_clean_tree(self):
        self.expect({})

    def test_refuses_a_file_of_more_than_500_lines_that_gives_no_reason(self):
        long = CLEAN["parallel/base/text.cc"] + "\n" * 500
        self.expect({"parallel/base/text.cc": long}, ("parallel/base/text.cc", 1, "length"))
        self.expect({"parallel/base/text.cc": long.replace(SPDX, SPDX + "// Long because it is a table.\n")})

    def test_asks_about_a_file_of_more_than_300_lines(self):
        self.expect({"parallel/base/text.cc": CLEAN["parallel/base/text.cc"] + "\n" * 300})
        self.assertTrue(any("parallel/base/text.cc has 302 lines" in note for note in self.tree.notes))

    def test_refuses_a_function_of_more_than_70_lines(self):
        def function(lines):
            return CLEAN["parallel/base/text.cc"] + "namespace b {\nint f() {\n" + "g();\n" * (lines - 2) + "}\n}\n"

        self.expect({"parallel/base/text.cc": function(70)})
        self.expect({"parallel/base/text.cc": function(71)}, ("parallel/base/text.cc", 4, "function"))

    def test_refuses_wide_lines(self):
        wide = SPDX + "// " + "w" * 98 + "\n"
        self.expect({"tests/parallel/base/text_test.cc": wide}, ("tests/parallel/base/text_test.cc", 2, "width"))

    def test_refuses_skipped_tests(self):
        text = SPDX + "TEST(Text, DISABLED_Joins) {}\nTEST(Text, Splits) { GTEST_SKIP(); }\n"
        path = "tests/parallel/base/text_test.cc"
        self.expect({path: text}, (path, 2, "skipped"), (path, 3, "skipped"))

    def test_refuses_the_whole_of_torch_in_a_header(self):
        text = HEADER + "#include <torch/torch.h>\n#include <ATen/ATen.h>\n"
        path = "parallel/tensor/cast.h"
        self.expect({path: text}, (path, 4, "heavy"), (path, 5, "heavy"))

    def test_asks_for_the_head_of_a_file(self):
        path = "parallel/base/text.h"
        self.expect({path: "/// Purpose.\n#pragma once\n"}, (path, 1, "licence"))
        self.expect({path: SPDX + "/// Purpose.\n"}, (path, 1, "guard"))
        self.expect({path: SPDX + "#pragma once\n"}, (path, 1, "purpose"))
        self.expect({"tools/run.sh": "#!/bin/sh\n"}, ("tools/run.sh", 1, "licence"))

    def test_refuses_an_include_of_a_module_not_depended_on(self):
        path = "parallel/base/text.cc"
        self.expect({path: CLEAN[path] + '#include "parallel/mesh/mesh.h"\n'}, (path, 3, "direction"))

    def test_refuses_an_include_that_does_not_run_from_the_root(self):
        path = "parallel/base/text.cc"
        self.expect({path: SPDX + '#include "text.h"\n'}, (path, 2, "include"))

    def test_refuses_dependencies_upward(self):
        changes = {"parallel/base/CMakeLists.txt": "add_module(base SOURCES text.cc HEADERS text.h DEPENDS mesh)\n"}
        self.expect(changes, ("parallel/base/CMakeLists.txt", 1, "direction"))

    def test_keeps_torch_out_of_the_torch_free_half(self):
        path = "parallel/mesh/mesh.cc"
        self.expect({path: CLEAN[path] + "#include <c10/util/Exception.h>\n"}, (path, 3, "torch-free"))
        listed = {"parallel/mesh/CMakeLists.txt": CLEAN["parallel/mesh/CMakeLists.txt"].replace("mesh S", "mesh TORCH S")}
        self.expect(listed, ("parallel/mesh/CMakeLists.txt", 1, "torch-free"))

    def test_asks_for_a_module_around_every_source(self):
        changes = {"parallel/zero/unit.h": HEADER}
        self.expect(changes, ("parallel/zero/unit.h", 1, "module"))

    def test_asks_for_a_mirrored_test_or_a_reason(self):
        tests = "add_unit_test(all SOURCES parallel/base/text_test.cc parallel/tensor/cast_test.cc)\n"
        missing = {"tests/parallel/mesh/mesh_test.cc": None, "tests/CMakeLists.txt": tests}
        listed = "tools/tidy/unmirrored.txt"
        self.expect(missing, ("parallel/mesh/mesh.cc", 1, "mirror"))
        self.expect(missing | {listed: "parallel/mesh/mesh.cc: tested by its users\n"})
        self.expect(missing | {listed: "parallel/mesh/m*.cc: tested by its users\n"})
        self.expect(missing | {listed: "parallel/mesh/mesh.cc:\n"}, (listed, 1, "mirror"))
        self.expect({listed: "# reasons\nparallel/mesh/mesh.cc: tested\n"}, (listed, 2, "mirror"))

    def test_finds_files_that_no_target_builds(self):
        changes = {"parallel/base/old.h": HEADER, "tests/old.cc": SPDX}
        self.expect(changes, ("parallel/base/old.h", 1, "dead"), ("tests/old.cc", 1, "dead"))

    def test_refuses_names_that_name_nothing(self):
        self.expect({"docs/utils/page.md": ""}, ("docs/utils/page.md", 1, "name"))
        self.expect({"docs/misc.md": ""}, ("docs/misc.md", 1, "name"))

    def test_wants_an_issue_in_a_note_for_later(self):
        text = "TODO: later\nTODO(#12): this one\nFIXME\nmktemp XXXXXX\n"
        self.expect({"docs/page.md": text}, ("docs/page.md", 1, "todo"), ("docs/page.md", 3, "todo"))

    def test_refuses_places_outside_the_project(self):
        text = "see /root/x\nfrom https://index.example/simple\n${x}/home/y and parallel/mnt/z\n"
        self.expect({"docs/page.md": text}, ("docs/page.md", 1, "outside"), ("docs/page.md", 2, "outside"))

    def test_follows_the_links_of_pages(self):
        text = "[a](../README.md) [b](https://example.org/x) [c](none.md)\n[d](ARCHITECTURE.md#nowhere) [e](#here)\n# Here\n"
        self.expect({"docs/page.md": text}, ("docs/page.md", 1, "link"), ("docs/page.md", 2, "link"))

    def test_keeps_the_readme_short(self):
        self.expect({"README.md": "x\n" * 151}, ("README.md", 151, "readme"))


class Functions(unittest.TestCase):
    def test_are_found_under_templates_initialisers_and_trailing_types(self):
        text = (
            "namespace a::b {\n"
            "template <class T, class U = std::vector<T>>\n"
            "auto f(T x = {}) -> std::vector<U> {\n  if (x) { g(); }\n}\n"
            "class C : public D {\n public:\n"
            "  C(int x) : x_{x}, y_(\"}\") {\n    h();\n  }\n"
            "  int y() const { return y_; }\n private:\n  int x_ = {};\n};\n"
            "}  // namespace }\n"
        )
        self.assertEqual(cpp_source.functions(text), [(2, 4), (8, 3), (11, 1)])

    def test_are_not_confused_by_literals(self):
        text = 'void f() {\n  const char* s = R"({{{)";\n  char c = \'{\';\n  int n = 1\'000;\n}\nvoid g() {\n}\n'
        self.assertEqual(cpp_source.functions(text), [(1, 5), (6, 2)])


if __name__ == "__main__":
    unittest.main()
