"""Count what keeps the code easy to read, print it as a table, and fail where a limit is passed.

``python .ci/figures.py`` is part of ``make lint``. The *library* is every package below the laboratory: all of
``src/choque`` but `GUESTS`. ``--list FIGURE`` names what was counted.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "choque"

GUESTS = ("lab", "theses", "studio", "cli", "__main__.py")
"""The packages above the library, and the command itself."""

PLUG_INS = (
    "cli/[!_]*.py",  # verbs
    "cli/demo/*.py",  # sections of the demo
    "files/mesh_*.py",
    "files/scan_*.py",
    "lab/engines/*.py",
    "lab/methods/*.py",
    "lab/peers/*.py",
    "lab/studies/*.py",
    "narrow/sphere.py",  # shape pairs
    "narrow/capsule.py",
    "narrow/manifolds/hulls.py",
    "lab/scenes/*.py",
    "scene/formats/*.py",
    "testing/_checks_*.py",
    "gpu/kernels_*.py",  # Warp reads annotations when it imports them: modules of their own
    "theses/evm/_warp_kernels.py",  # Warp reads annotations when it imports them: a module of its own
)
"""Modules that are found by name or listed in one table: verbs, formats, shape pairs, generators, checks."""

COMPILED = {"kernel", "inline", "helper", "forceinline"}
"""Decorators of kernels and of their parts."""

TYPE_CHECKING = ("TYPE_CHECKING", "typing.TYPE_CHECKING")

LOOKED_AT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Constant)
"""Kinds of parts that are looked for in whole files."""

MAX_PARAMETERS = 8

MAX_LINES = 50_000  # of the library

SMALL = 150  # lines up to which a module with one importer is usually better off inside it


class Figure(NamedTuple):
    """A count, its limit, and what was counted."""

    name: str
    before: str
    limit: int
    items: list[str]

    @property
    def count(self) -> int:
        """How many were counted."""
        return len(self.items)


# Source code as trees


@cache
def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(path: Path) -> ast.Module:
    """Parse a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return every part of a file that figures look at."""
    return [node for node in ast.walk(tree(path)) if isinstance(node, LOOKED_AT)]


def library() -> list[Path]:
    """Return the files of the library."""
    return [path for path in modules().values() if path.relative_to(PACKAGE).parts[0] not in GUESTS]


def package_of(module: str) -> str:
    """Return the package below ``choque`` that a module belongs to; modules of the root are their own."""
    return module.split(".")[1] if "." in module else ""


def imports(module: str, typed: bool = False) -> Iterator[tuple[str, str]]:
    """Yield what a module imports from Choque: (module, name), the name empty for whole modules.

    ``typed`` includes what only a type checker imports.
    """
    path = modules()[module]
    for node in nodes(path) if typed else executed_imports(path):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "choque":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner, "") if inner in modules() else (node.module, alias.name)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name in modules())


@cache
def executed_imports(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports of a file outside the blocks that only a type checker sees."""
    found: list[ast.Import | ast.ImportFrom] = []
    blocks: list[ast.AST] = [tree(path)]
    while blocks:
        for child in ast.iter_child_nodes(blocks.pop()):
            if isinstance(child, ast.Import | ast.ImportFrom):
                found.append(child)
            elif isinstance(child, ast.If) and ast.unparse(child.test) in TYPE_CHECKING:
                continue
            elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):  # no import is in an expression
                blocks.append(child)
    return found


# What is counted


def private_names() -> list[str]:
    """Names that a package imports from an underscore module of another one; `_core` is open to all."""
    found = []
    for module in modules():
        for target, name in imports(module, typed=True):
            parts = target.split(".")[1:]
            hidden = any(part.startswith("_") for part in parts[1:]) or (len(parts) == 1 and parts[0].startswith("_"))
            if hidden and parts[0] != "_core" and package_of(module) != parts[0] and module != "choque":
                found.append(f"{module} <- {target} {name}".rstrip())
    return found


def unexplained_imports() -> list[str]:
    """Imports of private modules and names in tests without a comment that gives the reason; `_core` is open to all."""
    found = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in nodes(path):
            if not isinstance(node, ast.ImportFrom) or (node.module or "").partition(".")[0] != "choque":
                continue
            parts = {part for alias in node.names for part in f"{node.module}.{alias.name}".split(".")}
            is_private = any(re.match(r"_(?!_|core$)", part) for part in parts)
            if is_private and "  # " not in lines[node.lineno - 1]:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    return found


def thesis_words() -> list[str]:
    """Places in the library that speak of a thesis's program."""
    words = re.compile(r"legacy|\bthe original\b(?!'?s? (?:set|array|order|path|file))", re.IGNORECASE)
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in library()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for _ in words.finditer(line)
    ]


def public_names() -> list[str]:
    """Names in ``__all__`` of the packages; those of the theses are theirs."""
    found = []
    for name in (f"choque.{path.parent.name}" for path in sorted(PACKAGE.glob("*/__init__.py"))):
        if name not in ("choque._core", "choque.theses", "choque.cli"):
            found += [f"{name}.{public}" for public in _exported(modules()[name])]
    return found


def _exported(path: Path) -> list[str]:
    found: list[str] = []
    for node in tree(path).body:
        if isinstance(node, ast.Assign | ast.AugAssign) and ast.unparse(node).startswith("__all__ "):
            found += ast.literal_eval(node.value)
    return found


@cache
def lone_modules() -> list[str]:
    """Modules that are a part of exactly one other: not plug-ins, not merely exported by their package."""
    importers = defaultdict(set)
    for module, path in modules().items():
        for target, _ in imports(module, typed=path.name == "__init__.py"):  # lazy exports
            if target != module:
                importers[target].add(module)
    named = _named_in_text()
    found = []
    for module, path in modules().items():
        users = importers[module]
        if path.name.startswith("__") or module in named or len(users) != 1:
            continue
        (user,) = users
        if not module.startswith(f"{user}."):
            found.append(f"{module} ({len(path.read_text().splitlines())} lines) <- {user}")
    return found


def small_lone_modules() -> list[str]:
    """Modules that are a part of exactly one other and are small: fold them, if the file is still one idea then."""
    return [each for each in lone_modules() if int(re.findall(r"\((\d+) lines\)", each)[0]) <= SMALL]


def _named_in_text() -> set[str]:
    """Plug-ins: modules named in an entry point, in a string, or by `PLUG_INS`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = json.dumps(project.get("entry-points", {}))
    for path in modules().values():
        text += " ".join(
            node.value
            for node in nodes(path)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("choque.")
        )
    named = {name for name in modules() if re.search(rf"{re.escape(name)}(?=[:\s\"]|$)", text)}
    for pattern in PLUG_INS:
        named |= {name for name, path in modules().items() if path.relative_to(PACKAGE).match(pattern)}
    return named


def long_kernels() -> list[str]:
    """Kernels, and parts of kernels, with more than `MAX_PARAMETERS` parameters."""
    found = []
    for module, path in modules().items():
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef) and COMPILED & {_decorator(one) for one in node.decorator_list}:
                count = len(node.args.posonlyargs) + len(node.args.args)
                if count > MAX_PARAMETERS:
                    found.append(f"{module}.{node.name} ({count})")
    return found


def _decorator(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.id if isinstance(node, ast.Name) else ""


# What is run: kernels as plain Python, so that their files are seen too

TRACED = """
import sys, threading, json
{prepare}
{call}
files = set()
def see(frame, event, argument):
    name = frame.f_code.co_filename
    if event == "call" and frame.f_code.co_flags & 1 and "/choque/" in name and name.endswith(".py"):
        files.add(name)
threading.setprofile(see); sys.setprofile(see)
try:
    {call}
finally:
    sys.setprofile(None); threading.setprofile(None)
print(json.dumps(sorted(name.partition("/src/")[2] for name in files)), file=sys.stderr)
"""

BOXES = "import numpy, choque; lower = numpy.random.default_rng(0).uniform(0, 60, (20_000, 3))"
WORLD = "import choque; world = choque.scene.find_bodies('mixed-box:800').world(); world.step(1 / 60)"
COMMAND = "from choque.cli import main; sys.argv = ['choque', 'run', 'mixed-box:60', '--frames', '3', '--record']"


def crossed(prepare: str, call: str) -> list[str]:
    """Return the files in which something runs during a call."""
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join((str(SOURCE), os.environ.get("PYTHONPATH", ""))),
    }
    with tempfile.TemporaryDirectory() as folder:
        code = TRACED.format(prepare=prepare, call=call)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], cwd=folder, env=environment, capture_output=True, text=True
        )
    last = done.stderr.strip().splitlines()[-1:] or [""]
    if not last[0].startswith("["):
        raise SystemExit(f"The traced call failed:\n{done.stderr[-3000:]}")
    return [str(name) for name in json.loads(last[0])]


def loaded() -> list[str]:
    """Return the modules of Choque that one call of `choque.pairs` loads."""
    code = f"{BOXES}; choque.pairs(lower, lower + 1); import sys, json; print(json.dumps([*sys.modules]))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(SOURCE), os.environ.get("PYTHONPATH", "")))}
    for _ in range(2):  # the first process may compile, and load what compiles
        text = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        ).stdout
    return [name for name in json.loads(text) if name.partition(".")[0] == "choque"]


def library_lines() -> list[str]:
    """Return every line of the library."""
    return [line for path in library() for line in path.read_text(encoding="utf-8").splitlines()]


FIGURES: dict[str, tuple[str, int, Callable[[], list[str]]]] = {
    "library: files": ("377", 267, lambda: [str(path.relative_to(ROOT)) for path in library()]),
    "library: lines": ("42,000", MAX_LINES, library_lines),
    "private names across packages": ("397", 0, private_names),
    "private imports in tests, no reason given": ("138", 0, unexplained_imports),
    '"legacy", "the original" in the library': ("273", 0, thesis_words),
    "files crossed by choque.pairs": ("24", 12, lambda: crossed(BOXES, "choque.pairs(lower, lower + 1)")),
    "files crossed by World.step": ("45", 30, lambda: crossed(WORLD, "world.step(1 / 60)")),
    "files crossed by choque run --record": ("95", 53, lambda: crossed(COMMAND, "main()")),
    "modules loaded by choque.pairs": ("68", 34, loaded),
    "public names": ("204", 140, public_names),
    "modules with one importer, no plug-ins": ("109", 28, lone_modules),
    f"of these, {SMALL} lines at most": ("", 1, small_lone_modules),
    f"kernels with more than {MAX_PARAMETERS} parameters": ("71", 5, long_kernels),
}


def main() -> None:
    """Print the table, or what one figure counted."""
    parser = argparse.ArgumentParser(description="Count what keeps the code easy to read.")
    parser.add_argument("--list", metavar="FIGURE", help="name what the figures whose name contains this counted")
    wanted = parser.parse_args().list
    if wanted:
        for name, (_, _, measure) in FIGURES.items():
            if wanted in name:
                print(name, *measure(), sep="\n  ")
        return
    figures = [Figure(name, before, limit, measure()) for name, (before, limit, measure) in FIGURES.items()]
    print(f"{'figure':<42} {'0.1.0':>8} {'now':>8} {'at most':>8}")
    for figure in figures:
        mark = "  too many" if figure.count > figure.limit else ""
        print(f"{figure.name:<42} {figure.before:>8} {figure.count:>8,} {figure.limit:>8,}{mark}")
    if any(figure.count > figure.limit for figure in figures):
        raise SystemExit("A figure is above its limit; see `python .ci/figures.py --list FIGURE`.")


if __name__ == "__main__":
    main()
