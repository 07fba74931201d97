"""``choque kinetic``: scenes run from the command line, model files, contacts in stacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from choque.cli.kinetic import VERBS
from choque.errors import InvalidInput, UnknownName
from choque.theses.kinetic import Model, scenes


def call(*words: object) -> Any:
    app = typer.Typer()
    for name, verb in VERBS.items():
        app.command(name)(verb)
    outcome = CliRunner().invoke(app, [str(word) for word in words])
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    return outcome


def test_three_objects_with_trace() -> None:
    said = call("run", "three-objects", "--trace").output
    assert "t=2 multiple event on x, slots 2-4" in said
    assert said.count("swap") == 19
    assert [line for line in said.splitlines() if line.startswith("kinetic: 3 objects") and "events 17" in line]


def test_events_contacts_and_files(tmp_path: Path) -> None:
    said = call(
        "run", "three-objects", "--contacts", "--model", tmp_path / "m.txt", "--statistics", tmp_path / "s.txt"
    ).output.splitlines()
    assert said[0].split() == ["0", "overlap", "0-2"]
    assert said[1].split() == ["0.666666666666667", "began", "0-1"]
    assert any(line.startswith("polygons 1-2 in contact from 2") for line in said)
    assert Model.read(tmp_path / "m.txt") == scenes.make("three-objects")
    assert "multiple events: 1" in (tmp_path / "s.txt").read_text()
    assert "\n\n0.0 overlap 0-2\n0.6666666666666666 began 0-1\n" in (tmp_path / "s.txt").read_text()
    assert call("run", tmp_path / "m.txt").output.splitlines()[:5] == said[:5]


@pytest.mark.parametrize("method", ["direct", "incremental", "incremental-recompute", "direct-thesis"])
def test_frame_methods(method: str) -> None:
    assert "frames 10" in call("run", "concentric", "--method", method).output


@pytest.mark.parametrize("method", ["kinetic", "direct", "incremental", "direct-thesis"])
def test_every_method_says_which_boxes_overlap_from_when_to_when(method: str) -> None:
    assert call("run", "resting-pair", "--method", method).output.splitlines()[0].split() == ["0", "overlap", "0-1"]
    printed = json.loads(call("run", "three-objects", "--method", method, "--json").output)
    spans = {tuple(span["pair"]): (span["began"], span["ended"]) for span in printed["overlaps"]}
    wanted = {(0, 1): (2 / 3, 3 / 2), (0, 2): (None, 8 / 5), (1, 2): (2.0, 11 / 2)}
    assert spans.keys() == wanted.keys()
    for pair, times in wanted.items():
        for found, exact in zip(spans[pair], times, strict=True):
            assert found == exact or found == pytest.approx(exact, abs=0.02), pair
    assert printed["events"][0] == {"time": 0.0, "kind": "overlap", "pair": [0, 2]}
    lasting = json.loads(call("run", "resting-pair", "--method", method, "--json").output)
    assert lasting["overlaps"] == [{"pair": [0, 1], "began": None, "ended": None}]


def test_options_of_a_method_and_of_a_scene() -> None:
    words = ("run", "random-shapes", "--option", "n=5", "--method", "direct-thesis", "--option", "sort=library")
    assert "direct-thesis: 5 objects" in call(*words).output
    with pytest.raises(UnknownName, match="sort"):
        call(*words[:-1], "sort=quick")
    with pytest.raises(UnknownName, match="sort"):
        call("run", "random-shapes", "--option", "sort=library")


@pytest.mark.parametrize("option", ["--statistics", "--model", "--picture", "--space-time"])
def test_files_that_cannot_be_written_are_refused_before_the_run(option: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no folder"):
        call("run", "three-objects", "--model", tmp_path / "m.txt", option, tmp_path / "none" / "file.png")
    assert not list(tmp_path.iterdir())
    if option in ("--picture", "--space-time"):
        pytest.importorskip("matplotlib")
        with pytest.raises(InvalidInput, match="must end in"):
            call("run", "three-objects", option, tmp_path / "file.txt")


def test_pictures_of_a_run(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    call("run", "three-objects", "--picture", tmp_path / "p.png", "--space-time", tmp_path / "d.png")
    assert {path.name for path in tmp_path.iterdir()} == {"p.png", "d.png"}


def test_stack_made_and_read(tmp_path: Path) -> None:
    pytest.importorskip("tifffile")
    call("synthetic-stack", tmp_path / "s.tif", "--frames", 4, "--size", 60, "--objects", 8)
    table = call("from-labels", tmp_path / "s.tif").output
    call("from-labels", tmp_path / "s.tif", "--output", tmp_path / "c.csv", "--pixel-size", "0.5,2", "--interval", 30)
    rows = (tmp_path / "c.csv").read_text().splitlines()
    listed = [line.split()[0] for line in table.splitlines() if line.strip()[:1].isdigit()]
    assert listed == ["-".join(row.split(",")[:2]) for row in rows[1:]]
    pytest.importorskip("skimage")
    call("from-labels", tmp_path / "s.tif", "--model", tmp_path / "m.txt", "--outlines", tmp_path / "o.npz")
    assert 1 <= len(Model.read(tmp_path / "m.txt")) <= 8


def test_scenes_are_listed() -> None:
    said = call("scenes").output
    assert all(name in said for name in scenes.names())


@pytest.mark.parametrize(
    ("words", "kind", "named"),
    [
        (("run", "three-objets"), UnknownName, "three-objects"),
        (("run", "three-objects", "--method", "kinetik"), UnknownName, "kinetic"),
        (("run", "random-shapes", "--option", "m=3"), UnknownName, "'m'"),
        (("from-labels", "none.tif", "--pixel-size", "big"), InvalidInput, "big"),
    ],
)
def test_mistakes_are_one_sentence(words: tuple[str, ...], kind: type[Exception], named: str) -> None:
    with pytest.raises(kind, match=named):
        call(*words)
