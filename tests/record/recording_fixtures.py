"""Casts, frames and small worlds for the tests of recordings."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from choque.record import BodyTable
from choque.record.frames import no_hulls
from choque.record.recorder import Writer
from choque.world import World

Frame = tuple[np.ndarray, np.ndarray]


def a_table(count: int) -> BodyTable:
    return BodyTable(
        ids=np.arange(count, dtype=np.int32),
        kind=(np.arange(count) % 3).astype(np.int8),
        size=np.ones((count, 3), np.float32),
        color=np.full((count, 3), 99, np.uint8),
        drawn=np.ones(count, bool),
        rocket=np.arange(count) % 6 == 1,
        static=np.arange(count) % 3 == 2,
        hull=np.full(count, -1, np.int32),
        **no_hulls(),
    )


def some_frames(frame_count: int, body_count: int, seed: int = 0) -> list[Frame]:
    random = np.random.default_rng(seed)
    return [
        (random.normal(size=(body_count, 3)).astype("f4"), random.normal(size=(body_count, 3, 3)).astype("f4"))
        for _ in range(frame_count)
    ]


@pytest.fixture
def table() -> Callable[[int], BodyTable]:
    return a_table


@pytest.fixture
def frames() -> Callable[..., list[Frame]]:
    return some_frames


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a recording of given frames and gives its path."""

    def recording(given: list[Frame], name: str = "a.choque", **header: object) -> Path:
        path = tmp_path / name
        with closing(Writer(path, {"scene": "test", "dt": 1 / 60, **header})) as writer:
            writer.begin(a_table(len(given[0][0])), b"state")
            for index, (position, rotation) in enumerate(given):
                writer.add(position, rotation, hash=1000 + index, time=index / 60, step=1 / 60)
        return path

    return recording


@pytest.fixture
def make_world() -> Callable[..., World]:
    """Makes a small crowd in which bodies meet, the same every time."""

    def make(**options: object) -> World:
        random = np.random.default_rng(5)
        place = np.stack(np.meshgrid(*[np.arange(3.0)] * 3), axis=-1).reshape(-1, 3)
        world = World(**{"broad": "sap-incremental", **options})
        world.add_spheres(1.1 * place, 0.45, velocity=random.normal(0, 2, place.shape))
        spin = random.normal(0, 2, place.shape)
        world.add_capsules(1.4 * place + (5, 0, 0), 0.3, 0.5, velocity=(-3.0, 0.0, 0.0), angular_velocity=spin)
        world.add_tiles([0, -2, 0], 30.0, 30.0)
        return world

    return make
