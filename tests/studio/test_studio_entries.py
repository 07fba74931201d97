"""The view of a word or an object, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from choque.errors import InvalidInput, UnknownName
from choque.scene import find_bodies
from choque.studio.page import overlays as studio_overlays
from choque.studio.page.entries import ENTRIES, Entry, entry_of, find_view, view_of
from choque.studio.page.view import View
from choque.studio.page.world import WorldView


def test_views_of_objects() -> None:
    view = view_of(find_bodies("bowling"))
    assert isinstance(view, WorldView)
    assert view_of(view) is view
    assert isinstance(view_of("bowling"), WorldView)
    with pytest.raises(InvalidInput, match="type list was given to show"):
        view_of([1, 2])


def test_a_registered_entry_is_found_by_its_names_and_suffixes(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []

    def show(things: Sequence[str], parameters: Mapping[str, Any]) -> View:
        opened.append((list(things), dict(parameters)))
        return view_of(find_bodies("bowling"))

    planted = Entry("Planted", "A test.", lambda: {"volcano": "Erupts."}, show, suffixes=(".lava",), study=True)
    monkeypatch.setattr(ENTRIES, "_registered", {})
    ENTRIES.register("planted", planted)
    assert entry_of(["volcano"]) == entry_of(["a.lava"]) == entry_of([], "planted") == "planted"
    assert isinstance(find_view(["volcano"], parameters={"n": 3}), View)
    assert opened == [(["volcano"], {"n": 3})]
    with pytest.raises(InvalidInput, match="must be a choque"):
        ENTRIES.register("another", "volcano")


def test_unknown_things_are_refused() -> None:
    with pytest.raises(UnknownName, match="kind of view"):
        ENTRIES.find("volcano")
    with pytest.raises(InvalidInput, match="nothing to show"):
        entry_of([])


@pytest.mark.parametrize(("count", "drawn", "said"), [(5, 5, "5 pairs."), (500, 20, "20 of 500 pairs are drawn.")])
def test_the_number_of_lines_is_limited(count: int, drawn: int, said: str) -> None:
    rows, note = studio_overlays._among(count, "pairs", 20)
    assert len(set(rows.tolist())) == drawn
    assert rows.max() == count - 1
    assert note == said


def test_of_many_bodies_those_near_the_target_are_drawn() -> None:
    random = np.random.default_rng(3)
    bodies = SimpleNamespace(position=random.normal(size=(60, 3)), drawn=np.arange(60) % 10 > 0)
    findings: Any = SimpleNamespace(bodies=bodies, is_bounded=np.arange(60) < 50)
    options: Any = SimpleNamespace(target=np.array([1.0, 0.0, 0.0]))
    rows, note = studio_overlays._nearest(findings, options, 8)
    offered = [row for row in range(50) if row % 10]
    nearest = sorted(offered, key=lambda row: np.linalg.norm(bodies.position[row] - options.target))[:8]
    assert rows.tolist() == sorted(nearest)
    assert note == "The 8 of 45 nearest to the target of the camera."
