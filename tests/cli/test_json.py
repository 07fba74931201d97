"""``--json``: every verb with results has it, and prints exactly one JSON value."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import typer

import choque
from choque.cli import FAMILIES, GROUPS, build, verb_name
from choque.cli._json import plain  # every verb prints for programs through it

if TYPE_CHECKING:
    from conftest import Command

WITHOUT = {"page", "view"}
"""They open a browser, or write a page for one."""

VERBS = {verb_name(verb) for verbs in GROUPS.values() for verb in verbs if verb not in FAMILIES} | {
    f"{verb_name(family)} {name}" for family, verbs in FAMILIES.items() for name in verbs
}

CALLS = {
    "pairs": "pairs boxes.npy",
    "explain": "explain boxes.npy",
    "methods": "methods",
    "scenes": "scenes",
    "bake": "bake uniform:20 a.npy",
    "bench": "bench --n 100 --method brute --repetitions 1",
    "run": "run bounce --frames 2",
    "replay": "replay recorded",
    "test-scenes": "test-scenes scenes",
    "doctor": "doctor",
    "kinetic run": "kinetic run three-objects --contacts --trace",
    "kinetic scenes": "kinetic scenes",
    "kinetic from-labels": "kinetic from-labels stack.tif --output contacts.csv",
    "kinetic synthetic-stack": "kinetic synthetic-stack other.tif --frames 2 --size 64 --objects 4",
    "volume info": "volume info ball.evm",
    "volume collide": "volume collide ball.evm far.evm --report",
    "volume convert": "volume convert ball.evm ball.npy",
    "volume boolean": "volume boolean and ball.evm far.evm none.evm",
    "volume mesh": "volume mesh ball.evm ball.off",
    "picture": "picture --study kinetic three-objects motion.png --size 64x48",
    "interest run": "interest run --config interest.txt",
    "interest config": "interest config new.txt",
    "lab list": "lab list",
    "neighbors": "neighbors atoms.xyz --cutoff 2",
    "join": "join boxes.npy boxes.npy --iou 0.5",
    "suppress": "suppress results.json",
    "mesh check": "mesh check parts/first.off",
    "mesh clearance": "mesh clearance parts/first.off parts/second.off",
    "mesh collide": "mesh collide parts/first.off parts/second.off",
    "clash": "clash parts",
}
"""One call of each that takes little time. Studies are in tests/lab, films in tests/studio, the demo in test_demo."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the calls read."""
    from choque.theses.interest.config import InterestConfig, write_config
    from choque.theses.kinetic import labels

    folder = tmp_path_factory.mktemp("json")
    np.save(folder / "boxes.npy", np.array([[0, 0, 1, 1], [1, 0, 2, 1]], np.float32))
    world = choque.World()
    world.add_spheres([0, 0, 0])
    choque.record.Recorder(folder / "recorded", world).close()
    (folder / "recorded").rename(folder / "recorded.choque")
    labels.write_stack(folder / "stack.tif", labels.synthetic_stack(frames=2, size=64, objects=4))
    ball = choque.lab.phantoms.make("ball", 8)
    ball.write(folder / "ball.evm")
    ball.translated([20, 0, 0]).write(folder / "far.evm")
    write_config(folder / "interest.txt", InterestConfig(steps=2, objects=20))
    (folder / "atoms.xyz").write_text('2\nLattice="3 0 0 0 3 0 0 0 3"\nC 0 0 0\nC 1 1 1\n')
    (folder / "results.json").write_text('[{"bbox": [0, 0, 1, 1], "score": 0.5}]')
    (folder / "parts").mkdir()
    for name, shift in (("first", 0), ("second", 5)):
        corners = "\n".join(f"{x + shift} {y} {z}" for x, y, z in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)))
        faces = "3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n"
        (folder / "parts" / f"{name}.off").write_text(f"OFF\n4 4 6\n{corners}\n{faces}")
    (folder / "scenes" / "scenes").mkdir(parents=True)
    scene = '<config><objects><sphere pos="0,3,0"/></objects></config>'
    (folder / "scenes" / "scenes" / "drop.xml").write_text(scene)
    return folder


def test_every_verb_with_results_has_json() -> None:
    command = typer.main.get_command(build())
    found = set()
    for name in VERBS:
        verb = command
        for word in name.split():
            verb = verb.commands[word]
        if any("--json" in parameter.opts for parameter in verb.params):
            found.add(name)
    assert VERBS - found == WITHOUT
    assert set(CALLS) | {"demo", "video", "lab run", "lab resume", "lab report", "lab compare"} == found


@pytest.mark.parametrize("name", list(CALLS))
def test_only_json_is_printed(command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(folder)
    words = CALLS[name].replace("recorded", "recorded.choque").split()
    out = command.succeeds(*words, "--json")
    assert len(out.splitlines()) == 1

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    assert json.loads(out, parse_constant=refuse)


@dataclass
class Point:
    place: tuple[float, float]


def test_values_outside_json_are_converted() -> None:
    given = {
        1: math.nan,
        "a": np.arange(2),
        "b": np.float32(math.inf),
        "c": Path("x"),
        "d": Point((1.0, math.nan)),
        "e": {3},
    }
    assert plain(given) == {"1": None, "a": [0, 1], "b": None, "c": "x", "d": {"place": [1.0, None]}, "e": [3]}
