"""What `import choque` gives, and what it does not load."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import choque

ROOMS = ("bounds", "broad", "files", "scene", "testing")


def in_fresh_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_what_is_exported_is_what_is_listed() -> None:
    assert list(choque.__all__) == sorted(set(choque.__all__))
    assert dir(choque) == sorted([*choque.__all__, "__version__"])


@pytest.mark.parametrize("name", choque.__all__)
def test_every_exported_name_is_there_and_documented(name: str) -> None:
    value = getattr(choque, name)
    assert (value.__doc__ or "").strip().partition("\n")[0].endswith((".", ":"))
    assert not hasattr(value, "__path__") or value.__name__ == f"choque.{name}"


@pytest.mark.parametrize("room", ROOMS)
def test_every_exported_name_of_a_room_is_there_and_documented(room: str) -> None:
    module = importlib.import_module(f"choque.{room}")
    assert len(module.__all__) == len(set(module.__all__))
    for name in module.__all__:
        assert (getattr(module, name).__doc__ or "").strip(), f"choque.{room}.{name} has no docstring"


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'pears'"):
        choque.pears  # noqa: B018


def test_the_import_loads_nothing_heavy() -> None:
    heavy = ("numpy", "numba", "rich", "typer", "scipy")
    assert in_fresh_process(f"import sys, choque; print([m for m in {heavy} if m in sys.modules])") == "[]"


def test_a_room_is_loaded_when_first_used() -> None:
    first, second = "choque.errors, 'numba' in sys.modules", "choque.bounds, 'numba' in sys.modules"
    assert in_fresh_process(f"import sys, choque; print(({first})[1], ({second})[1])") == "False True"


def test_the_version_is_that_of_the_project() -> None:
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert choque.__version__ == project["version"]
