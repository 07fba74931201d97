"""Cubes, brinks and planes of volumes, against masks (F-003-43)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choque.studio.stage.camera import directions
from choque.studio.volumes import shapes as volume_shapes
from choque.studio.volumes.stage import camera_at, distance_to_see, upright
from choque.volumes import Volume


def random_volume(seed: int, share: float = 0.4) -> tuple[np.ndarray, Volume]:
    mask = np.random.default_rng(seed).random((4, 5, 3)) < share
    return mask, Volume.from_voxels(mask, spacing=(0.5, 1.0, 2.0), origin=(3.0, -1.0, 7.0))


def extreme_vertices(mask: np.ndarray) -> set[tuple[int, ...]]:
    """Lattice points around which an odd number of cells is full."""
    wide = np.pad(mask, 1).astype(int)
    counts = sum(
        wide[dx : dx + mask.shape[0] + 1, dy : dy + mask.shape[1] + 1, dz : dz + mask.shape[2] + 1]
        for dx in (0, 1)
        for dy in (0, 1)
        for dz in (0, 1)
    )
    return {tuple(point) for point in np.argwhere(counts % 2 == 1).tolist()}


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 9999), order=st.sampled_from(volume_shapes.ORDERS))
def test_brinks_join_all_extreme_vertices_along_the_last_axis(seed: int, order: str) -> None:
    mask, volume = random_volume(seed)
    ends = volume.lattice.to_lattice(volume_shapes.brinks(volume, order))
    along = "xyz".index(order[2])
    others = [axis for axis in range(3) if axis != along]
    assert (ends[:, 0, others] == ends[:, 1, others]).all()
    assert (ends[:, 0, along] < ends[:, 1, along]).all()
    points = [tuple(point) for point in np.rint(ends.reshape(-1, 3)).astype(int).tolist()]
    assert len(points) == len(set(points))
    assert set(points) == extreme_vertices(mask)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 9999), axis=st.sampled_from("xyz"))
def test_planes_are_the_faces_between_full_and_empty(seed: int, axis: str) -> None:
    """What the vertices of a plane bound is where the two sections beside it differ: the faces across the axis."""
    mask, volume = random_volume(seed)
    vertices, faces = volume_shapes.planes(volume, axis)
    at = "xyz".index(axis)
    corners = volume.lattice.to_lattice(vertices)[faces]
    assert (corners[:, 0, at] == corners[:, 1, at]).all()
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.abs(cross[:, at]) / 2
    levels = corners[:, 0, at]
    padded = np.pad(mask, [(1, 1) if each == at else (0, 0) for each in range(3)]).astype(int)
    changes = np.abs(np.diff(padded, axis=at)).sum(axis=tuple(each for each in range(3) if each != at))
    found = [areas[np.isclose(levels, level)].sum() for level in range(mask.shape[at] + 1)]
    np.testing.assert_allclose(found, changes, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 9999), share=st.sampled_from([0.0, 0.5, 0.95]))
def test_cubes_are_the_voxels_that_can_be_seen(seed: int, share: float) -> None:
    mask, volume = random_volume(seed, share)
    wide = np.pad(mask, 1)
    expected = set()
    for x, y, z in np.argwhere(mask).tolist():
        neighbours = [wide[x, y + 1, z + 1], wide[x + 2, y + 1, z + 1], wide[x + 1, y, z + 1]]
        neighbours += [wide[x + 1, y + 2, z + 1], wide[x + 1, y + 1, z], wide[x + 1, y + 1, z + 2]]
        if not all(neighbours):
            expected.add((x, y, z))
    found = np.floor(volume.lattice.to_lattice(volume_shapes.cube_centres(volume))).astype(int)
    assert {tuple(cell) for cell in found.tolist()} == expected
    assert len(found) == len(expected)


def test_a_box_has_twelve_edges_and_a_cube_six_sides() -> None:
    edges = volume_shapes.box_edges(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 6.0]))
    lengths = np.abs(edges[:, 1] - edges[:, 0]).sum(axis=1)
    assert sorted(lengths.tolist()) == [1.0] * 4 + [2.0] * 4 + [4.0] * 4
    vertices, faces = volume_shapes.unit_cube(np.array([1.0, 2.0, 3.0]))
    corners = vertices[faces]
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    assert volume == pytest.approx(6.0)  # signed: it looks outward
    np.testing.assert_allclose(vertices.max(axis=0), [0.5, 1.0, 1.5])


@settings(max_examples=30, deadline=None)
@given(away=st.tuples(*[st.floats(-5, 5, allow_nan=False)] * 3))
def test_a_camera_is_placed_as_requested(away: tuple[float, float, float]) -> None:
    offset = np.array(away)
    if np.linalg.norm(offset) < 1e-3:
        return
    target = np.array([1.0, 2.0, 3.0])
    camera = camera_at(target + offset, target)
    ahead, _, _ = directions(camera)
    np.testing.assert_allclose(-camera.radius * ahead, offset, atol=1e-6)


def test_all_corners_are_seen_from_the_distance_that_is_found() -> None:
    corners = volume_shapes.box_edges(np.array([-1.0, -2.0, -3.0]), np.array([1.0, 2.0, 3.0])).reshape(-1, 3)
    direction = np.array([0.6, -0.64, 0.48])
    for size in ((1280, 720), (400, 900)):
        distance = distance_to_see(corners, direction, size)
        ahead, right, up = directions(camera_at(upright(direction), np.zeros(3)))
        placed = upright(corners) - distance * upright(direction)
        depth = placed @ ahead
        half = np.tan(np.radians(22.5))
        assert (depth > 0).all()
        assert (np.abs(placed @ up) <= depth * half).all()
        assert (np.abs(placed @ right) <= depth * half * size[0] / size[1]).all()
