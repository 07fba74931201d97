"""Meshes through files: what is written is read back, what is damaged is one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.files.meshes import WRITERS, read_mesh, write_mesh
from choque.meshes import Mesh

VERTICES = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def triangles(vertices: np.ndarray, faces: np.ndarray) -> list[list[float]]:
    return vertices[faces].reshape(-1, 9).tolist()


@pytest.mark.parametrize("suffix", sorted(WRITERS))
@given(arrays(np.float64, (5, 3), elements=st.floats(-100, 100, width=32)), st.data())
def test_round_trips(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, vertices: np.ndarray, data: st.DataObject
) -> None:
    faces = np.array(data.draw(st.lists(st.permutations(range(5)), min_size=1, max_size=4)))[:, :3]
    path = tmp_path_factory.mktemp("mesh") / f"some{suffix.upper()}"
    write_mesh(path, vertices, faces)
    found = read_mesh(path)
    assert triangles(found.vertices, found.faces) == triangles(vertices, faces)


@pytest.mark.parametrize("suffix", sorted(WRITERS))
def test_an_empty_mesh(suffix: str, tmp_path: Path) -> None:
    write_mesh(tmp_path / f"none{suffix}", np.empty((0, 3)), np.empty((0, 3), int))
    assert len(read_mesh(tmp_path / f"none{suffix}").faces) == 0


TEXTS = {
    "a.off": "OFF 4 2 0 # counts on the first line\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n3 0 1 2 255 0 0\n",
    "b.off": "# said first\nOFF\n4 2 0\n\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n3 0 1 2\n",
    "a.obj": "o thing\nv 0 0 0\nv 1 0 0\nv 1 1 0 1.0\nv 0 1 0\nvn 0 0 1\nf 1/1/1 2/2/1 3//1 4\nf -4 -3 -2 # relative\n",
    "a.stl": "solid s\n"
    + "".join(
        f"facet normal 0 0 1\nouter loop\nvertex {a}\nvertex {b}\nvertex {c}\nendloop\nendfacet\n"
        for a, b, c in (("0 0 0", "1 0 0", "1 1 0"), ("0 0 0", "1 1 0", "0 1 0"), ("0 0 0", "1 0 0", "1 1 0"))
    )
    + "endsolid s\n",
    "a.ply": "ply\nformat ascii 1.0\ncomment hello\nelement vertex 4\nproperty float x\nproperty float y\n"
    "property float z\n"
    "property uchar red\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0 9\n1 0 0 9\n1 1 0 9\n0 1 0 9\n4 0 1 2 3\n3 0 1 2\n",
}


@pytest.mark.parametrize("name", sorted(set(TEXTS) - {"b.off"}))
def test_text_files_of_others(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(TEXTS[name])
    found = read_mesh(tmp_path / name)
    square = [[0, 0, 0, 1, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 0, 0, 1, 0], [0, 0, 0, 1, 0, 0, 1, 1, 0]]
    assert triangles(found.vertices, found.faces) == square


def test_big_endian_ply(tmp_path: Path) -> None:
    path = tmp_path / "big.ply"
    header = (
        "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 1\nproperty list uchar uint vertex_index\nproperty float weight\nend_header\n"
    )
    body = VERTICES[:3].astype(">f4").tobytes() + b"\x03" + np.array([0, 1, 2], ">u4").tobytes()
    path.write_bytes(header.encode() + body + np.array([0.5], ">f4").tobytes())
    assert read_mesh(path).faces.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("suffix", sorted(WRITERS))
def test_a_truncated_file_is_one_sentence(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"whole{suffix}"
    write_mesh(path, VERTICES, FACES)
    data = path.read_bytes()
    for length in (len(data) // 3, len(data) * 2 // 3, len(data) - 6):
        path.write_bytes(data[:length])
        with pytest.raises(UnreadableFile) as caught:
            read_mesh(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("suffix", [".off", ".stl", ".obj", ".ply"])
@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n" + bytes(200), b"nothing of the kind\n" * 9, b""])
def test_a_foreign_file_is_one_sentence(suffix: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"foreign{suffix}"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile):
        read_mesh(path)


def test_impossible_values_are_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.off").write_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 9\n")
    with pytest.raises(UnreadableFile, match="3 vertices"):
        read_mesh(tmp_path / "a.off")
    (tmp_path / "a.step").write_text("ISO")
    with pytest.raises(UnreadableFile, match=r"\.step"):
        read_mesh(tmp_path / "a.step")
    with pytest.raises(UnreadableFile, match="no file"):
        read_mesh(tmp_path / "missing.stl")
    with pytest.raises(UnknownName, match=r"\.stl"):
        write_mesh(tmp_path / "a.step", VERTICES, FACES)
    with pytest.raises(InvalidInput, match="4 vertices"):
        write_mesh(tmp_path / "a.stl", VERTICES, FACES + 1)
    with pytest.raises(InvalidInput, match="32-bit"):
        write_mesh(tmp_path / "a.stl", VERTICES * 1e300, FACES)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\nv 0 0 1\n", "corners .* there are 4 vertices"),
        ("a.off", "OFF\n3 3 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n-1 0 1\n3 0 1 2\n", "a row ends too early"),
        ("a.off", "OFF\n", "a.off is truncated or damaged: something is missing"),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n",
            "a.ply is truncated or damaged",
        ),
        ("a.stl", "solid a\nvertex 1 2\nendsolid\n", "a.stl is truncated or damaged"),
    ],
)
def test_numbers_that_cannot_be_are_refused_in_one_sentence(name: str, text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UnreadableFile, match=words):
        read_mesh(tmp_path / name)


def test_a_coordinate_too_large_for_a_mesh_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text("v 0 0 1e40\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(UnreadableFile, match=r"a\.obj: The mesh has a coordinate of 1e\+40"):
        Mesh.read(tmp_path / "a.obj")
