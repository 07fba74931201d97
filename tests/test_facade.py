"""What `import choque` and each of its packages export, and what importing them does not load."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import pytest

import choque

PACKAGES = sorted(
    path.parent.name
    for path in Path(choque.__file__).parent.glob("*/__init__.py")
    if path.parent.name not in ("_core", "cli", "theses")
)


def in_fresh_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_exported_names_are_sorted_and_listed_by_dir() -> None:
    assert list(choque.__all__) == sorted(set(choque.__all__))
    assert dir(choque) == sorted([*choque.__all__, "__version__"])


def test_every_package_is_exported() -> None:
    assert set(PACKAGES) <= set(choque.__all__)


@pytest.mark.parametrize("name", choque.__all__)
def test_every_exported_name_exists_and_is_documented(name: str) -> None:
    value = getattr(choque, name)
    assert (value.__doc__ or "").strip().partition("\n")[0].endswith((".", ":"))
    assert not hasattr(value, "__path__") or value.__name__ == f"choque.{name}"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_of_a_package_exists_and_is_documented(package: str) -> None:
    module = importlib.import_module(f"choque.{package}")
    assert list(module.__all__) == sorted(set(module.__all__)), f"choque.{package}.__all__ is not sorted"
    for name in module.__all__:
        value = getattr(module, name)
        if callable(value) or isinstance(value, types.ModuleType):
            assert (value.__doc__ or "").strip(), f"choque.{package}.{name} has no docstring"


def test_no_public_class_has_two_owners() -> None:
    owners: dict[str, set[type]] = {}
    for package in PACKAGES:
        module = importlib.import_module(f"choque.{package}")
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, type):
                owners.setdefault(name, set()).add(value)
    shared = {"Scene"}  # of volumes and of meshes, each with the calls of its own
    assert not {name for name, classes in owners.items() if len(classes) > 1} - shared


OPTIONS = {"closed", "device", "method", "progress", "seed", "threads"}
"""Options that many calls have; they are given by name everywhere."""


def calls_of(package: str) -> Iterator[tuple[str, Any]]:
    """Yield the public functions and methods of a package; values are made by their fields."""
    module = importlib.import_module(f"choque.{package}")
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isfunction(value):
            yield name, value
        elif isinstance(value, type):
            for member in dir(value):
                if not member.startswith("_") or (member == "__init__" and not is_dataclass(value)):
                    yield f"{name}.{member}", inspect.getattr_static(value, member)


@pytest.mark.parametrize("package", PACKAGES)
def test_options_that_many_calls_have_are_given_by_name(package: str) -> None:
    for name, value in calls_of(package):
        function = getattr(value, "__func__", value)
        if inspect.isfunction(function):
            by_place = {
                each.name
                for each in inspect.signature(function).parameters.values()
                if each.kind is each.POSITIONAL_OR_KEYWORD and each.default is not each.empty
            }
            assert not by_place & OPTIONS, f"choque.{package}.{name}"


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'pears'"):
        choque.pears  # noqa: B018


def test_importing_choque_loads_nothing_heavy() -> None:
    heavy = ("numpy", "numba", "rich", "typer", "scipy")
    assert in_fresh_process(f"import sys, choque; print([m for m in {heavy} if m in sys.modules])") == "[]"


def test_a_package_is_loaded_when_first_used() -> None:
    first, second = "choque.errors, 'numba' in sys.modules", "choque.bounds.Boxes, 'numba' in sys.modules"
    assert in_fresh_process(f"import sys, choque; print(({first})[1], ({second})[1])") == "False True"


def test_the_studio_is_loaded_when_first_used() -> None:
    code = "import sys, choque; before = 'choque.studio' in sys.modules; choque.studio.Look; "
    assert in_fresh_process(code + "print(before, choque.show.__module__)") == "False choque.studio.page.studio"
    loaded = in_fresh_process(
        "import sys, choque; choque.show; print([m for m in ('viser', 'pyvista') if m in sys.modules])"
    )
    assert loaded == "[]"


def test_the_version_is_that_of_the_project() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert choque.__version__ == project["version"]
