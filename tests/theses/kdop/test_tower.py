"""The tower of the k-DOP study: its presets, its turns, and where its bodies land."""

from __future__ import annotations

import numpy as np
import pytest

from choque.errors import InvalidInput, UnknownName
from choque.narrow.solids import solid
from choque.theses.kdop.tower import DAMPING, PRESETS, Tower


def steps_to_the_ground(tower: Tower) -> int:
    """By stepping velocity Verlet with damping, one body and no world."""
    numbers = tower.numbers
    corners = solid(tower.solid).points * tower.scale
    reach = -float((corners @ tower.rotation()[-1].T)[:, 1].min())
    height, speed, frame = numbers.height(tower.n), 0.0, 0
    while height > reach:
        height -= (speed + 0.5 * numbers.acceleration * numbers.dt) * numbers.dt
        speed = (speed + numbers.acceleration * numbers.dt) * DAMPING
        frame += 1
    return frame


@pytest.mark.parametrize("elongation", [1, 3])
@pytest.mark.parametrize(("preset", "printed", "allowed"), [("reproduce", 5_500, 0.1), ("thesis-text", 8_950, 0.01)])
def test_the_last_body_lands_where_it_should(preset: str, printed: int, allowed: float, elongation: int) -> None:
    """F-002-36: the numbers of the text land at about 8,950, those of the program within a tenth of 5,500."""
    tower = Tower(512, preset=preset, elongation=elongation)
    assert abs(tower.landing_frame() - steps_to_the_ground(tower)) <= 1
    assert abs(tower.landing_frame() / printed - 1) <= allowed


def test_presets_are_those_of_the_text_and_of_the_program() -> None:
    text, program = (Tower(512, preset=name) for name in ("thesis-text", "reproduce"))
    np.testing.assert_allclose(text.heights()[[0, 1, 511]], [10, 20, 5_120])
    np.testing.assert_allclose(program.heights()[[0, 1, 511]], [26, 42, 8_202])
    assert (program.dt, program.numbers.mass, program.scale) == (0.09, 1.1, (2.0, 2.0, 2.0))
    assert Tower(elongation=3).scale == (2.0, 6.0, 2.0)
    assert text.scale == (1.0, 1.0, 1.0)  # sizes taken for extents …
    assert Tower(preset="thesis-text", half_extent=2.0).scale == (2.0, 2.0, 2.0)  # … or for scales
    assert set(PRESETS) == {"thesis-text", "reproduce"}


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_all_six_runs_start_alike(preset: str) -> None:
    """F-002-35: one hash over ids, poses and velocities, whatever the volume and the elongation."""
    hashes = {
        Tower(64, preset=preset, elongation=elongation).world(bounds=volume, threads=1).hash()
        for volume in ("18-dop", "6-dop", "sphere")
        for elongation in (1, 3)
    }
    assert len(hashes) == 1
    assert Tower(64, seed=1, preset=preset).world().hash() not in hashes


def test_bodies_hang_free_of_each_other_and_of_the_ground() -> None:
    for preset in PRESETS:
        world = Tower(32, preset=preset, elongation=3).world(bounds="18-dop", threads=1)
        assert world.bodies.static.tolist() == [True] + 32 * [False]
        assert world.step(1e-6).contacts == 0


def test_turns_are_rotations_of_at_most_a_radian_about_each_axis() -> None:
    rotation = Tower(100, seed=3).rotation()
    np.testing.assert_allclose(
        rotation @ rotation.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (100, 3, 3)), atol=1e-12
    )
    assert (np.linalg.det(rotation) > 0).all()
    assert len(np.unique(rotation[:, 0, 0])) == 100
    assert (np.arcsin(-rotation[:, 2, 0]) <= 1).all()
    assert (np.arcsin(-rotation[:, 2, 0]) >= 0).all()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"n": 0}, InvalidInput),
        ({"seed": -1}, InvalidInput),
        ({"elongation": 0}, InvalidInput),
        ({"elongation": float("nan")}, InvalidInput),
        ({"half_extent": -1.0}, InvalidInput),
        ({"preset": "text"}, UnknownName),
        ({"solid": "sphere"}, UnknownName),
    ],
)
def test_wrong_numbers_are_refused_in_a_sentence(arguments: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        Tower(**arguments)  # type: ignore[arg-type]
