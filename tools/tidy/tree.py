# SPDX-License-Identifier: Apache-2.0
"""The files that tidy reads, and the modules that CMake declares."""

import pathlib
import re
import subprocess

SKIPPED_FOLDERS = {".git", ".venv", "build", "data", "outputs", "__pycache__"}

# Modules, lowest first: a module sees only what stands before it. The folders under trainer/ are in the order
# in which trainer/CMakeLists.txt adds them.
PARALLEL_ORDER = (
    "base kernels mesh sharding schedule simulator transport collective tensor zero executor".split()
)
TRAINER_ORDER = "config data launch optim checkpoint metrics scaling study report loop".split()
ORDER = (
    [f"parallel/{name}" for name in PARALLEL_ORDER]
    + ["models"]
    + [f"trainer/{name}" for name in TRAINER_ORDER]
    + ["tools"]
)
TORCH_FREE = {f"parallel/{name}" for name in PARALLEL_ORDER[:8]} | {
    "trainer/config",
    "trainer/data",
    "trainer/launch",
}


class Module:
    """One add_module() call."""

    def __init__(self, folder: str, name: str, arguments: list[str]):
        self.folder = folder
        self.name = name
        self.torch = "TORCH" in arguments
        self.depends = []
        keyword = ""
        for argument in arguments:
            if re.fullmatch(r"TORCH|SOURCES|HEADERS|DEPENDS|LIBRARIES|PRIVATE_LIBRARIES", argument):
                keyword = argument
            elif keyword == "DEPENDS":
                self.depends.append(argument)


class Tree:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.notes: list[str] = []
        self.files = sorted(self._tracked() or self._walk())
        self._texts: dict[str, str] = {}
        self.modules = self._read_modules()

    def text(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = (self.root / path).read_text(encoding="utf-8", errors="replace")
        return self._texts[path]

    def lines(self, path: str) -> list[str]:
        return self.text(path).splitlines()

    def matching(self, *suffixes: str) -> list[str]:
        return [path for path in self.files if path.endswith(suffixes)]

    def cpp(self) -> list[str]:
        return self.matching(".cc", ".h")

    def module_of(self, path: str) -> "Module | None":
        """The module whose folder is the nearest above `path`."""
        for parent in pathlib.PurePosixPath(path).parents:
            if str(parent) in self.modules:
                return self.modules[str(parent)]
        return None

    def reachable(self, module: Module) -> dict[str, Module]:
        """Folder to module: the module itself and all that it DEPENDS on, directly or not."""
        by_name = {m.name: m for m in self.modules.values()}
        found: dict[str, Module] = {}
        waiting = [module]
        while waiting:
            current = waiting.pop()
            if current.folder not in found:
                found[current.folder] = current
                waiting += [by_name[name] for name in current.depends if name in by_name]
        return found

    def _tracked(self) -> list[str]:
        """What git tracks or would add; nothing where there is no checkout."""
        if not (self.root / ".git").exists():
            return []
        command = ["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, capture_output=True, text=True, check=False)
        paths = [path for path in listed.stdout.split("\0") if path]
        return [path for path in paths if (self.root / path).is_file()]

    def _walk(self) -> list[str]:
        paths = (path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file())
        return [path.as_posix() for path in paths if not SKIPPED_FOLDERS & set(path.parts)]

    def _read_modules(self) -> dict[str, Module]:
        modules: dict[str, Module] = {}
        for path in self.files:
            folder, _, name = path.rpartition("/")
            if name != "CMakeLists.txt":
                continue
            text = re.sub(r"#[^\n]*", "", self.text(path))
            for call in re.finditer(r"\badd_module\(\s*([\w-]+)([^)]*)\)", text):
                modules.setdefault(folder, Module(folder, call[1], call[2].split()))
        return modules
