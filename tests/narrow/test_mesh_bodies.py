"""Meshes as bodies against every triangle in turn: distances by dense formulas, overlaps by every separating axis."""

from __future__ import annotations

import numpy as np
import pytest
from convex_oracle import axes_of, random_rotations, widest_gap
from numpy.typing import NDArray

from choque import Mesh
from choque.errors import InvalidInput
from choque.narrow import Contacts, Hulls, Kind, NarrowPhase, Shapes, contacts

Floats = NDArray[np.float64]

GRID = 6


def landscape(seed: int = 0) -> Mesh:
    """A bumpy sheet of 72 triangles over [0, 6]², y up."""
    x, z = np.meshgrid(np.arange(GRID + 1.0), np.arange(GRID + 1.0), indexing="ij")
    y = np.random.default_rng(seed).uniform(-0.6, 0.6, x.shape)
    row = np.arange((GRID + 1) ** 2).reshape(GRID + 1, GRID + 1)
    a, b, c, d = row[:-1, :-1].ravel(), row[:-1, 1:].ravel(), row[1:, 1:].ravel(), row[1:, :-1].ravel()
    faces = np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))
    return Mesh(np.stack((x, y, z), -1).reshape(-1, 3), faces)


def point_segment(p: Floats, a: Floats, b: Floats) -> Floats:
    along = np.clip(((p - a) * (b - a)).sum(-1) / ((b - a) ** 2).sum(-1), 0, 1)
    return np.linalg.norm(p - a - along[..., None] * (b - a), axis=-1)


def point_triangles(p: Floats, corners: Floats) -> Floats:
    """(..., t) distances of points from triangles (t, 3, 3): the foot if it is inside, else the nearest edge."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    best = np.min([point_segment(p, a, b), point_segment(p, b, c), point_segment(p, c, a)], axis=0)
    normal = np.cross(b - a, c - a)
    sides = [(np.cross(w - v, p - v) * normal).sum(-1) >= 0 for v, w in ((a, b), (b, c), (c, a))]
    height = np.abs(((p - a) * normal).sum(-1)) / np.linalg.norm(normal, axis=1)
    return np.where(np.all(sides, axis=0), height, best)


def segment_triangles(p: Floats, q: Floats, corners: Floats) -> float:
    """The distance of a segment from the nearest triangle: 41 points of it, refined around the nearest one.

    A point is at most half a step from one of the 41, so that few triangles can be the nearest.
    """
    found = point_triangles(np.linspace(p, q, 41)[:, None], corners).min(axis=0)
    corners = corners[found <= found.min() + np.linalg.norm(q - p) / 80]
    low, high = np.zeros(len(corners)), np.ones(len(corners))
    best = np.full(len(corners), np.inf)
    for _ in range(6):
        share = low[:, None] + np.linspace(0, 1, 41) * (high - low)[:, None]
        points = p + share[..., None] * (q - p)
        found = point_triangles(points.swapaxes(0, 1), corners).T
        at = found.argmin(axis=1)
        best = np.minimum(best, found.min(axis=1))
        step = (high - low) / 40
        middle = share[np.arange(len(corners)), at]
        low, high = np.clip(middle - step, 0, 1), np.clip(middle + step, 0, 1)
    return float(best.min())


def in_world(mesh: Mesh, shapes: Shapes, row: int) -> Floats:
    return mesh.vertices[mesh.faces] @ shapes.rotation[row].T + shapes.position[row]


def scene(kind: Kind, count: int, seed: int, hulls: Hulls, size: tuple[float, float, float]) -> Shapes:
    """The mesh of hull 0, turned, in row 0, and bodies around its surface."""
    random = np.random.default_rng(seed)
    turn = random_rotations(random, count + 1)
    place = random.uniform((-0.5, -1.2, -0.5), (6.5, 1.2, 6.5), (count + 1, 3)) @ turn[0].T
    kinds, sizes = np.full(count + 1, kind, np.int8), np.tile(np.array(size), (count + 1, 1))
    hull = np.full(count + 1, 1 if kind == Kind.CONVEX else -1, np.int32)
    kinds[0], sizes[0], hull[0], place[0] = Kind.MESH, 1.0, 0, 0.0
    offset = np.array([3.0, -2.0, 1.0])
    return Shapes(kinds, place + offset, turn, sizes, hull, hulls)


def with_mesh(shapes: Shapes) -> Contacts:
    """The contacts of the mesh in row 0 with all others."""
    others = np.arange(1, len(shapes))
    return contacts(shapes, np.stack((0 * others, others), axis=1))


def check_depths(found: Contacts, depths: Floats) -> None:
    """``depths`` (n,): of the deepest triangle of each body, not positive where there is no contact; NaN: any depth."""
    depth = np.zeros(len(depths))
    depth[found.pairs[:, 1] - 1] = found.depth
    open_ = np.isnan(depths)
    assert ((depth > 0) == ((depths > 0) | open_)).all()
    np.testing.assert_allclose(depth[~open_], np.maximum(depths[~open_], 0), atol=1e-7)
    assert (depth > 0).sum() > 20


def test_spheres_touch_the_nearest_triangle() -> None:
    mesh = landscape()
    shapes = scene(Kind.SPHERE, 120, 1, Hulls.meshes(mesh), (0.4, 0, 0))
    corners = in_world(mesh, shapes, 0)
    nearest = np.array([point_triangles(place, corners).min() for place in shapes.position[1:]])
    found = with_mesh(shapes)
    check_depths(found, 0.4 - nearest)
    # The point lies between the surface of the sphere and that of the mesh, and the normal goes from mesh to sphere.
    middle = shapes.position[found.pairs[:, 1]] - found.normal * (0.4 - found.depth / 2)[:, None]
    np.testing.assert_allclose(found.point, middle, atol=1e-7)


def test_capsules_touch_the_nearest_triangle() -> None:
    mesh = landscape(1)
    shapes = scene(Kind.CAPSULE, 80, 2, Hulls.meshes(mesh), (0.2, 0.8, 0))
    corners = in_world(mesh, shapes, 0)
    depths = []
    for place, turn in zip(shapes.position[1:], shapes.rotation[1:], strict=True):
        away = segment_triangles(place - 0.4 * turn[:, 2], place + 0.4 * turn[:, 2], corners)
        depths.append(np.nan if away < 1e-4 else 0.2 - away)
    check_depths(with_mesh(shapes), np.array(depths))


@pytest.mark.parametrize("solid", ["cube", "tetrahedron"])
def test_hulls_are_deepest_by_every_separating_axis(solid: str) -> None:
    mesh, own = landscape(2), Hulls.solids(solid)
    shapes = scene(Kind.CONVEX, 80, 3, Hulls.join(Hulls.meshes(mesh), own), (0.4, 0.3, 0.5))
    corners = in_world(mesh, shapes, 0)
    count = len(corners)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    edges = corners[:, [1, 2, 0]] - corners
    # A triangle is flat: its normal, and in its plane the normals of its edges.
    axes = np.concatenate((normal[:, None], np.cross(normal[:, None], edges)), axis=1)
    axes /= np.linalg.norm(axes, axis=2, keepdims=True)
    depths = []
    for place, turn in zip(shapes.position[1:], shapes.rotation[1:], strict=True):
        points = own[0].points * (0.4, 0.3, 0.5) @ turn.T + place
        faces, directions = axes_of(points, own[0].triangles)
        gaps = widest_gap(
            np.broadcast_to(points, (count, *points.shape)),
            corners,
            (np.broadcast_to(faces, (count, *faces.shape)), axes),
            (np.broadcast_to(directions, (count, *directions.shape)), edges),
        )
        depths.append(-gaps.min())
    check_depths(with_mesh(shapes), np.array(depths))


def test_meshes_planes_and_tiles_touch_a_mesh() -> None:
    mesh = landscape(3)
    hulls = Hulls.meshes(mesh)
    low = float(mesh.vertices[:, 1].min())
    kind = np.array([Kind.MESH, Kind.MESH, Kind.PLANE, Kind.TILE], np.int8)
    place = np.array([[0.0, 0, 0], [0.5, 0.1, 0.5], [0, low + 0.25, 0], [3, 0, 3]])
    size = np.array([[1.0, 1, 1], [1, 1, 1], [0, 0, 0], [4, 4, 0]])
    shapes = Shapes(kind, place, np.array([np.eye(3)] * 4), size, np.array([0, 0, -1, -1], np.int32), hulls)
    found = contacts(shapes, [[0, 1], [0, 2], [0, 3]])
    assert found.pairs.tolist() == [[0, 1], [0, 2], [0, 3]]
    np.testing.assert_allclose([found.depth[1], *found.normal[1]], [0.25, 0, -1, 0], atol=1e-12)
    apart = np.array([[0.0, 0, 0], [0, 5, 0], [0, low - 0.01, 0], [3, 4, 3]])
    assert not len(contacts(Shapes(kind, apart, shapes.rotation, size, shapes.hull, hulls), [[0, 1], [0, 2], [0, 3]]))


def test_exact_turns_permutations_and_subdivision_keep_contacts() -> None:
    mesh = landscape(4)
    shapes = scene(Kind.SPHERE, 60, 5, Hulls.meshes(mesh), (0.4, 0, 0))
    found = with_mesh(shapes)
    turn = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    turned = Shapes(
        shapes.kind, shapes.position @ turn.T, turn @ shapes.rotation, shapes.size, shapes.hull, shapes.hulls
    )
    other = with_mesh(turned)
    assert other.pairs.tolist() == found.pairs.tolist()
    np.testing.assert_allclose(other.depth, found.depth, atol=1e-12)
    a, b, c = mesh.faces.T
    middles = len(mesh.vertices) + np.arange(len(mesh))
    parts = np.concatenate([np.stack(each, 1) for each in ((a, b, middles), (b, c, middles), (c, a, middles))])
    finer = Mesh(np.concatenate((mesh.vertices, mesh.vertices[mesh.faces].mean(axis=1))), parts[::-1])
    split = with_mesh(
        Shapes(shapes.kind, shapes.position, shapes.rotation, shapes.size, shapes.hull, Hulls.meshes(finer))
    )
    assert split.pairs.tolist() == found.pairs.tolist()
    np.testing.assert_allclose(split.depth, found.depth, atol=1e-9)


def test_float32_shapes_and_any_number_of_threads_give_the_same() -> None:
    shapes = scene(Kind.SPHERE, 60, 6, Hulls.meshes(landscape()), (0.4, 0, 0))
    single = Shapes(
        shapes.kind,
        *(np.float32(part) for part in (shapes.position, shapes.rotation, shapes.size)),
        shapes.hull,
        shapes.hulls,
    )
    pairs = with_mesh(shapes).pairs
    one, two = (NarrowPhase(threads=count).find(single, pairs) for count in (1, 2))
    assert one.pairs.tolist() == two.pairs.tolist()
    assert (one.depth == two.depth).all()
    assert one.normal.dtype == np.float32


def test_bad_meshes_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"give a choque\.Mesh"):
        Hulls.meshes("part.stl")
    with pytest.raises(InvalidInput, match="no faces"):
        Hulls.meshes(Mesh(np.empty((0, 3)), np.empty((0, 3), int)))
    shapes = scene(Kind.SPHERE, 3, 1, Hulls.meshes(landscape()), (0.4, 0, 0))
    shapes.size[0] = 2
    with pytest.raises(InvalidInput, match="Scale its vertices"):
        contacts(shapes)
    shapes.size[0], shapes.kind[0] = 1, Kind.CONVEX
    with pytest.raises(InvalidInput, match="give it the kind MESH"):
        contacts(shapes)


def test_the_box_of_a_mesh_costs_the_same_for_any_number_of_vertices() -> None:
    cloud = np.random.default_rng(1).normal(size=(3000, 3))
    hulls = Hulls.meshes(Mesh(cloud, np.arange(3000).reshape(-1, 3)))
    assert len(hulls.outline[0]) == 8
    rotation = np.linalg.qr(np.random.default_rng(2).normal(size=(2, 3, 3)))[0]
    rotation[0] = np.eye(3)
    shapes = Shapes(
        np.full(2, Kind.MESH, np.int32), np.zeros((2, 3)), rotation, np.ones((2, 3)), np.zeros(2, np.int32), hulls
    )
    boxes = shapes.boxes()
    np.testing.assert_allclose([boxes.lower[0], boxes.upper[0]], [cloud.min(axis=0), cloud.max(axis=0)], rtol=1e-9)
    turned = cloud @ rotation[1].T
    assert (boxes.lower[1] <= turned.min(axis=0)).all()
    assert (boxes.upper[1] >= turned.max(axis=0)).all()
