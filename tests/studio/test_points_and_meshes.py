"""Crowds, neighbours and meshes in the studio: their colours, lines and controls follow the objects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")

import choque
from choque.errors import InvalidInput
from choque.lab import phantoms
from choque.studio.drawing import draw_picture, kind_of_things
from choque.studio.page.atoms import NeighborsView
from choque.studio.page.clearance import ClearanceView
from choque.studio.page.crowd import OWNER, CrowdView
from choque.studio.page.entries import find_view, view_of
from choque.studio.page.studio import Studio
from choque.studio.page.surfaces import MeshesView, ring
from choque.studio.palette import FREE, GLOW
from choque.studio.request import PictureRequest


@pytest.fixture
def studio(shared_studio: Studio) -> Iterator[Studio]:
    yield shared_studio
    shared_studio.open(None)
    shared_studio.ask(lambda: None)


def warm(colors: np.ndarray) -> np.ndarray:
    return colors[:, 0].astype(int) - colors[:, 2] > 40


def test_members_light_up_and_follow_the_areas(studio: Studio) -> None:
    areas = choque.interest.Areas([[0, 0], [1, 0], [5, 0]], radius=[2.0, None, None])
    view = view_of(areas)
    assert isinstance(view, CrowdView)
    studio.open(view)
    studio.ask(lambda: None)
    colors = studio.ask(lambda: view._colors(view.look()))
    assert tuple(colors[0]) == OWNER
    assert warm(colors).tolist() == [False, True, False]
    studio.ask(lambda: areas.update([[0, 0], [1, 0], [1.5, 0]]))
    studio.ask(view.tick)
    assert "2 memberships" in studio.ask(lambda: view._status.content)
    assert warm(studio.ask(lambda: view._colors(view.look()))).tolist() == [False, True, True]
    np.testing.assert_array_equal(view.poses().position[2], (1.5, 0, 0))
    studio.ask(lambda: view.resize(0.5))
    assert areas.members(0).tolist() == []
    studio.ask(lambda: view.pick(1))
    studio.ask(view.toggle_area)
    assert areas.owners.tolist() == [0, 1]
    assert len(studio.ask(view.lines)[1].ends) == len(areas.members(1)) == 1


@pytest.mark.parametrize("shape", ["sphere", "box"])
def test_a_selected_body_is_found_by_its_id_after_others_were_removed(studio: Studio, shape: Any) -> None:
    areas = choque.interest.Areas([[0, 0], [1, 0], [5, 0], [6, 0]], radius=[2.0, None, 2.0, None], shape=shape)
    view = view_of(areas)
    assert isinstance(view, CrowdView)
    studio.open(view)
    studio.ask(lambda: areas.remove([0]))
    studio.ask(view.tick)
    studio.ask(lambda: view.pick(1))  # the second of those that are left
    assert "<b>Body 2</b>: 1 members: 3" in studio.ask(view.status)
    assert len(studio.ask(view.lines)[1].ends) == 1
    studio.ask(view.toggle_area)
    assert areas.owners.tolist() == []
    assert [len(lines.ends) for lines in studio.ask(view.lines)] == [0, 0]


def test_a_crowd_walks_when_it_is_played(studio: Studio) -> None:
    view = find_view(["crowd:50"], parameters={"owners": 3})
    assert isinstance(view, CrowdView)
    before = view.areas.position.copy()
    studio.open(view)
    studio.ask(lambda: None)
    studio.ask(view.step)
    moved = np.linalg.norm(view.areas.position - before, axis=1)
    assert 0 < moved.max() < 0.2
    with pytest.raises(InvalidInput, match="crowd has no parameter 'size'"):
        find_view(["crowd:50"], parameters={"size": 3})
    with pytest.raises(InvalidInput, match="write the number as in crowd:250"):
        find_view(["crowd:many"])


def test_bonds_through_the_border_of_a_cell_are_drawn_in_halves(studio: Studio) -> None:
    neighbors = choque.Neighbors(1.5)
    neighbors.update([[0.5, 5, 5], [9.5, 5, 5], [1.5, 5, 5], [25.0, 25, 25]], [10.0, 10, 10])
    view = view_of(neighbors)
    assert isinstance(view, NeighborsView)
    studio.open(view)
    studio.ask(lambda: None)
    inside, across, cell = studio.ask(view.lines)
    assert inside.ends.tolist() == [[[0.5, 5, 5], [1.5, 5, 5]]]
    assert sorted(across.ends.tolist()) == [[[0.5, 5, 5], [0, 5, 5]], [[9.5, 5, 5], [10, 5, 5]]]
    assert len(cell.ends) == 12
    np.testing.assert_allclose(view.poses().position[3], (5, 5, 5))  # wrapped into the cell
    assert "1.00 neighbours each" in view.status()
    assert "until an atom has moved" not in view.status()  # without a skin there is no such distance
    studio.ask(lambda: view.set_cutoff(0.4))
    assert "0.00 neighbours each" in view.status()
    assert neighbors.cutoff == 1.5
    studio.ask(lambda: neighbors.update([[0.5, 5, 5], [5.0, 5, 5], [6.0, 5, 5]], [10.0, 10, 10]))
    studio.ask(view.tick)
    assert len(view.cast()) == 3


def test_half_lists_and_lists_without_points_are_shown(studio: Studio) -> None:
    neighbors = choque.Neighbors(1.5, full=False)
    neighbors.update([[0, 0, 0], [1, 0, 0], [2, 0, 0]])
    view = view_of(neighbors)
    assert isinstance(view, NeighborsView)
    studio.open(view)
    studio.ask(lambda: view.pick(2))
    assert "1.33 neighbours each" in view.status()
    assert "<b>Point 2</b>: 1 neighbours: 1" in view.status()
    assert len(studio.ask(view.lines)[0].ends) == 2
    studio.ask(lambda: neighbors.update(np.empty((0, 3))))
    studio.ask(view.tick)
    assert "0 points" in view._status.content


def test_atoms_of_a_file_have_bonds_of_about_their_spacing(tmp_path: Path) -> None:
    path = tmp_path / "square.xyz"
    rows = [f"C {x} {y} 0" for x in range(4) for y in range(4)]
    path.write_text(f"{len(rows)}\n\n" + "\n".join(rows))
    view = find_view([str(path)])
    assert isinstance(view, NeighborsView)
    assert view.cutoff == pytest.approx(1.3)
    assert len(view.neighbors) == 2 * 24


def test_faces_that_meet_glow_and_follow_the_dragged_mesh(studio: Studio) -> None:
    flat = choque.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0], [9, 9, 0], [9, 8, 0], [8, 9, 0]], [[0, 1, 2], [3, 4, 5]])
    upright = choque.Mesh([[1, 1, -1], [1, 1, 1], [1, 3, 1]], [[0, 1, 2]])
    view = view_of(flat, upright)
    assert isinstance(view, MeshesView)
    studio.open(view)
    studio.ask(view.tick)
    assert view.hit_faces(0).tolist() == [0]
    assert view.hit_faces(1).tolist() == [0]
    assert "1 pair of parts meet, in 1 pairs of faces" in view._status.content
    away = np.eye(4)
    away[:3, 3] = (0, 0, 5)
    studio.ask(lambda: view.move(away))
    studio.ask(view.tick)
    assert not len(view.hit_faces(0))
    assert "No surfaces meet" in view._status.content
    studio.ask(view.move_back)
    studio.ask(view.tick)
    assert view.hit_faces(0).tolist() == [0]


def test_a_part_in_a_scan_has_the_colors_of_its_clearance(studio: Studio) -> None:
    scan = phantoms.make("ball", 16)  # of radius 8 around (8, 8, 8)
    part = ring(3.0, 0.5, around=24, across=12)
    view = view_of(scan, part)
    assert isinstance(view, ClearanceView)
    view.reach = 2.0
    studio.open(view)
    studio.ask(lambda: None)

    def counts_at(x: float) -> list[int]:
        target = SimpleNamespace(position=(x, 8.0, 8.0), wxyz=(0.6, 0.0, 0.8, 0.0))  # as the handles send it
        view._dragged(SimpleNamespace(target=target, client=1))
        studio.ask(view.tick)
        assert sum(len(faces) for _, faces in view.bands()) == len(part)
        assert [len(faces) for _, faces in view.bands()] == list(map(len, view._drawn))
        return [len(faces) for _, faces in view.bands()]

    far, inside, near = counts_at(30.0), counts_at(8.0), counts_at(19.0)
    assert far[-1] == inside[0] == len(part)
    assert near[0] == 0 < sum(near[1:-1])
    wanted = choque.meshes.clearance(choque.Mesh(scan), part, pose=view.poses[1])
    assert np.array_equal(view.gaps, np.where(np.abs(wanted) <= 2.0, wanted, np.inf))
    assert f"Free</b>; least clearance of a vertex: {wanted.min():.4g}" in view._status.content
    assert counts_at(16.5)[0] > 0
    deepest = choque.meshes.clearance(choque.Mesh(scan), part, pose=view.poses[1]).min()
    assert f"Collides</b>; deepest vertex: {-deepest:.4g} inside" in view._status.content
    studio.ask(view.push_free)
    studio.ask(view.tick)
    assert "Free" in view._status.content
    studio.ask(lambda: view.set_reach(0.01))
    studio.ask(view.tick)
    assert "more than 0.01" in view._scale.content
    with pytest.raises(InvalidInput, match="reach is -1"):
        studio.ask(lambda: view.set_reach(-1))


def test_a_scan_and_a_mesh_are_shown_from_files(tmp_path: Path) -> None:
    ring(3.0, 0.5, around=8, across=6).write(tmp_path / "part.stl")
    grey = np.zeros((6, 6, 6), np.int16)
    grey[2:4, 2:4, 2:4] = 500
    np.save(tmp_path / "scan.npy", grey)
    things = [str(tmp_path / "scan.npy"), str(tmp_path / "part.stl")]
    view = find_view(things, study="meshes", parameters={"threshold": 300})
    assert isinstance(view, ClearanceView)
    assert view.title == "part.stl in scan.npy"
    assert len(view.solid) == 12
    with pytest.raises(InvalidInput, match="is above 900"):
        find_view(things, study="meshes", parameters={"threshold": 900})
    with pytest.raises(InvalidInput, match="radius was given; give a scan and a mesh"):
        find_view(things, study="meshes", parameters={"radius": 900})
    with pytest.raises(InvalidInput, match="ball is a model; leave it out"):
        find_view(["ball:8", things[1]], study="meshes", parameters={"threshold": 1})


def test_meshes_of_files_and_scenes_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "ring.stl"
    ring(around=8, across=6).write(path)
    assert kind_of_things([str(path)]) == "meshes"
    assert kind_of_things([str(path)] * 2) == "volumes"
    assert kind_of_things([str(path)] * 3) == "meshes"
    view = find_view([str(path)] * 2, study="meshes")
    assert isinstance(view, MeshesView)
    assert view.names == ["ring.stl", "ring.stl (2)"]
    scene = choque.meshes.Scene([ring(around=8, across=6)] * 2)
    assert len(view_of(scene).meshes) == 2  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match="without faces"):
        view_of(choque.Mesh(np.zeros((0, 3)), np.zeros((0, 3), int)))


@pytest.mark.parametrize("word", ["crowd:60", "diamond:64"])
def test_pictures_of_points_need_no_page(word: str, tmp_path: Path) -> None:
    report = draw_picture(tmp_path / "p.png", [word], request=PictureRequest(frame=3))
    assert "after 3 frames" in report
    from view_browser import pixels

    image = pixels((tmp_path / "p.png").read_bytes())
    assert image.shape == (720, 1280, 3)
    for color in (GLOW, FREE):
        assert (np.abs(image - color).max(axis=2) < 90).any()
