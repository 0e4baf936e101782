# SPDX-License-Identifier: Apache-2.0
"""The convnet example: few changed lines, and one curve on any number of ranks.

convnet.py lines <plain source> <source>
convnet.py page <page> <plain source> <source> <folder of the example>
convnet.py curves <plain program or none> <program> <ranks>...
"""

import difflib
import pathlib
import subprocess
import sys

MOST_CHANGED_LINES = 9
TOLERANCE = 1e-5
LEAST_ACCURACY = 0.95


def difference(plain: str, sharded: str) -> list[str]:
    """Lines that go, with a minus before them, and lines that come, with a plus."""
    lines = difflib.unified_diff(plain.splitlines(), sharded.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def check_lines(plain_path: str, sharded_path: str) -> None:
    plain, sharded = (pathlib.Path(path).read_text(encoding="utf-8") for path in (plain_path, sharded_path))
    lines = difference(plain, sharded)
    for sign in "+-":
        count = sum(line.startswith(sign) for line in lines)
        if not 0 < count <= MOST_CHANGED_LINES:
            sys.exit(f"{count} lines of {sign} between {plain_path} and {sharded_path}; 1 to {MOST_CHANGED_LINES} expected")


def blocks(page: str, language: str) -> list[list[str]]:
    """The lines of the page's fenced blocks of a language."""
    found, block = [], None
    for line in page.splitlines():
        if line.startswith("```"):
            block = [] if line == f"```{language}" else None
            if block is not None:
                found.append(block)
        elif block is not None:
            block.append(line)
    return found


def check_page(page_path: str, plain_path: str, sharded_path: str, folder: str) -> None:
    """The page's one diff is the difference of the programs; its C++ and CMake stand in the example."""
    page, plain, sharded = (pathlib.Path(path).read_text(encoding="utf-8") for path in (page_path, plain_path, sharded_path))
    lines = difference(plain, sharded)
    if blocks(page, "diff") != [lines]:
        sys.exit(f"{page_path} should show this difference, and no other:\n" + "\n".join(lines))
    sources = [path.read_text(encoding="utf-8") for path in pathlib.Path(folder).iterdir() if path.is_file()]
    texts = ["\n".join(line.strip() for line in source.splitlines()) for source in sources]
    for block in blocks(page, "cpp") + blocks(page, "cmake"):
        if not any("\n".join(line.strip() for line in block) in text for text in texts):
            sys.exit(f"{page_path} has a block that stands in no file of {folder}:\n" + "\n".join(block))


def curve(command: list[str]) -> tuple[list[float], float]:
    """Loss per step and the accuracy at the end, as the program prints them."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}: {done.stderr}")
    losses, accuracies = [], []
    for line in done.stdout.splitlines():
        words = line.split()
        (losses if words[0] == "step" else accuracies).append(float(words[-1]))
    if not losses or len(accuracies) != 1:
        sys.exit(f"{command}: steps and one accuracy expected, printed:\n{done.stdout}")
    return losses, accuracies[0]


def check_curves(plain: str, program: str, ranks: list[str]) -> None:
    commands = [[program, f"--ranks={count}"] for count in ranks]
    if plain != "none":
        commands.insert(0, [plain])
    first, accuracy = curve(commands[0])
    if accuracy < LEAST_ACCURACY or first[-1] > first[0] / 10:
        sys.exit(f"{commands[0]} did not learn: loss {first[0]} to {first[-1]}, accuracy {accuracy}")
    for command in commands[1:]:
        losses, its_accuracy = curve(command)
        far = [step for step, (a, b) in enumerate(zip(first, losses), 1) if abs(a - b) > TOLERANCE]
        if len(losses) != len(first) or far or its_accuracy != accuracy:
            sys.exit(f"{command} is not {commands[0]}: {len(losses)} steps, losses differ at {far}, {its_accuracy}")


if __name__ == "__main__":
    if sys.argv[1] == "lines":
        check_lines(*sys.argv[2:])
    elif sys.argv[1] == "page":
        check_page(*sys.argv[2:])
    else:
        check_curves(sys.argv[2], sys.argv[3], sys.argv[4:])
