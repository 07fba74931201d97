"""Meshes to voxels: the published counts, solids, and that conservative voxels miss nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from choque.errors import ChoqueError
from choque.files.meshes import MeshArrays, read_mesh, write_mesh
from choque.theses.evm.objects import sphere_mesh
from choque.volumes import ExtremeVertices, Lattice, Volume
from choque.volumes.voxelise import voxelise_mesh

SPHERE = sphere_mesh()
VOXELS = {1: 18, 2: 70, 3: 106, 4: 206}
VERTICES = {1: 48, 2: 48, 3: 176, 4: 208}
WASTE = {1: 97.00, 2: 93.82, 3: 86.23, 4: 83.21}
SHELL = 4 / 3 * np.pi * (1 - 0.955**3)


def test_the_sphere_of_the_experiment(tmp_path: Path) -> None:
    """F-003-36: also from an OFF file; the triangles without area at its poles are known and skipped."""
    write_mesh(tmp_path / "sphere.off", SPHERE.vertices, SPHERE.faces)
    for mesh in (SPHERE, read_mesh(tmp_path / "sphere.off")):
        assert (len(mesh.vertices), len(mesh.faces), mesh.degenerate.sum()) == (362, 760, 40)
    from_file = Volume.from_mesh(tmp_path / "sphere.off", voxels_per_unit=4, fill="surface")
    assert len(from_file.model) == VERTICES[4]


@pytest.mark.parametrize("per_unit", [1, 2, 3, 4])
def test_the_published_counts(per_unit: int) -> None:
    """F-003-22, F-003-23, F-003-41."""
    volume = Volume.from_mesh(SPHERE, voxels_per_unit=per_unit, fill="surface")
    assert volume.voxel_count == VOXELS[per_unit]
    assert len(volume.model) == VERTICES[per_unit]
    assert round(100 * (volume.volume - SHELL) / volume.volume, 2) == WASTE[per_unit]


@pytest.mark.parametrize("per_unit", [6, 13, 25])
def test_a_solid_is_within_a_layer_of_the_ball(per_unit: int) -> None:
    """F-003-24."""
    solid = Volume.from_mesh(SPHERE, voxels_per_unit=per_unit)
    layer = 4 * np.pi * 1.05 / per_unit
    assert abs(solid.volume - 4 / 3 * np.pi) < layer
    outer = Volume.from_mesh(SPHERE, voxels_per_unit=per_unit, conservative=True)
    assert (solid - outer).is_empty
    assert (outer - solid).volume < 3 * layer
    assert len(outer.components(connectivity=6)) == 1


def test_a_solid_holds_the_voxels_whose_centres_are_inside() -> None:
    """F-003-24: a tetrahedron with corners on the lattice, so that centres lie on edges and faces are met exactly."""
    vertices = np.array([[0, 0, 0], [6, 0, 0], [0, 6, 0], [0, 0, 6]], float)
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    model = voxelise_mesh((vertices, faces), Lattice())
    centres = np.stack(np.meshgrid(*[np.arange(6) + 0.5] * 3, indexing="ij"), axis=-1)
    inside, border = centres.sum(axis=-1) < 6, centres.sum(axis=-1) == 6
    found = model.mask((0, 0, 0), (6, 6, 6))
    assert np.array_equal(found & ~border, inside & ~border)


def test_the_surface_of_any_solid_fills_to_the_same_solid() -> None:
    random = np.random.default_rng(0)
    for _ in range(12):
        solid = Volume.from_voxels(random.random((4, 5, 3)) < 0.5, spacing=(0.5, 1.0, 0.25), origin=(3.0, -1.0, 0.125))
        if not solid.is_empty:
            assert Volume.from_mesh(solid.surface(), like=solid) == solid


@given(arrays(np.float64, (4, 3), elements=st.floats(-6, 6, width=16)), st.sampled_from([0.5, 1.0, 3.0]))
def test_conservative_voxels_miss_no_point_of_a_triangle(corners: np.ndarray, per_unit: float) -> None:
    """F-003-25."""
    faces = np.array([[0, 1, 2], [1, 3, 2]])
    volume = Volume.from_mesh((corners, faces), voxels_per_unit=per_unit, fill="surface", conservative=True)
    weights = np.random.default_rng(0).dirichlet((1, 1, 1), 200)
    weights[:3] = np.eye(3)
    samples = np.concatenate([weights @ corners[face] for face in faces])
    at = volume.lattice.to_lattice(samples)
    lower = np.array(volume.model.bounds[0])
    mask = np.pad(volume.voxels(), 1)
    # A sample on the border between voxels belongs to either: the nearer side by rounding is enough.
    inside = np.zeros(len(at), bool)
    for nudge in (-1e-9, 1e-9):
        index = np.clip(np.floor(at + nudge).astype(int) - lower + 1, 0, np.array(mask.shape) - 1)
        inside |= mask[tuple(index.T)]
    assert inside.all()


def test_conservative_voxels_hold_the_sphere_and_the_thin_surface_does_not() -> None:
    """F-003-25."""
    random = np.random.default_rng(1)
    corners = SPHERE.vertices[SPHERE.faces[~SPHERE.degenerate]]
    samples = np.einsum("nk,mkd->nmd", random.dirichlet((1, 1, 1), 40), corners).reshape(-1, 3)
    missed = {}
    for conservative in (True, False):
        volume = Volume.from_mesh(SPHERE, voxels_per_unit=9, fill="surface", conservative=conservative)
        at = np.floor(volume.lattice.to_lattice(samples)).astype(int) - np.array(volume.model.bounds[0])
        mask = volume.voxels()
        inside = ((at >= 0) & (at < mask.shape)).all(axis=1)
        inside[inside] = mask[tuple(at[inside].T)]
        missed[conservative] = (~inside).sum()
    assert missed[True] == 0
    assert missed[False] > 0


def joined(*meshes: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    faces = [faces + start for (_, faces), start in zip(meshes, starts, strict=False)]
    return np.concatenate([vertices for vertices, _ in meshes]), np.concatenate(faces)


def reversed_mesh(mesh: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return mesh[0], mesh[1][:, ::-1]


@pytest.mark.parametrize("conservative", [False, True])
@pytest.mark.parametrize("flips", [(), (0,), (1,), (0, 1)])
def test_overlapping_shells_are_solid(flips: tuple[int, ...], conservative: bool) -> None:
    """F-003-24, F-003-25: a probe inside both shells is hit, however the shells are oriented."""
    shells = [(SPHERE.vertices + [shift, 0, 0], SPHERE.faces) for shift in (0.0, 0.7)]
    given = [reversed_mesh(shell) if at in flips else shell for at, shell in enumerate(shells)]
    both = Volume.from_mesh(joined(*given), voxels_per_unit=10, conservative=conservative)
    one, two = (Volume.from_mesh(shell, like=both, conservative=conservative) for shell in shells)
    assert both == one | two


def test_a_doubled_mesh_and_a_mesh_with_two_sides_are_the_mesh() -> None:
    solid = Volume.from_mesh(SPHERE, voxels_per_unit=10)
    mesh = (SPHERE.vertices, SPHERE.faces)
    other = (SPHERE.vertices + [0.7, 0, 0], SPHERE.faces)
    for copies in ((mesh, mesh), (mesh, reversed_mesh(mesh)), (mesh, mesh, mesh)):
        assert Volume.from_mesh(joined(*copies), like=solid) == solid
    with_other = Volume.from_mesh(joined(mesh, reversed_mesh(mesh), other), like=solid)
    assert with_other == solid | Volume.from_mesh(other, like=solid)


def test_a_shell_that_faces_inward_inside_another_is_a_cavity() -> None:
    outer = (SPHERE.vertices, SPHERE.faces)
    inner = (0.5 * SPHERE.vertices, SPHERE.faces)
    solid = Volume.from_mesh(outer, voxels_per_unit=10)
    hollow = solid - Volume.from_mesh(inner, like=solid)
    assert Volume.from_mesh(joined(outer, reversed_mesh(inner)), like=solid) == hollow
    assert Volume.from_mesh(joined(reversed_mesh(outer), inner), like=solid) == hollow
    assert Volume.from_mesh(joined(outer, inner), like=solid) == solid


def test_a_shell_whose_triangles_are_not_oriented_alike_is_filled_by_parity() -> None:
    faces = SPHERE.faces.copy()
    faces[::2] = faces[::2, ::-1]
    solid = Volume.from_mesh(SPHERE, voxels_per_unit=10)
    other = (SPHERE.vertices + [0.7, 0, 0], SPHERE.faces)
    assert Volume.from_mesh((SPHERE.vertices, faces), like=solid) == solid
    both = Volume.from_mesh(joined((SPHERE.vertices, faces), other), like=solid)
    assert both == solid | Volume.from_mesh(other, like=solid)


def test_random_boxes_fill_to_their_union() -> None:
    random = np.random.default_rng(3)
    for count in (2, 3, 6, 12):
        corners = random.uniform(0, 9, (count, 2, 3))
        boxes = [box_mesh(pair.min(axis=0), pair.max(axis=0) + 0.6) for pair in corners]
        given = [reversed_mesh(box) if random.random() < 0.3 else box for box in boxes]
        grid = Volume.from_voxels(np.ones((1, 1, 1), bool))
        wanted = Volume.from_mesh(boxes[0], like=grid, conservative=True)
        for box in boxes[1:]:
            wanted |= Volume.from_mesh(box, like=grid, conservative=True)
        # A box that is oriented inward inside another is a cavity: the mesh may be less than the union.
        found = Volume.from_mesh(joined(*given), like=grid, conservative=True)
        assert (found - wanted).is_empty
        assert Volume.from_mesh(joined(*boxes), like=grid, conservative=True) == wanted


def box_mesh(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mesh = Volume.from_voxels(np.ones((1, 1, 1), bool), spacing=upper - lower, origin=lower).surface()
    return np.asarray(mesh[0]), np.asarray(mesh[1])


def test_a_mesh_with_holes_has_no_inside() -> None:
    holed = MeshArrays(SPHERE.vertices, SPHERE.faces[~SPHERE.degenerate][1:])
    with pytest.raises(ChoqueError, match=r"3 edges.*fill='surface'"):
        Volume.from_mesh(holed, voxels_per_unit=4)
    assert not Volume.from_mesh(holed, voxels_per_unit=4, fill="surface").is_empty


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        ((np.zeros((3, 2)), [[0, 1, 2]]), "shape"),
        ((np.zeros((3, 3)), [[0, 1, 3]]), "3 vertices"),
        (([[0, 0, 0], [1, 0, 0], [0, float("inf"), 0]], [[0, 1, 2]]), "not finite"),
        ((np.zeros((3, 3)), [[0.5, 1, 2]]), "whole numbers"),
        (("text", "more"), "numbers"),
    ],
)
def test_bad_meshes_are_one_sentence(mesh: object, words: str) -> None:
    with pytest.raises(ChoqueError, match=words):
        Volume.from_mesh(mesh, voxels_per_unit=1, fill="surface")  # type: ignore[arg-type]


def test_too_fine_a_mesh_and_a_mesh_without_triangles_are_refused() -> None:
    with pytest.raises(ChoqueError, match="larger voxels"):
        Volume.from_mesh(SPHERE, voxels_per_unit=1e5)
    with pytest.raises(ChoqueError, match="distinguish voxels"):
        Volume.from_mesh(SPHERE, voxels_per_unit=1e30)
    with pytest.raises(ChoqueError, match="distinguish voxels"):
        Volume.from_mesh((SPHERE.vertices + 1e30, SPHERE.faces), voxels_per_unit=1, fill="surface")
    for fill in ("solid", "surface"):
        with pytest.raises(ChoqueError, match="no triangles"):
            Volume.from_mesh((np.empty((0, 3)), np.empty((0, 3), int)), voxels_per_unit=1, fill=fill)
    assert isinstance(voxelise_mesh(SPHERE, Lattice(), fill="surface"), ExtremeVertices)
