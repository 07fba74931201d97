"""Libraries of hulls: faces, edges, masses, files."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from convex_oracle import cloud, random_rotations

from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.files.meshes import write_mesh
from choque.narrow import Hulls, solid_names


def test_the_mesh_of_the_study() -> None:
    """24 vertices, 26 faces and 48 edges: permutations of (±0.179303, ±0.179303, ±1)."""
    hulls = Hulls.solids("rhombicuboctahedron")
    expected = {
        tuple(np.roll((x * 0.179303, y * 0.179303, z), turn).round(6))
        for x in (-1, 1)
        for y in (-1, 1)
        for z in (-1, 1)
        for turn in range(3)
    }
    assert {tuple(point) for point in cloud(hulls).round(6).tolist()} == expected
    corners = cloud(hulls)[hulls.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    assert len(np.unique(normals.round(9), axis=0)) == 26


@pytest.mark.parametrize(
    ("name", "vertices", "volume"),
    [
        ("cube", 8, 8.0),
        ("octahedron", 6, 4 / 3),
        ("tetrahedron", 4, 8 / 3),
        ("truncated-octahedron", 24, 4.0),
        ("icosphere", 42, None),
    ],
)
def test_solids(name: str, vertices: int, volume: float | None) -> None:
    hulls = Hulls.solids(name)
    assert len(cloud(hulls)) == vertices
    if volume is not None:
        assert hulls.volume[0] == pytest.approx(volume, rel=1e-12)
    else:
        assert np.linalg.norm(cloud(hulls), axis=1) == pytest.approx(np.ones(42))
    assert hulls.radius[0] == pytest.approx(np.linalg.norm(cloud(hulls), axis=1).max())


@pytest.mark.parametrize("count", [5, 9, 30, 33, 200])
def test_hulls_are_closed_and_outward(count: int) -> None:
    """Euler's formula, every edge twice, everything inside every face; by triples and by Qhull alike."""
    random = np.random.default_rng(count)
    hulls = Hulls.from_points(random.normal(size=(count, 3)))
    points, triangles = cloud(hulls), hulls.triangles
    assert len(points) - len(triangles) // 2 == 2
    edges = {(a, b) for row in triangles.tolist() for a, b in zip(row, [*row[1:], row[0]], strict=True)}
    assert len(edges) == 3 * len(triangles)
    assert all((b, a) in edges for a, b in edges)
    for a, b, c in points[triangles]:
        normal = np.cross(b - a, c - a)
        assert ((points - a) @ normal <= 1e-12).all()


def test_neighbours_are_the_edges() -> None:
    hulls = Hulls.solids("cube", "icosphere")
    for row in range(2):
        points = cloud(hulls, row)
        faces = hulls.triangles[hulls.triangle_first[row] : hulls.triangle_first[row + 1]]
        for vertex in range(len(points)):
            start = hulls.first[row] + vertex
            listed = hulls.graph[hulls.graph[start] : hulls.graph[start + 1]]
            around = np.unique(faces[(faces == vertex).any(axis=1)])
            assert listed.tolist() == around[around != vertex].tolist()


def test_mass_of_a_box_in_any_pose() -> None:
    """Closed form: a turned and moved box of edges 1, 2, 3 has inertia m (b² + c²) / 12 along its own axes."""
    random = np.random.default_rng(3)
    turn, shift = random_rotations(random, 1)[0], random.normal(size=3) * 5
    corners = (cloud(Hulls.boxes([1, 2, 3])) @ turn.T) + shift
    hulls = Hulls.from_points(corners)
    assert hulls.volume[0] == pytest.approx(6, rel=1e-12)
    assert hulls.center[0] == pytest.approx(shift, abs=1e-12)
    moments = np.sort(hulls.inertia([0], [[1, 1, 1]], [12.0])[0])
    assert moments == pytest.approx([5, 10, 13], rel=1e-12)
    assert np.linalg.det(hulls.frame[0]) == pytest.approx(1)
    given = np.sort(cloud(hulls) @ hulls.frame[0].T + hulls.center[0], axis=0)
    assert given == pytest.approx(np.sort(corners, axis=0), abs=1e-12)


def test_scaled_inertia_is_that_of_the_scaled_solid() -> None:
    random = np.random.default_rng(4)
    hulls = Hulls.from_points(random.normal(size=(12, 3)))
    scale = np.array([0.5, 2.0, 3.0])
    again = Hulls.from_points(cloud(hulls) * scale)
    assert np.sort(hulls.inertia([0], [scale], [2.0])[0]) == pytest.approx(
        np.sort(again.inertia([0], [[1, 1, 1]], [2.0])[0])
    )


def test_axes_that_are_principal_stay() -> None:
    assert Hulls.solids(*solid_names()).frame.tolist() == [np.eye(3).tolist()] * len(solid_names())
    assert Hulls.boxes([3, 1, 2]).frame[0].tolist() == np.eye(3).tolist()


def test_joining_and_taking() -> None:
    library = Hulls.join(Hulls.boxes([[1, 1, 1], [2, 2, 2]]), Hulls.solids("tetrahedron"))
    assert library.volume == pytest.approx([1, 8, 8 / 3])
    part = library.take([2, 0])
    assert part.volume == pytest.approx([8 / 3, 1])
    assert len(part.points) == 12
    assert len(Hulls()) == 0


@pytest.mark.parametrize("suffix", [".off", ".stl", ".ply", ".obj", ".glb"])
def test_meshes_by_their_hull(suffix: str, tmp_path: Path) -> None:
    """A mesh that is open and has a dent has the hull of its vertices."""
    points = np.array([[x, y, z] for x in (0, 2) for y in (0, 2) for z in (0, 2)] + [[1, 1, 1.5]], float)
    faces = np.array([[0, 1, 3], [0, 3, 2], [4, 5, 6], [6, 5, 7], [1, 8, 5]])
    path = tmp_path / f"open{suffix}"
    if suffix == ".glb":
        pytest.importorskip("trimesh").Trimesh(points, faces, process=False).export(path)
    elif suffix == ".obj":
        lines = [f"v {x} {y} {z}" for x, y, z in points] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
        path.write_text("\n".join(lines) + "\n")
    else:
        write_mesh(path, points, faces)
    hulls = Hulls.from_meshes(path)
    assert hulls.volume[0] == pytest.approx(8)
    assert hulls.center[0] == pytest.approx([1, 1, 1])


@pytest.mark.parametrize(
    ("points", "text"),
    [
        ([[0, 0, 0]], "single point"),
        ([[1, 2, 3]] * 9, "single point"),
        ([[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]], "one line"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], "one plane"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, np.nan]], "Row 3 of the cloud"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1e60]], r"Row 3 of the cloud is 1e\+60"),
        ([[0, 0, 0], [1e-60, 0, 0], [0, 1e-60, 0], [0, 0, 1e-60]], "spans 1e-60 at most"),
        (np.empty((0, 3)), "empty"),
        ([[1, 2]], r"\(n, 3\)"),
        ("cloud", "element type"),
    ],
)
def test_degenerate_clouds_are_refused(points: object, text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        Hulls.from_points(points)  # type: ignore[arg-type]


def is_closed(hulls: Hulls) -> bool:
    sides = np.concatenate([hulls.triangles[:, [0, 1]], hulls.triangles[:, [1, 2]], hulls.triangles[:, [2, 0]]])
    _, counts = np.unique(np.sort(sides, axis=1), axis=0, return_counts=True)
    return bool((counts == 2).all())


@pytest.mark.parametrize("stretch", [(1.0, 1.0, 1.0), (1e-6, 1e-6, 1.0), (1e-5, 1.0, 1.0)])
def test_points_within_faces_and_edges_are_no_vertices(stretch: tuple[float, float, float]) -> None:
    """The vertices of a finely divided box, whatever its shape: its corners are its hull."""
    lattice = np.array(list(itertools.product((0.0, 1.0, 2.0), repeat=3)))
    turn = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
    for frame in (np.eye(3), turn):
        hulls = Hulls.from_points(lattice * stretch @ frame)
        assert len(hulls.points) == 8
        assert is_closed(hulls)
        assert hulls.volume[0] == pytest.approx(8 * np.prod(stretch), rel=1e-9)


def test_points_within_a_face_hide_no_corner() -> None:
    """Whole numbers with many in one plane: the volume is that of the exact hull, 56/3."""
    text = "202 322 132 032 013 300 103 231 312 111 130 302 212 120 123 121 023 033 303 203 002 310 201 313"
    hulls = Hulls.from_points([[int(digit) for digit in word] for word in text.split()])
    assert hulls.volume[0] == pytest.approx(56 / 3)
    assert is_closed(hulls)


def test_other_bad_input(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="cube"):
        Hulls.solids("cubee")
    with pytest.raises(InvalidInput, match="Row 1 of size is 0"):
        Hulls.boxes([[1, 1, 1], [1, 0, 1]])
    with pytest.raises(UnreadableFile, match="no file"):
        Hulls.from_meshes(tmp_path / "none.off")
    with pytest.raises(UnreadableFile, match="ends in"):
        Hulls.from_meshes(tmp_path / "mesh.xyz")
    broken = tmp_path / "broken.glb"
    broken.write_bytes(b"glTF\0\0\0nothing")
    with pytest.raises(UnreadableFile, match="damaged"):
        Hulls.from_meshes(broken)
    hulls = Hulls.solids("cube")
    for arguments, text in (
        ({"scale": 0}, "scale is 0.0; it must be a number above 0"),
        ({"scale": [1, 1]}, "scale has the shape"),
        ({"rotation": np.ones((3, 3))}, "orthonormal"),
        ({"row": 7}, "from 0 to 0"),
    ):
        with pytest.raises(InvalidInput, match=text):
            hulls.at([0, 0, 0], **arguments)  # type: ignore[arg-type]
    for position, text in (([0, np.nan, 0], "finite"), ([0, 1e60, 0], r"Row 0 of position is 1e\+60")):
        with pytest.raises(InvalidInput, match=text):
            hulls.at(position)
