"""A pair of volumes, one moved and turned, against masks and all pairs of triangles (F-003-43 to 45)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choque.errors import InvalidInput, UnreadableFile
from choque.files import scans
from choque.files.meshes import MeshArrays, write_mesh
from choque.files.scans import Scan
from choque.studio.volumes.pair import VolumePair
from choque.studio.volumes.source import VolumeSource, open_source
from choque.theses.evm.objects import sphere_mesh
from choque.theses.evm.triangles import colliding_triangles
from choque.volumes import Volume
from choque.volumes.turning import rotation_matrix

SPHERE = sphere_mesh(8, 7)


def spheres(voxels_per_unit: float = 6.0) -> VolumePair:
    return VolumePair(
        VolumeSource("one", mesh=SPHERE), VolumeSource("two", mesh=SPHERE), voxels_per_unit=voxels_per_unit
    )


def meeting_pairs(one: MeshArrays, two: MeshArrays) -> np.ndarray:
    """All pairs tested, less those whose boxes are apart by a rounding, which the test of triangles may not see."""
    pairs, _ = colliding_triangles(one, two)
    first, second = one.vertices[one.faces[pairs[:, 0]]], two.vertices[two.faces[pairs[:, 1]]]
    near = (first.min(axis=1) <= second.max(axis=1)) & (second.min(axis=1) <= first.max(axis=1))
    return pairs[near.all(axis=1)]


def grey_scan(size: int = 12) -> Scan:
    """A ball whose values fall from the middle outward, on voxels of (0.5, 1, 2)."""
    at = np.arange(size) - (size - 1) / 2
    distance = np.sqrt(sum(axis**2 for axis in np.meshgrid(at, at, at, indexing="ij")))
    return Scan((1000 - 100 * distance).astype(np.int16), (0.5, 1.0, 2.0), (0.0, 0.0, 0.0))


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 999), shift=st.tuples(*[st.integers(-6, 6)] * 3))
def test_models_collide_exactly_where_masks_do(seed: int, shift: tuple[int, int, int]) -> None:
    random = np.random.default_rng(seed)
    masks = [random.random((5, 5, 5)) < 0.15 for _ in range(2)]
    pair = VolumePair(*(VolumeSource("mask", model=Volume.from_voxels(mask)) for mask in masks))
    pair.move_to(np.array(shift) + random.uniform(-0.4, 0.4, 3))
    assert pair.shift.tolist() == list(shift)  # rounded to whole voxels
    wide = np.zeros((2, 17, 17, 17), bool)
    wide[0, 6:11, 6:11, 6:11] = masks[0]
    low = [6 + step for step in shift]
    wide[1, low[0] : low[0] + 5, low[1] : low[1] + 5, low[2] : low[2] + 5] = masks[1]
    shared = wide[0] & wide[1]
    answer = pair.query()
    assert answer.voxels == bool(shared.any())
    if answer.region is None:
        assert not shared.any()
    else:  # F-003-45: what is drawn is the intersection
        np.testing.assert_array_equal(answer.region.voxels((-6, -6, -6), (11, 11, 11)), shared)


@settings(max_examples=15, deadline=None)
@given(shift=st.tuples(*[st.floats(-2.2, 2.2, allow_nan=False)] * 3), fill=st.booleans())
def test_triangles_that_meet_are_those_of_all_pairs_and_voxels_miss_none(
    shift: tuple[float, float, float], fill: bool
) -> None:
    pair = spheres()
    pair.set_fill(0, fill)
    pair.move_to(shift)
    answer = pair.query()
    all_pairs = meeting_pairs(SPHERE, pair.moved_mesh())
    if answer.voxels:
        np.testing.assert_array_equal(answer.triangle_pairs, all_pairs)
    if len(all_pairs):
        assert answer.voxels  # conservative voxels miss no collision of triangles
    if answer.voxels:
        assert answer.triangles == bool(len(all_pairs))
        assert answer.seconds.keys() == {"voxels", "triangles", "region"}
    else:
        assert answer.triangles is None


def test_a_sphere_inside_another_collides_as_a_solid_but_no_triangles_meet() -> None:
    small = MeshArrays(SPHERE.vertices * 0.4, SPHERE.faces)
    pair = VolumePair(VolumeSource("one", mesh=SPHERE), VolumeSource("two", mesh=small), voxels_per_unit=8.0)
    answer = pair.query()
    assert answer.voxels
    assert answer.triangles is False
    pair.set_fill(0, False)  # hollow: the small one is in the cavity
    assert not pair.query().voxels


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 999))
def test_a_turned_mesh_is_voxelised_again(seed: int) -> None:
    """Free turns, against the mesh turned by hand; the way back leads to the same voxels."""
    random = np.random.default_rng(seed)
    vector = random.normal(size=3)
    bean = MeshArrays(SPHERE.vertices * [1.0, 0.5, 0.3] + 0.2, SPHERE.faces)
    pair = VolumePair(VolumeSource("one", mesh=SPHERE), VolumeSource("two", mesh=bean), voxels_per_unit=6.0)
    first, start = (part.volume for part in pair.parts)
    pair.turn_to(vector)
    middle = (bean.vertices.min(axis=0) + bean.vertices.max(axis=0)) / 2
    turned = MeshArrays((bean.vertices - middle) @ rotation_matrix(vector).T + middle, bean.faces)
    expected = Volume.from_mesh(turned, like=first, fill="solid", conservative=True)
    assert pair.parts[1].volume == expected
    np.testing.assert_allclose(pair.moved_mesh().vertices, turned.vertices + pair.shift)
    assert pair.parts[0].volume is first
    np.testing.assert_allclose(pair.rotation, rotation_matrix(vector))
    pair.turn_to(np.eye(3))
    assert pair.parts[1].volume == start
    with pytest.raises(InvalidInput, match="rotation matrix"):
        pair.turn_to(np.ones((3, 3)))
    assert pair.parts[1].volume == start


@pytest.mark.parametrize("axis", "xyz")
def test_quarter_turns_of_a_model_are_exact(axis: str) -> None:
    random = np.random.default_rng(5)
    model = Volume.from_voxels(random.random((5, 4, 6)) < 0.4)
    pair = VolumePair(VolumeSource("one", model=model), VolumeSource("two", model=model))
    start = pair.parts[1].volume
    for count in range(1, 5):
        pair.turn_to(count * np.pi / 2 * np.eye(3)["xyz".index(axis)])
        middle = np.rint((np.array(model.bounds[0]) + model.bounds[1]) / 2)
        assert pair.parts[1].volume == model.turned(axis, count, about=middle)
        assert pair.parts[1].volume.voxel_count == model.voxel_count
    assert pair.parts[1].volume == start


def test_turning_the_source_of_the_lattice_keeps_the_lattice() -> None:
    pair = VolumePair(VolumeSource("mesh", mesh=SPHERE), VolumeSource("scan", scan=grey_scan()))
    first, second = (part.volume for part in pair.parts)
    pair.turn_to([0.0, 0.4, 0.0])
    assert pair.parts[0].volume is first
    assert pair.spacing.tolist() == [0.5, 1.0, 2.0]
    lattice = second.lattice
    pivot = lattice.to_world(np.rint(lattice.to_lattice(pair.parts[1].middle)))
    assert pair.parts[1].volume == second.rotated([0.0, 0.4, 0.0], about=pivot, conservative=True)
    assert pair.parts[1].volume != second


def test_voxels_per_unit_are_those_of_the_volumes_themselves() -> None:
    pair = spheres()
    for fine in (2.0, 5.0, 9.0):
        pair.set_voxels_per_unit(fine)
        expected = Volume.from_mesh(SPHERE, voxels_per_unit=fine, fill="solid", conservative=True)
        assert pair.parts[0].volume == expected
        assert pair.spacing == pytest.approx([1 / fine] * 3)
        np.testing.assert_allclose(pair.shift * fine, np.rint(pair.shift * fine))


def test_a_threshold_is_that_of_a_numpy_mask() -> None:
    scan = grey_scan()
    pair = VolumePair(VolumeSource("scan", scan=scan), VolumeSource("mesh", mesh=SPHERE))
    first = pair.parts[0].above
    assert first is not None
    for above in (first, 600.0, 900.0):
        pair.set_threshold(0, above)
        assert pair.parts[0].volume.voxel_count == int((scan.values > above).sum())
    assert pair.parts[0].volume.spacing == (0.5, 1.0, 2.0)
    assert pair.parts[1].volume.spacing == (0.5, 1.0, 2.0)  # the mesh takes the voxels of the scan
    pair.set_voxels_per_unit(1.0)
    assert pair.parts[0].volume.spacing == (1.0, 1.0, 1.0)
    pair.set_voxels_per_unit(None)
    assert pair.parts[0].volume.voxel_count == int((scan.values > 900.0).sum())


def test_a_scan_of_two_values_without_zero_has_a_threshold() -> None:
    values = np.full((4, 4, 4), 40, np.int16)
    values[1:3, 1:3, 1:3] = 900
    source = VolumeSource("scan", scan=Scan(values, (1.0, 1.0, 1.0), (0.5, 0.5, 0.5)))
    assert source.is_grey
    assert source.volume(like=None, voxels_per_unit=None, above=source.first_threshold(), fill=True).voxel_count == 8


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_lattice_is_that_of_the_scan_in_both_orders(order: tuple[int, int]) -> None:
    sources = (VolumeSource("scan", scan=grey_scan()), VolumeSource("mesh", mesh=SPHERE))
    pair = VolumePair(*(sources[which] for which in order))
    assert pair.spacing.tolist() == [0.5, 1.0, 2.0]
    pair.query()


def test_volumes_whose_voxels_differ_are_resampled() -> None:
    one = Volume.from_voxels(np.ones((4, 4, 4), bool))
    two = Volume.from_voxels(np.ones((4, 4, 4), bool), spacing=0.5, origin=(0.3, 0.3, 0.3))
    pair = VolumePair(VolumeSource("one", model=one), VolumeSource("two", model=two))
    assert pair.query().voxels


def test_errors_change_nothing() -> None:
    pair = spheres()
    volume = pair.parts[0].volume
    for wrong in (0.0, -1.0, float("nan"), 1e6):
        with pytest.raises(InvalidInput, match="voxels"):
            pair.set_voxels_per_unit(wrong)
    with pytest.raises(InvalidInput, match="meshes"):
        pair.set_voxels_per_unit(None)
    with pytest.raises(InvalidInput, match="only scans"):
        pair.set_threshold(1, 3.0)
    with pytest.raises(InvalidInput, match="three finite numbers"):
        pair.move_to((1.0, float("nan"), 0.0))
    assert pair.voxels_per_unit == 6.0
    assert pair.parts[0].volume is volume
    scan = VolumePair(VolumeSource("scan", scan=grey_scan()), VolumeSource("mesh", mesh=SPHERE))
    before = scan.parts[0].above
    with pytest.raises(InvalidInput, match="No voxel"):
        scan.set_threshold(0, 5000.0)
    assert scan.parts[0].above == before
    open_mesh = VolumeSource("open", mesh=MeshArrays(SPHERE.vertices, np.delete(SPHERE.faces, 40, axis=0)))
    assert not open_mesh.can_fill
    with pytest.raises(InvalidInput, match="cannot be filled"):
        VolumePair(open_mesh, VolumeSource("two", mesh=SPHERE)).set_fill(0, True)


def test_sources_are_opened_by_what_they_are(tmp_path: Path) -> None:
    write_mesh(tmp_path / "ball.off", *SPHERE)
    scans.write_scan(tmp_path / "scan.npy", grey_scan())
    Volume.from_voxels(np.ones((2, 2, 2), bool)).write(tmp_path / "block.evm")
    kinds = [open_source(tmp_path / name).kind for name in ("ball.off", "scan.npy", "block.evm")]
    assert kinds == ["mesh", "scan", "model"]
    assert open_source("screw:20").bounds[1].max() <= 20
    assert open_source(tmp_path / "scan.npy").is_grey
    with pytest.raises(InvalidInput, match="screw:64"):
        open_source("screw:many")
    with pytest.raises(UnreadableFile):
        open_source(tmp_path / "missing.stl")
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(UnreadableFile, match=r"\.stl"):
        open_source(tmp_path / "notes.txt")
    (tmp_path / "empty.off").write_text("OFF\n0 0 0\n")
    with pytest.raises(InvalidInput):
        open_source(tmp_path / "empty.off")
