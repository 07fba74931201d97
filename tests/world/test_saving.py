"""Saved worlds go on bit for bit; damaged files are named, never trusted."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from world_scenes import gas, pile

from choque.errors import InvalidInput, UnreadableFile
from choque.world import World


def test_a_run_resumed_in_a_dense_pile_ends_alike(tmp_path: Path, thorough: bool) -> None:
    """F-001-07: straight through, resumed in the middle of a pile-up, and resumed by another number of threads."""
    count, before, after = (600, 120, 180) if thorough else (90, 70, 60)
    world = pile(count, threads=1)
    for _ in range(before):
        world.step()
    world.write(tmp_path / "middle.world")
    deepest = 0
    for _ in range(after):
        deepest = max(deepest, world.step().contacts)
    assert deepest > count / 2, "the pile must be dense"
    for threads in (None, 1, 2):
        resumed = World.read(tmp_path / "middle.world", threads=threads)
        assert (resumed.frame, resumed.bodies.ids.tolist()) == (before, world.bodies.ids.tolist())
        for _ in range(after):
            resumed.step()
        assert resumed.hash() == world.hash()
        assert resumed.time == world.time


@pytest.mark.parametrize(
    "options", [{}, {"broad": "sap-obb", "dtype": "float32"}, {"broad": "grid-cells", "cells": [3, 3, 3]}]
)
def test_everything_is_kept(tmp_path: Path, options: dict[str, Any]) -> None:
    world = gas(40, **options, max_speed=50.0)
    world.remove([3, 7])
    world.step()
    path = tmp_path / "kept"
    world.write(path)
    kept = World.read(path)
    assert kept.settings == world.settings
    for name, column in world.bodies.columns().items():
        np.testing.assert_array_equal(getattr(kept.bodies, name), column)
        assert getattr(kept.bodies, name).dtype == column.dtype
    assert kept.hash() == world.hash()
    assert kept.add_spheres([90, 0, 0]).tolist() == world.add_spheres([90, 0, 0]).tolist(), "ids go on"
    assert len(kept.contacts()) == 0


@pytest.mark.parametrize("copied", [World.copy, copy.copy, copy.deepcopy])
def test_a_copy_goes_its_own_way(copied: Callable[[World], World]) -> None:
    world = pile(30)
    world.step()
    twin = copied(world)
    for _ in range(30):
        twin.step()
    before = world.hash()
    for _ in range(30):
        world.step()
    assert before != twin.hash() == world.hash()


def test_an_old_file_stays_when_saving_fails(tmp_path: Path) -> None:
    path = tmp_path / "world"
    world = gas(10, broad="grid-cells", cells=(2, 2, 2))
    world.write(path)
    content = path.read_bytes()
    world.switch("grid-cells", cells=2, arena=(np.zeros(3), np.ones(3)))
    with pytest.raises(InvalidInput, match="'cells', 'arena'"):
        world.write(path)
    assert path.read_bytes() == content
    assert [child.name for child in tmp_path.iterdir()] == ["world"]
    with pytest.raises(InvalidInput, match="no folder"):
        gas(10).write(tmp_path / "nowhere" / "world")


def rewritten(path: Path, **changes: Any) -> None:
    """The file with some of its arrays replaced, or left out where None."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays |= changes
    with path.open("wb") as handle:
        np.savez(handle, **{name: array for name, array in arrays.items() if array is not None})


DAMAGE: list[tuple[dict[str, Any], str]] = [
    ({"body.position": None}, "'position'"),
    ({"body.position": np.zeros((3, 3))}, "'position'"),
    ({"body.position": np.full((16, 3), np.nan)}, "not finite"),
    ({"body.rotation": np.zeros((16, 3, 3), np.float32)}, "'rotation'"),
    ({"body.kind": np.full(16, 9, np.int8)}, "unknown kind"),
    ({"body.kind": np.full(16, 3, np.int8)}, "hull"),
    ({"body.size": np.full((16, 3), -1.0)}, "negative"),
    ({"body.ids": np.zeros(16, np.int32)}, "not ascending"),
    ({"body.ids": np.arange(1, 17, dtype=np.int32)}, "not ascending"),
    ({"body.ids": None}, "ids"),
    ({"about": None}, "not a saved world"),
    ({"about": np.array("{")}, "damaged"),
    ({"about": np.array("[1]")}, "not a saved world"),
    ({"about": np.array('{"format": "choque-world", "version": 99}')}, "version 99"),
    ({"response.depth": np.zeros(3)}, "has no memory"),
]


@pytest.mark.parametrize(("changes", "message"), DAMAGE, ids=lambda value: str(value)[:30])
def test_a_wrong_file_is_refused_in_a_sentence(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "wrong"
    gas(10).write(path)
    rewritten(path, **changes)
    with pytest.raises(InvalidInput) as caught:
        World.read(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(tmp_path: Path, share: float) -> None:
    path = tmp_path / "short"
    gas(10).write(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(UnreadableFile, match="short"):
        World.read(path)


@given(st.data())
def test_a_damaged_file_is_refused_or_harmless(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("damage") / "damaged"
    world = gas(10)
    world.write(path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(content))
    with contextlib.suppress(InvalidInput):  # any other exception fails the test
        World.read(path).step()


def test_unknown_settings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings"
    gas(10).write(path)
    with np.load(path) as archive:
        about = json.loads(str(archive["about"]))
    for change in ({"broad": "nothing"}, {"gravity": 3}, {"dtype": "int8"}):
        rewritten(path, about=np.array(json.dumps(about | {"settings": about["settings"] | change})))
        with pytest.raises(InvalidInput):
            World.read(path)
    with pytest.raises(UnreadableFile, match="There is no file"):
        World.read(tmp_path / "missing")


def test_nothing_in_a_file_is_ever_run(tmp_path: Path) -> None:
    path = tmp_path / "pickled"
    gas(10).write(path)
    buffer = io.BytesIO()
    np.save(buffer, np.array([print], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("response.memory.npy", buffer.getvalue())
    with pytest.raises(UnreadableFile, match="damaged"):
        World.read(path)


@pytest.mark.parametrize("bounds", ["box", "oriented", "sphere", "6-dop", "14-dop", "18-dop", "26-dop"])
def test_worlds_with_any_bounds_can_be_pickled(bounds: str) -> None:
    world = World(bounds=bounds)
    world.add_boxes([[0, 0, 0], [0.5, 0, 0]])
    world.step()
    copied = pickle.loads(pickle.dumps(world))
    world.step()
    copied.step()
    assert copied.hash() == world.hash()
