# SPDX-License-Identifier: Apache-2.0
"""Rules of a single C++ file, and its format."""

import re
import shutil
import subprocess

import cpp_source

LINES_TO_QUESTION = 300
LINES_TO_REFUSE = 500
LINES_OF_A_FUNCTION = 70
COLUMNS = 100
WHOLE_LIBRARY = re.compile(r'#include\s*[<"](torch/torch\.h|ATen/ATen\.h|torch/extension\.h)[>"]')
PRECOMPILED = "cmake/torch_pch.h"


def check(tree):
    for path in tree.cpp():
        yield from _size(tree, path)
        yield from _lines(tree, path)
        yield from _head(tree, path)
    yield from _format(tree)


def _size(tree, path):
    lines = tree.lines(path)
    if len(lines) > LINES_TO_REFUSE:
        if not any("// Long because" in line for line in lines[:40]):
            yield path, 1, "length", (
                f"{len(lines)} lines, at most {LINES_TO_REFUSE}: split it, or say `// Long because ...` in the head comment"
            )
    elif len(lines) > LINES_TO_QUESTION:
        tree.notes.append(f"{path} has {len(lines)} lines: does it hold two thoughts?")
    for first, length in cpp_source.functions(tree.text(path)):
        if length > LINES_OF_A_FUNCTION:
            yield path, first, "function", f"{length} lines, at most {LINES_OF_A_FUNCTION} fit a screen"


def _lines(tree, path):
    for number, line in enumerate(tree.lines(path), 1):
        if len(line) > COLUMNS:
            yield path, number, "width", f"{len(line)} columns, at most {COLUMNS}"
        if re.search(r"\bDISABLED_|\bGTEST_SKIP\b", line):
            yield path, number, "skipped", "a test runs or does not exist"
        if path.endswith(".h") and path != PRECOMPILED and WHOLE_LIBRARY.search(line):
            yield path, number, "heavy", "a header takes ATen/core/Tensor.h or a forward declaration"


def _head(tree, path):
    lines = tree.lines(path)
    if not lines or lines[0] != "// SPDX-License-Identifier: Apache-2.0":
        yield path, 1, "licence", "the first line is // SPDX-License-Identifier: Apache-2.0"
    if path.endswith(".h"):
        if "#pragma once" not in lines:
            yield path, 1, "guard", "#pragma once is missing"
        if path != PRECOMPILED and not any(line.startswith("///") for line in lines[:3]):
            yield path, 1, "purpose", "a header begins with /// and its purpose"


def _format(tree):
    program = shutil.which("clang-format-14")
    if program is None:
        tree.notes.append("clang-format-14 is not installed: format not checked")
        return
    paths = tree.cpp()
    if not paths or not (tree.root / ".clang-format").exists():
        return
    command = [program, "--dry-run", *paths]
    output = subprocess.run(command, cwd=tree.root, capture_output=True, text=True, check=False).stderr
    seen = set()
    for match in re.finditer(r"^([^\s:]+):(\d+):\d+: (?:warning|error): ", output, re.MULTILINE):
        if match[1] not in seen:
            seen.add(match[1])
            yield match[1], int(match[2]), "format", "not as clang-format-14 writes it: run clang-format-14 -i"
