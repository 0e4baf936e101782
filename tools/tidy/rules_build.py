# SPDX-License-Identifier: Apache-2.0
"""Rules between files: direction of includes, the torch-free half, mirrored tests, dead files."""

import fnmatch
import pathlib
import re

from tree import ORDER, TORCH_FREE

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
TORCH_HEADER = re.compile(r"^(torch|ATen|c10|caffe2)/")
SOURCE_FOLDERS = ("parallel/", "models/", "trainer/")
UNMIRRORED = "tools/tidy/unmirrored.txt"


def check(tree):
    yield from _modules(tree)
    for path in tree.cpp():
        if path.startswith(SOURCE_FOLDERS):
            yield from _includes(tree, path)
    yield from _mirrors(tree)
    yield from _dead(tree)


def _place(folder: str) -> int:
    """Position in the module order; -1 for a folder that has none."""
    for index, known in enumerate(ORDER):
        if folder == known or folder.startswith(known + "/"):
            return index
    return -1


def _modules(tree):
    for module in tree.modules.values():
        path = f"{module.folder}/CMakeLists.txt"
        if module.torch and module.folder in TORCH_FREE:
            yield path, 1, "torch-free", f"{module.folder} links no libtorch"
        for other in tree.reachable(module).values():
            if _place(other.folder) > _place(module.folder):
                yield path, 1, "direction", f"{module.folder} may not depend on {other.folder}, which stands above it"


def _includes(tree, path):
    module = tree.module_of(path)
    if module is None:
        yield path, 1, "module", "lies in no folder with an add_module()"
        return
    reachable = tree.reachable(module)
    torch = any(m.torch for m in reachable.values())
    for number, line in enumerate(tree.lines(path), 1):
        match = INCLUDE.match(line)
        if match is None:
            continue
        if TORCH_HEADER.match(match[2]):
            if not torch:
                yield path, number, "torch-free", f"{match[2]} in {module.folder}, which links no libtorch"
        elif match[1] == '"':
            target = tree.module_of(match[2])
            if match[2] not in tree.files:
                yield path, number, "include", f"{match[2]} is no file here; includes run from the root"
            elif target is not None and target.folder not in reachable:
                yield path, number, "direction", f"{target.folder} is not among the DEPENDS of {module.folder}"


def _mirrors(tree):
    alone = [
        path
        for path in tree.matching(".cc")
        if path.startswith(SOURCE_FOLDERS) and f"tests/{path[:-3]}_test.cc" not in tree.files
    ]
    allowed = set()
    for number, line in enumerate(tree.lines(UNMIRRORED) if UNMIRRORED in tree.files else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        pattern, _, reason = line.partition(":")
        covered = fnmatch.filter(alone, pattern.strip())
        allowed.update(covered)
        if not reason.strip():
            yield UNMIRRORED, number, "mirror", f"{pattern.strip()} is listed without a reason"
        if not covered:
            yield UNMIRRORED, number, "mirror", f"{pattern.strip()} needs no entry any more"
    for path in alone:
        if path not in allowed:
            yield path, 1, "mirror", f"tests/{path[:-3]}_test.cc does not exist"


def _dead(tree):
    built = set()
    for path in tree.files:
        if path.endswith("CMakeLists.txt") or path.endswith(".cmake"):
            folder = pathlib.PurePosixPath(path).parent
            text = re.sub(r"#[^\n]*", "", tree.text(path))
            text = text.replace("${CMAKE_CURRENT_SOURCE_DIR}/", "")
            for name in re.findall(r'[^\s"()]+\.(?:cc|h)\b', text):
                place = name.removeprefix("${PROJECT_SOURCE_DIR}/") if name.startswith("$") else str(folder / name)
                built.add(str(pathlib.PurePosixPath(place)))
    for path in tree.cpp():
        # A header without a module has its finding already; one of the tests needs no list.
        listed = path.endswith(".cc") or (path.startswith(SOURCE_FOLDERS) and tree.module_of(path) is not None)
        if listed and path not in built:
            yield path, 1, "dead", "is named in no CMakeLists.txt"
