"""Pictures of scenes of boxes: cuts, windows and infinite boxes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import choque
from choque.errors import InvalidInput
from choque.studio import draw_scene
from choque.studio.picture.scene import LEGIBLE, WINDOWED, make_cut
from choque.testing.oracle import overlapping_pairs


def test_the_cut_of_a_plane_shows_collisions_and_nothing_else() -> None:
    lower, upper = choque.scene.generate("uniform", 5_000, dtype="float64").frame(0)
    cut = make_cut(lower, upper, choque.pairs(lower, upper))
    assert cut.height is not None
    through = (lower[:, 2] <= cut.height) & (upper[:, 2] >= cut.height)
    assert len(cut.lower) == through.sum()
    assert 50 < len(cut.lower) <= LEGIBLE
    # What overlaps in the picture overlaps in space: the cut has its own oracle, in 2D.
    assert np.array_equal(cut.pairs, overlapping_pairs(cut.lower, cut.upper))
    assert cut.partners.sum() == 2 * len(cut.pairs)


def test_a_given_height() -> None:
    lower, upper = np.array([[0.0, 0, 0], [0, 0, 5]]), np.array([[1.0, 1, 1], [1, 1, 6]])
    cut = make_cut(lower, upper, np.empty((0, 2), np.int32), height=5.5)
    assert len(cut.lower) == 1
    assert cut.height == 5.5


def test_many_boxes_are_shown_in_a_window() -> None:
    lower, upper = choque.scene.generate("clustered", 4_000, dimension=2, dtype="float64").frame(0)
    pairs = choque.pairs(lower, upper)
    cut = make_cut(lower, upper, pairs)
    assert WINDOWED <= len(cut.lower) <= LEGIBLE
    assert cut.height is None
    assert len(cut.pairs) == len(overlapping_pairs(cut.lower, cut.upper))
    assert ((cut.lower <= cut.window[1]) & (cut.upper >= cut.window[0])).all()


def test_infinite_boxes_are_clipped_near_the_frame() -> None:
    lower, upper = np.array([[0.0, 0.0], [-np.inf, -np.inf]]), np.array([[1.0, 1.0], [np.inf, 0.2]])
    cut = make_cut(lower, upper, choque.pairs(lower, upper))
    assert np.isfinite(cut.lower).all()
    assert np.isfinite(cut.upper).all()
    assert cut.pairs.tolist() == [[0, 1]]


SCENES = {
    "none": (np.empty((0, 3)), np.empty((0, 3))),
    "one point": (np.zeros((4, 2)), np.zeros((4, 2))),
    "no end": (np.full((1, 2), -np.inf), np.full((1, 2), np.inf)),
    "apart": (np.arange(12.0).reshape(6, 2), np.arange(12.0).reshape(6, 2) + 0.5),
}


@pytest.mark.parametrize("name", SCENES)
def test_any_scene_can_be_drawn(tmp_path: Path, name: str) -> None:
    lower, upper = SCENES[name]
    draw_scene(tmp_path / "scene.png", lower, upper, choque.pairs(lower, upper))
    content = (tmp_path / "scene.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert content.endswith(b"IEND\xaeB`\x82")


def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(choque.errors.InvalidInput, match="no folder"):
        draw_scene(tmp_path / "no" / "scene.png", np.zeros((1, 2)), np.ones((1, 2)), np.empty((0, 2), np.int32))


def test_lists_are_drawn_like_arrays(tmp_path: Path) -> None:
    lower, upper = [[0, 0], [1, 1], [9, 9]], [[2, 2], [3, 3], [9, 9]]
    draw_scene(tmp_path / "lists.png", lower, upper, [[0, 1]])
    draw_scene(tmp_path / "arrays.png", np.array(lower, float), np.array(upper, float), choque.pairs(lower, upper))
    assert (tmp_path / "lists.png").read_bytes() == (tmp_path / "arrays.png").read_bytes()
    draw_scene(tmp_path / "alone.png", lower, upper, [])
    assert (tmp_path / "alone.png").read_bytes() != (tmp_path / "lists.png").read_bytes()


@pytest.mark.parametrize(
    ("name", "lower", "pairs", "height", "message"),
    [
        ("a.jpg", [[0, 0]], [], None, r"must end in \.png"),
        ("a.png", [[np.nan, 0]], [], None, "NaN|nan|not a number"),
        ("a.png", [[0, 0, 0]], [], None, r"shape"),
        ("a.png", [[0, 0]], [[0, 1]], None, r"pair \[0, 1\] is out of range; rows go from 0 to 0"),
        ("a.png", [[0, 0]], [[0.0, 0.0]], None, "integers of shape"),
        ("a.png", [[0, 0]], [0, 0], None, "integers of shape"),
        ("a.png", [[0, 0]], [], np.nan, "height of the cut is nan"),
    ],
)
def test_invalid_scenes_are_refused(
    tmp_path: Path, name: str, lower: list[list[float]], pairs: list[list[float]], height: float | None, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        draw_scene(tmp_path / name, lower, [[1, 1]], pairs, height=height)
    assert not (tmp_path / name).exists()
