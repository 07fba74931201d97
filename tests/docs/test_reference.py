"""The public names are exactly those that the reference documents."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest
from pages import DOCS

import choque

REFERENCE = DOCS / "reference"
PACKAGES = [name for name in choque.__all__ if isinstance(getattr(choque, name), ModuleType)]
ENTRY = re.compile(
    r"^\.\. (?:auto(?:class|exception|function|data)|py:(?:class|data)):: (?P<names>[\w.]+(?:\n +[A-Z]\w*)*)", re.M
)
MODULE = re.compile(r"^\.\. automodule:: (?P<name>[\w.]+)", re.M)


def documented(page: Path) -> list[str]:
    """Return the names that a page describes, and the modules inside its package; names with a path are extra."""
    text = page.read_text()
    names = [name for found in ENTRY.finditer(text) for name in found["names"].split() if "." not in name]
    inside = [found["name"] for found in MODULE.finditer(text) if found["name"].count(".") == 2]
    return names + [name.rpartition(".")[2] for name in inside]


def public(package: ModuleType) -> list[str]:
    """Return the names of a package: its ``__all__``, or what a module defines."""
    if hasattr(package, "__all__"):
        return list(package.__all__)
    members = inspect.getmembers(package, lambda value: inspect.isclass(value) or inspect.isfunction(value))
    return [name for name, value in members if not name.startswith("_") and value.__module__ == package.__name__]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_documented_name_by_name(package: str) -> None:
    page = REFERENCE / f"{package}.md"
    assert page.exists(), f"choque.{package} has no page in docs/reference"
    assert sorted(documented(page)) == sorted(public(importlib.import_module(f"choque.{package}")))


def test_the_facade_is_documented() -> None:
    assert sorted(documented(REFERENCE / "choque.md")) == sorted(set(choque.__all__) - set(PACKAGES))


def test_every_page_is_listed_and_none_is_about_a_package_that_does_not_exist() -> None:
    pages = {path.stem for path in REFERENCE.glob("*.md")} - {"index"}
    assert pages == {*PACKAGES, "choque", "commands"}
    listed = re.findall(r"^(\w+)$", (REFERENCE / "index.md").read_text(), re.M)
    assert pages <= set(listed)


@pytest.mark.parametrize("page", sorted(REFERENCE.glob("*.md")), ids=lambda page: page.stem)
def test_summaries_name_things_relative_to_their_package(page: Path) -> None:
    """Sphinx warns of others, and a warning is an error."""
    text = page.read_text()
    package = re.search(r"^\.\. currentmodule:: (\S+)", text, re.M)
    assert package is None or not re.findall(rf"^   {re.escape(package[1])}\.\S+$", text, re.M)


def test_what_is_internal_is_not_documented() -> None:
    text = "\n".join(path.read_text() for path in REFERENCE.glob("*.md"))
    assert not re.findall(r"^\.\. auto\w+:: choque\.(?:kernel|memory|threads|_\w+)", text, re.M)


@pytest.mark.parametrize("name", ["choque.world.arguments.BodyOptions", "choque.dynamics.response.Events"])
def test_what_a_world_takes_and_tells_is_described_beside_it(name: str) -> None:
    assert f".. autoclass:: {name}\n" in (REFERENCE / "world.md").read_text()
