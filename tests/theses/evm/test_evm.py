"""Trie, sweeps, pyramid, baselines, two phases and surface of the EVM thesis agree with the library and with masks."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from volume_oracles import OPERATIONS, random_mask, random_pairs

from choque.errors import ChoqueError, InvalidInput
from choque.files.meshes import MeshArrays
from choque.lab import phantoms
from choque.theses.evm import sweep, trie
from choque.theses.evm.baselines import DenseMask, Octree, RunRows
from choque.theses.evm.objects import sphere_mesh
from choque.theses.evm.pyramid import Pyramid
from choque.theses.evm.surface import covered_surface, face_loops, solid_corners
from choque.theses.evm.sweep import SweepCounters, keys_collide, sweep_collides
from choque.theses.evm.triangles import colliding_triangles
from choque.theses.evm.two_phase import meshes_collide
from choque.volumes import ExtremeVertices, Volume
from choque.volumes.collision import search

PUBLISHED = {1: (56, 96), 2: (56, 96), 3: (192, 368), 4: (248, 456)}
CORNERS = {1: 56, 2: 56, 3: 192, 4: 248}
SPHERE = sphere_mesh()


def test_tries_and_sweeps_on_random_pairs(thorough: bool) -> None:
    """F-003-08, F-003-11, F-003-15, F-003-16, F-003-17: booleans and collisions by tries and by the plain sweep."""
    for one, two in random_pairs(10_000 if thorough else 250, seed=3):
        left, right = ExtremeVertices.from_mask(one), ExtremeVertices.from_mask(two)
        for name, operation in OPERATIONS.items():
            wanted = ExtremeVertices.from_mask(operation(one, two)).points.tolist()
            assert trie.combine(left, right, name).points.tolist() == wanted
            assert sweep.combine(left, right, name, improve=False).points.tolist() == wanted
        assert trie.collides(left, right) == sweep_collides(left, right) == (one & two).any()


@pytest.mark.parametrize("dimension", [1, 2])
def test_sweeps_of_flat_pairs(dimension: int) -> None:
    """F-003-08."""
    for one, two in random_pairs(300, dimension, 10, seed=4):
        left, right = ExtremeVertices.from_mask(one), ExtremeVertices.from_mask(two)
        assert sweep_collides(left, right) == (one & two).any()
        for name, operation in OPERATIONS.items():
            wanted = ExtremeVertices.from_mask(operation(one, two)).points.tolist()
            assert sweep.combine(left, right, name, improve=False).points.tolist() == wanted
    with pytest.raises(InvalidInput, match="solids"):
        trie.collides(left, right)


def test_tries_of_moved_phantoms() -> None:
    """F-003-16."""
    ball, gyroid = (ExtremeVertices.from_mask(phantoms.PHANTOMS.find(name)(27)) for name in ("ball", "gyroid"))
    for shift in ((0, 0, 0), (-5, 3, 8), (26, 26, 26), (40, 0, 0)):
        moved = gyroid.moved(shift)
        assert trie.combine(ball, moved, "difference") == ball - moved
        assert trie.collides(ball, moved) == (search(ball, gyroid, shift).overlap is not None)
    linked = trie.Trie.from_model(ball)
    assert linked.byte_count > ball.byte_count
    assert len(linked.keys()) == len(ball)


def test_all_pairs_of_intervals() -> None:
    """F-003-10: exhaustive on 0..8: one interval against one, and against two."""
    single = [np.array(ends) for ends in combinations(range(9), 2)]
    double = [np.array(ends) for ends in combinations(range(9), 4)]
    for one in single:
        for two in single + double:
            inside = [set(range(one[0], one[1])) & set(range(a, b)) for a, b in two.reshape(-1, 2)]
            assert keys_collide(one, two, 1) == any(inside)
            assert keys_collide(two, one, 1) == any(inside)


def test_the_first_overlap_ends_the_sweep() -> None:
    """F-003-11."""
    solid = ExtremeVertices.from_mask(np.ones((6, 6, 6), np.bool_))
    counters = SweepCounters()
    assert sweep_collides(solid, solid, counters=counters)
    assert (counters.brinks, counters.sections) == (1, 1)
    ball = ExtremeVertices.from_mask(phantoms.ball(30))
    early, full = SweepCounters(), SweepCounters()
    assert sweep_collides(ball, ball.moved((5, 5, 5)), counters=early)
    sweep.combine(ball, ball.moved((5, 5, 5)), "intersection", counters=full)
    assert early.brinks < full.brinks / 10
    assert search(ball, ball, (5, 5, 5)).brinks < full.brinks / 10


def test_skipping_empty_and_distant_sections_changes_no_answer() -> None:
    """F-003-46."""
    for one, two in random_pairs(80, seed=9):
        left, right = ExtremeVertices.from_mask(one), ExtremeVertices.from_mask(two)
        fast, plain = SweepCounters(), SweepCounters()
        found = sweep_collides(left, right, counters=fast)
        assert found == sweep_collides(left, right, improve=False, counters=plain)
        assert fast.brinks <= plain.brinks
        assert fast.sections <= plain.sections


def test_acceleration_changes_the_work_and_not_the_result() -> None:
    """F-003-09."""
    ball = ExtremeVertices.from_mask(phantoms.ball(24))
    other = ball.moved((12, 3, 5))
    for operation in ("union", "intersection", "difference"):
        fast, plain = SweepCounters(), SweepCounters()
        quick = sweep.combine(ball, other, operation, counters=fast)
        slow = sweep.combine(ball, other, operation, improve=False, counters=plain)
        assert quick.points.tolist() == slow.points.tolist() == ball.combine(other, operation).points.tolist()
        assert fast.sections < plain.sections
        assert fast.brinks < plain.brinks


def test_baselines_answer_as_volumes_do() -> None:
    random = np.random.default_rng(0)
    for _ in range(150):
        one, two = (random.random(tuple(random.integers(1, 7, 3))) < 0.2 for _ in range(2))
        shift = tuple(random.integers(-6, 7, 3).tolist())
        wanted = Volume.from_voxels(one).collides(Volume.from_voxels(two).translated(shift))
        assert DenseMask(one).collides(DenseMask(two), shift) == wanted
        assert RunRows(one).collides(RunRows(two), shift) == wanted
        assert Octree(one).collides(Octree(two), shift) == wanted


def test_a_pyramid_collides_as_its_volume_does() -> None:
    """F-003-47."""
    random = np.random.default_rng(3)
    for number in range(60):
        size, other_size = random.integers(1, 20, 2).tolist()
        one = phantoms.make("random", size, probability=0.03, seed=number)
        two = phantoms.make("random", other_size, probability=0.03, seed=number + 1000)
        shift, other_shift = random.integers(-8, 9, (2, 3)).astype(float)
        left, right = Pyramid(one).translated(shift), Pyramid(two).translated(other_shift)
        for closed in (False, True):
            wanted = one.translated(shift).collides(two.translated(other_shift), closed=closed)
            assert left.collides(right, closed=closed) == wanted


def test_every_level_contains_the_finer_one() -> None:
    """F-003-47."""
    pyramid = Pyramid(phantoms.make("gyroid", 21).translated((-5.0, 3.0, 1.0))).translated((1.0, 1.0, 1.0))
    for number in range(pyramid.level_count - 1):
        finer = pyramid.level(number)
        assert (finer - pyramid.level(number + 1).resampled(like=finer)).is_empty
    assert pyramid.level(0) == pyramid.volume
    with pytest.raises(ChoqueError, match="number is"):
        pyramid.level(pyramid.level_count)
    with pytest.raises(ChoqueError, match="whole number of at least 1"):
        Pyramid(pyramid.volume, level_count=0)
    with pytest.raises(ChoqueError, match=r"Pyramid\(volume\)"):
        pyramid.collides(pyramid.volume)  # type: ignore[arg-type]


def test_distant_volumes_are_separated_at_a_coarse_level() -> None:
    ball = phantoms.make("ball", 32)
    left, right = Pyramid(ball), Pyramid(ball).translated((26.0, 26.0, 26.0))
    level = left.first_clear_level(right)
    assert level is not None
    assert level > 0


@pytest.mark.parametrize("per_unit", [1, 2, 3, 4])
def test_the_published_counts(per_unit: int) -> None:
    """F-003-26, F-003-27."""
    model = Volume.from_mesh(sphere_mesh(), voxels_per_unit=per_unit, fill="surface").model
    points, faces = covered_surface(model)
    assert (len(points), len(faces)) == PUBLISHED[per_unit]
    assert len(solid_corners(model)) == CORNERS[per_unit]


def test_outlines_bound_the_solid() -> None:
    """The divergence theorem over polygons with their holes: outer outlines add, holes take away."""
    random = np.random.default_rng(1)
    for _ in range(60):
        model = ExtremeVertices.from_mask(random_mask(random, 3, 6))
        total = 0
        for loop in face_loops(model):
            area = np.cross(loop, np.roll(loop, -1, axis=0)).sum(axis=0)  # twice the area, along the normal
            total += int(area @ loop[0])
        assert total == 6 * model.mask().sum()


def test_corners_hold_the_extreme_vertices_and_more() -> None:
    """F-003-27."""
    random = np.random.default_rng(2)
    for _ in range(30):
        model = ExtremeVertices.from_mask(random_mask(random, 3, 5))
        corners = set(map(tuple, solid_corners(model).tolist()))
        assert set(map(tuple, model.points.tolist())) <= corners


@pytest.mark.parametrize("distance", [1.2, 1.95, 1.999, 2.001, 2.05, 2.4, 5.0])
def test_two_phases_find_the_pairs_of_testing_all(distance: float) -> None:
    """F-003-33."""
    other = _moved((0.0, 0.3 * (distance < 1.9), distance))
    all_pairs, _ = colliding_triangles(SPHERE, other)
    verdict = meshes_collide(SPHERE, other, voxels_per_unit=8)
    assert verdict.collides == (len(all_pairs) > 0)
    assert verdict.pairs.tolist() == all_pairs.tolist()
    assert verdict.triangle_tests < 760**2 / 10 or distance < 1.9
    assert verdict.events in (
        ["volumes apart"],
        ["volumes collide", "triangles apart"],
        ["volumes collide", "triangles collide"],
    )
    assert (verdict.events[-1] == "triangles collide") == verdict.collides


def _moved(shift: tuple[float, float, float]) -> MeshArrays:
    return MeshArrays(SPHERE.vertices + np.array(shift), SPHERE.faces)
