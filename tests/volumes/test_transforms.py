"""Translations, quarter turns, mirrors and whole factors are exact; other rotations are voxelised again."""

from __future__ import annotations

import numpy as np
import pytest
from volume_oracles import random_mask

from choque.errors import InvalidInput
from choque.lab import phantoms
from choque.volumes import Body, Volume


def test_a_translation_shares_everything_and_equals_a_shifted_grid() -> None:
    """F-003-19."""
    mask = random_mask(np.random.default_rng(0))
    volume = Volume.from_voxels(mask, spacing=0.5)
    moved = volume.translated((1.5, -2.0, 0.5))
    assert moved.model._keys is volume.model._keys
    assert np.array_equal(moved.voxels((3, -4, 1), tuple(np.add((3, -4, 1), mask.shape).tolist())), mask)
    assert moved.translated((-1.5, 2.0, -0.5)) == volume


@pytest.mark.parametrize(("axis", "plane"), [("x", (1, 2)), ("y", (2, 0)), ("z", (0, 1))])
@pytest.mark.parametrize("turns", [-1, 0, 1, 2, 3, 5])
def test_quarter_turns(axis: str, plane: tuple[int, int], turns: int) -> None:
    """F-003-20."""
    mask = np.random.default_rng(1).random((3, 4, 5)) < 0.5
    mask[0, 0, 0] = mask[-1, -1, -1] = True
    volume = Volume.from_voxels(mask, spacing=(1.0, 2.0, 3.0))
    turned = volume.turned(axis, turns)
    assert np.array_equal(turned.voxels(), np.rot90(mask, turns, plane))
    assert turned.volume == pytest.approx(volume.volume)
    assert volume.turned(axis, turns, about=(9, 8, 7)).turned(axis, -turns, about=(9, 8, 7)) == volume


@pytest.mark.parametrize(("axis", "number"), [("x", 0), ("y", 1), ("z", 2)])
def test_mirrors(axis: str, number: int) -> None:
    """F-003-20."""
    mask = np.random.default_rng(2).random((3, 4, 5)) < 0.5
    mask[0, 0, 0] = mask[-1, -1, -1] = True
    volume = Volume.from_voxels(mask)
    assert np.array_equal(volume.mirrored(axis).voxels(), np.flip(mask, number))
    assert volume.mirrored(axis, about=(0, 0, 0)).mirrored(axis, about=(0, 0, 0)) == volume


def test_scaling_repeats_voxels() -> None:
    """F-003-20."""
    mask = random_mask(np.random.default_rng(3), 3, 4)
    mask[0, 0, 0] = mask[-1, -1, -1] = True
    scaled = Volume.from_voxels(mask).scaled((2, 1, 3))
    assert np.array_equal(scaled.voxels(), mask.repeat(2, 0).repeat(3, 2))
    assert Volume.from_voxels(mask).scaled(np.int64(2)) == Volume.from_voxels(mask).scaled([2, 2, 2])


def test_a_rotation_by_a_quarter_is_the_exact_turn() -> None:
    """F-003-21."""
    volume = phantoms.make("vertebra", 24)
    for axis, vector in (("x", (1, 0, 0)), ("y", (0, 1, 0)), ("z", (0, 0, 1))):
        assert volume.rotated(np.array(vector) * np.pi / 2) == volume.turned(axis)


def test_a_rotation_keeps_a_ball() -> None:
    ball = phantoms.make("ball", 32)
    turned = ball.rotated((0.3, -0.7, 0.2), about=(16, 16, 16))
    assert (ball ^ turned).voxel_count < 0.05 * ball.voxel_count


def test_turning_a_body_is_counted_and_moving_it_is_free() -> None:
    """F-003-21."""
    body = Body(phantoms.make("screw", 24))
    body.move_to((3.2, 0.0, -7.9))
    assert (body.turn_count, body.turn_seconds) == (0, 0.0)
    assert body.snapped_position.tolist() == [3.0, 0.0, -8.0]
    assert body.volume == phantoms.make("screw", 24).translated((3.0, 0.0, -8.0))
    body.turn_to((0.0, 0.4, 0.0))
    body.turn_to((0.0, 0.4, 0.0))
    assert body.turn_count == 1
    assert body.turn_seconds > 0
    body.turn_to(np.eye(3))
    body.move_to((0, 0, 0))
    assert body.volume == phantoms.make("screw", 24)
    assert body.collides(body)
    assert body.collides(phantoms.make("screw", 24))


def test_resampling_keeps_the_solid() -> None:
    block = Volume.from_voxels(np.ones((4, 4, 4), np.bool_), spacing=1.0)
    fine = block.resampled(spacing=0.5)
    assert fine.voxel_count == 8 * block.voxel_count
    assert fine.volume == block.volume
    assert fine.resampled(like=block) == block


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (0.5, 0.8, 1.25)])
def test_a_conservative_rotation_misses_no_point(spacing: tuple[float, float, float]) -> None:
    """F-003-21: no point of a thin solid is outside the turned one, by `rotated` and as a body."""
    random = np.random.default_rng(7)
    for _ in range(6):
        mask = np.zeros((9, 8, 7), bool)
        mask[tuple(random.integers(0, mask.shape, (12, 3)).T)] = True
        mask[:, :, 3] = True
        volume = Volume.from_voxels(mask, spacing=spacing, origin=(5.0, -3.0, 2.0))
        vector = random.normal(size=3)
        body = Body(volume)
        body.turn_to(vector)
        full = volume.model.bounds[0] + np.argwhere(volume.voxels())
        points = volume.lattice.to_world(full[random.integers(0, len(full), 3000)] + random.random((3000, 3)))
        moved = (points - body.pivot) @ body.rotation.T + body.pivot
        at = np.floor(body.volume.lattice.to_lattice(moved)).astype(int) - body.volume.model.bounds[0]
        assert body.volume.voxels()[tuple(at.T)].all()
        assert (volume.rotated(vector) - body.volume).is_empty
        assert body.volume == volume.rotated(vector, conservative=True)


def test_conservative_resampling_keeps_every_part() -> None:
    random = np.random.default_rng(8)
    for _ in range(20):
        fine = Volume.from_voxels(random.random((6, 5, 7)) < 0.2, spacing=random.uniform(0.2, 0.6, 3))
        coarse = Volume.from_voxels(np.ones((1, 1, 1), bool), spacing=random.uniform(0.5, 2, 3), origin=(0.1, 0, 3))
        if fine.is_empty:
            continue
        grown = fine.resampled(like=coarse, conservative=True)
        lower, upper = (grown.lattice.to_lattice(corner) for corner in fine.boxes())
        first, last = np.floor(lower + 1e-3).astype(int), np.ceil(upper - 1e-3).astype(int)
        wanted = np.zeros_like(grown.voxels())
        offset = np.array(grown.model.bounds[0])
        for low, high in zip(first - offset, last - offset, strict=True):
            wanted[tuple(map(slice, low, high))] = True
        assert np.array_equal(grown.voxels(), wanted)


def test_resampling_and_rotating_to_an_empty_volume_is_refused() -> None:
    wall = np.zeros((4, 4, 4), bool)
    wall[:, :, 1] = True
    thin = Volume.from_voxels(wall, spacing=0.25)
    with pytest.raises(InvalidInput, match=r"conservative=True"):
        thin.resampled(spacing=1.0)
    assert thin.resampled(spacing=1.0, conservative=True).voxel_count == 1


def test_lattices_that_differ_say_what_to_do() -> None:
    one = Volume.from_voxels(np.ones((4, 4, 4), np.bool_))
    finer = Volume.from_voxels(np.ones((4, 4, 4), np.bool_), spacing=0.5)
    askew = Volume.from_voxels(np.ones((4, 4, 4), np.bool_), origin=(0.25, 0, 0))
    for other, words in ((finer, "resampled"), (askew, "line up")):
        for call in (one.collides, one.__and__, one.clearance, one.separation):
            with pytest.raises(InvalidInput, match=words):
                call(other)
    assert one.collides(finer.resampled(like=one))
    assert one != finer
    assert one != askew
    assert one == Volume.from_voxels(np.ones((4, 4, 4), np.bool_), origin=(3, 0, 0)).translated((-3, 0, 0))


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize("turns", [2, 3, 4])
def test_several_quarter_turns_have_one_pivot(axis: str, turns: int) -> None:
    """The default pivot is that of the volume before the first turn."""
    block = Volume.from_voxels(np.random.default_rng(turns).random((5, 3, 2)) < 0.6)
    angle = np.zeros(3)
    angle["xyz".index(axis)] = turns * np.pi / 2
    assert block.turned(axis, turns) == block.rotated(angle)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda v: v.translated((0.5, 0, 0)), "nearest"),
        (lambda v: v.translated((1, 2)), "three finite"),
        (lambda v: v.translated((float("nan"), 0, 0)), "three finite"),
        (lambda v: v.turned("w"), "axis"),
        (lambda v: v.turned("x", 1.5), "quarter_turns is 1.5"),
        (lambda v: v.turned("x", "once"), "quarter_turns"),
        (lambda v: v.scaled(0), "at least 1"),
        (lambda v: v.scaled(1.5), "whole numbers"),
        (lambda v: v.scaled((2, 2)), "one whole number for all"),
        (lambda v: v.scaled(10**12), "at most 2,097,151"),
        (lambda v: v.translated((1e300, 0, 0)), "2⁵³"),
        (lambda v: v.translated((2.0**53, 0, 0)).translated((2.0**53, 0, 0)), "2⁵³"),
        (lambda v: v.collides(Volume.from_voxels(np.ones((1, 1, 1), bool), origin=(1e300, 0, 0))), "2⁵³"),
        (lambda v: v.resampled(spacing=1e-9), "more than 2³⁴"),
        (lambda v: v.resampled(like=v.voxels()), "type ndarray"),
        (lambda v: v.rotated("quickly"), "rotation"),
        (lambda v: v.dilated("far"), "whole number of at least 0"),
        (lambda v: v.eroded(float("nan")), "whole number of at least 0"),
        (lambda v: v.voxels((0, 0), (1, 1)), "lower corner"),
        (lambda v: v.voxels((0, 0, 0), (1.5, 1, 1)), "upper corner"),
        (lambda v: v.voxels((0, 0, 0), (10**6,) * 3), "more than 2³⁴"),
        (lambda v: Body(v.voxels()), "type ndarray"),
        (lambda v: v.rotated(np.ones((3, 3))), "rotation"),
        (lambda v: v.resampled(), "either"),
        (lambda v: v & 3, "another volume"),
        (lambda v: v.collides(None), "another volume"),
        (lambda v: v.slide([1], (1, 0, 0)), "another volume"),
        (lambda _: Volume.from_voxels(np.ones((2, 2), bool)), "three"),
        (lambda _: Volume.from_voxels([[[1, 0], [1]]]), "rectangular"),
        (lambda _: Volume.from_voxels(np.ones((2, 2, 2), bool), spacing=(1, 0, 1)), "longer than 0"),
        (lambda _: Volume.from_voxels(np.ones((2, 2, 2), bool), spacing="wide"), "three finite"),
        (lambda _: Volume.from_mesh("a.stl"), "voxels_per_unit="),
        (lambda _: Volume.from_mesh("a.stl", voxels_per_unit=-1), "above 0"),
        (lambda _: Volume.from_mesh("a.stl", voxels_per_unit="fine"), "above 0"),
        (lambda _: Volume.from_mesh("a.stl", like="bone"), "type str"),
        (lambda _: Volume.from_mesh(3, voxels_per_unit=1), "type int"),
    ],
)
def test_bad_input_is_one_sentence(call: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call(phantoms.make("ball", 4))  # type: ignore[operator]
