"""Meshes in many poses: collide, distance, penetration, containment; against rational and dense answers."""

from __future__ import annotations

from itertools import product
from typing import Any

import mesh_oracles as oracle
import numpy as np
import pytest
from mesh_shapes import box, rotation, sphere, torus
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque.errors import InvalidInput
from choque.lab import phantoms
from choque.meshes import Mesh, clearance, collide, distance, intersections, penetration
from choque.meshes.frames import FRAME, copy_box, fill_frames, fill_query
from choque.meshes.lanes import LOOSE, MIDDLE, QUERY, point_gaps, turned_gaps, turned_hits
from choque.meshes.poses import as_poses

Array = NDArray[np.float64]


def poses(count: int, spread: float, seed: int = 0) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    return np.stack([rotation(seed * 1000 + k) for k in range(count)]), random.normal(0, spread, (count, 3))


def exact_turns() -> Array:
    """The 24 rotations that map the axes onto themselves: exact for whole numbers."""
    found = []
    for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)):
        for signs in product((-1.0, 1.0), repeat=3):
            matrix = np.zeros((3, 3))
            matrix[range(3), order] = signs
            if np.linalg.det(matrix) > 0:
                found.append(matrix)
    return np.array(found)


def test_collisions_of_soups_are_those_of_every_pair_of_triangles() -> None:
    random = np.random.default_rng(3)
    p, q = random.integers(0, 6, (12, 3, 3)).astype(np.float64), random.integers(0, 4, (9, 3, 3)).astype(np.float64)
    one, two = (Mesh(each.reshape(-1, 3), np.arange(3 * len(each)).reshape(-1, 3)) for each in (p, q))
    turns = exact_turns()
    shifts = random.integers(-8, 9, (len(turns), 3)).astype(np.float64)
    wanted = [
        any(oracle.kind(a, b @ turn.T + shift) != "apart" for a, b in product(p, q))
        for turn, shift in zip(turns, shifts, strict=True)
    ]
    assert 0 < sum(wanted) < len(wanted)
    assert collide(one, two, (turns, shifts), solid=False).tolist() == wanted
    assert (distance(one, two, (turns, shifts)).distance == 0).tolist() == wanted


def test_collisions_are_those_of_intersections() -> None:
    one, two = Mesh(*torus(14)), Mesh(*torus(10, 0.9, 0.35))
    rotations, shifts = poses(120, 0.9)
    wanted = [len(intersections(one, two, pose=(r, t))) > 0 for r, t in zip(rotations, shifts, strict=True)]
    assert 20 < sum(wanted) < 110
    assert collide(one, two, (rotations, shifts), solid=False).tolist() == wanted
    matrices = np.zeros((120, 4, 4))
    matrices[:, :3, :3], matrices[:, :3, 3], matrices[:, 3, 3] = rotations, shifts, 1
    assert collide(one, two, matrices, solid=False, threads=3).tolist() == wanted
    back = np.linalg.inv(matrices)
    assert collide(two, one, (back[:, :3, :3], back[:, :3, 3]), solid=False).tolist() == wanted


def test_a_small_part_on_a_large_one_misses_nothing() -> None:
    ground, part = Mesh(*sphere(24, 1000.0)), Mesh(*torus(6, 0.05, 0.02))
    random = np.random.default_rng(0)
    face = random.integers(0, len(ground), 150)
    weights = random.dirichlet([1, 1, 1], 150)
    on = np.einsum("nk,nkd->nd", weights, ground.vertices[ground.faces[face]])
    shifts = on * (1 + random.normal(0, 4e-5, (150, 1)))
    rotations = np.stack([rotation(k) for k in range(150)])
    wanted = [len(intersections(ground, part, pose=(r, t))) > 0 for r, t in zip(rotations, shifts, strict=True)]
    assert 20 < sum(wanted) < 130
    assert collide(ground, part, (rotations, shifts), solid=False).tolist() == wanted
    assert (distance(ground, part, (rotations, shifts)).distance == 0).tolist() == wanted
    back = rotations.transpose(0, 2, 1)
    there = -(back @ shifts[:, :, None])[:, :, 0]
    assert collide(part, ground, (back, there), solid=False).tolist() == wanted


def test_distances_are_those_of_every_pair_of_triangles() -> None:
    random = np.random.default_rng(8)
    soup = random.normal(0, 0.4, (150, 1, 3)) + random.normal(0, 1, (150, 3, 3)) * 10 ** random.uniform(
        -3, -0.3, (150, 1, 1)
    )
    one, two = Mesh(soup.reshape(-1, 3), np.arange(450).reshape(-1, 3)), Mesh(*torus(5))
    apart = 0
    for first, second, spread in ((one, two, 1.5), (two, one, 4.0), (two, two, 1.0)):
        rotations, shifts = poses(12, spread, seed=4)
        found = distance(first, second, (rotations, shifts))
        p, q = first.vertices[first.faces], second.vertices[second.faces]
        for k in range(12):
            is_apart = not len(intersections(first, second, pose=(rotations[k], shifts[k])))
            assert (found.distance[k] > 0) == is_apart
            if is_apart:
                wanted = oracle.least_distance(p, q @ rotations[k].T + shifts[k])
                assert found.distance[k] == pytest.approx(wanted, rel=1e-9)
                assert np.linalg.norm(found.point_a[k] - found.point_b[k]) == pytest.approx(wanted, rel=1e-9)
            apart += is_apart
    assert 12 < apart < 36


def test_the_clearance_of_vertices_is_that_of_every_triangle() -> None:
    random = np.random.default_rng(2)
    shape, open_shape = Mesh(*torus(8)), Mesh(torus(8)[0], torus(8)[1][::3])
    points = random.uniform(-1.5, 1.5, (60, 3))
    cloud = Mesh(points, [[0, 1, 2]])
    pose = (rotation(3), np.array([0.3, 0.1, -0.2]))
    placed = points @ pose[0].T + pose[1]
    for mesh in (shape, open_shape):
        corners = mesh.vertices[mesh.faces]
        wanted = [oracle.least_distance(corners, np.stack([x, x, x])[None]) for x in placed]
        found = clearance(mesh, cloud, pose=pose)
        np.testing.assert_allclose(np.abs(found), wanted, rtol=1e-9)
        assert np.array_equal(found < 0, mesh.is_closed & (shape.contains(placed)))
        assert np.array_equal(np.isinf(clearance(mesh, cloud, pose=pose, bound=0.4)), np.abs(found) > 0.4)
    assert 0 < (clearance(shape, cloud, pose=pose) < 0).sum() < 60
    assert np.array_equal(clearance(shape, cloud, threads=3), clearance(shape, cloud, threads=1))


def test_vertices_near_each_other_lie_on_the_sides_that_counting_finds() -> None:
    voxels = Mesh(phantoms.make("gyroid", 16))
    twice = Mesh(*sphere(6, 4.0))  # two shells that overlap: a point in both is outside
    shells = Mesh(
        np.vstack((twice.vertices + 5, twice.vertices + [7, 5, 5])),
        np.vstack((twice.faces, twice.faces + len(twice.vertices))),
    )
    part = Mesh(*sphere(24, 4.5)).moved((rotation(4), [6.0, 6.1, 6.2]))
    shuffled = np.random.default_rng(0).permutation(len(part.vertices))
    for solid in (voxels, shells):
        found = clearance(solid, part)
        inside = solid.contains(part.vertices)
        assert np.array_equal(found < 0, inside)
        assert 0.1 < inside.mean() < 0.9
        other = Mesh(part.vertices[shuffled], np.argsort(shuffled)[part.faces])
        assert np.array_equal(clearance(solid, other), found[shuffled])
        assert np.array_equal(clearance(solid, part, threads=3), found)
        near = clearance(solid, part, bound=0.5)
        assert np.array_equal(near, np.where(np.abs(found) <= 0.5, found, np.copysign(np.inf, found)))


def test_a_deformed_mesh_answers_as_a_new_one() -> None:
    flat = Mesh(*torus(9))
    other = Mesh(*sphere(6, 0.5))
    where = poses(40, 1.0, seed=6)
    assert collide(flat, other, where).any()
    bent = flat.vertices + 0.2 * np.sin(3 * flat.vertices[:, ::-1])
    quick, slow = flat.deformed(bent), Mesh(bent, flat.faces)
    assert np.array_equal(quick.surface.rows, flat.surface.rows)
    assert not np.array_equal(quick.surface.rows, slow.surface.rows)
    assert np.array_equal(collide(quick, other, where), collide(slow, other, where))
    np.testing.assert_allclose(
        distance(quick, other, where).distance, distance(slow, other, where).distance, rtol=1e-12
    )
    assert np.array_equal(quick.self_intersections(), slow.self_intersections())
    with pytest.raises(InvalidInput, match="has 163 rows; the mesh has 162 vertices"):
        flat.deformed(np.vstack((bent, bent[:1])))


def test_a_volume_is_a_solid_of_voxels() -> None:
    scan = phantoms.make("ball", 12)
    solid, part = Mesh(scan), Mesh(*sphere(6, 1.5))
    lower, upper = scan.bounds
    middle = (lower + upper) / 2
    assert solid.is_closed
    assert collide(solid, part, (rotation(1), middle)).tolist() == [True]
    beside = middle + [0, 0, (upper - lower)[2] / 2 + 2]
    assert collide(solid, part, (np.eye(3), beside)).tolist() == [False]
    assert distance(solid, part, (np.eye(3), beside)).distance[0] == pytest.approx(0.5)
    assert clearance(solid, part, pose=(np.eye(3), middle)).max() < 0
    far = scan.translated([5, 3, 20])
    assert distance(solid, Mesh(far)).distance[0] == pytest.approx(scan.clearance(far), rel=1e-12)


@kernel
def search(surface: Any, where: Any, blocks: Any, limit: float, compiled: Any, query: Any, gaps: Any) -> Any:
    """Ask a block of a mesh about another block of it in a pose; both ways of asking."""
    frames, box = np.empty((2, FRAME)), np.empty(11)
    fill_frames(surface, surface, where, 0, frames)
    copy_box(surface, blocks[0], blocks[1], box)
    fill_query(frames, 1, box, query)
    compiled[0] = turned_hits(surface.lanes, surface.slabs, blocks[2], query)
    compiled[1] = turned_gaps(surface.lanes, surface.slabs, blocks[2], query, gaps, limit)


@kernel
def search_point(surface: Any, block: int, limit: float, query: Any, gaps: Any) -> int:
    return point_gaps(surface.lanes, surface.slabs, block, query, gaps, limit)


def test_lanes_do_what_their_plain_forms_do() -> None:
    surface = Mesh(*torus(9)).surface
    limit = np.float32(0.2)
    found, query, gaps, plain_gaps = np.zeros(2, np.int64), *(np.zeros(n, np.float32) for n in (QUERY, 16, 16))
    hits, near, near_point = (getattr(each, "plain", each) for each in (turned_hits, turned_gaps, point_gaps))
    total = np.zeros(3, np.int64)
    for seed in range(12):
        for blocks in ((1, 0, 2), (0, 3, 5), (0, 20, 1)):
            search(surface, as_poses((rotation(seed), [0.1 * seed, 0, 0.2])), blocks, limit, found, query, gaps)
            point = np.zeros(QUERY, np.float32)
            point[:3] = point[3:6] = point[MIDDLE : MIDDLE + 3] = query[MIDDLE : MIDDLE + 3]
            point[LOOSE] = 1e-5
            tree = surface.lanes, surface.slabs, blocks[2]
            assert found.tolist() == [hits(*tree, query), near(*tree, query, plain_gaps, limit)]
            close = plain_gaps < limit  # the others end with the first bound that is not
            np.testing.assert_allclose(gaps[close], plain_gaps[close], rtol=1e-3, atol=1e-6)
            seen = search_point(surface, blocks[2], limit, point, gaps)
            assert seen == near_point(*tree, point, plain_gaps, limit)
            close = plain_gaps < limit
            np.testing.assert_allclose(gaps[close], plain_gaps[close], rtol=1e-3, atol=1e-6)
            total += [bin(mask).count("1") for mask in (*found.tolist(), seen)]
    assert 0 < total[0] < total[1] < 36 * 16
    assert 0 < total[2] < total[1]


@pytest.mark.parametrize("gap", [1e-9, 0.25, 3.0, 1e6])
def test_spheres_at_a_known_distance(gap: float) -> None:
    mesh = Mesh(*sphere(16))
    # Vertices of both lie on the x axis, facing each other.
    found = distance(mesh, mesh, (np.eye(3), [2 + gap, 0, 0]))
    assert found.distance[0] == pytest.approx(gap, rel=1e-6, abs=1e-12)
    assert np.isinf(distance(mesh, mesh, (np.eye(3), [2 + gap, 0, 0]), bound=gap / 2).distance[0])
    assert distance(mesh, mesh, (np.eye(3), [2 + gap, 0, 0]), bound=gap * 2).distance[0] == found.distance[0]


def test_threads_and_batches_change_nothing() -> None:
    one, two = Mesh(*torus(12)), Mesh(*sphere(8, 0.5))
    where = poses(200, 1.2, seed=2)
    assert np.array_equal(collide(one, two, where, threads=1), collide(one, two, where, threads=3))
    first, second = (distance(one, two, where, threads=count) for count in (1, 3))
    assert np.array_equal(first.distance, second.distance)
    assert np.array_equal(first.point_a, second.point_a, equal_nan=True)


def test_a_mesh_inside_another_collides_if_they_are_solids() -> None:
    outer, inner = Mesh(*sphere(10)), Mesh(*sphere(6, 0.2))
    inside, outside = (np.eye(3), [0.3, 0.1, 0]), (np.eye(3), [3.0, 0, 0])
    assert collide(outer, inner, inside).tolist() == collide(inner, outer, inside).tolist() == [True]
    assert collide(outer, inner, inside, solid=False).tolist() == [False]
    assert collide(outer, inner, outside).tolist() == [False]
    ring = Mesh(*torus(12))
    assert collide(ring, inner).tolist() == [False]  # in the hole
    assert collide(ring, inner, (np.eye(3), [1.0, 0, 0])).tolist() == [True]  # in the tube
    open_mesh = Mesh(outer.vertices, outer.faces[:-1])
    assert collide(open_mesh, inner, inside).tolist() == [False]
    with pytest.raises(InvalidInput, match="The mesh a is open"):
        collide(open_mesh, inner, inside, solid=True)


def test_points_are_inside_a_box_exactly_up_to_its_faces() -> None:
    mesh = Mesh(*box((0.1, 0.1, 0.1), (0.7, 0.7, 0.7)))
    steps = np.array([0, 0.1, np.nextafter(0.1, 0), 0.3, 0.4, 0.7, np.nextafter(0.7, 1), 0.9])
    points = np.array(list(product(steps, repeat=3)))
    wanted = ((points >= 0.1) & (points <= 0.7)).all(axis=1)
    assert mesh.contains(points).tolist() == wanted.tolist()
    with pytest.raises(InvalidInput, match="open"):
        Mesh(mesh.vertices, mesh.faces[1:]).contains(points)


def test_rays_through_edges_and_corners_count_once() -> None:
    vertices, faces = sphere(8)
    points = np.array([[0, 0, z] for z in (-1.5, -0.9, 0, 0.9, 1.5)]) * [1, 1, 1.0]
    grid = np.concatenate((points, vertices * [1, 1, 0] * 0.999, vertices * 0.5))
    inside = Mesh(vertices, faces).contains(grid)
    assert inside[:5].tolist() == [False, True, True, True, False]
    assert inside[5 + len(vertices) :].all()


def test_a_move_by_the_penetration_frees_the_mesh() -> None:
    one, two = Mesh(*torus(10)), Mesh(*sphere(6, 0.5))
    rotations, shifts = poses(6, 0.4, seed=8)
    found = penetration(one, two, (rotations, shifts))
    hits = collide(one, two, (rotations, shifts))
    assert hits.any()
    assert ((found.depth > 0) == hits).all()
    moved = shifts + found.depth[:, None] * found.direction
    assert not collide(one, two, (rotations, moved)).any()


def test_the_penetration_of_boxes_is_the_least_overlap() -> None:
    one = Mesh(*box())
    found = penetration(one, one, (np.eye(3), [[0.9, 0.2, 0.3], [0, -0.8, 0.1], [5.0, 0, 0]]), tolerance=1e-4)
    assert found.depth == pytest.approx([0.1, 0.2, 0], abs=1e-3)
    assert found.direction.round(6).tolist() == [[1, 0, 0], [0, -1, 0], [0, 0, 0]]


def test_the_report_names_what_is_wrong() -> None:
    clean = Mesh(*box()).report()
    assert clean.is_clean
    assert (clean.parts, clean.volume, clean.area, clean.size) == (1, 1.0, 6.0, (1.0, 1.0, 1.0))
    vertices, faces = box()
    dirty = np.concatenate((faces[:-1], faces[:1], faces[1:2, ::-1], [[0, 0, 1]]))
    report = Mesh(np.vstack((vertices, [[9, 9, 9]])), dirty).report()
    assert not report.is_clean
    assert (report.repeated_faces, report.unused_vertices, report.degenerate_faces.tolist()) == (2, 1, [13])
    assert report.boundary_edges > 0
    assert "the surface is open there" in str(report)
    assert "may be off by 1,000" in str(Mesh(vertices * 1e-3, faces).report())
    assert Mesh(np.empty((0, 3)), np.empty((0, 3), int)).report().faces == 0


@pytest.mark.parametrize("power", [-270, -100, -62, -37, 40, 62, 97])
def test_distances_of_very_large_and_very_small_meshes(power: int) -> None:
    """Bounds are held in float32, which ends far before the coordinates that a mesh may have."""
    small, (vertices, faces) = 2.0**power, sphere(8)
    moves = np.array([[3.0, 0, 0], [0, 2.5, 2.5], [1, 0, 0], [5, 5, 5]])
    wanted, near = (
        [distance(mesh, mesh, (np.eye(3), moves * size)), clearance(mesh, mesh, pose=(np.eye(3), moves[1] * size))]
        for mesh, size in ((Mesh(vertices, faces), 1.0), (Mesh(vertices * small, faces), small))
    )
    assert (wanted[0].distance > 0).tolist() == [True, True, False, True]
    np.testing.assert_allclose(near[0].distance, wanted[0].distance * small, rtol=1e-12)
    apart = np.linalg.norm((near[0].point_a - near[0].point_b) / small, axis=1)
    np.testing.assert_allclose(apart, wanted[0].distance, rtol=1e-12)
    np.testing.assert_allclose(near[1], wanted[1] * small, rtol=1e-12)


def test_a_bound_whose_square_no_float_holds() -> None:
    mesh = Mesh(*sphere(4))
    assert np.isfinite(distance(mesh, mesh, (np.eye(3), [3.0, 0, 0]), bound=1e200).distance).all()
    assert np.isfinite(clearance(mesh, mesh, pose=(np.eye(3), np.array([3.0, 0, 0])), bound=1e200)).all()
