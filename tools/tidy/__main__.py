# SPDX-License-Identifier: Apache-2.0
"""The house style as a test: `python3 tools/tidy [root]`.

One finding a line, `file:line: [rule] what`; exit 1 when there is one, else 0. Lines that begin with
"note:" are for the reader and fail nothing. docs/STYLE.md gives the reasons.
"""

import pathlib
import sys

import rules_build
import rules_cpp
import rules_text
from tree import Tree


def main() -> int:
    here = pathlib.Path(__file__).resolve().parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[1]
    tree = Tree(root)
    findings = sorted({finding for rules in (rules_text, rules_cpp, rules_build) for finding in rules.check(tree)})
    for path, line, rule, what in findings:
        print(f"{path}:{line}: [{rule}] {what}")
    for note in tree.notes:
        print(f"note: {note}")
    print(f"tidy: {len(tree.files)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
