"""Collisions among many volumes, for every broad phase."""

from __future__ import annotations

import numpy as np
import pytest

from choque.errors import ChoqueError
from choque.volumes import Scene, Volume

METHODS = ["auto", "brute", "grid", "bvh", "sap-direct", "sap-incremental"]


def crowd(count: int = 40, seed: int = 0) -> list[Volume]:
    random = np.random.default_rng(seed)
    return [
        Volume.from_voxels(random.random((5, 4, 6)) < 0.3, spacing=0.5).translated(random.integers(0, 20, 3) / 2)
        for _ in range(count)
    ]


def colliding(volumes: dict[int, Volume], closed: bool) -> list[list[int]]:
    return [
        [one, two]
        for one in sorted(volumes)
        for two in sorted(volumes)
        if one < two and volumes[one].collides(volumes[two], closed=closed)
    ]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("closed", [False, True])
def test_pairs_are_those_of_testing_every_pair(method: str, closed: bool) -> None:
    """F-003-48."""
    volumes = crowd()
    wanted = colliding(dict(enumerate(volumes)), closed)
    scene = Scene(volumes, broad=method, closed=closed)
    assert scene.pairs().tolist() == wanted
    assert 0 < len(wanted) < len(scene.candidates())


def test_add_move_turn_and_remove() -> None:
    volumes = dict(enumerate(crowd(20, 1)))
    scene = Scene(list(volumes.values()), broad="sap-incremental")
    for number in scene.add(crowd(5, 2)).tolist():
        volumes[number] = scene[number]
    scene.remove([3, 7])
    scene.remove(11)
    del volumes[3], volumes[7], volumes[11]
    scene.translate(0, (1.5, 0, -2))
    volumes[0] = volumes[0].translated((1.5, 0, -2))
    turned = volumes[1].turned("x")
    scene.move(1, turned)
    volumes[1] = turned
    assert len(scene) == len(volumes) == 22
    assert scene.ids.tolist() == sorted(volumes)
    assert scene.pairs().tolist() == colliding(volumes, closed=False)


def test_bad_scenes_are_one_sentence() -> None:
    finer = Volume.from_voxels(np.ones((2, 2, 2), np.bool_), spacing=0.25)
    with pytest.raises(ChoqueError, match="at least one"):
        Scene([])
    with pytest.raises(ChoqueError, match="resampled"):
        Scene([*crowd(2), finer])
    with pytest.raises(ChoqueError, match="closed is 'half'"):
        Scene(crowd(2), closed="half")  # type: ignore[arg-type]
    with pytest.raises(ChoqueError, match="no volume with id 9"):
        Scene(crowd(2)).move(9, finer)
    with pytest.raises(ChoqueError, match="list of volumes"):
        Scene(finer)  # type: ignore[arg-type]
    with pytest.raises(ChoqueError, match="type ndarray"):
        Scene([finer.voxels()])  # type: ignore[list-item]
    scene = Scene(volume for volume in crowd(4))
    for call in (
        lambda: scene.remove([1.5]),  # type: ignore[list-item]
        lambda: scene.remove(["first"]),  # type: ignore[list-item]
        lambda: scene.remove([2, 2]),
        lambda: scene.add([3]),  # type: ignore[list-item]
        lambda: scene.move(0, 3),  # type: ignore[arg-type]
        lambda: scene[[1]],  # type: ignore[index]
    ):
        with pytest.raises(ChoqueError):
            call()
    assert scene.ids.tolist() == [0, 1, 2, 3]
