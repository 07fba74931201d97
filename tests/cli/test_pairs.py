"""``choque pairs``: its summary, formats, options and errors."""

from __future__ import annotations

import json
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

import numpy as np
import pytest

import choque
from choque._core.kernel import announcement
from choque.errors import MissingExtra
from choque.gpu import devices as _devices
from choque.testing.oracle import overlapping_pairs

if TYPE_CHECKING:
    from conftest import Command


def saved(folder: Path, rows: object, name: str = "boxes.npy") -> Path:
    np.save(folder / name, np.asarray(rows))
    return folder / name


def test_the_summary_says_what_was_done(command: Command, boxes_file: Path) -> None:
    text = command.succeeds("pairs", boxes_file)
    assert "3 in 2D" in text
    assert "brute, chosen by auto: 3 boxes are few enough" in text
    assert "1, touching boxes included" in text
    assert "0-1\n" in text


def test_json_holds_the_pairs(command: Command, boxes_file: Path) -> None:
    record = json.loads(command.succeeds("pairs", boxes_file, "--json"))
    assert (record["boxes"], record["dimension"], record["method"]) == (3, 2, "brute")
    assert (record["pair_count"], record["pairs"], record["closed"]) == (1, [[0, 1]], True)
    assert set(record["seconds"]) == {"create", "pairs"}


def test_the_time_that_kernels_take_to_compile_is_not_that_of_the_search(
    command: Command, boxes_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create, calls = choque.broad.create, []

    def compiling(*arguments: object, **options: object) -> object:
        calls.append(arguments)
        if len(calls) == 1:
            sleep(0.6)
            announcement.seconds += 0.6
        return create(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(announcement, "seconds", announcement.seconds)
    monkeypatch.setattr(choque.broad, "create", compiling)
    monkeypatch.setattr("choque.cli._compiling.TIMED_AGAIN", 0.5)
    monkeypatch.setattr("choque.cli.pairs.QUICK", 0.0)
    command.succeeds("pairs", boxes_file)
    assert len(calls) == 2  # the first search counts as quick, so that it is made again for its times


def test_half_open(command: Command, boxes_file: Path) -> None:
    record = json.loads(command.succeeds("pairs", boxes_file, "--json", "--half-open"))
    assert (record["pairs"], record["closed"]) == ([], False)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".parquet", ".aabbs"])
def test_every_format_gives_the_same_pairs(command: Command, tmp_path: Path, suffix: str) -> None:
    lower, upper = choque.scene.generate("uniform", 300).frame(0)
    choque.files.write_boxes(tmp_path / f"boxes{suffix}", lower, upper)
    record = json.loads(command.succeeds("pairs", tmp_path / f"boxes{suffix}", "--json"))
    assert record["pairs"] == overlapping_pairs(lower, upper).tolist()


@pytest.mark.parametrize("method", ["brute", "grid", "sap-direct"])
def test_a_method_by_name(command: Command, boxes_file: Path, method: str) -> None:
    record = json.loads(command.succeeds("pairs", boxes_file, "--json", "--method", method, "--threads", 1))
    assert (record["method"], record["reason"], record["pairs"]) == (method, None, [[0, 1]])


def test_options_reach_the_method(command: Command, tmp_path: Path) -> None:
    path = saved(tmp_path, [[0, 0, 1, 1], [0.5, 4, 2, 5.0]])
    swept = command.succeeds("pairs", path, "--json", "--method", "sap-axes", "--option", "axes=[0]")
    assert json.loads(swept)["pairs"] == [[0, 1]]
    grouped = command.succeeds("pairs", path, "--json", "--option", "groups=1", "--option", "masks=2")
    assert json.loads(grouped)["pairs"] == []


def test_another_device_is_named(command: Command, boxes_file: Path) -> None:
    pytest.importorskip("warp")
    record = json.loads(command.succeeds("pairs", boxes_file, "--json", "--device", "warp-cpu"))
    assert (record["method"], record["device"], record["pairs"]) == ("sap-kdop", "warp-cpu", [[0, 1]])
    assert "sap-kdop, on warp-cpu\n" in command.succeeds("pairs", boxes_file, "--device", "warp-cpu")
    assert "no device called 'tpu'" in command.fails("pairs", boxes_file, "--device", "tpu")


@pytest.mark.filterwarnings("always::choque.gpu.DeviceNote")
def test_a_note_says_that_the_cpu_works(command: Command, boxes_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> None:
        raise MissingExtra("There is no Warp.")

    monkeypatch.setattr(_devices, "load_warp", nowhere)
    _devices._fallen_back.cache_clear()
    outcome = command("pairs", boxes_file, "--json", "--device", "cuda")
    assert outcome.code == 0
    assert "choque: There is no Warp. Until then the CPU replaces 'cuda'." in outcome.err.splitlines()
    assert "DeviceNote" not in outcome.err
    assert (json.loads(outcome.out)["device"], json.loads(outcome.out)["method"]) == ("cpu", "brute")


def test_a_frame_of_a_moving_scene(command: Command, tmp_path: Path) -> None:
    scene = choque.scene.generate("moving", 200, frames=3, step=0.5)
    choque.scene.write(tmp_path / "moving.aabbs", scene)
    record = json.loads(command.succeeds("pairs", tmp_path / "moving.aabbs", "--json", "--frame", 2))
    assert record["pairs"] == overlapping_pairs(*scene.frame(2)).tolist()
    assert "0 to 2" in command.fails("pairs", tmp_path / "moving.aabbs", "--frame", 3)


def test_the_pairs_are_written_to_a_file(command: Command, boxes_file: Path, tmp_path: Path) -> None:
    output = tmp_path / "pairs.npy"
    record = json.loads(command.succeeds("pairs", boxes_file, "--json", "--output", output))
    assert record["output"] == str(output)
    assert record["pair_count"] == 1
    assert "pairs" not in record
    assert np.load(output).tolist() == [[0, 1]]
    command.succeeds("pairs", boxes_file, "--output", tmp_path / "pairs.csv")
    assert (tmp_path / "pairs.csv").read_text().split() == ["first,second", "0,1"]


BAD_BOXES = {
    "not a number": [[0, 0, np.nan, 1]],
    "lower": [[2, 0, 1, 1.0]],
    "shape": [[0.0, 1.0, 2.0]],
    "complex": [[0, 0, 1, 1j]],
}


@pytest.mark.parametrize("word", BAD_BOXES)
def test_invalid_boxes_leave_no_file(command: Command, tmp_path: Path, word: str) -> None:
    path = saved(tmp_path, BAD_BOXES[word])
    assert word in command.fails("pairs", path, "--output", tmp_path / "pairs.npy")
    assert [each.name for each in tmp_path.iterdir()] == ["boxes.npy"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "grit"], "There is no broad-phase method called 'grit'. Did you mean 'grid'?"),
        (["--method", "grid", "--option", "sel=3"], "option of 'grid'"),
        (["--option", "axes"], "key=value"),
        (["--option", "=3"], "key=value"),
        (["--option", "groups=1", "--option", "groups=2"], "twice"),
        (["--option", "closed=false"], "'closed' is not an option"),
        (["--option", "bounds=1"], "'bounds' is not an option"),
        (["--option", "groups=some"], "groups"),
        (["--threads", "0"], "threads"),
        (["--frame", "1"], "frame"),
        (["--output", "pairs.txt"], "pairs.txt; pairs are written to .csv, .npy, .parquet"),
        (["--output", "pairs"], "--output is pairs; pairs are written to .csv"),
        (["--output", "no/such/folder/pairs.npy"], "no/such/folder"),
    ],
)
def test_invalid_arguments(command: Command, boxes_file: Path, arguments: list[str], words: str) -> None:
    assert words in command.fails("pairs", boxes_file, *arguments)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.npy", b"", "is empty"),
        ("text.npy", b"not an array", "is not"),
        ("cut.npy", b"\x93NUMPY\x01\x00v\x00{'descr'", "truncated or damaged"),
        ("boxes.txt", b"0 0 1 1", "'.txt'"),
        ("words.csv", b"a,b,c,d\n1,2,3,four\n", "words.csv"),
    ],
)
def test_invalid_files(command: Command, tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    for verb in ("pairs", "explain"):
        assert words in command.fails(verb, tmp_path / name)


def test_a_folder_is_not_a_file(command: Command, tmp_path: Path) -> None:
    assert "folder" in command.fails("pairs", tmp_path)


def test_explain(command: Command, boxes_file: Path, tmp_path: Path) -> None:
    assert command.succeeds("explain", boxes_file) == "brute: 3 boxes are few enough to test all pairs\n"
    choque.files.write_boxes(tmp_path / "many.npy", *choque.scene.generate("uniform", 5_000).frame(0))
    choice = json.loads(command.succeeds("explain", tmp_path / "many.npy", "--json"))
    assert (choice["method"], choice["box_count"], choice["dimension"]) == ("grid", 5_000, 3)
    searched = json.loads(
        command.succeeds("pairs", tmp_path / "many.npy", "--json", "--output", tmp_path / "pairs.npy")
    )
    assert (searched["method"], searched["reason"]) == (choice["method"], choice["reason"])
    assert str(choque.explain(*choque.files.read_boxes(tmp_path / "many.npy"))) == f"grid: {choice['reason']}"


def large_file(folder: Path) -> Path:
    lower = np.random.default_rng(1).uniform(0, 9, (200, 2))
    choque.files.write_boxes(folder / "boxes.parquet", lower, lower + 0.5)
    return folder / "boxes.parquet"


def test_from_file_to_file_in_bounded_memory(command: Command, tmp_path: Path) -> None:
    path, folder = large_file(tmp_path), tmp_path / "pairs"
    expected = len(choque.pairs(*choque.files.read_boxes(path)))
    text = command.succeeds("pairs", path, "--memory", "1GiB", "--output", folder)
    assert f"pairs   {expected}, touching boxes included" in text
    assert f"1 file in {folder}" in text
    record = json.loads(command.succeeds("pairs", path, "--memory", "1GiB", "--output", folder, "--json"))
    assert (record["pair_count"], record["files"]) == (expected, ["tile-000000.parquet"])
    assert choque.scale.open(folder).count == expected


def test_explain_says_what_a_search_would_take(command: Command, tmp_path: Path) -> None:
    path = large_file(tmp_path)
    text = command.succeeds("pairs", path, "--memory", "1GiB", "--explain")
    assert "boxes    200 in 2D, float64" in text
    assert "written  1.000 times a box" in text
    record = json.loads(command.succeeds("pairs", path, "--explain", "--json"))
    assert (record["boxes"], record["tiles"], record["memory"]) == (200, 1, 4 << 30)
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_search_in_bounded_memory_needs_a_folder_and_chooses_its_method(command: Command, tmp_path: Path) -> None:
    path = large_file(tmp_path)
    assert "name a new folder for the pairs" in command.fails("pairs", path, "--memory", "1GiB")
    assert "--method and --memory do not go together" in command.fails(
        "pairs", path, "--memory", "1GiB", "--method", "grid"
    )
    assert "at least" in command.fails("pairs", path, "--memory", "10MiB", "--output", tmp_path / "pairs")
