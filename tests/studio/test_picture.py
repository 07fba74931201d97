"""Pictures of anything, off screen: the kind of a thing, and what its picture shows."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import choque
from choque.errors import ChoqueError, InvalidInput, UnknownName, UnreadableFile
from choque.files.boxes import write_boxes
from choque.files.meshes import write_mesh
from choque.scene import Camera
from choque.studio.drawing import draw_picture, kind_of_things
from choque.studio.film import Look
from choque.studio.motion.picture import motion_image, motion_png
from choque.studio.motion.player import MotionPlayer
from choque.studio.request import PictureRequest
from choque.studio.volumes.entry import find_pair
from choque.studio.volumes.look import REGION_COLOR, VolumeLook
from choque.theses.evm.objects import sphere_mesh
from choque.theses.kinetic import scenes

SMALL = Look(size=(240, 160), smoothing=1, shadows=False)


def pixels(data: bytes | Path) -> np.ndarray:
    from PIL import Image

    source = io.BytesIO(data) if isinstance(data, bytes) else data
    return np.asarray(Image.open(source).convert("RGB")).astype(int)


def reddish(image: np.ndarray) -> int:
    """How many pixels are red as the region of collision is."""
    return int((image[..., 0] > 1.5 * np.maximum(image[..., 1], image[..., 2])).sum())


@pytest.mark.parametrize(
    ("things", "kind"),
    [
        (["three-objects"], "kinetic"),
        (["mixed-box:50"], "bodies"),
        (["bowling"], "bodies"),
        (["two-spheres"], "volumes"),
        (["a.stl", "b.nii.gz"], "volumes"),
        (["implant.stl"], "meshes"),
        (["scan.nii.gz"], "volumes"),
        (["screw:20"], "volumes"),
        (["model.txt"], "kinetic"),
        (["run.choque"], "recording"),
        (["scene.dat"], "recording"),
        (["boxes.npy"], "boxes"),
        (["scene.xml"], "bodies"),
    ],
)
def test_the_kind_of_a_thing(things: list[str], kind: str) -> None:
    assert kind_of_things(things) == kind


def test_a_folder_is_a_recording_and_study_names_the_kind(tmp_path: Path) -> None:
    assert kind_of_things([str(tmp_path)]) == "recording"
    assert kind_of_things(["anything"], "kinetic") == "kinetic"
    with pytest.raises(UnknownName, match="kinetic"):
        kind_of_things(["anything"], "kinetics")


def test_moving_polygons_are_drawn_where_they_are(tmp_path: Path) -> None:
    request = PictureRequest(time=1.7, look=Look(size=(400, 300)))
    report = draw_picture(tmp_path / "a.png", ["three-objects"], request=request)
    assert report == "three-objects at t = 1.7, 3 objects"
    assert pixels(tmp_path / "a.png").shape == (300, 400, 3)
    draw_picture(tmp_path / "b.png", ["three-objects"], request=PictureRequest(frame=170, look=Look(size=(400, 300))))
    np.testing.assert_array_equal(pixels(tmp_path / "a.png"), pixels(tmp_path / "b.png"))
    draw_picture(tmp_path / "c.png", ["three-objects"], request=PictureRequest(time=3.0, look=Look(size=(400, 300))))
    assert (pixels(tmp_path / "a.png") != pixels(tmp_path / "c.png")).any()
    with pytest.raises(InvalidInput, match=r"The time is 99.0; three-objects moves from 0 to 10"):
        draw_picture(tmp_path / "d.png", ["three-objects"], request=PictureRequest(time=99.0))


@pytest.mark.parametrize("size", [(16, 16), (17, 300), (300, 16), (113, 64)])
def test_a_motion_is_drawn_in_a_small_picture(size: tuple[int, int]) -> None:
    """Letters that would be smaller than a pixel are no error."""
    image = motion_image(MotionPlayer(scenes.make("three-objects")), size=size)
    assert image.shape == (size[1], size[0], 3)
    assert image.std() > 1


def test_many_objects_are_drawn() -> None:
    player = MotionPlayer(scenes.make("random-shapes", n=150))
    assert pixels(motion_png(player, size=(300, 200))).shape == (200, 300, 3)
    nothing = MotionPlayer(scenes.make("random-shapes", n=0))
    assert pixels(motion_png(nothing, size=(300, 200))).shape == (200, 300, 3)


def test_boxes_are_drawn_with_their_pairs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_boxes(tmp_path / "boxes.npy", np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[2.0, 2.0], [3.0, 3.0]]))
    report = draw_picture(tmp_path / "out.png", [str(tmp_path / "boxes.npy")])
    assert report.endswith("2 boxes, 1 pairs")


class TestOffScreen:
    """Bodies and volumes, without a window."""

    def test_bodies_are_drawn_after_some_steps(self, tmp_path: Path) -> None:
        for frame in (0, 30):
            request = PictureRequest(frame=frame, look=SMALL)
            report = draw_picture(tmp_path / f"{frame}.png", ["bowling"], request=request)
            assert f"after {frame} steps" in report
        first, later = pixels(tmp_path / "0.png"), pixels(tmp_path / "30.png")
        assert first.shape == (160, 240, 3)
        assert (first != later).any()

    def test_the_world_is_the_one_that_the_scene_makes(self, tmp_path: Path) -> None:
        from choque.studio.film import draw_frame

        scene = choque.scene.bodies("mixed-box", 40, seed=3)
        world = scene.world()
        with choque.record.Recorder(tmp_path / "a.choque", world, dt=scene.dt, camera=scene.camera) as recorder:
            for _ in range(5):
                world.step(scene.dt)
                recorder.record()
        draw_frame(tmp_path / "a.png", choque.record.open(tmp_path / "a.choque"), 5, look=SMALL)
        request = PictureRequest(frame=5, parameters={"seed": 3}, look=SMALL)
        draw_picture(tmp_path / "b.png", ["mixed-box:40"], request=request)
        np.testing.assert_array_equal(pixels(tmp_path / "a.png"), pixels(tmp_path / "b.png"))

    def test_only_the_intersection_of_volumes_is_red(self, tmp_path: Path) -> None:
        """F-003-45 off screen."""
        reds = {}
        for name, shift in (("together", [1.0, 0.0, 0.0]), ("apart", [3.0, 0.0, 0.0])):
            request = PictureRequest(parameters={"shift": shift, "voxels_per_unit": 5}, look=SMALL)
            report = draw_picture(tmp_path / f"{name}.png", ["two-spheres"], request=request)
            reds[name] = reddish(pixels(tmp_path / f"{name}.png"))
            assert report.endswith("collide" if name == "together" else "are apart")
        assert reds["apart"] == 0
        request = PictureRequest(
            parameters={"shift": [1.0, 0.0, 0.0], "voxels_per_unit": 5}, look=SMALL, volumes=VolumeLook((set(), set()))
        )
        draw_picture(tmp_path / "region.png", ["two-spheres"], request=request)
        assert reddish(pixels(tmp_path / "region.png")) > 500
        assert REGION_COLOR[0] > 200

    def test_every_option_and_camera_draws_something(self, tmp_path: Path) -> None:
        from choque.studio.volumes.look import OPTIONS
        from choque.studio.volumes.picture import volume_png

        pair = find_pair(["two-spheres"], {"voxels_per_unit": 4})
        empty = pixels(volume_png(pair, VolumeLook((set(), set()), region=False), size=(120, 90)))
        for name in OPTIONS:
            shown = pixels(volume_png(pair, VolumeLook(({name}, set()), region=False), size=(120, 90)))
            assert (np.abs(shown - empty).max(axis=2) > 25).sum() > 20, name
        request = PictureRequest(look=Look(size=(120, 90), camera=Camera(8.0, -60.0, 30.0)))
        draw_picture(tmp_path / "above.png", ["two-spheres"], request=request)
        assert (np.abs(pixels(tmp_path / "above.png") - empty).max(axis=2) > 25).sum() > 200

    def test_files_and_thresholds(self, tmp_path: Path) -> None:
        write_mesh(tmp_path / "ball.off", *sphere_mesh(8, 7))
        np.save(tmp_path / "scan.npy", np.arange(512.0).reshape(8, 8, 8))
        things = [str(tmp_path / "scan.npy"), str(tmp_path / "ball.off")]
        request = PictureRequest(parameters={"threshold": 100.0, "shift": [4, 4, 4]}, look=SMALL)
        assert draw_picture(tmp_path / "out.png", things, request=request).endswith("which collide")
        with pytest.raises(InvalidInput, match="No voxel"):
            draw_picture(tmp_path / "no.png", things, request=PictureRequest(parameters={"threshold": 1e6}, look=SMALL))
        assert not (tmp_path / "no.png").exists()


@pytest.mark.parametrize(
    ("things", "request_", "message"),
    [
        ([], PictureRequest(), "Nothing was given to draw"),
        (["three-objects"], PictureRequest(frame=-1), "counted from 0"),
        (["three-objects", "bowling", "pile"], PictureRequest(), "two volumes"),
        (["implant.stl"], PictureRequest(), "There is no file implant"),
        (["two-spheres"], PictureRequest(parameters={"threshold": 3}), "neither file is a scan"),
        (["bowling"], PictureRequest(parameters={"n": 3}), "not a generator"),
        (["no-such-scene"], PictureRequest(), "no scene of bodies"),
        (["missing.npy"], PictureRequest(), "missing.npy"),
        (["two-spheres"], PictureRequest(look=Look(size=(0, 0))), "16 to 8192 pixels"),
        (["bowling"], PictureRequest(time=2.0), "time was given, which applies to a scene of moving polygons"),
        (["bowling"], PictureRequest(volumes=VolumeLook(region=False)), "which applies to a pair of volumes"),
        (["two-spheres"], PictureRequest(look=Look(caption="Two")), "caption was given, which applies to a scene of"),
        (["two-rings"], PictureRequest(frame=3), "frame was given, which applies to a scene of bodies or"),
        (["two-spheres"], PictureRequest(look=Look(fit=False)), "two-spheres is a pair of volumes; fit was given"),
        (["three-objects"], PictureRequest(look=Look(camera=Camera(9.0))), "moving polygons; camera was given"),
    ],
)
def test_invalid_requests_are_refused(
    tmp_path: Path, things: list[str], request_: PictureRequest, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ChoqueError, match=message):
        draw_picture(tmp_path / "out.png", things, request=request_)
    assert not (tmp_path / "out.png").exists()


def test_only_png_files_are_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"\.png"):
        draw_picture(tmp_path / "out.jpg", ["three-objects"])


def test_the_verb_draws_and_describes(tmp_path: Path) -> None:
    import typer

    from choque.cli.picture import picture

    app = typer.Typer()
    app.command()(picture)
    output = tmp_path / "motion.png"
    words = [
        "--study",
        "kinetic",
        "random-shapes",
        "--option",
        "n=5",
        "--time",
        "0.5",
        "--size",
        "300x200",
        str(output),
    ]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "random-shapes at t = 0.5, 5 objects" in result.output
    assert pixels(output).shape == (200, 300, 3)
    for words in (["three-objects"], ["two-spheres", "x.png", "--show", "foo"], ["missing.choque", "x.png"]):
        assert isinstance(CliRunner().invoke(app, words).exception, InvalidInput | UnreadableFile)
