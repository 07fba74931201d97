"""Scenes of bodies: what they refuse, and the worlds they make."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import choque
from choque import scene
from choque.errors import InvalidInput, UnreadableFile
from choque.scene import BodyColumns, BodyScene, Camera
from choque.scene.columns import KIND_WORDS, boxes, capsules, ground, join, spheres, tiles


def test_columns_are_filled_and_checked() -> None:
    made = spheres([[0, 0, 0], [3, 0, 0]], [1, 2], velocity=(1, 2, 3), color=[[1, 2, 3], [4, 5, 6]])
    assert made.size.tolist() == [[1, 0, 0], [2, 0, 0]]
    assert made.velocity.tolist() == [[1, 2, 3]] * 2
    assert made.color.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert len(made.take([1])) == 1
    assert made.moved((0, 1, 0)).position.tolist() == [[0, 1, 0], [3, 1, 0]]
    assert made.position[0, 1] == 0
    for position, attributes, words in (
        ([[0, 0]], {}, "position"),
        ("here", {}, "position"),
        ([[0, 0, 0]], {"speed": 3}, "Bodies have no 'speed'"),
        ([[0, 0, 0]], {"mass": [1, 2, 3]}, "mass"),
        ([[0, 0, 0]], {"color": (0, 0, 300)}, "not a whole number from 0 to 255"),
        ([[0, 0, 0]], {"color": "red"}, "color"),
        ([[0, 0, 0]], {"velocity": [[1, 2], [3]]}, "velocity"),
    ):
        with pytest.raises(InvalidInput, match=words):
            spheres(position, **attributes)
    with pytest.raises(InvalidInput, match="size"):
        spheres([[0, 0, 0]], "large")


def test_tiles_and_grounds_are_static() -> None:
    assert join(tiles([[0, 0, 0]], static=False), ground(), spheres([[0, 5, 0]])).static.tolist() == [True, True, False]
    assert len(join()) == 0


@pytest.mark.parametrize(
    ("bodies", "words"),
    [
        (spheres([[0, 0, 0], [9, 0, 0]], [1, -1]), "Body 1 of the scene 'x': the radius of this sphere is -1"),
        (capsules([[0, 0, 0]], 1, float("nan")), "the length of this capsule is nan"),
        (tiles([[0, 0, 0]], 1, 1e13), "the width of this tile"),
        (boxes([[0, 0, 0]], (1, 0, 1)), "the size of this box"),
        (spheres([[0, np.inf, 0]]), "the position of this sphere is 0,inf,0"),
        (spheres([[0, 0, 0]], spin=(0, 0, np.nan)), "the spin"),
        (spheres([[0, 0, 0]], mass=0), "the mass"),
        (spheres([[0, 0, 0]], restitution=1.01), "the restitution"),
        (spheres([[0, 0, 0]], rocket=True), "only capsules are drawn as rockets"),
    ],
)
def test_bodies_that_are_not_allowed(bodies: BodyColumns, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        BodyScene("x", bodies)


def test_the_first_offender_is_named() -> None:
    bodies = spheres([[0, 0, 0]] * 4, [1, 1, 1, -1], mass=[1, 1, -1, 1], restitution=[0, 2, 0, 0])
    with pytest.raises(InvalidInput, match=r"Body 1 .*restitution"):
        BodyScene("x", bodies)


@pytest.mark.parametrize(
    "changes", [{"radius": 0}, {"radius": 1e13}, {"pitch": float("nan")}, {"yaw": "left"}, {"radius": float("inf")}]
)
def test_cameras_that_are_not_allowed(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=f"The {next(iter(changes))} of the camera"):
        Camera(**changes)  # type: ignore[arg-type]


def test_steps_that_are_not_allowed() -> None:
    for steps in (0, -1, 2.5, True, 10**7, "60"):
        with pytest.raises(InvalidInput, match="steps_per_second"):
            BodyScene("x", BodyColumns.none(), steps_per_second=steps)  # type: ignore[arg-type]


def test_a_camera_that_sees_everything() -> None:
    assert Camera.around(BodyColumns.none()) == Camera()
    near, far = (Camera.around(spheres([[x, 0, 0]])) for x in (10, 100))
    assert 10 < near.radius < far.radius


def mixture() -> BodyColumns:
    """Kinds in turn, everything about each different."""
    random = np.random.default_rng(5)
    place = np.arange(12)[:, np.newaxis] * [10.0, 0, 0]
    kind = np.arange(12) % 3
    size = np.where(kind[:, np.newaxis] == 0, [1.0, 0, 0], [1.0, 2.0, 0])
    return BodyColumns.filled(
        kind,
        place,
        size,
        velocity=random.normal(size=(12, 3)),
        acceleration=random.normal(size=(12, 3)),
        angles=random.uniform(0, 360, (12, 3)),
        spin=random.uniform(0, 90, (12, 3)),
        mass=random.uniform(1, 2, 12),
        restitution=random.random(12),
        static=random.random(12) < 0.5,
        drawn=random.random(12) < 0.5,
        rocket=(kind == 1) & (random.random(12) < 0.5),
        color=random.integers(0, 256, (12, 3)),
    )


def test_row_k_becomes_body_k() -> None:
    """F-001-01: every property of the scene is that of the body with the same number."""
    made = BodyScene("mixture", mixture())
    bodies = made.world().bodies
    assert bodies.ids.tolist() == list(range(12))
    for name in ("kind", "position", "size", "velocity", "acceleration", "mass", "static", "drawn"):
        np.testing.assert_array_equal(getattr(bodies, name), getattr(made.bodies, name), err_msg=name)
    np.testing.assert_array_equal(bodies.restitution, made.bodies.restitution)
    for name in ("rocket", "color"):
        np.testing.assert_array_equal(getattr(bodies, name), getattr(made.bodies, name), err_msg=name)
    np.testing.assert_allclose(bodies.rotation, made.bodies.rotation, atol=1e-15)
    np.testing.assert_allclose(bodies.angular_velocity, np.radians(made.bodies.spin))
    assert (bodies.inverse_mass[bodies.static] == 0).all()


def test_a_world_does_not_share_the_columns() -> None:
    made = BodyScene("mixture", mixture())
    before = made.bodies.position.copy()
    world = made.world()
    world.step(made.dt)
    np.testing.assert_array_equal(made.bodies.position, before)


def test_settings_and_options() -> None:
    made = BodyScene("x", spheres([[0, 0, 0]]), settings={"broad": "grid-cells", "cells": [4, 4, 4], "max_speed": 50.0})
    assert made.world(broad="brute").settings.broad == "brute"
    assert made.world(broad="brute").settings.broad_options == {}
    assert made.world(broad="brute").settings.max_speed == 50
    assert made.world(broad="grid-cells").settings.broad_options == {"cells": [4, 4, 4]}
    assert made.world(dtype="float32").bodies.dtype == np.float32


def test_what_overlaps_at_the_start_is_listed() -> None:
    bodies = join(spheres([[0, 0, 0], [1, 0, 0], [5, 0, 0], [5, 0, 0]]), tiles([[0, 0, 0]], 2, 2), tiles([[0, 0, 0]]))
    assert BodyScene("x", bodies).overlapping().tolist() == [
        [0, 1],
        [0, 4],
        [0, 5],
        [1, 4],
        [1, 5],
        [2, 3],
        [2, 5],
        [3, 5],
    ]


def test_a_rocket_is_only_drawn_differently() -> None:
    """F-001-45: the same trajectory with rockets on and off, through collisions."""
    made = scene.bodies("rockets", 30, speed=60)
    plain = replace(made, bodies=replace(made.bodies, rocket=np.zeros_like(made.bodies.rocket)))
    assert made.bodies.rocket.sum() == 29
    worlds = [each.world() for each in (made, plain)]
    contacts = 0
    for _ in range(60):
        contacts += worlds[0].step(made.dt).contacts
        worlds[1].step(made.dt)
        assert worlds[0].hash() == worlds[1].hash()
    assert contacts > 0


def test_boxes_and_grounds() -> None:
    made = BodyScene("x", join(ground(-1), boxes([[0, 3, 0]], (1, 2, 3)), ground(-7, restitution=0.5)))
    bodies = made.world().bodies
    assert [KIND_WORDS[kind] for kind in bodies.kind] == ["ground", "box", "ground"]
    assert bodies.position[:, 1].tolist() == [-1, 3, -7]
    assert bodies.restitution.tolist() == [1, 1, 0.5]


def test_the_facade_loads_and_runs(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<config><objects><sphere vel='3,0,0'/></objects></config>")
    world = choque.scene.read(tmp_path / "a.xml").world()
    for _ in range(60):
        world.step()
    assert world.bodies.position[0, 0] == pytest.approx(3)


def test_kinds_of_scenes_are_distinguished(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([[0, 0, 1, 1.0]]))
    with pytest.raises(UnreadableFile, match="holds boxes, not bodies"):
        scene.find_bodies(tmp_path / "a.npy")
    with pytest.raises(UnreadableFile, match="holds bodies, not boxes"):
        scene.files.read_boxes("bowling")
    with pytest.raises(UnreadableFile, match=r"no scene of bodies of that name\. Did you mean 'bowling'"):
        scene.read("bowlin")
    assert scene.read("mixed-box").name == "mixed-box"
    with pytest.raises(UnreadableFile, match=r"The nearest of \d+ are .*; 'choque scenes' lists all"):
        scene.read("zzz")


def test_options_of_a_response_are_left_out_for_another() -> None:
    made = scene.bodies("stack", 3, ratio=100.0)
    assert made.settings["response_options"] == {"substeps": 16}
    assert made.world(response="impulse").settings.response == "impulse"
    assert len(made.overlapping()) == 0
