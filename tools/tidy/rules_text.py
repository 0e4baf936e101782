# SPDX-License-Identifier: Apache-2.0
"""Rules of any text: names, to-do notes, places outside the project, links of the pages."""

import pathlib
import re

README_LINES = 150
BANNED_NAMES = {"util", "utils", "helper", "helpers", "common", "misc"}
TEXT_SUFFIXES = (".cc", ".h", ".md", ".txt", ".cmake", ".py", ".sh", ".toml", ".json", ".yaml", ".yml")
TEXT_NAMES = {"run", ".clang-tidy", ".clang-format", ".gitignore"}
# The rules' own test spells out what they look for.
EXEMPT = {"tests/tools/tidy_test.py", "tools/tidy/rules_text.py"}
NOTE = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\): )")
OUTSIDE = re.compile(
    r"(?<![\w.}])/(root|mnt|home/\w+|Users/\w+)/|https?://\S+/(simple|whl)\b"
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def check(tree):
    for path in tree.files:
        yield from _name(path)
        name = path.rpartition("/")[2]
        if (path.endswith(TEXT_SUFFIXES) or name in TEXT_NAMES) and path not in EXEMPT:
            yield from _words(tree, path)
        if path.endswith((".py", ".sh")):
            yield from _licence(tree, path)
        if path.endswith(".md"):
            yield from _links(tree, path)
    if "README.md" in tree.files and len(tree.lines("README.md")) > README_LINES:
        yield "README.md", README_LINES + 1, "readme", f"at most {README_LINES} lines"


def _name(path):
    for part in pathlib.PurePosixPath(path).parts:
        if part.split(".")[0] in BANNED_NAMES:
            yield path, 1, "name", f"{part} names no concept"


def _words(tree, path):
    for number, line in enumerate(tree.lines(path), 1):
        if NOTE.search(line):
            yield path, number, "todo", "a note for later names its issue: TODO(#12): what"
        if OUTSIDE.search(line):
            yield path, number, "outside", "a path of one machine or a host of a package registry"


def _licence(tree, path):
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in tree.lines(path)[:2]):
        yield path, 1, "licence", "the first lines hold # SPDX-License-Identifier: Apache-2.0"


def _anchor(heading: str) -> str:
    """A heading's anchor, as forges make it."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def _anchors(tree, path) -> set[str]:
    return {_anchor(line.lstrip("#")) for line in tree.lines(path) if re.match(r"#+ ", line)}


def _links(tree, path):
    fenced = False
    for number, line in enumerate(tree.lines(path), 1):
        fenced ^= line.startswith("```")
        for match in () if fenced else LINK.finditer(line):
            target = match[1] or match[2]
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            place = path if not file else _resolve(path, file)
            exists = (tree.root / place).exists()
            if not exists:
                yield path, number, "link", f"{target} leads nowhere"
            elif anchor and place.endswith(".md") and anchor not in _anchors(tree, place):
                yield path, number, "link", f"{place} has no heading #{anchor}"


def _resolve(path: str, link: str) -> str:
    parts: list[str] = [] if link.startswith("/") else list(pathlib.PurePosixPath(path).parts[:-1])
    for part in pathlib.PurePosixPath(link.lstrip("/")).parts:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    return "/".join(parts) or "."
