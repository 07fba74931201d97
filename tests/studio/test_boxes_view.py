"""Boxes in the studio: from memory, files and generators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")

import choque
from choque.errors import InvalidInput
from choque.studio.drawing import draw_picture, kind_of_things
from choque.studio.page.boxes import BoxesView
from choque.studio.page.entries import find_view, view_of
from choque.studio.page.studio import Studio
from choque.studio.palette import FREE, GLOW
from choque.studio.request import PictureRequest
from choque.studio.volumes.view import VolumeView

RANDOM = np.random.default_rng(3)


def some_boxes(dimension: int) -> choque.bounds.Boxes:
    lower = RANDOM.uniform(0, 10, (60, dimension))
    return choque.bounds.Boxes(lower, lower + RANDOM.uniform(0, 1.5, (60, dimension)))


def sweep() -> Any:
    boxes = some_boxes(3)
    return choque.kinetic.Sweep(boxes.lower, boxes.upper, velocity=RANDOM.normal(size=(60, 3)))


def broad_phase() -> Any:
    made = choque.broad.create("bvh", some_boxes(2))
    made.remove(made.add(choque.bounds.Boxes([[0, 0]], [[1, 1]])))
    return made


@pytest.mark.parametrize("make", [lambda: some_boxes(2), lambda: some_boxes(3), sweep, broad_phase])
def test_everything_with_boxes_shows_itself(make: Callable[[], Any], shared_studio: Studio) -> None:
    thing = make()
    view = view_of(thing)
    assert isinstance(view, BoxesView)
    shared_studio.open(view)
    shared_studio.ask(lambda: None)
    assert shared_studio.view is view
    colors = shared_studio.ask(lambda: view._colors(view.look()))
    pairs = thing.pairs() if hasattr(thing, "pairs") else choque.pairs(thing.lower, thing.upper)
    touching = np.isin(np.arange(len(colors)), pairs)
    assert touching.any()
    assert (colors[touching] == GLOW).all()
    assert (colors[~touching] == FREE).all()


def test_files_and_generators_of_boxes_can_be_viewed(tmp_path: Path) -> None:
    boxes = some_boxes(3)
    path = tmp_path / "boxes.npy"
    np.save(path, np.column_stack((boxes.lower, boxes.upper)))
    assert isinstance(find_view([str(path)]), BoxesView)
    assert len(find_view(["uniform:100"]).cast()) == 100  # type: ignore[attr-defined]
    assert kind_of_things([str(path)]) == "boxes"


def test_a_number_of_boxes_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'uniform:1e4'; write the number of boxes as in uniform:1000"):
        find_view(["uniform:1e4"])


def test_two_volumes_are_shown_and_other_things_are_refused() -> None:
    ball = choque.Volume.read("screw:16")
    assert isinstance(view_of(ball, ball), VolumeView)
    alone = view_of(ball)
    assert isinstance(alone, VolumeView)
    assert not alone.pair.query().voxels
    with pytest.raises(InvalidInput, match="type Counter was given to show; give a world"):
        view_of(Counter())
    with pytest.raises(InvalidInput, match="3 things were given"):
        view_of(1, 2, 3)
    with pytest.raises(InvalidInput, match="all of finite size"):
        view_of(choque.bounds.Boxes([[0.0, 0.0]], [[np.inf, 1.0]]))


@pytest.mark.parametrize(("frame", "words"), [(0, "frame 0 of arena, 10 boxes"), (30, "frame 30 of arena, 10 boxes")])
def test_generated_boxes_are_drawn_at_any_frame(frame: int, words: str, tmp_path: Path) -> None:
    """F-004-36: the arena of the thesis on areas of interest can be seen."""
    pytest.importorskip("matplotlib")
    report = draw_picture(tmp_path / "a.png", ["arena:10"], request=PictureRequest(frame=frame))
    assert report.startswith(words)
    assert (tmp_path / "a.png").stat().st_size > 2_000
