"""Generators of bodies: counts, sizes, starts without overlaps, and the families of the thesis."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from choque import scene
from choque.errors import InvalidInput, UnknownName
from choque.lab.scenes.mixed_box import mixed_grid
from choque.scene import BodyScene
from choque.scene.body_scene import GENERATORS
from choque.scene.columns import CAPSULE, SPHERE, TILE, spheres

NAMES = scene.names("bodies")
SIZES = {
    31: (6, 3, 6),
    100: (8, 5, 8),
    316: (13, 6, 13),
    1000: (19, 9, 19),
    3162: (27, 13, 27),
    10000: (40, 20, 40),
    100000: (85, 42, 85),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 100])
def test_there_are_as_many_bodies_as_asked_for(name: str, n: int) -> None:
    made = scene.bodies(name, n, seed=1)
    assert np.count_nonzero(~made.bodies.static) == n
    assert (made.name, made.seed) == (name, 1)
    assert made.parameters == {"n": n, **scene.parameters(name)}
    assert made.summary == scene.describe(name)
    assert made.summary.endswith(".")


def test_there_may_be_more_bodies_than_fit_into_a_small_array() -> None:
    made = scene.bodies("mixed-box", 9_000, seed=1)
    assert np.count_nonzero(~made.bodies.static) == 9_000
    assert set(made.bodies.mesh) == {None}


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_is_a_scene(name: str, assert_same: Callable[[BodyScene, BodyScene], None]) -> None:
    assert_same(scene.bodies(name, 50, seed=4), scene.bodies(name, 50, seed=4))


@pytest.mark.parametrize("name", ["mixed-box", "capsule-box", "gas", "balls-in-box", "pile"])
def test_another_seed_is_another_scene(name: str) -> None:
    first, second = (scene.bodies(name, 50, seed=seed).bodies for seed in (0, 1))
    assert any(
        not np.array_equal(getattr(first, column), getattr(second, column))
        for column in ("position", "velocity", "angles")
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 13, 150])
def test_nothing_overlaps_at_the_start(name: str, n: int) -> None:
    """F-001-47 and F-001-48: starts are disjoint, those of all other generators too."""
    assert scene.bodies(name, n, seed=3).overlapping().tolist() == []


@pytest.mark.parametrize("name", ["balls-in-box", "capsule-box", "gas", "mixed-box", "two-waves"])
def test_what_is_in_a_closed_room_is_inside(name: str) -> None:
    bodies = scene.bodies(name, 150, seed=2).bodies
    walls = bodies.take(bodies.kind == TILE)
    assert len(walls) == 6
    half = np.abs(walls.position).max(axis=0)
    moving = bodies.take(~bodies.static)
    reach = moving.size[:, :1] + np.abs(moving.rotation[:, :, 2]) * moving.size[:, 1:2] / 2
    assert (np.abs(moving.position) + reach < half).all()


def test_the_grids_of_mixed_boxes() -> None:
    """F-001-47: the grids of the thesis, and space for any other number."""
    for count, grid in SIZES.items():
        assert mixed_grid(count) == grid
    assert mixed_grid(31622) == (58, 29, 58)
    for count in range(2000):
        cells = np.prod(mixed_grid(count))
        assert cells >= count
        if count > 200:
            assert 2.5 * count < cells < 4 * count


@pytest.mark.parametrize("n", [31, 100, 316, 1000])
def test_mixed_boxes_are_those_of_the_thesis(n: int) -> None:
    """F-001-47: counts, box sizes, cells, jitter, velocities, masses and kinds as section 9.1 has them."""
    bodies = scene.bodies("mixed-box", n, seed=7).bodies
    walls, moving = bodies.take(bodies.kind == TILE), bodies.take(bodies.kind != TILE)
    grid = np.array(SIZES[n])
    sides = grid * [1, 2, 1] + [0.5, 1.5, 0.5]
    assert (
        walls.position.tolist()
        == np.array(
            [
                [sides[0], 0, 0],
                [-sides[0], 0, 0],
                [0, 0, sides[2]],
                [0, 0, -sides[2]],
                [0, sides[1], 0],
                [0, -sides[1], 0],
            ]
        )
        .__truediv__(2)
        .tolist()
    )
    assert walls.drawn.tolist() == [False, True] * 3
    place = moving.position / [1, 2, 1] + (grid - 1) / 2
    cell = np.rint(place).astype(int)
    assert len(moving) == n
    assert len(np.unique(cell, axis=0)) == n
    assert ((cell >= 0) & (cell < grid)).all()
    assert (np.abs((place - cell) * [1, 2, 1]) <= 0.1 + 1e-9).all()
    is_sphere = cell.sum(axis=1) % 2 == 0
    np.testing.assert_array_equal(moving.kind, np.where(is_sphere, SPHERE, CAPSULE))
    np.testing.assert_allclose(moving.mass, np.where(is_sphere, 1, 7 + 2 / 3))
    np.testing.assert_array_equal(moving.size[:, 1], np.where(is_sphere, 0, 2))
    assert (moving.size[:, 0] == 0.3).all()
    np.testing.assert_allclose(moving.velocity * 6, np.rint(moving.velocity * 6), atol=1e-12)
    assert np.abs(moving.velocity).max() <= 5
    assert (bodies.restitution == 1).all()
    assert not bodies.acceleration.any()
    assert 0.3 < is_sphere.mean() < 0.7


@pytest.mark.parametrize(("ratio", "length"), [(1, 0), (2, 1), (4, 3), (8, 7), (12, 11), (16, 15), (2.5, 1.5)])
def test_capsule_boxes_are_those_of_the_thesis(ratio: float, length: float) -> None:
    """F-001-48: the ratio of full length to diameter, the cells and the box."""
    bodies = scene.bodies("capsule-box", 5000, seed=7, ratio=ratio).bodies
    walls, moving = bodies.take(bodies.kind == TILE), bodies.take(bodies.kind == CAPSULE)
    pitch = np.array([2, ratio + 1, 2])
    cell = moving.position / pitch + [24, 12, 24]
    assert len(moving) == 5000
    np.testing.assert_array_equal(cell, np.rint(cell))
    assert len(np.unique(cell, axis=0)) == 5000
    assert ((cell >= 0) & (cell < [48, 24, 48])).all()
    assert moving.size[0].tolist() == [0.5, length, 0]
    np.testing.assert_array_equal(walls.position.max(axis=0) * 2, np.array([50, 26, 50]) * pitch)
    assert (moving.mass == 1).all()
    assert (moving.rotation[:, :, 2] == [0, -1, 0]).all()


@pytest.mark.parametrize("name", ["prod-31", "prod-100", "prod-316", "capsule-box-1-1", "capsule-box-4-1"])
def test_against_the_files_of_the_original(name: str, fingsics: Path) -> None:
    """F-001-47 and F-001-48: the same walls to the last bit, the same sizes, masses and angles."""
    theirs = scene.find_bodies(fingsics / "scenes" / f"{name}.xml").bodies
    if name.startswith("prod"):
        ours = scene.bodies("mixed-box", int(name.removeprefix("prod-"))).bodies
    else:
        ours = scene.bodies("capsule-box", 5000, ratio=int(name.split("-")[2])).bodies
    assert len(ours) == len(theirs)
    for column in ("position", "size", "angles", "drawn", "static", "color", "restitution"):
        np.testing.assert_array_equal(getattr(ours, column)[-6:], getattr(theirs, column)[-6:], err_msg=column)
    for kind in (SPHERE, CAPSULE):
        for column in ("size", "mass", "angles", "restitution", "acceleration"):
            found, expected = (getattr(each, column)[each.kind == kind] for each in (ours, theirs))
            if len(expected):
                np.testing.assert_allclose(found[0], expected[0], err_msg=column)
                assert len(np.unique(expected, axis=0)) == 1


def test_a_gas_is_at_rest_as_a_whole() -> None:
    made = scene.bodies("gas", 500, speed=3.0, filling=0.1)
    moving = made.bodies.take(made.bodies.kind == SPHERE)
    np.testing.assert_allclose(moving.velocity.mean(axis=0), 0, atol=1e-12)
    assert (moving.velocity**2).sum(axis=1).mean() == pytest.approx(9)
    sides = 2 * made.bodies.position[made.bodies.kind == TILE].max(axis=0)
    assert 500 * 4 / 3 * np.pi * 0.5**3 / sides.prod() == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("mixed-box", {"ratio": 2}, r"no parameter 'ratio'. Its parameters: speed=5.0"),
        ("mixed-box", {"speed": -1}, "speed is -1"),
        ("capsule-box", {"ratio": 0.5}, "ratio is 0.5"),
        ("capsule-box", {"ratio": float("nan")}, "ratio is nan"),
        ("capsule-box", {"ratio": "long"}, "ratio is 'long'"),
        ("gas", {"filling": 0.6}, "filling is 0.6"),
        ("matrix", {"balls": 1.5}, "balls is 1.5"),
        ("pile", {"n": -1}, "n is -1"),
        ("pile", {"n": 10**9}, "from 0 to 10000000"),
        ("pile", {"seed": "x"}, "seed is 'x'"),
    ],
)
def test_refusals(name: str, parameters: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        scene.bodies(name, **{"n": 10, **parameters})  # type: ignore[arg-type]


def test_names() -> None:
    with pytest.raises(UnknownName, match=r"no generator of bodies called 'mixedbox'\. Did you mean 'mixed-box'"):
        scene.bodies("mixedbox", 3)
    with pytest.raises(UnknownName, match="no scene called 'nothing'"):
        scene.describe("nothing")
    groups = [scene.names(), scene.names("bodies"), scene.names("built-in")]
    assert len({name for group in groups for name in group}) == sum(map(len, groups))
    for name in NAMES:
        assert not inspect.signature(GENERATORS.find(name)).parameters.keys() & {"n", "seed"}


def test_a_generator_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GENERATORS, "_registered", {})

    @scene.body_generator("row")
    def row(request: scene.BodyRequest, *, gap: float = 3.0) -> scene.BodyColumns:
        """Balls in a row."""
        return spheres(np.arange(request.body_count)[:, np.newaxis] * [gap, 0, 0])

    assert scene.bodies("row", 3, gap=4).bodies.position[:, 0].tolist() == [0, 4, 8]
    assert scene.describe("row") == "Balls in a row."
    with pytest.raises(InvalidInput, match="already"):
        scene.body_generator("row")(lambda request: row(request))
