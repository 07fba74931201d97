"""Small files that announce or unpack to much, name other files, or lead parsers in circles: each is one sentence."""

from __future__ import annotations

import bz2
import gzip
import os
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from reader_limit import limited

from choque import scene
from choque.errors import InvalidInput, UnreadableFile
from choque.files import read_boxes
from choque.files.budget import DEFAULT_LIMIT, VARIABLE, read_limit
from choque.files.meshes import fans, read_mesh
from choque.files.scans import Scan, read_scan, write_scan
from choque.files.xyz import read_atoms
from choque.theses.evm.voxel_text import read_evm, read_vox

nibabel = pytest.importorskip("nibabel")
tifffile = pytest.importorskip("tifffile")
pytest.importorskip("nrrd")

ZEROS = np.zeros((64, 64, 64), np.uint8)


def write_any(path: Path) -> None:
    write_scan(path, Scan(ZEROS, (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)))


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".nii", ".nii.gz", ".nrrd", ".tif"])
def test_scans_beyond_the_limit_are_refused_and_the_limit_can_be_raised(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"zeros{suffix}"
    write_any(path)
    with limited(ZEROS.nbytes // 2), pytest.raises(UnreadableFile, match=r"128 KiB.*CHOQUE_READ_LIMIT"):
        read_scan(path)
    with limited(2 * ZEROS.nbytes):
        assert read_scan(path).values.shape == ZEROS.shape


def test_scaled_values_count_as_the_floats_that_they_become(tmp_path: Path) -> None:
    image = nibabel.Nifti1Image(ZEROS, np.eye(4))
    image.header.set_slope_inter(0.5, 1.0)
    nibabel.save(image, tmp_path / "scaled.nii.gz")
    with limited(4 * ZEROS.nbytes), pytest.raises(UnreadableFile, match="of memory"):
        read_scan(tmp_path / "scaled.nii.gz")


def test_packed_boxes_beyond_the_limit_are_refused(tmp_path: Path) -> None:
    boxes = np.zeros((50_000, 3))
    np.savez_compressed(tmp_path / "boxes.npz", lower=boxes, upper=boxes)
    with limited(100_000), pytest.raises(UnreadableFile, match="CHOQUE_READ_LIMIT"):
        read_boxes(tmp_path / "boxes.npz")


def test_an_nrrd_that_unpacks_to_more_than_it_announces(tmp_path: Path) -> None:
    header = b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nencoding: gzip\n\n"
    for count, words in ((1 << 24, "unpacks to more"), (7, "unpacks to 7")):
        (tmp_path / "bomb.nrrd").write_bytes(header + gzip.compress(bytes(count)))
        with pytest.raises(UnreadableFile, match=words):
            read_scan(tmp_path / "bomb.nrrd")
    (tmp_path / "bomb.nrrd").write_bytes(header + gzip.compress(bytes(8)))
    assert read_scan(tmp_path / "bomb.nrrd").values.shape == (2, 2, 2)


@pytest.mark.parametrize("name", ["../secret.txt", "{absolute}", "link.raw", "pipe", "missing.raw", "LIST"])
def test_an_nrrd_reads_no_file_outside_its_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_bytes(b"password")
    folder = tmp_path / "scan"
    folder.mkdir()
    (folder / "link.raw").symlink_to(tmp_path / "secret.txt")
    os.mkfifo(folder / "pipe")
    name = name.format(absolute=tmp_path / "secret.txt")
    header = f"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nencoding: raw\ndata file: {name}\n\n"
    (folder / "a.nrrd").write_text(header)
    with pytest.raises(UnreadableFile, match="in the folder of the header"):
        read_scan(folder / "a.nrrd")


@pytest.mark.parametrize("encoding", ["raw", "gzip", "bzip2"])
def test_an_nrrd_reads_values_beside_it(encoding: str, tmp_path: Path) -> None:
    packed = {"raw": bytes, "gzip": gzip.compress, "bzip2": bz2.compress}[encoding]
    (tmp_path / "a.raw").write_bytes(packed(bytes(range(8))))
    header = f"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nencoding: {encoding}\ndata file: a.raw\n\n"
    (tmp_path / "a.nrrd").write_text(header)
    assert read_scan(tmp_path / "a.nrrd").values.ravel(order="F").tolist() == list(range(8))


@pytest.mark.parametrize("kind", ["circle", "inside"])
def test_a_tiff_whose_directories_lead_in_circles(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, np.zeros((4, 4), np.uint8), metadata=None)
    data = bytearray(path.read_bytes())
    (offset,) = struct.unpack("<I", data[4:8])
    (count,) = struct.unpack("<H", data[offset : offset + 2])
    end = offset + 2 + 12 * count
    data[end : end + 4] = struct.pack("<I", offset if kind == "circle" else offset + 8)
    path.write_bytes(data)
    with pytest.raises(UnreadableFile):
        read_scan(path)


BINARY = b"ply\nformat binary_little_endian 1.0\n"
TEXT = b"ply\nformat ascii 1.0\n"
XYZ = b"property float x\nproperty float y\nproperty float z\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT + b"element foo 1000000000000\nproperty float x\nelement vertex 0\n" + XYZ + b"end_header\n",
        TEXT + b"element vertex 1000000000000\n" + XYZ + b"end_header\n0 0 0\n",
        BINARY
        + b"element vertex 0\n"
        + XYZ
        + b"element face 1000000000000\nproperty list uchar int vertex_indices\nend_header\n"
        + bytes(1 << 20),
        BINARY + b"element vertex -5\n" + XYZ + b"end_header\n",
    ],
)
def test_a_ply_that_announces_more_rows_than_it_has_bytes(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.ply").write_bytes(data)
    with pytest.raises(UnreadableFile, match="rows"):
        read_mesh(tmp_path / "a.ply")


def test_elements_of_a_ply_without_properties_are_skipped(tmp_path: Path) -> None:
    head = TEXT + b"element foo 1000000000000\nelement vertex 1\n" + XYZ + b"end_header\n1 2 3\n"
    (tmp_path / "a.ply").write_bytes(head)
    assert read_mesh(tmp_path / "a.ply").vertices.tolist() == [[1.0, 2.0, 3.0]]


def test_polygons_of_equal_and_of_different_length(tmp_path: Path) -> None:
    vertices = b"element vertex 5\n" + XYZ
    body = np.arange(15, dtype="<f4").tobytes()
    for sizes in ((3, 3), (4, 4), (3, 4), (4, 3), (5,)):
        faces = b"".join(struct.pack(f"<B{size}i", size, *range(size)) for size in sizes)
        head = BINARY + vertices + f"element face {len(sizes)}\nproperty list uchar int vertex_index\n".encode()
        (tmp_path / "a.ply").write_bytes(head + b"end_header\n" + body + faces)
        wanted = [[0, at, at + 1] for size in sizes for at in range(1, size - 1)]
        assert read_mesh(tmp_path / "a.ply").faces.tolist() == wanted


def test_a_csv_with_names_of_rows_is_refused(tmp_path: Path) -> None:
    names = "x_lower,y_lower,x_upper,y_upper"
    for text in (f"{names}\n1,0,0,1,1\n2,0.5,0.5,2,2\n", f"{names},note\n1,0,0,1,1,7\n", f"{names}\n0,0,1\n"):
        (tmp_path / "a.csv").write_text(text)
        with pytest.raises(UnreadableFile, match=r"line 2: .* fields where the first line has"):
            read_boxes(tmp_path / "a.csv")


def test_meshes_that_other_programs_write(tmp_path: Path) -> None:
    """Tabs and comments in Latin-1 in OBJ, colours in OFF, padding after binary STL."""
    (tmp_path / "a.obj").write_bytes(b"# Stra\xdfe\nv\t0\t0\t0\nv 1 0 0\nv 0\t1 0\nf\t1 2 3\n")
    (tmp_path / "a.off").write_text("COFF\n3 1 0\n0 0 0 255 0 0 255\n1 0 0 255 0 0 255\n0 1 0 0 0 0 255\n3 0 1 2\n")
    triangle = struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
    (tmp_path / "a.stl").write_bytes(bytes(80) + struct.pack("<I", 1) + triangle + b"\0\0")
    for suffix in ("obj", "off", "stl"):
        mesh = read_mesh(tmp_path / f"a.{suffix}")
        assert sorted(mesh.vertices[mesh.faces[0]].tolist()) == [[0, 0, 0], [0, 1, 0], [1, 0, 0]]


def test_an_archive_with_two_spacings_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", values=ZEROS, spacing=np.ones(2))
    with pytest.raises(UnreadableFile, match=r"'spacing' has the shape \(2,\)"):
        read_scan(tmp_path / "a.npz")


@pytest.mark.parametrize(("text", "size"), [("16G", 16 << 30), ("1.5 MiB", 3 << 19), ("700", 700), ("", DEFAULT_LIMIT)])
def test_the_limit_comes_from_the_environment(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    assert read_limit() == size


def test_a_wrong_limit_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "much")
    with pytest.raises(InvalidInput, match="such as 16G"):
        read_limit()


def rows_of_digits(count: int) -> dict[str, str]:
    """Text files of every kind whose numbers are as short as they can be, with ``count`` rows."""
    points = "0 0 0\n" * count
    return {
        "a.off": f"OFF\n{count} {count} 0\n" + points + "3 0 0 0\n" * count,
        "b.off": f"OFF\n{count} 1 0\n" + points + f"{count} " + "0 " * count + "\n",
        "a.obj": "v 0 0 0\n" * count + "f 1 1 1\n" * count,
        "a.stl": "solid a\n" + "facet outer loop\nvertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\n" * count + "endsolid\n",
        "a.ply": f"ply\nformat ascii 1.0\nelement vertex {count}\n"
        + XYZ.decode()
        + f"element face {count}\nproperty list uchar int vertex_index\nend_header\n"
        + points
        + "3 0 0 0\n" * count,
        "a.evm": f"#EV: {count} Order: XYZ\n" + points,
        "a.vox": f"MIN 0 0 0\nMAX {count - 1} 0 0\n" + "0\n" * count,
        "a.csv": "0,0,0,0\n" * count,
        "a.xyz": f"{count}\n\n" + "H 0 0 0\n" * count,
    }


READ = {".evm": read_evm, ".vox": read_vox, ".csv": read_boxes, ".xyz": read_atoms}


@pytest.mark.parametrize("name", rows_of_digits(1))
def test_text_takes_at_most_the_memory_that_was_checked(name: str, tmp_path: Path, thorough: bool) -> None:
    path = tmp_path / name
    count = 20_000 if thorough or name == "a.csv" else 5_000  # tables have other costs, which few rows do not outweigh
    path.write_text(rows_of_digits(10 * count if name == "a.vox" else count)[name])
    read = READ.get(path.suffix, read_mesh)
    read(path)  # so that modules are imported
    tracemalloc.start()
    try:
        with limited(DEFAULT_LIMIT):
            read(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        with limited(peak // 4), pytest.raises(UnreadableFile, match="CHOQUE_READ_LIMIT"):
            read(path)
        assert tracemalloc.get_traced_memory()[1] <= peak
    finally:
        tracemalloc.stop()


def test_a_parquet_file_of_many_equal_rows_is_refused_before_it_is_read(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    column = np.zeros(1_000_000)
    table = arrow.table(dict.fromkeys(("x_lower", "y_lower", "x_upper", "y_upper"), column))
    parquet.write_table(table, tmp_path / "a.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 100_000
    with limited(1 << 20), pytest.raises(UnreadableFile, match="CHOQUE_READ_LIMIT"):
        read_boxes(tmp_path / "a.parquet")


def test_a_long_word_in_xyz_does_not_widen_every_number(tmp_path: Path) -> None:
    rows = "H 0 0 0\n" * 10_000
    for word, reason in (("H " + "0" * 500_000 + " 0 0\n", None), ("H" * 500_000 + " 0 0 0\n", "names an atom")):
        (tmp_path / "a.xyz").write_text("10001\n\n" + rows + word)
        if reason is None:
            assert len(read_atoms(tmp_path / "a.xyz").positions) == 10_001
        else:
            with pytest.raises(UnreadableFile, match=reason):
                read_atoms(tmp_path / "a.xyz")


def test_lines_without_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text("v " + "1 " * (1 << 20))
    with pytest.raises(UnreadableFile, match="line 1: the line has more than"):
        read_mesh(tmp_path / "a.obj")


@pytest.mark.parametrize("key", ["a." * 100_000 + "a", '"a".' * 20_000 + "a", "a . " * 5_000 + "a"])
@pytest.mark.parametrize("place", ["{} = 1", "[{}]", "b = {{{} = 1}}"])
def test_toml_keys_of_many_parts_are_refused_at_once(key: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("choque = 1\n" + place.format(key))
    with pytest.raises(UnreadableFile, match="line 2: a key has more than 100 parts"):
        scene.read(tmp_path / "a.toml")


def test_polygons_are_split_into_fans() -> None:
    rng = np.random.default_rng(4)
    polygons = [rng.integers(0, 50, rng.integers(0, 8)).tolist() for _ in range(200)]
    wanted = [[face[0], face[at], face[at + 1]] for face in polygons for at in range(1, len(face) - 1)]
    corners = np.array([corner for face in polygons for corner in face], np.int64)
    found = fans(corners, np.array([len(face) for face in polygons], np.int64))
    assert found.tolist() == wanted
    assert fans(np.empty(0, np.int64), np.empty(0, np.int64)).shape == (0, 3)
