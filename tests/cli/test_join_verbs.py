"""``choque join`` and ``choque suppress``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from conftest import Command

RESULTS: list[dict[str, Any]] = [
    {"image_id": 1, "category_id": 7, "bbox": [0, 0, 10, 10], "score": 0.5},
    {"image_id": 1, "category_id": 7, "bbox": [1, 0, 10, 10], "score": 0.9},
    {"image_id": 2, "category_id": 7, "bbox": [1, 0, 10, 10], "score": 0.8},
]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    file = tmp_path / "results.json"
    file.write_text(json.dumps(RESULTS))
    return file


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    file = tmp_path / "truth.csv"
    file.write_text("x1,y1,x2,y2\n0,0,10,10\n50,50,60,60\n")
    return file


def test_join_summarises(command: Command, results: Path, truth: Path) -> None:
    text = command.succeeds("join", results, truth, "--iou", "0.6")
    assert "3 boxes from" in text
    assert "2 boxes from" in text
    assert "1 in a pair" in text
    assert "overlap" in text
    assert "0-0  1-0  2-0" in text


def test_join_as_json_and_to_a_file(command: Command, results: Path, truth: Path, tmp_path: Path) -> None:
    record = json.loads(command.succeeds("join", results, truth, "--iou", "0.9", "--json"))
    assert (record["pairs"], record["values"], record["b"]["boxes"]) == ([[0, 0]], [1.0], 2)
    record = json.loads(command.succeeds("join", results, truth, "--json"))
    assert record["pair_count"] == 3
    command.succeeds("join", results, truth, "--output", tmp_path / "pairs.npy")
    assert np.load(tmp_path / "pairs.npy").tolist() == [[0, 0], [1, 0], [2, 0]]
    command.succeeds("join", results, truth, "--iou", "0.9", "--output", tmp_path / "pairs.csv")
    assert (tmp_path / "pairs.csv").read_text() == "first,second,overlap\n0,0,1.0\n"


def test_join_keeps_images_apart(command: Command, results: Path) -> None:
    record = json.loads(command.succeeds("join", results, results, "--iou", "0.5", "--json"))
    assert record["pairs"] == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]]
    assert record["values"] == pytest.approx([1, 9 / 11, 9 / 11, 1, 1], abs=0)
    record = json.loads(command.succeeds("join", results, results, "--all-together", "--json"))
    assert record["pair_count"] == 9


def test_suppress_keeps_images_apart(command: Command, results: Path, tmp_path: Path) -> None:
    text = command.succeeds("suppress", results, "--output", tmp_path / "kept.json")
    assert "kept   2" in text
    assert text.splitlines()[-1].split() == ["7", "3", "2"]
    assert json.loads((tmp_path / "kept.json").read_text()) == RESULTS[1:]
    record = json.loads(command.succeeds("suppress", results, "--all-together", "--json"))
    assert record["kept"] == [1]
    record = json.loads(command.succeeds("suppress", results, "--merge", "--json"))
    assert record["merged"] == {"1": [0], "2": []}


def test_classes_and_images_that_a_file_does_not_name_are_not_passed_over(command: Command, tmp_path: Path) -> None:
    rows = ["0,0,9,9,0.5,a.jpg,cat", "0,0,9,9,0.6,b.jpg,dog", "0,0,9,9,0.7,b.jpg,cat"]
    names = ("x1,y1,x2,y2,score", "filename", "class_name")
    for images, classes, kept in ((1, 1, 3), (1, 0, 2), (0, 1, 2), (0, 0, 1)):
        header = ",".join((names[0], names[1] if images else "source", names[2] if classes else "what"))
        (tmp_path / "a.csv").write_text("\n".join((header, *rows)))
        text = command.succeeds("suppress", tmp_path / "a.csv")
        assert f"kept   {kept}" in text
        assert ("3 of 2 images from" in text, "those of one image" in text) == (bool(images), not images)
        assert ("all kinds suppress each other; name their column with --group" in text) == (not classes)
    (tmp_path / "b.csv").write_text((tmp_path / "a.csv").read_text().replace("source", "image"))
    text = command.succeeds("join", tmp_path / "a.csv", tmp_path / "b.csv")
    assert f"named in {tmp_path / 'b.csv'} and not in {tmp_path / 'a.csv'}, so boxes of all images" in text


def test_suppress_writes_the_kept_rows_of_a_table(command: Command, tmp_path: Path) -> None:
    rows = ["xmin,ymin,xmax,ymax,score,label", '0,0,9,9,0.5,"a, b"', "0,0,9,8,0.9,c # best", "", "50,0,59,9,0.7,c"]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    command.succeeds("suppress", tmp_path / "a.csv", "--all-together", "--output", tmp_path / "kept.csv")
    assert (tmp_path / "kept.csv").read_text().splitlines() == [rows[0], rows[2], rows[4]]


def test_a_detector_that_found_nothing(command: Command, tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("[]")
    assert "kept   0" in command.succeeds("suppress", tmp_path / "none.json", "--output", tmp_path / "kept.json")
    assert json.loads((tmp_path / "kept.json").read_text()) == []


def test_bad_input_is_one_sentence(command: Command, results: Path, truth: Path, tmp_path: Path) -> None:
    assert "has no scores; name their column with --score" in command.fails("suppress", truth)
    assert "iou is 2.0" in command.fails("suppress", results, "--iou", "2")
    assert "in the format of" in command.fails("suppress", results, "--output", tmp_path / "a.txt")
    assert "There is no file" in command.fails("join", results, tmp_path / "none.csv")
    assert "divisor of an overlap" in command.fails("join", results, truth, "--iou", "0.5", "--over", "larger")
