"""Films of anything, off screen; skipped where the extra ``video`` or a way to draw is missing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from choque import scene
from choque.cli.video import video
from choque.errors import ChoqueError, InvalidInput
from choque.record import Recorder
from choque.studio.drawing import Simulated, draw_film, orbited
from choque.studio.film import Look, film_frames
from choque.studio.request import FilmRequest
from choque.studio.viewpoint import Viewpoint

ffmpeg = pytest.importorskip("imageio_ffmpeg")
SMALL = Look(size=(64, 48), smoothing=1, shadows=False)


def frame_count(path: Path) -> int:
    return int(ffmpeg.count_frames_and_secs(str(path))[0])


def test_a_scene_is_simulated_while_it_is_filmed(tmp_path: Path) -> None:
    request = FilmRequest(seconds=0.2, frames_per_second=30, look=SMALL)
    report = draw_film(tmp_path / "a.mp4", ["mixed-box:20"], request=request)
    assert report == "7 frames of mixed-box, 26 bodies"
    assert frame_count(tmp_path / "a.mp4") == 7


def test_simulated_frames_equal_those_of_the_world_in_any_order() -> None:
    made, world = Simulated(scene.bodies("gas", 20, seed=3), 6), scene.bodies("gas", 20, seed=3).world()
    assert film_frames(made, 30) == [0, 2, 4, 6]
    for _ in range(4):
        world.step(1 / 60)
    for _ in range(2):
        np.testing.assert_array_equal(made.frame(4).position, world.bodies.position.astype(np.float32))
        made.frame(6)
        made.frame(1)


def test_a_ball_that_is_shot_flies_freely_strikes_what_stood_and_is_shot_again_after_going_back() -> None:
    made = Simulated(scene.bodies("stack", 5), 140, shot=20)
    before, flying, later, after = (made.frame(index) for index in (20, 25, 30, 140))
    assert [len(each) for each in (before, flying, after)] == [6, 7, 7]
    assert [len(made.bodies(index)) for index in (0, 20, 21, 140)] == [6, 6, 7, 7]
    assert before.position[:, 1] == pytest.approx(made.frame(0).position[:, 1], abs=0.02)  # it stands
    ball = np.diff([made.frame(index).position[6] for index in range(21, 31)], axis=0)
    assert ball[:, [0, 2]] == pytest.approx(np.repeat(ball[:1, [0, 2]], 9, axis=0), rel=1e-3)
    assert np.diff(ball[:, 1]) == pytest.approx(np.full(8, -9.8 / 60**2), rel=0.05)
    np.testing.assert_array_equal(made.frame(25).position, flying.position)
    np.testing.assert_array_equal(made.frame(140).position, after.position)
    assert np.linalg.norm(later.position[:6] - before.position, axis=1).max() < 0.02
    assert after.position[:6, 1].max() < before.position[:, 1].max() - 1.0  # and falls


def test_polygons_move_through_their_interval(tmp_path: Path) -> None:
    report = draw_film(
        tmp_path / "a.gif", ["three-objects"], request=FilmRequest(seconds=0.2, look=Look(size=(96, 64)))
    )
    assert report == "6 frames of three-objects from t = 0 to 0.2"
    assert (tmp_path / "a.gif").read_bytes()[:6] == b"GIF89a"


def test_volumes_are_orbited_or_moved_through_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = {"voxels_per_unit": 4, "shift": [2, 0, 0]}
    request = FilmRequest(seconds=0.1, parameters=parameters, look=SMALL)
    assert "3 frames around" in draw_film(tmp_path / "round.gif", ["two-spheres"], request=request)
    shown: list[np.ndarray] = []
    monkeypatch.setattr("choque.studio.drawing.write_film", lambda _, images, *__: shown.extend(images))
    request = FilmRequest(seconds=0.1, parameters={**parameters, "to": [0, 0, 0]}, look=SMALL)
    assert "3 frames of" in draw_film(tmp_path / "through.mp4", ["two-spheres"], request=request)
    assert [image.shape for image in shown] == [(48, 64, 3)] * 3
    assert (shown[0] != shown[-1]).any()


def test_boxes_that_move_are_filmed(tmp_path: Path) -> None:
    request = FilmRequest(look=SMALL, seconds=0.2)
    assert draw_film(tmp_path / "boxes.gif", ["moving:20"], request=request) == "6 frames of moving, 20 boxes"
    assert frame_count(tmp_path / "boxes.gif") == 6


def test_a_viewpoint_orbits_the_third_axis() -> None:
    viewpoint = Viewpoint((3.0, 1.0, 2.0), (1.0, 1.0, 1.0))
    assert orbited(viewpoint, 0.25).away == pytest.approx([0.0, 2.0, 1.0])
    assert orbited(viewpoint, 1.0).away == pytest.approx(viewpoint.away)


@pytest.mark.parametrize(
    ("things", "request_", "message"),
    [
        ([], FilmRequest(), "Nothing was given to film"),
        (["two-rings"], FilmRequest(), "set of meshes"),
        (["bowling", "pile", "cradle"], FilmRequest(), "two volumes"),
        (["bowling"], FilmRequest(seconds=0.0), "The length of the film"),
        (["bowling"], FilmRequest(parameters={"n": 3}), "not a generator"),
        (["bowling"], FilmRequest(frames_per_second=50), "25, 30, 60 or 120"),
        (["two-spheres"], FilmRequest(parameters={"to": 5}), "three finite numbers"),
        (["two-spheres"], FilmRequest(parameters={"turn": "x"}), "angle in degrees"),
        (["two-spheres"], FilmRequest(look=Look(axes=True)), "axes was given, which applies to a scene of bodies"),
    ],
)
def test_invalid_requests_are_refused(tmp_path: Path, things: list[str], request_: FilmRequest, message: str) -> None:
    with pytest.raises(ChoqueError, match=message):
        draw_film(tmp_path / "a.mp4", things, request=request_)
    assert not (tmp_path / "a.mp4").exists()


def test_the_verb_films_a_recording_and_draws_a_frame(tmp_path: Path) -> None:
    world = scene.find_bodies("one-of-each").world()
    with Recorder(tmp_path / "a.choque", world) as recorder:
        for _ in range(4):
            world.step()
            recorder.record()
    app = typer.Typer()
    app.command()(video)
    for name, report in (("a.mp4", "5 frames"), ("a.png", "frame 2 of")):
        output = tmp_path / name
        words = [str(tmp_path / "a.choque"), str(output), "--size", "64x48", "--draft", "--frame", "2"]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        assert report in result.output
        assert output.exists()
    words = [str(tmp_path / "a.choque"), str(tmp_path / "c.png"), "--size", "64x48", "--draft", "--json"]
    report = json.loads(CliRunner().invoke(app, words).output)
    assert report == {"file": str(tmp_path / "c.png"), "shows": "frame 0 of a"}
    words = [str(tmp_path / "a.choque"), str(tmp_path / "b.mp4"), "--seconds", "1"]
    assert isinstance(CliRunner().invoke(app, words).exception, InvalidInput)
