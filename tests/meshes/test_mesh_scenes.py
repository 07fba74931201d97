"""Relations of solids, and clashes of many parts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from mesh_shapes import Arrays, box, rotation, sphere, torus

from choque.errors import InvalidInput
from choque.meshes import Mesh, Scene, collide, distance, relation

UNIT = box()
OPPOSITE = {"inside": "containing", "containing": "inside"}


def shell(rings: int = 8) -> Arrays:
    """A sphere with a spherical cavity."""
    outer, inner = sphere(rings), sphere(rings, 0.5)
    faces = np.concatenate((outer[1], inner[1][:, ::-1] + len(outer[0])))
    return np.vstack((outer[0], inner[0])), faces


@pytest.mark.parametrize(
    ("one", "two", "wanted"),
    [
        (UNIT, UNIT, "equal"),
        (UNIT, box((0, 0, 0), (1, 1, 2)), "inside"),  # five faces in common planes
        (UNIT, box((1, 0, 0), (2, 1, 1)), "touching"),  # trimesh 1860
        (UNIT, box((1, 1, 1), (2, 2, 2)), "touching"),  # a corner
        (UNIT, box((1, 1, 0), (2, 2, 1)), "touching"),  # an edge
        (UNIT, box((1, 0.25, 0.25), (2, 0.75, 0.75)), "touching"),
        (UNIT, box((0.5, 0, 0), (1.5, 1, 1)), "overlapping"),  # no faces cross
        (UNIT, box((0.5, 0.5, 0.5), (1.5, 1.5, 1.5)), "overlapping"),
        (UNIT, box((2, 0, 0), (3, 1, 1)), "apart"),
        (UNIT, box((-1, -1, -1), (2, 2, 2)), "inside"),
        (UNIT, box((0.25, 0.25, 0), (0.75, 0.75, 0.5)), "containing"),  # touches from inside
        (shell(), sphere(6, 0.3), "apart"),  # in the cavity
        (shell(), sphere(6, 0.7), "overlapping"),
        (shell(5), sphere(5, 0.5), "touching"),  # fills the cavity
        (sphere(5), shell(5), "containing"),
        (torus(8), sphere(5, 0.3), "apart"),
    ],
)
def test_relations_of_solids(one: Arrays, two: Arrays, wanted: str) -> None:
    a, b = Mesh(*one), Mesh(*two)
    assert relation(a, b) == wanted
    assert relation(b, a) == OPPOSITE.get(wanted, wanted)


@pytest.mark.parametrize("shift", [(0.0, 0, 0), (1, 0, 0), (0.5, 0, 0), (0.5, 0.5, 0), (2, 0, 0)])
def test_another_triangulation_changes_nothing(shift: tuple[float, float, float]) -> None:
    one = Mesh(*UNIT)
    pose = (np.eye(3), shift)
    exact = Mesh(*subdivided())
    assert relation(one, exact, pose=pose) == relation(one, one, pose=pose)
    assert relation(exact, one, pose=pose) == relation(one, one, pose=pose)


def subdivided() -> Arrays:
    """The unit box, each face cut into four at the middles of its edges."""
    vertices, faces = box()
    corners = vertices[faces]
    middles = 0.5 * (corners + np.roll(corners, -1, axis=1))
    parts = [
        np.stack(each, axis=1)
        for each in (
            (corners[:, 0], middles[:, 0], middles[:, 2]),
            (middles[:, 0], corners[:, 1], middles[:, 1]),
            (middles[:, 2], middles[:, 1], corners[:, 2]),
            (middles[:, 0], middles[:, 1], middles[:, 2]),
        )
    ]
    points = np.concatenate(parts).reshape(-1, 3)
    return points, np.arange(len(points)).reshape(-1, 3)


def test_an_open_mesh_has_no_relation() -> None:
    vertices, faces = box()
    with pytest.raises(InvalidInput, match="The mesh b is open"):
        relation(Mesh(vertices, faces), Mesh(vertices, faces[1:]))


def parts() -> list[Mesh]:
    random = np.random.default_rng(4)
    shapes = [sphere(6, 0.5), torus(6, 0.5, 0.2), box((-0.4, -0.4, -0.4), (0.4, 0.4, 0.4)), sphere(4, 0.1)]
    return [Mesh(*shapes[k % 4]).moved((rotation(k), random.uniform(0, 3, 3))) for k in range(28)]


def test_clashes_are_those_of_every_pair() -> None:
    meshes = parts()
    scene = Scene(meshes)
    for clearance in (0.0, 0.2):
        wanted = {}
        for i, j in combinations(range(len(meshes)), 2):
            gap = float(distance(meshes[i], meshes[j]).distance[0])
            if collide(meshes[i], meshes[j])[0] or gap <= clearance:
                wanted[i, j] = gap
        found = scene.clashes(clearance=clearance, threads=2)
        assert [tuple(pair) for pair in found.pairs.tolist()] == sorted(wanted)
        assert found.gap.tolist() == [wanted[pair] for pair in sorted(wanted)]
        assert ((found.kinds == "crossing") == (found.face_pairs > 0)).all()
    assert {"crossing", "near"} <= set(found.kinds)
    assert np.isfinite(found.point).all()


def test_kinds_of_clashes() -> None:
    ball = Mesh(*sphere(8))
    scene = Scene([ball, Mesh(*sphere(5, 0.3)), Mesh(*box((1, -1, -1), (2, 1, 1))), Mesh(*box((2.1, 0, 0), (3, 1, 1)))])
    found = scene.clashes(clearance=0.2)
    assert found.pairs.tolist() == [[0, 1], [0, 2], [2, 3]]
    assert found.kinds.tolist() == ["inside", "touching", "near"]
    assert found.gap[2] == pytest.approx(0.1)
    assert repr(found) == "Clashes(3 pairs of parts: 1 inside, 1 touching, 1 near)"


def test_scenes_without_parts_and_with_empty_ones() -> None:
    empty = Mesh(np.empty((0, 3)), np.empty((0, 3), np.int64))
    assert len(Scene([]).clashes()) == 0
    assert len(Scene([empty, Mesh(*box()), empty]).clashes(clearance=9)) == 0
    with pytest.raises(InvalidInput, match="takes a list of meshes"):
        Scene(empty)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="Part 1 is a int"):
        Scene([empty, 3])  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="clearance"):
        Scene([empty]).clashes(clearance=-1)
