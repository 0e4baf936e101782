# SPDX-License-Identifier: Apache-2.0
"""Just enough C++ to measure functions: comments and literals blanked, braces counted."""

import re

_TOKEN = re.compile(
    r"//[^\n]*"
    r"|/\*.*?\*/"
    r'|R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
# What may stand between a parameter list and the body.
_BODY_FOLLOWS = re.compile(r"(\)|\}|\b(const|noexcept|override|final|mutable|try)|->[^;{}]*)\s*$")
_LABEL = re.compile(r"\s*((public|private|protected)\s*:\s*)*")
_TYPE = re.compile(r"^\s*(\[\[.*?\]\]\s*)*(typedef\s+)?(class|struct|union|enum)\b")


def blank(text: str) -> str:
    """The text with comments, literals and preprocessor lines as spaces; every line keeps its number."""
    return _TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def functions(text: str) -> list[tuple[int, int]]:
    """(first line, number of lines) of each outermost function with a body."""
    code = blank(text)
    found = []
    scopes: list[str] = []  # "outer" for namespaces and types, "function", "inner" for all else
    start = 0  # of the declaration being read
    function_start = 0
    parentheses = 0
    for at, character in enumerate(code):
        if character == "(":
            parentheses += 1
        elif character == ")":
            parentheses -= 1
        elif character == ";" and parentheses == 0 and "function" not in scopes:
            start = at + 1
        elif character == "{":
            kind = _scope_kind(code[start:at], parentheses, scopes)
            if kind == "function":
                function_start = start + _LABEL.match(code[start:at]).end()
            if kind == "outer":
                start = at + 1
            scopes.append(kind)
        elif character == "}" and scopes:
            kind = scopes.pop()
            if kind == "function":
                first = code.count("\n", 0, function_start) + 1
                found.append((first, code.count("\n", 0, at) + 2 - first))
            if kind != "inner":
                start = at + 1
    return found


def _scope_kind(head: str, parentheses: int, scopes: list[str]) -> str:
    if parentheses > 0 or "function" in scopes or "inner" in scopes:
        return "inner"
    head = _without_template(head)
    if re.search(r"\bnamespace\b", head) or _TYPE.match(head) or not head.strip():
        return "outer"
    if "(" in head and _BODY_FOLLOWS.search(head):
        return "function"
    return "inner"


def _without_template(head: str) -> str:
    """The head behind its `template <...>`."""
    while (match := re.match(r"\s*template\s*<", head)) is not None:
        depth = 1
        end = match.end()
        while end < len(head) and depth > 0:
            depth += {"<": 1, ">": -1}.get(head[end], 0)
            end += 1
        head = head[end:]
    return head
