"""Invalid arguments of scenes, models, shapes, simulations and labels: one sentence each, and none of NumPy's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from choque._core.kernel import announcement
from choque.cli import main
from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.theses.kinetic import Model, contacts, create_simulation, labels, recommend, scenes, shapes
from choque.theses.kinetic.base import Simulation, Statistics

HEADER = "marco: ((-10.0, 10.0), (-10.0, 10.0))\ntimeInterval: 0.0-10.0\nframesPerSecond: 100\n"
TRIANGLE = "3 0 0 1 0 0 1\n"
NOTHING = np.empty((0, 2))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: labels.label_contacts(None), "frames is None"),  # type: ignore[arg-type]
        (lambda: labels.label_contacts("stack.tif"), r"frames is 'stack.tif'.*read_frames"),
        (lambda: labels.label_contacts([[[1, 2], [1]]]), "rows of different lengths"),
        (lambda: labels.outlines([[1]], pixel_size=(1, 2, 3)), "pixel_size"),  # type: ignore[arg-type]
        (lambda: labels.motion([[[1]]], frame_interval=0.0), "frame_interval is 0.0"),
        (lambda: labels.synthetic_stack(frames=1.5), "frames is 1.5"),  # type: ignore[arg-type]
        (lambda: labels.synthetic_stack(seed=-1), "seed is -1"),
        (lambda: labels.write_stack("stack.png", np.zeros((1, 2, 2), np.uint16)), "must end in .tif"),
        (lambda: contacts(None, 0.0, 1.0), "polygons is None"),  # type: ignore[arg-type]
        (lambda: Model((), NOTHING, interval=3), "interval is 3; it must have two parts"),  # type: ignore[arg-type]
        (lambda: Model((), NOTHING, frame=(1, 2)), "a side of frame is 1"),  # type: ignore[arg-type]
        (lambda: Model((), NOTHING, frame=(("a", "b"), (1, 2))), "a side of frame has the element type"),  # type: ignore[arg-type]
        (lambda: Model((), NOTHING, frames_per_second="x"), "frames_per_second is 'x'"),  # type: ignore[arg-type]
        (lambda: shapes.regular(3.5), "vertex_count is 3.5"),  # type: ignore[arg-type]
        (lambda: shapes.shape("square", size=np.inf), "size is inf"),
        (lambda: shapes.shape("square", at=(1, 2, 3)), r"at has the shape \(3,\)"),
        (lambda: shapes.shape("square", turned="left"), "turned is 'left'"),  # type: ignore[arg-type]
        (lambda: shapes.star(5, 2.0), "inner_radius is 2.0"),
    ],
)
def test_arguments(call: Callable[[], object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call()


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("random-shapes", {"occupancy": "much"}, "occupancy is 'much'"),
        ("random-shapes", {"n": 2.5}, "n is 2.5; it must be a whole number"),
        ("random-shapes", {"n": 10**30}, "it must be a whole number from 0 to 1000000"),
        ("random-shapes", {"frame": 0}, "frame is 0; it must be a number above 0"),
        ("random-shapes", {"seed": -1}, "seed is -1; it must be a whole number"),
        ("evenly-spread", {"seed": "x"}, "seed is 'x'"),
        ("evenly-spread", {"side": 0}, "side is 0; it must be a whole number from 1 to 1000"),
        (
            "evenly-spread",
            {"side": 10**30},
            "side is 1000000000000000000000000000000; it must be a whole number from 1",
        ),
        ("concentric", {"count": "a"}, "count is 'a'"),
        ("concentric", {"count": 10**9}, "it must be a whole number from 0 to 1000000"),
        ("resting-pair", {"case": 1.0}, "case is 1.0; it must be a whole number from 0 to 3"),
        ("resting-pair", {"case": True}, "case is True; it must be a whole number from 0 to 3"),
    ],
)
def test_options_of_scenes(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        scenes.make(name, **options)


def test_options_of_scenes_in_the_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kinetic", "run", "random-shapes", "--option", "seed=-1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_option_that_a_simulation_does_not_have() -> None:
    model = scenes.make("three-objects")
    with pytest.raises(UnknownName, match="Did you mean 'tolerance'"):
        create_simulation(model, "kinetic", tolerence=0.1)
    with pytest.raises(UnknownName, match=r"'direct-thesis' called 'tolerance'.*closing_frame, merge, observers, sort"):
        create_simulation(model, "direct-thesis", tolerance=0.1)
    assert create_simulation(model, "direct-thesis", sort="library", closing_frame=True).method == "direct-thesis"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEADER + "1 2 x y\n" + TRIANGLE, "Line 4 of model is malformed: 'x' is not a number"),
        (HEADER + "1e400 2\n" + TRIANGLE, "Line 4 of model is malformed: it holds a number beyond"),
        (HEADER.replace("0.0-10.0", "5-1") + "1 2\n" + TRIANGLE, "model is not a model: the interval runs from 5.0"),
        (HEADER.replace("100", "0"), "model is not a model: frames_per_second is 0.0"),
    ],
)
def test_models_name_what_they_were_read_from(text: str, words: str) -> None:
    with pytest.raises(UnreadableFile, match=words):
        Model.parse(text)


def test_a_model_file_may_begin_with_a_mark_of_its_encoding(tmp_path: Path) -> None:
    (tmp_path / "model.txt").write_text(HEADER + "1 2\n" + TRIANGLE, encoding="utf-8-sig")
    assert len(Model.read(tmp_path / "model.txt")) == 1


def test_counts_of_numpy_are_numbers() -> None:
    assert recommend(np.int64(1_000), np.float32(0.05), 1_000, 1.0).method == "kinetic"
    with pytest.raises(InvalidInput, match="count is 'many'"):
        recommend("many", 0.05, 1_000, 1.0)  # type: ignore[arg-type]


def test_statistics_tell_the_seed() -> None:
    """The header of the statistics file, F-000-21."""
    text = create_simulation(scenes.make("random-shapes", n=3, seed=11), "kinetic").run().text()
    assert "seed: 11\n" in text
    assert "seed: -\n" in create_simulation(scenes.make("three-objects"), "kinetic").run().text()


def test_the_time_of_a_run_is_not_that_of_getting_ready(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Methods are loaded or compiled on a scene of a few frames, before the clock of the run starts."""
    ran: list[str] = []
    run = Simulation.run
    monkeypatch.setattr(Simulation, "run", lambda self: (ran.append(self.model.name), run(self))[1])
    assert main(["kinetic", "run", "three-objects", "--json"]) == 0
    assert ran == ["concentric", "three-objects"]
    assert json.loads(capsys.readouterr().out)["counts"]["events"] == 17


def test_a_run_that_compiled_a_kernel_is_timed_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first run compiles a kernel that the scene of a few frames did not need; its trace is printed once."""
    ran: list[str] = []
    run = Simulation.run

    def compile_once(self: Simulation) -> Statistics:
        announcement.count += ran == ["concentric"]
        ran.append(self.model.name)
        return run(self)

    monkeypatch.setattr(Simulation, "run", compile_once)
    monkeypatch.setattr(announcement, "count", announcement.count)
    assert main(["kinetic", "run", "three-objects", "--method", "direct", "--trace"]) == 0
    assert ran == ["concentric", "three-objects", "three-objects"]
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("frame 0 ") for line in lines) == 1
    assert not any("include compiling" in line for line in lines)


def test_one_number_is_the_size_of_a_square_pixel() -> None:
    stack = [[[1, 1, 2, 2], [1, 1, 2, 2]]]
    (alone,) = labels.label_contacts(stack, pixel_size=0.5)
    assert (alone,) == tuple(labels.label_contacts(stack, pixel_size=(0.5, 0.5)))
    assert alone.greatest_length == 1.0


def test_a_stack_without_contacts_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tifffile")
    labels.write_stack(tmp_path / "apart.tif", np.array([[[1, 0, 2]]], np.uint16))
    assert main(["kinetic", "from-labels", str(tmp_path / "apart.tif")]) == 0
    assert capsys.readouterr().out == "No two objects touch in any frame.\n"
