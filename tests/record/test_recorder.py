"""Recording a world, replaying it, and naming the first frame that differs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import choque
from choque.errors import InvalidInput, RecordingFailed, UnreadableFile
from choque.record import Recorder, Recording, Replay, verify
from choque.record.recorder import versions
from choque.studio import Run
from choque.theses.fingsics import engine
from choque.world import World

Make = Callable[..., World]


def record(path: Path, world: World, steps: int = 70) -> list[tuple[np.ndarray, np.ndarray]]:
    seen = [(world.bodies.position.astype("f4"), world.bodies.rotation.astype("f4"))]
    with Recorder(path, world, scene="crowd") as recorder:
        for _ in range(steps):
            world.step()
            recorder.record()
            seen.append((world.bodies.position.astype("f4"), world.bodies.rotation.astype("f4")))
    return seen


@pytest.mark.parametrize("options", [{}, {"dtype": "float32"}, engine.settings({}), {"broad": "sap-obb"}])
def test_what_was_recorded_is_replayed_bitwise_and_repeats(
    tmp_path: Path, make_world: Make, options: dict[str, object]
) -> None:
    """F-001-33: no scene file and no physics; F-001-07: the same states again, with any number of threads."""
    seen = record(tmp_path / "a.choque", make_world(**options))
    recording = Recording(tmp_path / "a.choque")
    replay = Replay(recording)
    for position, rotation in seen:
        assert replay.poses.position.tobytes() == position.tobytes()
        assert replay.poses.rotation.tobytes() == rotation.tobytes()
        replay.step()
    for threads in (1, 2):
        found = verify(recording, threads=threads)
        assert found.is_equal
        assert found.frame_count == 71
        assert "equal to the last bit" in str(found)
    assert verify(tmp_path / "a.choque") == verify(str(tmp_path / "a.choque")) == found
    with pytest.raises(InvalidInput, match=r"^threads is 0"):
        verify(recording, threads=0)


def test_the_header_says_what_was_run(tmp_path: Path, make_world: Make) -> None:
    world = make_world()
    camera = choque.scene.Camera(12.0, -10.0, 5.0)
    Recorder(tmp_path / "a.choque", world, dt=0.01, scene="s", seed=7, camera=camera).close()
    recording = Recording(tmp_path / "a.choque")
    assert (recording.name, recording.seed, recording.dt, recording.camera) == ("s", 7, 0.01, camera)
    assert recording.header["world"]["broad"] == "sap-incremental"
    assert recording.header["versions"]["choque"] == choque.__version__
    assert recording.hashes().tolist() == [world.hash()]


def test_the_first_frame_that_differs_is_named(tmp_path: Path, make_world: Make) -> None:
    world = make_world()
    with Recorder(tmp_path / "a.choque", world) as recorder:
        for index in range(30):
            world.step()
            if index == 17:
                world.bodies.position[0, 0] = np.nextafter(world.bodies.position[0, 0], 9.0)
            recorder.record()
    found = verify(Recording(tmp_path / "a.choque"))
    assert found.first_difference == 18
    assert str(found).startswith("Frame 18 differs: the hash of the state is")


def test_bodies_that_come_and_go_switches_resets_and_slow_motion(tmp_path: Path, make_world: Make) -> None:
    run = Run(make_world())
    with Recorder(tmp_path / "a.choque", run.world) as recorder:
        run.observers.append(recorder)
        run.step(10)
        run.world.add_spheres([0, 9, 0])
        run.step(10)
        run.slow_motion = True
        run.step(10)
        run.world.remove([0, 5])
        run.step(5)
        run.switch("grid")
        run.step(5)
        run.reset()
        run.slow_motion = False
        run.step(5)
    recording = Recording(tmp_path / "a.choque")
    assert [segment.first for segment in recording.segments] == [0, 11, 31, 36, 41]
    assert [len(recording.bodies(index)) for index in (10, 11, 31, 45)] == [55, 56, 54, 55]
    assert len(recording.frame(31)) == 54
    assert verify(recording).is_equal


def test_convex_bodies_keep_their_hulls(tmp_path: Path) -> None:
    world = World()
    world.add_boxes([[0, 0, 0], [5, 0, 0]], [1.0, 2.0, 3.0])
    Recorder(tmp_path / "a.choque", world).close()
    table = Recording(tmp_path / "a.choque").bodies(0)
    points, triangles = table.hull_mesh(int(table.hull[0]))
    assert len(points) == 8
    assert len(triangles) == 12


def test_a_frame_twice_is_refused(tmp_path: Path, make_world: Make) -> None:
    with Recorder(tmp_path / "a.choque", make_world(), dt=0.5) as recorder:
        recorder.record()  # the same frame: a segment of its own, since nothing led to it
        assert recorder.frame_count == 2
    with pytest.raises(InvalidInput, match="dt"):
        Recorder(tmp_path / "b.choque", make_world(), dt=0.0)
    assert not (tmp_path / "b.choque").exists()


def test_a_frame_recorded_after_an_impulse_makes_the_run_repeat(tmp_path: Path, make_world: Make) -> None:
    for again in (False, True):
        world = make_world()
        with Recorder(tmp_path / f"{again}.choque", world) as recorder:
            for index in range(10):
                if index == 5:
                    world.apply_impulses([0], [1.0, 0, 0])
                    if again:
                        recorder.record()
                world.step()
                recorder.record()
        assert verify(recorder.path).is_equal == again


def test_what_is_closed_is_refused_in_a_sentence(tmp_path: Path, make_world: Make) -> None:
    world = make_world()
    recorder = Recorder(tmp_path / "a.choque", world)
    recorder.close()
    world.step()
    with pytest.raises(RecordingFailed, match="closed"):
        recorder.record()
    recorder.close()
    recording = Recording(tmp_path / "a.choque")
    recording.close()
    with pytest.raises(UnreadableFile, match="closed; open it again"):
        recording.frame(0)


def test_a_state_that_cannot_be_opened_is_a_sentence(
    tmp_path: Path, write: Callable[..., Path], frames: Callable
) -> None:
    with pytest.raises(UnreadableFile, match="cannot be simulated again"):
        verify(Recording(write(frames(3, 2))))


def test_a_difference_names_the_versions_that_recorded(
    tmp_path: Path, make_world: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = versions()
    then = {**present, "choque": "0.0.7", "choque sources": "00000000"}
    monkeypatch.setattr("choque.record.recorder.versions", lambda: then)
    world = make_world()
    with Recorder(tmp_path / "a.choque", world) as recorder:
        world.step()
        world.bodies.position[0, 0] += 1.0
        recorder.record()
    words = str(verify(tmp_path / "a.choque"))
    assert ". It was recorded with choque 0.0.7, python " in words
    assert f"; choque was 0.0.7 and is {present['choque']}, choque sources was 00000000 and is " in words
