"""Scans through files: an asymmetric phantom keeps its left, its front and its top in every format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from choque.errors import ChoqueError, InvalidInput, UnknownName, UnreadableFile
from choque.files.scans import WRITERS, Scan, from_axes, oriented, read_scan, select, to_affine, write_scan
from choque.volumes import Volume

nibabel = pytest.importorskip("nibabel")
nrrd = pytest.importorskip("nrrd")
tifffile = pytest.importorskip("tifffile")
pydicom = pytest.importorskip("pydicom")

SPACING = (0.5, 2.0, 1.25)
CENTRE = (10.0, -20.0, 5.0)
KEEPS_PLACE = sorted(set(WRITERS) - {".npy"})


def phantom() -> np.ndarray:
    """No two axes, directions or corners alike; axes x (to the left), y (backward), z (up)."""
    values = np.zeros((4, 5, 6), np.int16)
    values[0, 0, 0], values[3, 0, 0], values[0, 4, 0], values[0, 0, 5] = 1, 2, 3, 4
    values[1, 2, 3] = 300
    return values


def same(found: Scan, wanted: Scan) -> None:
    assert np.array_equal(found.values, wanted.values)
    assert found.spacing == pytest.approx(wanted.spacing)
    assert found.centre == pytest.approx(wanted.centre)


WANTED = Scan(phantom(), SPACING, CENTRE)
MIRRORED = Scan(phantom()[::-1, ::-1], SPACING, (-CENTRE[0] - 3 * 0.5, -CENTRE[1] - 4 * 2.0, CENTRE[2]))


@pytest.mark.parametrize("suffix", KEEPS_PLACE)
def test_the_phantom_in_every_format_that_is_written(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"scan{suffix}"
    write_scan(path, WANTED)
    same(read_scan(path), WANTED)


@pytest.mark.parametrize("flips", [(1, 1, 1), (-1, 1, 1), (1, -1, -1), (-1, -1, -1)])
@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_a_nifti_however_it_is_stored(axes: tuple[int, int, int], flips: tuple[int, int, int], tmp_path: Path) -> None:
    """The same patient, stored along other axes and in other directions, is the same scan, in LPS and in RAS."""
    values, affine = phantom(), np.diag([*(-np.array(SPACING[:2])), SPACING[2], 1.0])
    affine[:3, 3] = (-CENTRE[0], -CENTRE[1], CENTRE[2])  # NIfTI counts to the right and forward
    for axis, flip in enumerate(flips):
        if flip < 0:
            values = np.flip(values, axis)
            affine[:3, 3] += affine[:3, axis] * (values.shape[axis] - 1)
            affine[:3, axis] *= -1
    values, affine = values.transpose(axes), affine[:, [*axes, 3]]
    nibabel.save(nibabel.Nifti1Image(values, affine), tmp_path / "scan.nii.gz")
    same(read_scan(tmp_path / "scan.nii.gz"), WANTED)
    same(read_scan(tmp_path / "scan.nii.gz", world="RAS"), MIRRORED)


@pytest.mark.parametrize(
    ("space", "signs"),
    [("left-posterior-superior", (1, 1)), ("right-anterior-superior", (-1, -1)), ("left-anterior-superior", (1, -1))],
)
def test_an_nrrd_in_every_space(space: str, signs: tuple[int, int], tmp_path: Path) -> None:
    signs_3 = np.array([*signs, 1])
    header = {
        "space": space,
        "space directions": np.diag(signs_3 * SPACING)[[2, 1, 0]],
        "space origin": signs_3 * CENTRE,
    }
    nrrd.write(str(tmp_path / "scan.nrrd"), phantom().transpose(2, 1, 0), header, index_order="F")
    same(read_scan(tmp_path / "scan.nrrd"), WANTED)


@pytest.mark.parametrize("space", [{"space dimension": 3}, {"space": "scanner-xyz"}, {"space": "3D-right-handed"}])
def test_an_nrrd_in_a_space_without_a_name_keeps_origin_and_flips(space: dict[str, object], tmp_path: Path) -> None:
    header = {**space, "space directions": np.diag(np.array(SPACING) * [-1, 1, 1]), "space origin": CENTRE}
    nrrd.write(str(tmp_path / "scan.nrrd"), phantom(), header, index_order="F")
    found = read_scan(tmp_path / "scan.nrrd")
    assert found.spacing == pytest.approx(SPACING)
    last = CENTRE[0] - 3 * SPACING[0]
    assert found.centre == pytest.approx((last, *CENTRE[1:]))
    np.testing.assert_array_equal(found.values, phantom()[::-1])


def test_an_nrrd_without_a_space(tmp_path: Path) -> None:
    nrrd.write(str(tmp_path / "scan.nrrd"), phantom(), {"spacings": list(SPACING)}, index_order="F")
    found = read_scan(tmp_path / "scan.nrrd")
    assert np.array_equal(found.values, phantom())
    assert found.spacing == SPACING
    assert found.corner() == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("axes", ["zyx", "xyz", None])
def test_stacks_and_arrays_by_the_order_of_their_axes(axes: str | None, tmp_path: Path) -> None:
    stored = phantom() if axes == "xyz" else phantom().transpose()
    tifffile.imwrite(
        tmp_path / "scan.tif", stored, imagej=True, resolution=(2.0, 0.5), metadata={"spacing": 1.25, "axes": "ZYX"}
    )
    found = read_scan(tmp_path / "scan.tif", axes=axes)
    assert np.array_equal(found.values, phantom())
    assert found.spacing == pytest.approx(SPACING)
    np.save(tmp_path / "scan.npy", phantom() if axes is None else stored)
    assert np.array_equal(read_scan(tmp_path / "scan.npy", axes=axes).values, phantom())


def dicom_series(
    folder: Path,
    *,
    step: tuple[float, float, float] = (0, 0, 1.25),
    turned: bool = False,
    title: str = "",
    number: int = 1,
) -> None:
    """One file a slice, named in falling sequence; ``turned`` stores rows along y and columns against x."""
    from pydicom.dataset import FileDataset, FileMetaDataset
    from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

    folder.mkdir(exist_ok=True)
    series = generate_uid()
    values = phantom()
    for at in range(values.shape[2]):
        meta = FileMetaDataset()
        meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = CTImageStorage, generate_uid()
        meta.TransferSyntaxUID = ExplicitVRLittleEndian
        path = folder / f"slice{99 - at}.dcm"
        part = FileDataset(str(path), {}, file_meta=meta, preamble=bytes(128))
        part.SOPClassUID, part.SOPInstanceUID = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID
        part.SeriesInstanceUID, part.SeriesDescription, part.SeriesNumber = series, title, number
        place = np.array(CENTRE) + at * np.array(step)
        pixels = values[:, :, at].transpose()  # rows along y, columns along x
        part.ImageOrientationPatient, part.PixelSpacing = [1, 0, 0, 0, 1, 0], [SPACING[1], SPACING[0]]
        if turned:
            place = place + (values.shape[0] - 1) * SPACING[0] * np.array([1, 0, 0])
            pixels = values[::-1, :, at]
            part.ImageOrientationPatient, part.PixelSpacing = [0, 1, 0, -1, 0, 0], [SPACING[0], SPACING[1]]
        part.ImagePositionPatient = [float(value) for value in place]
        part.Rows, part.Columns = pixels.shape
        part.BitsAllocated, part.BitsStored, part.HighBit, part.PixelRepresentation = 16, 16, 15, 1
        part.SamplesPerPixel, part.PhotometricInterpretation = 1, "MONOCHROME2"
        part.RescaleSlope, part.RescaleIntercept = 2, -1000
        part.PixelData = (((pixels.astype(int) + 1000) // 2).astype("<i2")).tobytes()
        part.save_as(path, enforce_file_format=True)


def dicom_values() -> np.ndarray:
    return (phantom().astype(int) + 1000) // 2 * 2 - 1000


@pytest.mark.parametrize("turned", [False, True])
def test_a_folder_of_dicom_slices(turned: bool, tmp_path: Path) -> None:
    dicom_series(tmp_path / "series", turned=turned)
    (tmp_path / "series" / "notes.txt").write_text("not a slice")
    same(read_scan(tmp_path / "series"), Scan(dicom_values(), SPACING, CENTRE))


def test_rounded_orientations_are_one_series(tmp_path: Path) -> None:
    dicom_series(tmp_path)
    for number, path in enumerate(sorted(tmp_path.iterdir())):
        part = pydicom.dcmread(path)
        part.ImageOrientationPatient = [1, number * 1e-6, 0, -number * 1e-6, 1, 0]
        part.PixelSpacing = [SPACING[1] + number * 1e-7, SPACING[0]]
        part.save_as(path)
    same(read_scan(tmp_path), Scan(dicom_values(), SPACING, CENTRE))


@pytest.mark.parametrize("implicit", [True, False])
def test_dicom_files_without_a_preamble(implicit: bool, tmp_path: Path) -> None:
    dicom_series(tmp_path)
    for path in tmp_path.iterdir():
        part = pydicom.dcmread(path)
        bare = pydicom.Dataset({element.tag: element for element in part})
        pydicom.dcmwrite(path, bare, implicit_vr=implicit, little_endian=True, enforce_file_format=False)
        assert path.read_bytes()[128:132] != b"DICM"
    same(read_scan(tmp_path), Scan(dicom_values(), SPACING, CENTRE))


def test_a_folder_of_folders_names_them(tmp_path: Path) -> None:
    dicom_series(tmp_path / "series")
    with pytest.raises(UnreadableFile, match="give one of series"):
        read_scan(tmp_path)


def test_a_folder_of_tiff_slices(tmp_path: Path) -> None:
    for number in range(phantom().shape[2]):
        picture = np.ascontiguousarray(phantom()[:, :, number].transpose())
        tifffile.imwrite(tmp_path / f"bone_{number + 8}.tif", picture, resolution=(100.0, 50.0), resolutionunit=3)
    (tmp_path / "scan.log").write_text("voltage 80 kV")
    found = read_scan(tmp_path)
    assert np.array_equal(found.values, phantom())
    assert found.spacing == pytest.approx((0.1, 0.2, 0.1))
    tifffile.imwrite(tmp_path / "preview.tif", np.zeros((2, 2), np.uint8))
    with pytest.raises(UnreadableFile, match="all must be alike"):
        read_scan(tmp_path)


def test_physical_sizes_of_ome_and_of_resolution_tags(tmp_path: Path) -> None:
    values = np.ascontiguousarray(phantom().transpose())
    sizes = {f"PhysicalSize{axis}": size for axis, size in zip("XYZ", SPACING, strict=True)}
    tifffile.imwrite(tmp_path / "o.ome.tif", values, photometric="minisblack", metadata={"axes": "ZYX", **sizes})
    same(read_scan(tmp_path / "o.ome.tif"), Scan(phantom(), SPACING, tuple(size / 2 for size in SPACING)))
    tifffile.imwrite(tmp_path / "r.tif", values, photometric="minisblack", resolution=(254.0, 127.0), resolutionunit=2)
    assert read_scan(tmp_path / "r.tif").spacing == pytest.approx((0.1, 0.2, 0.1))
    tifffile.imwrite(tmp_path / "p.tif", values, photometric="minisblack")
    assert read_scan(tmp_path / "p.tif").spacing == (1.0, 1.0, 1.0)


def dicom_frames(path: Path, *, placed: str = "frames", sequence: tuple[int, ...] = (4, 0, 5, 1, 3, 2)) -> None:
    """Write all slices to one file in a mixed ``sequence``, ``placed`` by frame, by offset or by step."""
    from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
    from pydicom.uid import EnhancedCTImageStorage, ExplicitVRLittleEndian, generate_uid

    values = phantom()
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = EnhancedCTImageStorage, generate_uid()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    file = FileDataset(str(path), {}, file_meta=meta, preamble=bytes(128))
    file.SOPClassUID, file.SOPInstanceUID = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID
    file.SeriesInstanceUID = generate_uid()
    file.NumberOfFrames, file.Rows, file.Columns = values.shape[2], values.shape[1], values.shape[0]
    file.BitsAllocated, file.BitsStored, file.HighBit, file.PixelRepresentation = 16, 16, 15, 1
    file.SamplesPerPixel, file.PhotometricInterpretation = 1, "MONOCHROME2"

    def item(**values: object) -> Dataset:
        made = Dataset()
        for name, value in values.items():
            setattr(made, name, value)
        return made

    scaling = {"RescaleSlope": 2, "RescaleIntercept": -1000}
    orientation, spacing = [1, 0, 0, 0, 1, 0], [SPACING[1], SPACING[0]]
    if placed == "frames":
        shared = item(
            PlaneOrientationSequence=[item(ImageOrientationPatient=orientation)],
            PixelMeasuresSequence=[item(PixelSpacing=spacing, SliceThickness=SPACING[2])],
            PixelValueTransformationSequence=[item(**scaling)],
        )
        file.SharedFunctionalGroupsSequence = [shared]
        file.PerFrameFunctionalGroupsSequence = [
            item(PlanePositionSequence=[item(ImagePositionPatient=[*CENTRE[:2], CENTRE[2] + number * SPACING[2]])])
            for number in sequence
        ]
    else:
        sequence = tuple(range(values.shape[2]))
        file.ImageOrientationPatient, file.PixelSpacing = orientation, spacing
        file.ImagePositionPatient = list(CENTRE)
        file.RescaleSlope, file.RescaleIntercept = 2, -1000
        if placed == "offsets":
            file.GridFrameOffsetVector = [SPACING[2] * number for number in sequence]
        if placed == "step":
            file.SpacingBetweenSlices = SPACING[2]
    pixels = (values.astype(int) + 1000) // 2
    file.PixelData = np.stack([pixels[:, :, number].transpose() for number in sequence]).astype("<i2").tobytes()
    file.save_as(path, enforce_file_format=True)


@pytest.mark.parametrize("placed", ["frames", "offsets", "step"])
def test_a_dicom_file_of_many_frames(placed: str, tmp_path: Path) -> None:
    """F-003-49: by itself and as the one file of a folder; frames are sorted by where they lie."""
    (tmp_path / "series").mkdir()
    path = tmp_path / "series" / "all.dcm"
    dicom_frames(path, placed=placed)
    for source in (path, path.parent):
        same(read_scan(source), Scan(dicom_values(), SPACING, CENTRE))
    same(read_scan(path, world="RAS"), Scan(dicom_values()[::-1, ::-1], SPACING, MIRRORED.centre))


def test_bad_dicom_files_of_many_frames_are_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "all.dcm"
    dicom_frames(path, placed="nothing")
    with pytest.raises(UnreadableFile, match="6 frames and does not say where they lie"):
        read_scan(path)
    dicom_frames(path, sequence=(0, 1, 2, 3, 4, 4))
    with pytest.raises(UnreadableFile, match="missing or doubled"):
        read_scan(path)
    dicom_frames(path)
    whole = path.read_bytes()
    for damaged in (whole[:-30], whole[:400], whole[:100], b"DICM" * 200, b""):
        path.write_bytes(damaged)
        with pytest.raises(UnreadableFile) as caught:
            read_scan(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
    dicom_frames(path)
    file = pydicom.dcmread(path)
    del file.SharedFunctionalGroupsSequence[0].PixelMeasuresSequence
    file.save_as(path)
    with pytest.raises(UnreadableFile, match=r"frame 0 does not say its PixelSpacing"):
        read_scan(path)


def test_a_series_of_several_in_one_folder_is_chosen_by_name(tmp_path: Path) -> None:
    dicom_series(tmp_path / "both", title="Bone 1.0", number=3)
    dicom_series(tmp_path / "other", title="Soft tissue", number=4, step=(0, 0, 2.5))
    for path in list((tmp_path / "other").iterdir()):
        path.rename(tmp_path / "both" / f"more-{path.name}")
    for name in ("Bone 1.0", "bone 1.0", "3"):
        same(read_scan(tmp_path / "both", series=name), Scan(dicom_values(), SPACING, CENTRE))
    assert Volume.from_scan(tmp_path / "both", above=0, series="4").spacing[2] == 2.5
    listed = r"2 series, and .*'Bone 1.0' \(3\) with \d+ files, 'Soft tissue' \(4\).*--series"
    for wrong in (None, "Lung"):
        with pytest.raises(UnreadableFile, match=listed):
            read_scan(tmp_path / "both", series=wrong)
    dicom_series(tmp_path / "one", title="Head")
    same(read_scan(tmp_path / "one", series="Head"), Scan(dicom_values(), SPACING, CENTRE))
    with pytest.raises(UnreadableFile, match=r"one series, 'Head' .*'Lung' was asked for"):
        read_scan(tmp_path / "one", series="Lung")
    with pytest.raises(InvalidInput, match="only folders hold several DICOM series"):
        read_scan(tmp_path / "one" / "slice99.dcm", series="Head")


def test_bad_dicom_folders_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableFile, match="no DICOM slices"):
        read_scan(tmp_path / "empty")
    dicom_series(tmp_path / "gap")
    (tmp_path / "gap" / "slice97.dcm").unlink()
    with pytest.raises(UnreadableFile, match="missing or doubled"):
        read_scan(tmp_path / "gap")
    dicom_series(tmp_path / "tilted", step=(0, 0.4, 1.25))
    with pytest.raises(InvalidInput, match="right angles"):
        read_scan(tmp_path / "tilted")
    dicom_series(tmp_path / "two")
    dicom_series(tmp_path / "more")
    for path in list((tmp_path / "more").iterdir()):
        path.rename(tmp_path / "two" / f"more-{path.name}")
    with pytest.raises(UnreadableFile, match="2 series"):
        read_scan(tmp_path / "two")
    dicom_series(tmp_path / "short")
    path = tmp_path / "short" / "slice99.dcm"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UnreadableFile):
        read_scan(tmp_path / "short")


def test_an_oblique_scan_is_refused(tmp_path: Path) -> None:
    affine = to_affine(SPACING, CENTRE, "LPS", "RAS")
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(0.1), -np.sin(0.1)], [np.sin(0.1), np.cos(0.1)]]
    nibabel.save(nibabel.Nifti1Image(phantom(), turn @ affine), tmp_path / "oblique.nii")
    with pytest.raises(InvalidInput, match=r"oblique.*5\.73°.*straighten"):
        read_scan(tmp_path / "oblique.nii")
    with pytest.raises(InvalidInput, match="affine"):
        oriented(phantom(), np.full((4, 4), np.nan), "RAS", "LPS", "The scan")
    with pytest.raises(InvalidInput, match="longer than 0"):
        oriented(phantom(), np.diag([1.0, 0, 1, 1]), "RAS", "LPS", "The scan")


def test_an_oblique_scan_is_straightened(tmp_path: Path) -> None:
    """Every point of every full voxel, at any rotation and with any flip, is in the conservative volume."""
    from choque.volumes import Volume

    random = np.random.default_rng(11)
    values = (random.random((6, 5, 4)) < 0.3).astype(np.uint8)
    for trial in range(12):
        turn = np.linalg.qr(random.normal(size=(3, 3)))[0] if trial > 3 else np.eye(3)
        angle = 0.002 * (1 + trial)
        turn = turn @ [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
        affine = np.eye(4)
        affine[:3, :3], affine[:3, 3] = turn * SPACING, random.uniform(-50, 50, 3)
        nibabel.save(nibabel.Nifti1Image(values, affine), tmp_path / "oblique.nii")
        volume = Volume.from_scan(tmp_path / "oblique.nii", straighten=True, conservative=True, world="RAS")
        voxels = np.argwhere(values)
        inside = voxels[random.integers(0, len(voxels), 400)] + random.uniform(-0.49, 0.49, (400, 3))
        at = np.floor(volume.lattice.to_lattice(inside @ affine[:3, :3].T + affine[:3, 3])).astype(int)
        assert volume.voxels()[tuple((at - volume.model.bounds[0]).T)].all()
        centres = Volume.from_scan(tmp_path / "oblique.nii", straighten=True, world="RAS")
        assert (centres - volume).is_empty
        assert centres.voxel_count == pytest.approx(int(values.sum()), rel=0.35)


def test_values_without_zero_need_a_threshold(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"all of them would be full.*above="):
        select(np.array([[[40, 900]]], np.int16))
    assert select(np.array([[[7, 7]]], np.uint8)).all()


@pytest.mark.parametrize("suffix", sorted(set(WRITERS)))
@given(arrays(np.bool_, array_shapes(min_dims=3, max_dims=3, max_side=4)), st.sampled_from(["LPS", "RAS"]))
def test_round_trips(tmp_path_factory: pytest.TempPathFactory, suffix: str, values: np.ndarray, world: str) -> None:
    path = tmp_path_factory.mktemp("scan") / f"scan{suffix}"
    write_scan(path, Scan(values, SPACING, CENTRE), world=world)
    found = read_scan(path, world=world)
    assert np.array_equal(found.values != 0, values)
    if suffix != ".npy":
        same(Scan(found.values != 0, found.spacing, found.centre), Scan(values, SPACING, CENTRE))


def test_thresholds_are_those_of_numpy() -> None:
    """F-003-49."""
    values = np.random.default_rng(0).normal(size=(4, 5, 6))
    for level in np.linspace(-2, 2, 9):
        assert np.array_equal(select(values, above=level), values > level)
        assert np.array_equal(select(values, below=level), values < level)
    assert np.array_equal(select(values, above=-1, below=1), (values > -1) & (values < 1))
    labels = np.arange(8).reshape(2, 2, 2)
    assert select(labels, label=3).sum() == 1
    assert np.array_equal(select(labels), labels != 0)
    assert not select(np.zeros((2, 2, 2))).any()


def test_what_is_not_a_number_is_never_chosen() -> None:
    """Maps of a masked region hold NaN outside of it."""
    values = np.array([[[np.nan, 0.0, 2.0, np.nan]]], np.float32)
    for chosen in (select(values), select(values, above=1), select(values, label=2)):
        assert chosen.tolist() == [[[False, False, True, False]]]
    with pytest.raises(InvalidInput, match=r"values are 0\.0 to 2\.0"):
        select(values, above=3)
    with pytest.raises(InvalidInput, match="none at all"):
        select(np.full((1, 1, 1), np.nan), above=3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"above": 10}, "above 10: its values are 0 to 7"),
        ({"label": 9}, "label 9"),
        ({"above": 5, "below": 3}, "above 5 and below 3"),
        ({"label": 1, "above": 0}, "not by both"),
        ({"above": "bone"}, "above is 'bone'"),
    ],
)
def test_a_choice_of_nothing_is_one_sentence(options: dict[str, float], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        select(np.arange(8).reshape(2, 2, 2), **options)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="type complex"):
        select(np.zeros((2, 2, 2), complex), above=1)


@pytest.mark.parametrize("suffix", sorted(set(WRITERS)))
def test_a_truncated_or_foreign_file_is_one_sentence(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"scan{suffix}"
    write_scan(path, Scan(np.random.default_rng(0).integers(0, 99, (9, 9, 9), np.int16), SPACING, CENTRE))
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], data[:30], b"something else entirely\n" * 20, b""):
        path.write_bytes(damaged)
        with pytest.raises(UnreadableFile) as caught:
            read_scan(path)
        assert str(path) in str(caught.value)


def test_impossible_values_are_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="no file"):
        read_scan(tmp_path / "missing.nii")
    (tmp_path / "a.mha").write_text("x")
    with pytest.raises(UnreadableFile, match="nrrd"):
        read_scan(tmp_path / "a.mha")
    with pytest.raises(UnknownName, match="LPS"):
        read_scan(tmp_path / "a.mha", world="LPI")
    with pytest.raises(UnknownName, match=r"\.nrrd"):
        write_scan(tmp_path / "a.mha", WANTED)
    np.save(tmp_path / "flat.npy", np.zeros((3, 3)))
    with pytest.raises(InvalidInput, match="2 axes"):
        read_scan(tmp_path / "flat.npy")
    with pytest.raises(ChoqueError, match="zyx"):
        from_axes(tmp_path, phantom(), "yxz", SPACING)
    nibabel.save(nibabel.Nifti1Image(np.zeros((2, 2, 2, 3), np.int16), np.eye(4)), tmp_path / "many.nii")
    with pytest.raises(UnreadableFile, match="three axes"):
        read_scan(tmp_path / "many.nii")
    with pytest.raises(InvalidInput, match="64-bit"):
        write_scan(tmp_path / "a.nii", Scan(np.zeros((2, 2, 2), np.int64), SPACING, CENTRE))
    for name, place in (("spacing", [1.0, 0.0, 1.0]), ("centre", [0.0, np.nan, 0.0])):
        np.savez(tmp_path / "a.npz", values=phantom(), **{name: place})
        with pytest.raises(UnreadableFile, match=r"a\.npz has voxels with the edges"):
            read_scan(tmp_path / "a.npz")


def test_a_stack_with_few_of_its_parts_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, np.zeros((50, 4), np.uint8), rowsperstrip=1, photometric="minisblack")
    with tifffile.TiffFile(path, mode="r+") as stack:
        stack.pages[0].tags["ImageLength"].overwrite(400_000_000)
    with pytest.raises(UnreadableFile, match="50 of its 400,000,000 parts"):
        read_scan(path)


@pytest.mark.parametrize("value", ["1\\2", "abc"])
def test_a_damaged_number_of_a_dicom_file_names_it(value: str, tmp_path: Path) -> None:
    path = tmp_path / "all.dcm"
    dicom_frames(path, placed="step")
    file = pydicom.dcmread(path)
    tag = pydicom.tag.Tag("SpacingBetweenSlices")
    file[tag] = pydicom.dataelem.RawDataElement(tag, "DS", len(value), value.encode(), 0, False, True)
    file.save_as(path)
    with pytest.raises(UnreadableFile, match=r"all\.dcm is truncated or damaged"):
        read_scan(path)


def test_rescaled_values_beyond_32_bits_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "all.dcm"
    dicom_frames(path, placed="step")
    file = pydicom.dcmread(path)
    stored = file.pixel_array
    file.RescaleSlope, file.RescaleIntercept = 1, 3_000_000_001
    file.save_as(path)
    assert np.array_equal(np.sort(read_scan(path).values, axis=None), np.sort(stored + 3_000_000_001.0, axis=None))
