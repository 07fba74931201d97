"""Kernels hold loops, not array expressions: each of those makes Numba compile seconds of its own library."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import choque

PACKAGE = Path(choque.__file__).parent

COMPILED = {"kernel", "inline", "helper", "forceinline"}
"""Decorators of kernels and of their parts."""

FUNCTIONS = """all any append arange argmax argmin argsort array concatenate copy cumsum dot empty_like full full_like
linspace max maximum mean min minimum ones ones_like searchsorted sort stack sum unique where zeros zeros_like"""
"""Of NumPy, which make or reduce arrays; `numpy.empty` is cheap."""

METHODS = "all any argmax argmin argsort astype copy cumsum fill flatten max mean min ravel reshape sort sum"

ALLOWED = {
    "_core/sweep_axis.py": 1,
    "bounds/_kdops.py": 3,
    "bounds/_oriented.py": 1,
    "bounds/_oriented_fit.py": 1,
    "bounds/_spheres.py": 1,
    "boxes/_suppress.py": 2,
    "interest/_search.py": 1,
    "meshes/_distance.py": 2,
    "meshes/_queries.py": 2,
    "narrow/convex/gjk.py": 2,
    "volumes/_bundles.py": 3,
    "volumes/_measures.py": 1,
    "volumes/_sections.py": 4,
    "volumes/boolean.py": 1,
    "volumes/voxelise.py": 3,
}
"""Array expressions that are there; they may become fewer."""


def array_expressions(kernel: ast.FunctionDef) -> Iterator[str]:
    """Yield the array expressions of a kernel, with their lines."""
    for node in ast.walk(kernel):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            of_numpy = isinstance(node.func.value, ast.Name) and node.func.value.id == "np"
            if name in (FUNCTIONS if of_numpy else METHODS).split():
                yield f"{kernel.name}:{node.lineno}: {'np' if of_numpy else ''}.{name}()"
        for target in node.targets if isinstance(node, ast.Assign) else ():
            for part in ast.walk(target):
                if isinstance(part, ast.Subscript) and any(isinstance(one, ast.Slice) for one in ast.walk(part.slice)):
                    yield f"{kernel.name}:{node.lineno}: {ast.unparse(part)} = …"


def kernels(source: str) -> Iterator[ast.FunctionDef]:
    """Yield the kernels of a module and their parts."""
    if not any(f"@{name}\n" in source for name in COMPILED):
        return  # most modules, which take long to parse
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            names = {one.id for one in node.decorator_list if isinstance(one, ast.Name)}
            if names & COMPILED:
                yield node


def test_kernels_of_the_library_hold_loops() -> None:
    found: dict[str, list[str]] = {}
    guests = {"lab", "theses", "studio", "cli"}
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        if place.parts[0] not in guests:
            for kernel in kernels(path.read_text(encoding="utf-8")):
                found.setdefault(place.as_posix(), []).extend(array_expressions(kernel))
    counts = Counter({place: len(items) for place, items in found.items()})
    beyond = {place: found[place] for place, count in counts.items() if count > ALLOWED.get(place, 0)}
    assert not beyond, "Write loops instead, or make the array outside the kernel."


def test_array_expressions_are_found() -> None:
    source = """
@kernel
def f(a, b):
    a[:3] = b[:3]
    a[0, 1:] = np.max(b) + b.sum()
    c = np.empty(3)
    return np.zeros(3), math.sqrt(a[0]), min(1, 2)
"""
    (kernel,) = kernels(source)
    assert len(list(array_expressions(kernel))) == 5


def test_parts_hold_nothing_that_their_compiler_leaves_out() -> None:
    unknown = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.With, ast.Raise, ast.Try)
    for path in sorted(PACKAGE.rglob("*.py")):
        for part in kernels(path.read_text(encoding="utf-8")):
            if {one.id for one in part.decorator_list if isinstance(one, ast.Name)} & {"helper", "forceinline"}:
                inside = [node for node in ast.walk(part) if node is not part]
                found = [node.lineno for node in inside if isinstance(node, (*unknown, ast.FunctionDef))]
                assert not found, f"{path.name}, {part.name}: no closures, comprehensions, with or raise in parts"
