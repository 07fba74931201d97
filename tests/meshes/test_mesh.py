"""`Mesh`: what it is made from, its self-intersections, and its intersections with others, against every pair."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace

import mesh_oracles as oracle
import numpy as np
import pytest
from mesh_shapes import box, rotation, sphere
from numpy.typing import NDArray

import choque
from choque.errors import InvalidInput, UnreadableFile
from choque.meshes import Mesh, intersections
from choque.meshes._search import own_pairs  # with threads at a size that users get one for


def soup(seed: int, count: int, size: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Triangles with corners on a grid: many touch, share corners, lie in one plane."""
    random = np.random.default_rng(seed)
    vertices = random.integers(0, size, (count, 3)).astype(np.float64)
    return vertices, random.integers(0, count, (count, 3))


def has_interior(corners: NDArray[np.float64]) -> bool:
    return any(oracle.normal(oracle.rational(corners)))


@pytest.mark.parametrize("seed", range(4))
def test_self_intersections_are_those_of_every_pair(seed: int) -> None:
    vertices, faces = soup(seed, 40, 4 + seed)
    mesh, corners = Mesh(vertices, faces), vertices[faces]
    wanted = {
        (i, j): kind
        for i, j in combinations(range(len(faces)), 2)
        if has_interior(corners[i]) and has_interior(corners[j])
        if (kind := oracle.kind_beside_corners(corners[i], corners[j])) != "apart"
    }
    assert {tuple(pair) for pair in mesh.self_intersections().tolist()} == wanted.keys()
    through = {pair for pair, kind in wanted.items() if kind != "touching"}
    assert {tuple(pair) for pair in mesh.self_intersections(closed=False).tolist()} == through
    assert len(through) < len(wanted)


@pytest.mark.parametrize("seed", range(3))
def test_intersections_are_those_of_every_pair(seed: int) -> None:
    (p, f), (q, g) = soup(seed, 30, 5), soup(seed + 50, 40, 4)
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    shift = np.array([3.0, 1, 0])
    found = intersections(Mesh(p, f), Mesh(q, g), pose=(turn, shift))
    moved = q @ turn.T + shift
    wanted = {
        (i, j): kind
        for i, j in product(range(len(f)), range(len(g)))
        if (kind := oracle.kind(p[f[i]], moved[g[j]])) != "apart"
    }
    assert dict(zip(map(tuple, found.pairs.tolist()), found.kinds.tolist(), strict=True)) == wanted
    order = np.lexsort((found.pairs[:, 1], found.pairs[:, 0]))
    assert order.tolist() == list(range(len(found)))


def test_a_clean_sphere_has_no_self_intersections() -> None:
    mesh = Mesh(*sphere(40))
    assert len(mesh.self_intersections()) == 0
    assert len(Mesh(mesh.vertices @ rotation(1).T, mesh.faces).self_intersections()) == 0


def test_the_curve_of_two_spheres_is_a_circle() -> None:
    found = intersections(Mesh(*sphere(30)), Mesh(*sphere(30)), pose=([np.eye(3)], [[1.0, 0.1, 0.05]]))
    assert set(found.kinds) == {"crossing"}
    ends = found.segments.reshape(-1, 3)
    middle = np.array([1.0, 0.1, 0.05]) / 2
    assert np.abs((ends - middle) @ middle).max() < 0.01
    assert np.linalg.norm(found.segments[:, 0] - found.segments[:, 1], axis=1).sum() == pytest.approx(
        2 * np.pi * np.sqrt(1 - middle @ middle), rel=0.01
    )


def test_a_rotation_of_both_keeps_the_pairs() -> None:
    one, two = sphere(12), sphere(10)
    shift = np.array([0.9, 0.3, 0.2])
    turn = rotation(3)
    base = intersections(Mesh(*one), Mesh(*two), pose=(np.eye(3), shift))
    turned = intersections(Mesh(one[0] @ turn.T, one[1]), Mesh(*two), pose=(turn, turn @ shift))
    assert base.pairs.tolist() == turned.pairs.tolist()


def test_faces_and_vertices_in_any_order_give_the_same_pairs() -> None:
    random = np.random.default_rng(5)
    vertices, faces = soup(9, 60, 5)
    names, order = random.permutation(len(vertices)), random.permutation(len(faces))
    places = np.argsort(names)
    found = Mesh(vertices[names], places[faces[order]]).self_intersections()
    back = np.sort(order[found], axis=1)
    back = back[np.lexsort((back[:, 1], back[:, 0]))]
    assert back.tolist() == Mesh(vertices, faces).self_intersections().tolist()


def test_the_number_of_threads_changes_nothing() -> None:
    vertices, faces = sphere(60)
    vertices = vertices + np.random.default_rng(0).normal(0, 0.01, vertices.shape)
    mesh = Mesh(vertices, faces)
    one, four = (own_pairs(mesh.surface, count) for count in (1, 4))
    assert len(one[0]) > 100
    assert np.array_equal(one[0], four[0])
    assert np.array_equal(one[1], four[1])


def test_a_distant_part_is_as_exact_as_one_at_the_origin() -> None:
    vertices, faces = sphere(20)
    vertices = np.round(vertices * 2**20) / 2**20
    far = vertices + 2.0**24
    assert np.array_equal(far - 2.0**24, vertices)
    pose = (np.eye(3), [1.5, 0, 0])
    near_pairs = intersections(Mesh(vertices, faces), Mesh(vertices, faces), pose=pose).pairs
    assert np.array_equal(intersections(Mesh(far, faces), Mesh(far, faces), pose=pose).pairs, near_pairs)


# Published wrong answers of other libraries


def test_trimesh_1860_equal_boxes_face_to_face_meet() -> None:
    one, two = Mesh(*box()), Mesh(*box())
    found = intersections(one, two, pose=(np.eye(3), [1, 0, 0]))
    assert {"coplanar", "touching"} == set(found.kinds)


def test_open3d_5117_faces_in_one_plane_meet_only_if_they_do() -> None:
    vertices = [[0, 0.13918686, 1], [0, 0, 1.1270161], [0, 0, 1.0284119], [0, 1.1269569, 0], [0, 0.03113556, 1]]
    vertices += [[0, 0.2, 0.1]]
    assert Mesh(vertices, [[0, 1, 2], [3, 4, 5]]).self_intersections().tolist() == []
    vertices[5] = [0, 0.2, 1.5]
    assert Mesh(vertices, [[0, 1, 2], [3, 4, 5]]).self_intersections(closed=False).tolist() == [[0, 1]]


def test_open3d_5117_faces_with_one_common_vertex_are_tested() -> None:
    vertices = [[0, 0, 0], [2, -1, 0], [2, 1, 0], [2, 0, -1], [2, 0, 1]]
    assert Mesh(vertices, [[0, 1, 2], [0, 3, 4]]).self_intersections().tolist() == [[0, 1]]
    apart = [[0, 0, 0], [2, -1, 0], [2, 1, 0], [-2, 0, -1], [-2, 0, 1]]
    assert Mesh(apart, [[0, 1, 2], [0, 3, 4]]).self_intersections().tolist() == []


def test_libigl_2381_a_triangle_subdivided_twice_does_not_meet_itself() -> None:
    corners = [
        [0.280039012432098, 0.82766300439834595, 0.46377500891685502],
        [0.33890101313590998, 0.78804200887680098, 0.48812699317932101],
        [0.31805300712585399, 0.76836401224136397, 0.49308800697326699],
    ]
    vertices, faces = np.array(corners), np.array([[0, 1, 2]])
    for _ in range(2):
        vertices, faces = subdivided(vertices, faces)
    assert len(faces) == 16
    assert len(Mesh(vertices, faces).self_intersections()) == 0


def subdivided(
    vertices: NDArray[np.float64], faces: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Each face as four, by the middles of its edges."""
    edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    different, place = np.unique(edges, axis=0, return_inverse=True)
    middle = len(vertices) + place.reshape(-1, 3)
    (a, b, c), (d, e, f) = faces.T, middle.T
    parts = [np.stack(each, axis=1) for each in ((a, d, f), (d, b, e), (f, e, c), (d, e, f))]
    return np.vstack((vertices, vertices[different].mean(axis=1))), np.concatenate(parts)


def test_libigl_2381_neighbors_in_nearly_one_plane_do_not_meet() -> None:
    random = np.random.default_rng(0)
    count = 40
    x, y = np.meshgrid(np.arange(count) * 0.1, np.arange(count) * 0.1)
    for height in (0.0, 1e-16, 1e-9):
        vertices = np.stack((x, y, height * random.standard_normal(x.shape)), axis=-1).reshape(-1, 3) @ rotation(2).T
        i = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
        faces = np.concatenate((np.stack((i, i + 1, i + count), 1), np.stack((i + 1, i + count + 1, i + count), 1)))
        assert len(Mesh(vertices, faces).self_intersections()) == 0


# What a mesh is made from


def test_meshes_of_other_libraries_are_taken_as_they_are(tmp_path: Path) -> None:
    vertices, faces = box()
    wanted = Mesh(vertices, faces)
    others = [
        SimpleNamespace(vertices=vertices, faces=faces),
        SimpleNamespace(points=vertices, regular_faces=faces, is_all_triangles=True),
        SimpleNamespace(points=vertices, cells_dict={"triangle": faces}),
        SimpleNamespace(vertices=vertices, triangles=faces),
        (vertices, faces),
    ]
    for other in others:
        assert np.array_equal(Mesh(other).faces, wanted.faces)
    wanted.write(tmp_path / "box.ply")
    assert np.array_equal(choque.Mesh.read(tmp_path / "box.ply").vertices, wanted.vertices)
    with pytest.raises(InvalidInput, match="cannot be made from a int"):
        Mesh(3)


def test_a_mesh_keeps_its_arrays() -> None:
    vertices, faces = box()
    mesh = Mesh(vertices, faces)
    vertices[:] = 7
    assert mesh.vertices.max() == 1
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0] = 3


def test_an_empty_mesh_meets_nothing() -> None:
    empty = Mesh(np.empty((0, 3)), np.empty((0, 3), np.int64))
    assert repr(empty) == "Mesh(0 vertices, 0 faces)"
    assert len(empty.self_intersections()) == 0
    assert len(intersections(empty, Mesh(*box()))) == len(intersections(Mesh(*box()), empty)) == 0
    assert np.isnan(empty.bounds[0]).all()


def test_bad_meshes_are_refused_in_a_sentence(tmp_path: Path) -> None:
    vertices, faces = box()
    with pytest.raises(InvalidInput, match="not finite, number 2"):
        Mesh(np.where(np.arange(8)[:, None] == 2, np.nan, vertices), faces)
    with pytest.raises(InvalidInput, match="there are 8 vertices"):
        Mesh(vertices, faces + 1)
    with pytest.raises(InvalidInput, match=r"coordinate of 1e\+31"):
        Mesh(vertices * 1e31, faces)
    claimed = tmp_path / "claims.stl"
    claimed.write_bytes(b"\0" * 80 + (10**9).to_bytes(4, "little") + b"\0" * 50)
    with pytest.raises(UnreadableFile, match="announces 1000000000 triangles"):
        Mesh.read(claimed)
    with pytest.raises(InvalidInput, match=r"made with choque.Mesh\(b\)"):
        intersections(Mesh(vertices, faces), (vertices, faces))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pose", "words"),
    [
        (np.diag([2.0, 2, 2, 1]), "not rigid: it scales by 2, 2, 2"),
        (np.array([[1.0, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), "shears"),
        (np.diag([1.0, 1, -1, 1]), "mirrors"),
        (np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [5, 0, 0, 1]]), "Transpose"),
        (np.eye(3), r"must be \(k, 4, 4\)"),
        ((np.eye(3), [np.nan, 0, 0]), "finite"),
        (np.stack([np.eye(4)] * 2), "2 poses; give one"),
    ],
)
def test_poses_that_are_not_rigid_are_refused_by_name(pose: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        intersections(Mesh(*box()), Mesh(*box()), pose=pose)
