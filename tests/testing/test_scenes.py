"""The scenes of the suite are legal, repeatable, and hold what they are there for."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import choque
from choque.errors import UnknownName
from choque.testing import oracle, scenes

ALL = [
    (name, dimension, dtype)
    for name, dimension, dtype in product(scenes.names(), (2, 3), ("float32", "float64"))
    if (name, dimension) != ("reference", 2)
]


@pytest.mark.parametrize(("name", "dimension", "dtype"), ALL)
def test_a_scene_is_legal_and_its_expression_makes_it_again(name: str, dimension: int, dtype: scenes.FloatName) -> None:
    scene = scenes.make(name, dimension=dimension, dtype=dtype, count=37, seed=3)
    assert scene.boxes().dimension == scene.dimension == dimension
    assert scene.lower.dtype == scene.upper.dtype == dtype
    again = eval(scene.expression, {"choque": choque})
    assert np.array_equal(scene.lower, again.lower)
    assert np.array_equal(scene.upper, again.upper)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "name", ["lattice", "touching", "ground-plane", "far-away", "huge", "subnormal", "planar", "infinite"]
)
def test_scenes_of_touching_boxes_tell_the_topologies_apart(name: str, dtype: scenes.FloatName) -> None:
    scene = scenes.make(name, dtype=dtype)
    closed = oracle.overlapping_pairs(scene.lower, scene.upper, closed=True)
    half_open = oracle.overlapping_pairs(scene.lower, scene.upper, closed=False)
    assert len(half_open) < len(closed) < 60 * 59 // 2


def test_an_unknown_scene_is_named_with_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'lattice'"):
        scenes.make("latice")
