"""Many volumes behind any broad phase, and one volume at several resolutions."""

from __future__ import annotations

import numpy as np
import pytest

from choque.errors import ChoqueError
from choque.volumes import Pyramid, Scene, Volume, phantoms

METHODS = ["auto", "brute", "grid", "bvh", "sap-direct", "sap-incremental"]


def crowd(count: int = 40, seed: int = 0) -> list[Volume]:
    random = np.random.default_rng(seed)
    return [
        Volume.from_voxels(random.random((5, 4, 6)) < 0.3, spacing=0.5).translated(random.integers(0, 20, 3) / 2)
        for _ in range(count)
    ]


def colliding(volumes: dict[int, Volume], contact: str) -> list[list[int]]:
    return [
        [one, two]
        for one in sorted(volumes)
        for two in sorted(volumes)
        if one < two and volumes[one].collides(volumes[two], contact=contact)
    ]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("contact", ["open", "closed"])
def test_pairs_are_those_of_asking_every_pair(method: str, contact: str) -> None:
    """F-003-48."""
    volumes = crowd()
    wanted = colliding(dict(enumerate(volumes)), contact)
    scene = Scene(volumes, method=method, contact=contact)
    assert scene.pairs().tolist() == wanted
    assert 0 < len(wanted) < len(scene.candidates())


def test_volumes_come_move_turn_and_go() -> None:
    volumes = dict(enumerate(crowd(20, 1)))
    scene = Scene(list(volumes.values()), method="sap-incremental")
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
    assert scene.pairs().tolist() == colliding(volumes, "open")


def test_bad_scenes_are_one_sentence() -> None:
    finer = Volume.from_voxels(np.ones((2, 2, 2), np.bool_), spacing=0.25)
    with pytest.raises(ChoqueError, match="at least one"):
        Scene([])
    with pytest.raises(ChoqueError, match="resampled"):
        Scene([*crowd(2), finer])
    with pytest.raises(ChoqueError, match="open"):
        Scene(crowd(2), contact="half")
    with pytest.raises(ChoqueError, match="no volume with id 9"):
        Scene(crowd(2)).move(9, finer)
    with pytest.raises(ChoqueError, match="list of volumes"):
        Scene(finer)  # type: ignore[arg-type]
    with pytest.raises(ChoqueError, match="not with ndarray"):
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


def test_a_pyramid_answers_as_its_volume_does() -> None:
    """F-003-47."""
    random = np.random.default_rng(3)
    for number in range(60):
        size, other_size = random.integers(1, 20, 2).tolist()
        one = phantoms.make("random", size, probability=0.03, seed=number)
        two = phantoms.make("random", other_size, probability=0.03, seed=number + 1000)
        shift, other_shift = random.integers(-8, 9, (2, 3)).astype(float)
        left, right = Pyramid(one).translated(shift), Pyramid(two).translated(other_shift)
        for contact in ("open", "closed"):
            wanted = one.translated(shift).collides(two.translated(other_shift), contact=contact)
            assert left.collides(right, contact=contact) == wanted


def test_every_level_contains_the_finer_one() -> None:
    """F-003-47."""
    pyramid = Pyramid(phantoms.make("gyroid", 21).translated((-5.0, 3.0, 1.0))).translated((1.0, 1.0, 1.0))
    for number in range(pyramid.level_count - 1):
        finer = pyramid.level(number)
        assert (finer - pyramid.level(number + 1).resampled(like=finer)).is_empty()
    assert pyramid.level(0) == pyramid.volume
    with pytest.raises(ChoqueError, match="no level"):
        pyramid.level(pyramid.level_count)
    with pytest.raises(ChoqueError, match="whole number of at least 1"):
        Pyramid(pyramid.volume, level_count=0)
    with pytest.raises(ChoqueError, match=r"Pyramid\(volume\)"):
        pyramid.collides(pyramid.volume)  # type: ignore[arg-type]


def test_distant_parts_are_told_apart_coarsely() -> None:
    ball = phantoms.make("ball", 32)
    left, right = Pyramid(ball), Pyramid(ball).translated((26.0, 26.0, 26.0))
    level = left.first_clear_level(right)
    assert level is not None
    assert level > 0
