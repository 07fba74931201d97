"""``choque scenes`` and ``choque bake``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import choque

if TYPE_CHECKING:
    from conftest import Command


def test_every_scene_is_listed_with_its_parameters(command: Command) -> None:
    listed = {each["name"]: each for each in json.loads(command.succeeds("scenes", "--json"))}
    names = {
        "boxes": choque.scene.names(),
        "bodies": choque.scene.names("bodies"),
        "built-in": choque.scene.names("built-in"),
    }
    assert list(listed) == [name for group in names.values() for name in group]
    assert all(listed[name]["sort"] == sort for sort, group in names.items() for name in group)
    assert listed["mixed"]["parameters"] == choque.scene.parameters("mixed")
    assert listed["capsule-box"]["parameters"] == {"n": 1000, **choque.scene.parameters("capsule-box")}
    assert all(each["summary"] for each in listed.values())
    table = command.succeeds("scenes")
    assert all(name in table for name in listed)
    assert table.index("bowling") < table.index("pile") < table.index("uniform"), "bodies come first"


def test_one_scene_is_printed_with_its_parameters_and_a_command(command: Command) -> None:
    assert command.succeeds("scenes", "mixed").splitlines()[1:] == [
        "Try: choque bake mixed:10000 boxes.npy",
        "  --option ratio=1000.0",
        "  --option overlaps=3.0",
    ]
    assert "Try: choque run capsule-box:1000\n  --option ratio=4.0" in command.succeeds("scenes", "capsule-box")
    assert command.succeeds("scenes", "bowling").splitlines()[1:] == ["Try: choque run bowling"]
    assert "Did you mean 'bowling'?" in command.fails("scenes", "bowlin")


def test_a_scene_is_baked(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "scene.aabbs"
    arguments = ("--frames", 3, "--seed", 4, "--dimension", 2, "--option", "step=0.25")
    assert "50 boxes in 2D, 3 frames, seed 4" in command.succeeds("bake", "moving:50", path, *arguments)
    expected = choque.scene.generate("moving", 50, seed=4, dimension=2, frames=3, step=0.25)
    baked = choque.scene.read(path)
    assert (baked.frame_count, baked.name) == (3, "moving")
    for index in range(3):
        for read, made in zip(baked.frame(index), expected.frame(index), strict=True):
            assert np.array_equal(read, made)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".parquet", ".aabbs"])
def test_one_frame_goes_to_every_format(command: Command, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"boxes{suffix}"
    command.succeeds("bake", "uniform:20", path)
    assert np.array_equal(choque.files.read_boxes(path)[0], choque.scene.generate("uniform", 20).frame(0)[0])


def test_float64(command: Command, tmp_path: Path) -> None:
    command.succeeds("bake", "uniform:2e1", tmp_path / "boxes.npy", "--dtype", "float64")
    assert np.load(tmp_path / "boxes.npy").dtype == np.float64


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["uniforn"], "Did you mean 'uniform'?"),
        (["uniform:-1"], "n is -1"),
        (["uniform", "--frames", "0"], "frames"),
        (["uniform", "--dimension", "4"], "dimension"),
        (["uniform", "--dtype", "int8"], "int8"),
        (["uniform", "--option", "overlap=3"], "'overlap'"),
        (["uniform", "--option", "overlaps=many"], "overlaps"),
        (["uniform", "--option", "n=3"], "'n' is not an option"),
        (["reference", "--dimension", "2"], "3D only"),
    ],
)
def test_bad_requests_write_nothing(command: Command, tmp_path: Path, arguments: list[str], words: str) -> None:
    assert words in command.fails("bake", arguments[0], tmp_path / "boxes.npz", *arguments[1:])
    assert not list(tmp_path.iterdir())


def test_formats_that_cannot_hold_it(command: Command, tmp_path: Path) -> None:
    assert "format for boxes called '.txt'" in command.fails("bake", "uniform", tmp_path / "boxes.txt")
    several = ("bake", "uniform", tmp_path / "boxes.csv", "--frames", 2)
    assert "format for frames called '.csv'" in command.fails(*several)
    assert not list(tmp_path.iterdir())
