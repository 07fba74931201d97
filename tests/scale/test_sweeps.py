"""Sweeps over worlds and configurations of volumes: the same table for any number of workers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import choque
from choque.errors import InvalidInput
from choque.volumes import Body, Volume

ROWS = [{"seed": seed, "broad": broad} for seed in (1, 2) for broad in ("grid", "brute")]


def test_worlds_in_processes_are_those_of_this_process() -> None:
    calls: list[tuple[int, int, str]] = []
    here = choque.scale.map_worlds(
        "balls-in-box:30", ROWS, steps=4, workers=1, progress=lambda *words: calls.append(words)
    )
    there = choque.scale.map_worlds("balls-in-box:30", ROWS, steps=4, workers=2)
    assert list(here) == ["seed", "broad", "bodies", "pairs", "impulses", "energy", "hash"]
    for name, column in here.items():
        assert np.array_equal(column, there[name])
    world = choque.scene.find_bodies("balls-in-box:30", seed=2).world(broad="brute")
    for _ in range(4):
        world.step()
    assert here["hash"][3] == here["hash"][2] == world.hash()
    assert here["hash"][0] != here["hash"][3]
    assert calls[-1] == (4, 4, "worlds")


def test_a_function_of_this_session_measures_in_other_processes() -> None:
    pytest.importorskip("cloudpickle")
    factor = 3
    table = choque.scale.map_worlds(
        "balls-in-box:10", [{"seed": 1}], steps=1, workers=2, measure=lambda world: {"x": factor * world.frame}
    )
    assert table["x"].tolist() == [3]


def test_bad_rows_are_refused() -> None:
    with pytest.raises(InvalidInput, match="Row 1 of parameters has the names n, row 0 has seed"):
        choque.scale.map_worlds("balls-in-box:9", [{"seed": 1}, {"n": 3}])
    scene = choque.scene.find_bodies("balls-in-box:9")
    with pytest.raises(InvalidInput, match="'seed' is no parameter of a world"):
        choque.scale.map_worlds(scene, [{"seed": 1}], steps=1, workers=1)
    assert choque.scale.map_worlds(scene, []) == {}


def test_volumes_in_many_configurations() -> None:
    ball, cube = Volume.read("ball:9"), Volume.from_voxels(np.ones((4, 4, 4), bool))
    random = np.random.default_rng(29)
    position = random.integers(-9, 10, (30, 3, 3))
    quarter = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    rotation = np.stack([np.stack([np.eye(3), quarter, np.eye(3)])] * 30)
    expected = []
    for number in range(30):
        bodies = [Body(each) for each in (ball, cube, cube)]
        for body, place, turn in zip(bodies, position[number], rotation[number], strict=True):
            body.turn_to(turn)
            body.move_to(place)
        expected += [[number, i, j] for i in range(3) for j in range(i + 1, 3) if bodies[i].collides(bodies[j])]
    volumes: list[Any] = ["ball:9", cube, cube]
    found = choque.scale.collide(volumes, position, rotation=rotation, workers=1)
    assert found.tolist() == expected
    with ThreadPoolExecutor(2) as executor:
        again = choque.scale.collide(volumes, position, rotation=rotation, executor=executor, workers=2)
    assert np.array_equal(found, again)
    with pytest.raises(InvalidInput, match=r"with 3 volumes it must be \(m, 3, 3\)"):
        choque.scale.collide(volumes, position[:, :2])
