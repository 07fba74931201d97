"""``choque mesh`` and ``choque clash``: tables, files and pages."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from choque.cli import main
from choque.cli.mesh import read_poses
from choque.meshes import Mesh


def box(lower: float, upper: float) -> Mesh:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float64)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return Mesh(lower + (upper - lower) * corners, faces)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    parts = tmp_path / "parts"
    parts.mkdir()
    box(0, 1).write(parts / "a.stl")
    box(0.5, 2).write(parts / "b.ply")
    box(2.0625, 3).write(parts / "c.off")
    (parts / "readme.txt").write_text("not a part")
    return parts


def test_check_prints_a_table_and_its_exit_code_is_the_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mesh", "check", str(folder / "a.stl")]) == 0
    assert "closed" in capsys.readouterr().out
    mesh = box(0, 1)
    Mesh(mesh.vertices, mesh.faces[1:]).write(folder / "open.off")
    assert main(["mesh", "check", str(folder / "open.off"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["is_clean"], found["boundary_edges"]) == (False, 3)


def test_collide_takes_poses_and_writes_rows_and_a_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    poses = folder / "poses.csv"
    poses.write_text("x,y,z\n0,0,0\n9,0,0  # far\n-0.5,-0.5,-0.5\n")
    output, page = folder / "hits.csv", folder / "hits.html"
    words = ["mesh", "collide", str(folder / "a.stl"), str(folder / "b.ply"), "--poses", str(poses)]
    assert main([*words, "--distance", "--output", str(output), "--report", str(page)]) == 0
    assert "3 poses, 2 collide: 0, 2" in capsys.readouterr().out
    rows = list(csv.DictReader(output.read_text().splitlines()))
    assert [row["collides"] for row in rows] == ["1", "0", "1"]
    assert float(rows[1]["distance"]) == pytest.approx(8.5)
    text = page.read_text()
    assert text.count("<svg") == 2
    assert "http" not in text


def test_collide_without_poses_is_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "one.csv").write_text("9,0,0\n")
    words = ["mesh", "collide", str(folder / "a.stl")]
    assert main([*words, str(folder / "b.ply")]) == main([*words, str(folder / "c.off")]) == 0
    assert capsys.readouterr().out == "a.stl and b.ply collide\na.stl and c.off do not collide\n"
    assert main([*words, str(folder / "b.ply"), "--poses", str(folder / "one.csv")]) == 0
    assert capsys.readouterr().out == "1 pose, 0 collide\n"


def test_clearance_measures_a_mesh_around_a_mesh_or_a_volume(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, colors = folder / "map.csv", folder / "map.ply"
    words = ["mesh", "clearance", str(folder / "a.stl"), str(folder / "b.ply")]
    assert main([*words, "--output", str(output), "--colors", str(colors)]) == 0
    assert "8 vertices, 1 inside; least clearance -0.5" in capsys.readouterr().out
    rows = [float(row["clearance"]) for row in csv.DictReader(output.read_text().splitlines())]
    assert (min(rows), max(rows)) == (-0.5, pytest.approx(3**0.5))
    assert np.array_equal(Mesh.read(colors).vertices, box(0.5, 2).vertices)
    assert main(["mesh", "clearance", "ball:12", str(folder / "a.stl"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["vertices"] == len(found["clearance"]) == 8
    assert main(["mesh", "collide", "ball:12", str(folder / "a.stl")]) == 0
    assert main(["mesh", "clearance", str(folder / "a.stl"), str(folder / "b.ply"), "--above", "3"]) == 2
    assert "a.stl is a mesh" in capsys.readouterr().err


def test_clash_finds_crossing_and_near_parts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, page = folder / "clashes.csv", folder / "clashes.html"
    words = ["clash", str(folder), "--clearance", "0.2", "--depth", "--output", str(output), "--page", str(page)]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(row["first"], row["second"], row["kind"]) for row in found["clashes"]] == [
        ("a.stl", "b.ply", "crossing"),
        ("b.ply", "c.off", "near"),
    ]
    assert found["clashes"][0]["depth"] == pytest.approx(0.5, abs=0.01)
    assert found["clashes"][1]["gap"] == pytest.approx(0.0625 * 3**0.5)
    assert len(output.read_text().splitlines()) == 3
    assert page.read_text().count("<svg") == 2
    assert main(["clash", str(folder)]) == 0
    assert "3 parts, 1 pair that" in capsys.readouterr().out


def test_units_that_differ_are_noted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    box(0, 1000).write(folder / "metres.stl")
    assert main(["clash", str(folder)]) == 0
    assert "do their units differ?" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,2\n", "lines of 2 fields"),
        ("1,2,3\n1,2\n", "Pose 1"),
        ("", "empty"),
        ("x,y,z\n", "no poses"),
        ("0,0,0,2,0,0,0\n", "quaternion of length 2"),
        ("2,0,0,0,0,2,0,0,0,0,2,0\n", "not rigid"),
    ],
)
def test_bad_poses_are_refused(text: str, words: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    poses = folder / "poses.csv"
    poses.write_text(text)
    assert main(["mesh", "collide", str(folder / "a.stl"), str(folder / "b.ply"), "--poses", str(poses)]) == 2
    assert words in capsys.readouterr().err


def test_poses_in_every_layout_are_the_same(tmp_path: Path) -> None:
    half = 0.5**0.5
    layouts = {
        7: f"1,2,3,{half!r},0,0,{half!r}",
        12: "0,-1,0,1,1,0,0,2,0,0,1,3",
        16: "0,-1,0,1,1,0,0,2,0,0,1,3,0,0,0,1",
    }
    for line in layouts.values():
        path = tmp_path / "poses.csv"
        path.write_text(line + "\n")
        found = read_poses(path)
        assert found.rotation[0] == pytest.approx(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]))
        assert found.translation.tolist() == [[1, 2, 3]]


def test_a_folder_without_parts_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clash", str(tmp_path)]) == 2
    assert "clashes need at least two" in capsys.readouterr().err
    box(0, 1).write(tmp_path / "alone.stl")
    assert main(["clash", str(tmp_path)]) == 2
    assert "has 1 mesh (" in capsys.readouterr().err
    assert main(["clash", str(tmp_path / "none")]) == 2
    assert "is not a folder" in capsys.readouterr().err
