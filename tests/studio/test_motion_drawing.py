"""What is drawn of moving polygons, against areas, boxes and pairs worked out apart (F-000-37)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choque.studio.motion import drawing
from choque.studio.motion.player import MotionPlayer
from choque.theses.kinetic import scenes, shapes


def area_of(triangles: np.ndarray) -> np.ndarray:
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    return ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2.0


@pytest.mark.parametrize("name", sorted(shapes.SHAPES))
@pytest.mark.parametrize("reverse", [False, True])
def test_triangles_of_a_shape_cover_it(name: str, reverse: bool) -> None:
    polygon = shapes.shape(name, size=3.0, turned=0.3, at=(5.0, -2.0))
    polygon = polygon[::-1].copy() if reverse else polygon
    triangles = drawing.triangulate(polygon)
    assert triangles.shape == (len(polygon) - 2, 3)
    areas = area_of(polygon[triangles])
    assert (areas >= -1e-12).all()  # none turned over: together with the sum, none overlaps another
    assert areas.sum() == pytest.approx(3.0)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(3, 20))
def test_triangles_of_irregular_polygons_cover_them(seed: int, count: int) -> None:
    polygon = shapes.irregular(np.random.default_rng(seed), count)
    areas = area_of(polygon[drawing.triangulate(polygon)])
    assert (areas >= -1e-12).all()
    assert areas.sum() == pytest.approx(abs(shapes.area(polygon)))


def test_an_outline_that_crosses_itself_is_drawn_somehow() -> None:
    bow = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 2.0]])
    assert drawing.triangulate(bow).shape == (2, 3)


def test_fills_are_those_of_the_chosen_objects() -> None:
    model = scenes.make("three-objects")
    player = MotionPlayer(model)
    player.seek(1.0)
    state = player.state()
    fills, points = drawing.PolygonFills(model), drawing.points(state)
    for row, polygon in enumerate(state.polygons):
        chosen = np.zeros(3, bool)
        chosen[row] = True
        corners = points[fills.faces(chosen)]
        assert (corners[..., 2] == 0).all()
        assert np.abs(area_of(corners[..., :2])).sum() == pytest.approx(abs(shapes.area(polygon)), rel=1e-5)
    assert fills.faces(np.zeros(3, bool)).shape == (0, 3)


def test_lines_are_the_boxes_the_pairs_and_the_velocities() -> None:
    player = MotionPlayer(scenes.make("three-objects"))
    player.seek(0.7)
    state = player.state()
    assert len(drawing.outlines(state)) == sum(map(len, state.polygons))
    sides = drawing.boxes(state).reshape(3, 8, 3)
    np.testing.assert_allclose(sides.min(axis=1)[:, :2], state.lower, rtol=1e-6)
    np.testing.assert_allclose(sides.max(axis=1)[:, :2], state.upper, rtol=1e-6)
    middle = (state.lower + state.upper) / 2
    links = drawing.links(state)
    assert state.pairs.tolist() == [[0, 1], [0, 2]]
    np.testing.assert_allclose(links[:, :, :2], middle[state.pairs], rtol=1e-6)
    arrows = drawing.arrows(state, seconds=0.5)
    np.testing.assert_allclose((arrows[:, 1] - arrows[:, 0])[:, :2], state.velocity * 0.5, rtol=1e-5)


def test_what_is_at_rest_has_no_arrow_and_nothing_has_no_lines() -> None:
    assert drawing.arrows(MotionPlayer(scenes.make("resting-pair")).state()).shape == (0, 2, 3)
    nothing = MotionPlayer(scenes.make("random-shapes", n=0))
    state = nothing.state()
    assert drawing.points(state).shape == (0, 3)
    assert drawing.outlines(state).shape == drawing.boxes(state).shape == (0, 2, 3)
    assert drawing.PolygonFills(nothing.model).faces(state.colliding).shape == (0, 3)
