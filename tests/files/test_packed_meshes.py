"""glTF and 3MF: scenes of parts as one mesh, hostile and damaged files as one sentence."""

from __future__ import annotations

import base64
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reader_limit import limited

from choque.errors import ChoqueError, UnreadableFile
from choque.files.meshes import READERS, read_mesh, write_mesh

VERTICES = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])

BUFFER = VERTICES.astype("<f4").tobytes() + FACES.astype("<u2").tobytes()


def document(**changes: Any) -> dict[str, Any]:
    """A tetrahedron twice: where it is, and turned, scaled and moved by a node and its parent."""
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [
            {"mesh": 0},
            {"translation": [5, 0, 0], "children": [2]},
            {"mesh": 0, "rotation": [0, 0, 2**-0.5, 2**-0.5], "scale": [2, 1, 1]},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 0, "byteOffset": 48, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "bufferViews": [{"buffer": 0, "byteLength": len(BUFFER)}],
        "buffers": [{"byteLength": len(BUFFER)}],
    } | changes


def glb(content: dict[str, Any], binary: bytes = BUFFER) -> bytes:
    text = json.dumps(content).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x004E4942) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


MODEL = """<?xml version="1.0"?>
<model unit="millimeter" xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources>
<object id="1"><mesh><vertices><vertex x="0" y="0" z="0"/><vertex x="1" y="0" z="0"/><vertex x="0" y="1" z="0"/>
<vertex x="0" y="0" z="1"/></vertices><triangles><triangle v1="0" v2="2" v3="1"/><triangle v1="0" v2="1" v3="3"/>
<triangle v1="0" v2="3" v3="2"/><triangle v1="1" v2="2" v3="3"/></triangles></mesh></object>
<object id="2"><components><component objectid="1" transform="0 2 0 -1 0 0 0 0 1 0 0 0"/></components></object>
</resources><build><item objectid="1"/><item objectid="2" transform="1 0 0 0 1 0 0 0 1 5 0 0"/></build></model>"""


def three_mf(path: Path, model: str = MODEL) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("3D/3dmodel.model", model)
    return path


TURNED = VERTICES * [2, 1, 1] @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]) + [5, 0, 0]


@pytest.mark.parametrize("kind", ["glb", "gltf", "uri", "3mf"])
def test_every_part_is_in_its_place(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.gltf"
    if kind == "glb":
        path = tmp_path / "a.glb"
        path.write_bytes(glb(document()))
    elif kind == "3mf":
        path = three_mf(tmp_path / "a.3mf")
    elif kind == "uri":
        uri = "data:application/octet-stream;base64," + base64.b64encode(BUFFER).decode()
        path.write_text(json.dumps(document(buffers=[{"uri": uri, "byteLength": len(BUFFER)}])))
    else:
        (tmp_path / "a b.bin").write_bytes(BUFFER)
        path.write_text(json.dumps(document(buffers=[{"uri": "a%20b.bin", "byteLength": len(BUFFER)}])))
    found = read_mesh(path)
    np.testing.assert_allclose(found.vertices, np.vstack((VERTICES, TURNED)), atol=1e-7)
    assert found.faces.tolist() == [*FACES.tolist(), *(FACES + 4).tolist()]


def test_strips_and_fans_keep_their_orientation(tmp_path: Path) -> None:
    for mode, wanted in ((5, [[0, 2, 1], [1, 2, 0]]), (6, [[0, 2, 1], [0, 1, 0]])):
        meshes = [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "mode": mode}, {"mode": 1}]}]
        accessors = document()["accessors"]
        accessors[1]["count"] = 4
        (tmp_path / "a.glb").write_bytes(glb(document(meshes=meshes, accessors=accessors, scenes=[{"nodes": [0]}])))
        assert read_mesh(tmp_path / "a.glb").faces.tolist() == wanted


def changed(place: str, **values: Any) -> dict[str, Any]:
    content = document()
    content[place][0] |= values
    return content


HOSTILE: dict[str, tuple[Any, str]] = {
    "no asset": ({"nodes": []}, "no asset"),
    "a billion": (changed("accessors", count=10**9), "announces 1,000,000,000 values"),
    "behind the buffer": (changed("bufferViews", byteOffset=90), "bytes of a buffer"),
    "a circle": (changed("nodes", children=[0]), "in a circle"),
    "another folder": (changed("buffers", uri="../../secret.bin"), "its own folder"),
    "no file": (changed("buffers", uri=""), r"a\.glb refers to ''; buffers are files"),
    "the network": (changed("buffers", uri="http://example.org/a.bin"), "its own folder"),
    "compressed": (document(extensionsRequired=["KHR_draco_mesh_compression"]), "KHR_draco_mesh_compression"),
    "sparse": (changed("accessors", sparse={}), "sparse"),
    "not finite": (changed("nodes", translation=[float("nan"), 0, 0]), "not finite"),
    "a wrong type": (changed("accessors", type="VEC2"), "VEC2"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_gltf_is_one_sentence(name: str, tmp_path: Path) -> None:
    content, words = HOSTILE[name]
    (tmp_path / "a.glb").write_bytes(glb(content))
    with pytest.raises(UnreadableFile, match=words):
        read_mesh(tmp_path / "a.glb")


def test_hostile_3mf_is_one_sentence(tmp_path: Path) -> None:
    circle = '<object id="2"><components><component objectid="2"/></components></object>'
    for model, words in (
        ("<!DOCTYPE a [<!ENTITY b 'c'>]>" + MODEL.partition("?>")[2], "document type"),
        (MODEL.replace('v1="1" v2="2" v3="3"', 'v1="1" v2="2" v3="9"'), "4 vertices"),
        (MODEL.replace('item objectid="1"', 'item objectid="7"'), "builds the object '7'"),
        (MODEL.replace('x="1"', 'x="1e999"'), "not finite"),
        (MODEL[:-100], "damaged"),
    ):
        three_mf(tmp_path / "a.3mf", model)
        with pytest.raises(UnreadableFile, match=words):
            read_mesh(tmp_path / "a.3mf")
    start = MODEL.index('<object id="2">')
    three_mf(tmp_path / "a.3mf", MODEL[:start] + circle + MODEL[MODEL.index("</resources>") :])
    with pytest.raises(UnreadableFile, match="in a circle"):
        read_mesh(tmp_path / "a.3mf")
    with zipfile.ZipFile(tmp_path / "b.3mf", "w") as archive:
        archive.writestr("readme.txt", "nothing")
    with pytest.raises(UnreadableFile, match=r"no \.model"):
        read_mesh(tmp_path / "b.3mf")


def test_packed_and_repeated_content_stays_in_the_budget(tmp_path: Path) -> None:
    bomb = three_mf(tmp_path / "a.3mf", MODEL.replace("<build>", "<build>" + " " * 10_000_000))
    assert bomb.stat().st_size < 20_000
    many = MODEL.replace('<item objectid="1"/>', '<item objectid="1"/>' * 20_000)
    nodes = [{"mesh": 0}] * 20_000
    (tmp_path / "c.glb").write_bytes(glb(document(nodes=nodes, scenes=[{"nodes": list(range(20_000))}])))
    three_mf(tmp_path / "b.3mf", many)
    with limited(6_000_000):
        for name in ("a.3mf", "b.3mf", "c.glb"):
            with pytest.raises(UnreadableFile, match="takes"):
                read_mesh(tmp_path / name)


def test_damaged_bytes_are_one_sentence_or_a_mesh(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    for suffix in READERS:
        path = tmp_path / f"a{suffix}"
        if suffix in (".glb", ".gltf"):
            path.write_bytes(glb(document()))
        elif suffix == ".3mf":
            three_mf(path)
        elif suffix == ".obj":
            path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n" * 5)
        else:
            write_mesh(path, VERTICES, FACES)
        whole = np.frombuffer(path.read_bytes(), np.uint8)
        for _ in range(60):
            data = whole.copy()
            places = random.integers(0, len(data), random.integers(1, 4))
            data[places] = random.integers(0, 256, len(places))
            path.write_bytes(data[: random.integers(1, len(data) + 1) if random.integers(2) else None].tobytes())
            sentence = ""
            try:
                with limited(50_000_000):
                    read_mesh(path)
            except ChoqueError as problem:
                sentence = str(problem)
            assert "\n" not in sentence
