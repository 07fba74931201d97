"""The volume view in a studio and in a real browser: dragging, toggles, fineness, thresholds (F-003-43 to 45)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")

from view_browser import Watched, until, until_seen

from choque.errors import InvalidInput
from choque.files.meshes import write_mesh
from choque.files.scans import Scan
from choque.lab import phantoms
from choque.studio.motion.view import MotionView
from choque.studio.page import entries as studio_entries
from choque.studio.page.studio import Studio
from choque.studio.page.surfaces import MeshesView
from choque.studio.volumes.entry import EXAMPLES, VOLUMES, is_volume, open_volumes
from choque.studio.volumes.look import OPTIONS
from choque.studio.volumes.pair import VolumePair
from choque.studio.volumes.source import VolumeSource
from choque.studio.volumes.view import VolumeView
from choque.theses.evm.objects import sphere_mesh
from choque.theses.kinetic import scenes
from choque.volumes.turning import rotation_matrix

SPHERE = sphere_mesh(8, 7)


def two_spheres() -> VolumeView:
    pair = VolumePair(VolumeSource("first", mesh=SPHERE), VolumeSource("second", mesh=SPHERE), voxels_per_unit=4.0)
    pair.move_to((3.0, 0.0, 0.0))
    return VolumeView(pair)


@pytest.fixture
def opened(shared_studio: Studio) -> tuple[Studio, VolumeView]:
    view = two_spheres()
    shared_studio.open(view)
    shared_studio.ask(lambda: None)
    return shared_studio, view


def drag(
    view: VolumeView, studio: Studio, *places: tuple[float, float, float], turns: list[float] | None = None
) -> None:
    """Move the handles as a browser does: grab, move, turn about z by angles, let go."""
    for number, place in enumerate(places):
        phase = "start" if number == 0 else "end" if number == len(places) - 1 else "update"
        half = 0.0 if turns is None else turns[number] / 2
        target = SimpleNamespace(position=place, wxyz=(np.cos(half), 0.0, 0.0, np.sin(half)))
        view._dragged(SimpleNamespace(target=target, phase=phase))
        studio.ask(view.tick)


def test_dragging_through_contact_gives_one_notice_and_an_answer(opened: tuple[Studio, VolumeView]) -> None:
    """F-003-44, with handles that move in many small steps."""
    studio, view = opened
    assert view.log.notices == []
    drag(view, studio, *[(x, 0.0, 0.0) for x in np.linspace(3.0, -3.0, 49)])
    kinds = [notice.kind for notice in view.log.notices]
    assert kinds.count("models collide") == kinds.count("models apart") == 1
    assert "triangles collide" in kinds
    assert "the voxel models are apart" in view._events.content
    assert "Collision of voxels" in view._answers.content


def test_many_moves_of_the_handles_become_one_question(opened: tuple[Studio, VolumeView]) -> None:
    studio, view = opened
    asked = []
    query = view.pair.query
    view.pair.query = lambda: asked.append(1) or query()  # type: ignore[method-assign, func-returns-value]

    def burst() -> None:
        for x in np.linspace(3.0, 0.0, 200):
            view.move_to((x, 0.0, 0.0))

    studio.ask(burst)
    studio.ask(view.tick)
    assert view.pair.shift.tolist() == [0.0, 0.0, 0.0]
    assert len(asked) == 1


def test_handles_snap_to_voxels_when_they_are_let_go(opened: tuple[Studio, VolumeView]) -> None:
    studio, view = opened
    drag(view, studio, (3.0, 0.0, 0.0), (2.1, 0.06, 0.0), (2.1, 0.06, 0.0))
    np.testing.assert_allclose(view._handles.position, [2.0, 0.0, 0.0])
    studio.ask(lambda: view.move_by((-4, 0, 1)))
    studio.ask(view.tick)
    np.testing.assert_allclose(view.pair.shift, [1.0, 0.0, 0.25])
    studio.ask(view.part_them)
    studio.ask(view.tick)
    assert view.answer is not None
    assert not view.answer.voxels


def test_every_option_draws_and_undraws(opened: tuple[Studio, VolumeView]) -> None:
    """F-003-43: the fifteen options of the thesis, for each of the two volumes."""
    studio, view = opened
    studio.ask(lambda: view.move_to((1.0, 0.0, 0.0)))
    studio.ask(view.tick)
    nodes = view._drawing._nodes
    for which, path in enumerate(("/first", "/second")):
        for name in OPTIONS:
            studio.ask(lambda which=which, name=name: view.show(which, name, True))
            assert f"{path}/{name}" in nodes
        studio.ask(lambda which=which: view.set_fill(which, False))
        studio.ask(view.tick)
        assert all(f"{path}/{name}" in nodes for name in OPTIONS)
        for name in OPTIONS:
            studio.ask(lambda which=which, name=name: view.show(which, name, False))
            assert f"{path}/{name}" not in nodes
    assert "/region" in nodes
    studio.ask(lambda: view.show_region(False))
    assert "/region" not in nodes
    assert len(OPTIONS) + len(("fill interior", "collision region")) == 15


def test_refused_numbers_leave_the_volumes_as_they_are(opened: tuple[Studio, VolumeView]) -> None:
    studio, view = opened
    with pytest.raises(InvalidInput, match="voxels"):
        studio.ask(lambda: view.set_voxels_per_unit(1e9))
    studio.ask(view.tick)
    assert view._fineness.value == 4.0
    studio.ask(lambda: view.set_voxels_per_unit(6.0))
    studio.ask(view.tick)
    assert view.pair.parts[0].volume.spacing[0] == pytest.approx(1 / 6)


def test_examples_open_and_things_that_are_not_two_are_refused() -> None:
    for name in EXAMPLES:
        assert open_volumes([name], {}).pair.parts[0].volume.voxel_count > 0
    assert ".stl" in VOLUMES.suffixes
    with pytest.raises(InvalidInput, match="two"):
        open_volumes(["ball"], {})
    with pytest.raises(InvalidInput, match="no parameter"):
        open_volumes(["ball", "screw"], {"size": 3})


def test_the_command_line_finds_volumes_and_motion(tmp_path: Path) -> None:
    """``choque view scan.nii.gz implant.stl`` and ``choque view --study kinetic three-objects``."""
    pytest.importorskip("nibabel")
    scan, mesh = tmp_path / "scan.nii.gz", tmp_path / "implant.stl"
    phantoms.make("ball", 10).write(scan)
    write_mesh(mesh, *SPHERE)
    found = studio_entries.find_view([str(scan), str(mesh)])
    assert isinstance(found, VolumeView)
    assert [part.source.kind for part in found.pair.parts] == ["scan", "mesh"]
    assert isinstance(studio_entries.find_view(["screw:12", "ball:12"]), VolumeView)
    assert isinstance(studio_entries.find_view(["three-objects"], study="kinetic"), MotionView)
    model = tmp_path / "model.txt"
    scenes.make("three-objects").write(model)
    assert isinstance(studio_entries.find_view([str(model)]), MotionView)
    assert isinstance(studio_entries.find_view([str(mesh)]), MeshesView)
    with pytest.raises(InvalidInput, match="two"):
        studio_entries.find_view([str(scan)])


def test_a_folder_of_dicom_slices_is_a_volume_and_others_are_not(tmp_path: Path) -> None:
    assert not is_volume(str(tmp_path))
    (tmp_path / "notes.md").write_text("no slice")
    assert not is_volume(str(tmp_path))
    (tmp_path / "slice0").write_bytes(bytes(128) + b"DICM")
    assert is_volume(str(tmp_path))


def test_the_handles_turn_the_second_volume_and_the_cost_is_shown(opened: tuple[Studio, VolumeView]) -> None:
    """Free turns by the handles, quarter turns by buttons and keys; Home undoes both."""
    studio, view = opened
    start = view.pair.parts[1].volume
    places = [(3.0, 0.0, 0.0)] * 3
    drag(view, studio, *places, turns=[0.0, 0.3, 0.6])
    np.testing.assert_allclose(view.pair.rotation[:2, :2], [[np.cos(0.6), -np.sin(0.6)], [np.sin(0.6), np.cos(0.6)]])
    assert "34.38° about 0 0 1" in view._answers.content
    assert view._handles.wxyz == pytest.approx([np.cos(0.3), 0.0, 0.0, np.sin(0.3)], abs=1e-6)
    for _ in range(2):
        studio.ask(lambda: view.turn_quarter("x"))
    studio.ask(view.tick)
    expected = np.diag([1.0, -1.0, -1.0]) @ rotation_matrix([0.0, 0.0, 0.6])
    np.testing.assert_allclose(view.pair.rotation, expected, atol=1e-6)
    studio.ask(view.move_back)
    studio.ask(view.tick)
    assert view.pair.parts[1].volume == start
    assert "34.38" not in view._answers.content


def test_in_a_browser_the_second_volume_is_dragged_and_turned(watched: Watched) -> None:
    """F-003-44 by hand: dragged into the first, and turned by a key; F-003-43: what is drawn of it."""
    page = watched.page
    view = watched.show(two_spheres())
    page.get_by_text("Collision of voxels").wait_for()
    before = watched.still()

    def drag() -> None:
        start, reach = np.array(view._handles.position), view._handles.scale
        grip = watched.pixel_of(start + [0.5 * reach, 0.0, 0.0], up=(0.0, 0.0, 1.0))
        goal = watched.pixel_of(start + [0.5 * reach - 2.0, 0.0, 0.0], up=(0.0, 0.0, 1.0))
        watched.drag(grip, goal)

    until_seen(drag, lambda: view.pair.shift[0] < 2.0, "the drag")
    assert view.pair.shift[1:].tolist() == [0.0, 0.0]
    until(lambda: not view._is_held, "letting go")
    page.get_by_text("the voxel models collide").first.wait_for()
    until(watched.differs(before), "a change of the picture")
    watched.press("z")
    page.get_by_text("90° about 0 0 1").wait_for()
    watched.tab("First")
    for label, name in (("Surface", "surface"), ("Brinks along x", "brinks yzx"), ("Planes across z", "planes z")):
        watched.tick_box(label)
        until(lambda name=name: name in view.look.shown[0], label)
    watched.tick_box("Triangles")
    until(lambda: "triangles" not in view.look.shown[0], "hiding the triangles")


def test_in_a_browser_the_threshold_of_a_scan_is_moved_and_a_picture_saved(watched: Watched) -> None:
    at = np.arange(12) - 5.5
    distance = np.sqrt(sum(axis**2 for axis in np.meshgrid(at, at, at, indexing="ij")))
    scan = Scan((1000 - 100 * distance).astype(np.int16), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0))
    view = watched.show(VolumeView(VolumePair(VolumeSource("scan", scan=scan), VolumeSource("ball", mesh=SPHERE))))
    before = view.pair.parts[0].above
    watched.tab("First")
    watched.page.get_by_text("Threshold").wait_for()
    thumb = watched.page.get_by_role("slider").locator("visible=true").first
    thumb.focus()
    for _ in range(5):
        thumb.press("ArrowRight")
    until(lambda: (view.pair.parts[0].above or 0) >= before + 4, "moving the threshold")
    part = view.pair.parts[0]
    above, voxels = watched.studio.ask(lambda: (part.above, part.volume.voxel_count))  # the fifth key may come between
    assert voxels == int((scan.values > above).sum())
    watched.tab("Volumes")
    name, image = watched.saved_picture()
    assert name == "choque-volumes.png"
    assert image.std() > 10
