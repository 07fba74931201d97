"""Methods by name: built in, registered, and announced by other packages."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from choque import broad
from choque._core import registry
from choque.bounds import Boxes
from choque.broad import BroadPhase
from choque.broad.brute import Brute
from choque.broad.index import methods
from choque.errors import ChoqueError, InvalidInput, UnknownName
from choque.testing import check_broad_phase

EXAMPLE = Path(__file__).parents[2] / "examples" / "third_party_method"
BOXES = Boxes([[0, 0], [1, 1], [5, 5]], [[2, 2], [3, 3], [6, 6]])


@pytest.fixture(autouse=True)
def _clean_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    for known in ("_registered", "_found"):
        monkeypatch.setattr(methods, known, {})
    monkeypatch.setattr(methods, "_announced", None)


def announce(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """Let an installed package announce a method."""
    points = [EntryPoint(name, value, "choque.broad")]
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == "choque.broad" else [])
    monkeypatch.setattr(methods, "_announced", None)


def test_an_unknown_method_suggests_the_nearest_and_says_what_lists_all() -> None:
    with pytest.raises(UnknownName, match=r"Did you mean 'octree'\? The nearest of \d+ are octree, ") as caught:
        broad.create("ocree", BOXES)
    named = [name for name in broad.names() if name in str(caught.value).partition("nearest of")[2]]
    assert 5 <= len(named) < len(broad.names())
    assert str(caught.value).endswith("'choque methods' lists all.")


@pytest.mark.parametrize("name", [3, None, ["brute"]])
def test_a_name_that_is_no_text_is_refused(name: Any) -> None:
    with pytest.raises(InvalidInput):
        broad.create(name, BOXES)


def test_an_unknown_option_suggests_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"no option of 'brute' called 'thread'. Did you mean 'threads'"):
        broad.create("brute", BOXES, thread=2)


def test_options_of_a_method_are_its_own_and_those_of_its_bases() -> None:
    class Seasoned(Brute):
        def __init__(self, *, pepper: float = 1.0) -> None:
            self.pepper = pepper

    class Salted(Seasoned):
        def __init__(self, *, salt: float = 1.0, **options: Any) -> None:
            super().__init__(**options)
            self.salt = salt

    assert broad.find("brute").options() == []
    assert Salted.options() == ["salt", "pepper"]
    assert broad.create(Salted, BOXES, pepper=2.0, threads=1).index.pepper == 2.0  # type: ignore[attr-defined]


def test_a_type_error_of_the_method_itself_is_not_mistaken_for_an_unknown_option() -> None:
    @broad.register
    class Confused(Brute):
        name = "confused"

        def build(self) -> None:
            raise TypeError("two and two")

    with pytest.raises(TypeError, match="two and two"):
        broad.create("confused", BOXES)


@pytest.mark.parametrize("bounds", [[[0, 0]], np.zeros((3, 2)), None])
def test_only_bounds_are_taken(bounds: Any) -> None:
    with pytest.raises(InvalidInput, match=type(bounds).__name__):
        broad.create("brute", bounds)


def test_a_registered_class_is_found_and_may_be_registered_again() -> None:
    class Mine(Brute):
        name = "mine"

    assert broad.register(Mine) is Mine
    assert broad.register(Mine) is Mine
    assert "mine" in broad.names()
    assert type(broad.create("mine", BOXES).index) is Mine


def test_a_class_without_a_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must be a string that is not empty"):
        broad.register(int)  # type: ignore[arg-type]


def test_a_name_is_taken_once() -> None:
    class Impostor(Brute):
        name = "grid"

    class Mine(Brute):
        name = "mine"

    class Yours(Brute):
        name = "mine"

    with pytest.raises(InvalidInput, match="called 'grid' already"):
        broad.register(Impostor)
    broad.register(Mine)
    with pytest.raises(InvalidInput, match="called 'mine' already"):
        broad.register(Yours)


def test_names_are_sorted_and_each_is_there_once() -> None:
    assert broad.names() == sorted(set(broad.names()))


def test_a_method_by_entry_point_is_listed_and_found(monkeypatch: pytest.MonkeyPatch) -> None:
    announce(monkeypatch, "brought", "choque.broad.brute:Brute")
    assert "brought" in broad.names()
    assert broad.find("brought") is Brute


@pytest.mark.parametrize(
    "value", ["no_such_package.module:Method", "choque.broad.brute:NoSuchClass", "choque.broad.brute:BLOCK"]
)
def test_a_broken_entry_point_breaks_only_its_own_method(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    announce(monkeypatch, "broken", value)
    assert "broken" in broad.names()
    assert broad.create("brute", BOXES).count() == 1
    with pytest.raises(ChoqueError, match="'broken'"):
        broad.find("broken")


def test_the_example_package_announces_itself_and_conforms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As pip would install it: its modules on the path, and a dist-info folder with its entry points."""
    import tomllib

    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    info = tmp_path / f"choque_sorted_scan-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(EXAMPLE / "src"))
    try:
        assert "sorted-scan" in broad.names()
        made = broad.create("sorted-scan", BOXES)
        assert isinstance(made, BroadPhase)
        assert made.pairs().tolist() == [[0, 1]]
        check_broad_phase("sorted-scan")
    finally:
        for module in [name for name in sys.modules if name.startswith("choque_sorted_scan")]:
            del sys.modules[module]
