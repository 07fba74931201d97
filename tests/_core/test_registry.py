"""Names come from a table, from this process and from entry points, and each is imported when it is used."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint

import pytest

from choque._core import registry as registry_module
from choque._core.registry import Registry
from choque.errors import ChoqueError, InvalidInput, MissingExtra, UnknownName

Function = Callable[[float], float]


def functions(group: str | None = None) -> Registry[Function]:
    return Registry("function", {"root": "math:sqrt"}, group=group, fits=callable, wanted="callable")


@pytest.fixture
def announce(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def announced(**points: str) -> None:
        found = [EntryPoint(name, value, "test") for name, value in points.items()]
        monkeypatch.setattr(registry_module, "entry_points", lambda group: found if group == "test" else [])

    return announced


def test_a_built_in_name_is_imported_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    late: Registry[Function] = Registry("function", {"late": "colorsys:rgb_to_hls"})
    assert late.names() == ["late"]
    assert "late" in late
    assert "colorsys" not in sys.modules
    assert late.find("late") is sys.modules["colorsys"].rgb_to_hls


def test_functions_and_decorators_register() -> None:
    known = functions()
    assert known.register("sine", math.sin) is math.sin

    @known.register("twice")
    def twice(x: float) -> float:
        return 2 * x

    assert known.find("twice") is twice
    assert known.names() == ["root", "sine", "twice"]
    assert known.register("twice", twice) is twice


def test_a_name_has_one_owner() -> None:
    known = functions()
    known.register("sine", math.sin)
    for name in ("root", "sine"):
        with pytest.raises(InvalidInput, match=f"There is a function called '{name}' already"):
            known.register(name, math.cos)
    with pytest.raises(InvalidInput, match="must be a string"):
        known.register("", math.cos)


def test_entry_points_are_found_once(announce: Callable[..., None]) -> None:
    announce(cosine="math:cos", root="math:cos")
    known = functions("test")
    assert known.names() == ["cosine", "root"]
    assert known.find("cosine") is math.cos
    assert known.find("root") is math.sqrt, "built-in names cannot be taken"
    announce(tangent="math:tan")
    assert known.names() == ["cosine", "root"]
    assert functions("test").find("tangent") is math.tan


def test_unknown_names_are_answered_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match=r"There is no function called 'rot'\. Did you mean 'root'\?"):
        functions().find("rot")
    with pytest.raises(UnknownName, match="called 3"):
        functions().find(3)  # type: ignore[arg-type]


def test_what_is_announced_must_exist_and_fit(announce: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    announce(gone="math:nothing", lost="no_such_module:f", number="math:pi")
    known = functions("test")
    with pytest.raises(ChoqueError, match="'gone' is announced as 'math:nothing' but cannot be imported"):
        known.find("gone")
    with pytest.raises(ChoqueError, match="'no_such_module:f' but cannot be imported"):
        known.find("lost")
    with pytest.raises(InvalidInput, match=r"The function 'number' is 3\.14.*; it must be callable"):
        known.find("number")

    def load(_: EntryPoint) -> None:
        raise MissingExtra("install it")

    monkeypatch.setattr(EntryPoint, "load", load)
    with pytest.raises(MissingExtra, match="install it"):
        known.find("lost")
