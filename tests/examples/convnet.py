# SPDX-License-Identifier: Apache-2.0
"""The convnet example: few changed lines, and one curve on any number of ranks.

convnet.py lines <plain source> <source>
convnet.py curves <plain program or none> <program> <ranks>...
"""

import difflib
import pathlib
import subprocess
import sys

MOST_CHANGED_LINES = 9
TOLERANCE = 1e-5
LEAST_ACCURACY = 0.95


def changed_lines(plain: str, sharded: str) -> int:
    """Lines that one file has and the other lacks; a line that changed counts once."""
    changed = 0
    for tag, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(
        None, plain.splitlines(), sharded.splitlines(), autojunk=False
    ).get_opcodes():
        if tag != "equal":
            changed += max(old_to - old_from, new_to - new_from)
    return changed


def check_lines(plain_path: str, sharded_path: str) -> None:
    plain, sharded = (pathlib.Path(path).read_text(encoding="utf-8") for path in (plain_path, sharded_path))
    changed = changed_lines(plain, sharded)
    if not 0 < changed <= MOST_CHANGED_LINES:
        sys.exit(f"{sharded_path} changes {changed} lines of {plain_path}; at most {MOST_CHANGED_LINES} are allowed")


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
    else:
        check_curves(sys.argv[2], sys.argv[3], sys.argv[4:])
