"""Detections in COCO files and tables; usual names of columns; the bbox of GeoParquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from choque.errors import InvalidInput, UnreadableFile
from choque.files import read_boxes, read_detections
from choque.files.detections import write_kept

RESULTS: list[dict[str, Any]] = [
    {"image_id": 1, "category_id": 7, "bbox": [0, 0, 10, 10], "score": 0.5},
    {"image_id": 1, "category_id": 7, "bbox": [1, 0, 10.5, 10], "score": 0.9},
    {"image_id": 2, "category_id": 7, "bbox": [1, 0, 10, 10], "score": 0.8},
]


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def test_results_of_coco(tmp_path: Path) -> None:
    found = read_detections(written(tmp_path / "a.json", RESULTS))
    assert found.lower.tolist() == [[0, 0], [1, 0], [1, 0]]
    assert found.upper.tolist() == [[10, 10], [11.5, 10], [11, 10]]
    assert found.scores is not None
    assert found.scores.tolist() == [0.5, 0.9, 0.8]
    assert found.groups is not None
    assert found.groups[0] == found.groups[1] != found.groups[2]


def test_annotations_of_coco_have_names_and_no_scores(tmp_path: Path) -> None:
    entries = [{key: value for key, value in each.items() if key != "score"} for each in RESULTS]
    document = {"annotations": entries, "categories": [{"id": 7, "name": "cat"}]}
    found = read_detections(written(tmp_path / "a.json", document))
    assert found.scores is None
    assert found.labels.tolist() == ["cat"] * 3


def test_kept_entries_are_written_as_they_were(tmp_path: Path) -> None:
    write_kept(tmp_path / "b.json", written(tmp_path / "a.json", RESULTS), np.array([1, 2]))
    assert json.loads((tmp_path / "b.json").read_text()) == RESULTS[1:]


def test_kept_rows_of_a_table_are_written_as_they_were(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"xmin": [0.0, 1.0, 2.0], "note": ["a", None, "c"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    write_kept(tmp_path / "b.parquet", tmp_path / "a.parquet", np.array([2, 1]))
    assert parquet.read_table(tmp_path / "b.parquet").to_pylist() == [
        {"xmin": 2.0, "note": "c"},
        {"xmin": 1.0, "note": None},
    ]


def test_geoparquet_without_boxes_says_how_to_write_them(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"geometry": [b""]}), tmp_path / "a.parquet")
    with pytest.raises(UnreadableFile, match="write_covering_bbox=True"):
        read_boxes(tmp_path / "a.parquet")


def test_tables_with_scores_and_classes(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x1,y1,x2,y2,label,confidence\n0,0,1,1,cat,0.5\n0,0,1,2,dog,0.75\n")
    found = read_detections(tmp_path / "a.csv")
    assert found.upper.tolist() == [[1, 1], [1, 2]]
    assert found.scores is not None
    assert (found.scores.tolist(), found.labels.tolist()) == ([0.5, 0.75], ["cat", "dog"])
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"minx": [0.0], "miny": [0.0], "maxx": [1.0], "maxy": [2.0], "p": [0.5], "kind": ["a"]}
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    found = read_detections(tmp_path / "a.parquet", score="p", group="kind")
    assert found.scores is not None
    assert (found.scores.tolist(), found.labels.tolist(), found.upper.tolist()) == ([0.5], ["a"], [[1, 2]])
    with pytest.raises(InvalidInput, match="no column 'q'"):
        read_detections(tmp_path / "a.parquet", score="q")


def test_the_bbox_of_geoparquet_is_read_without_geometries(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    boxes = [{"xmin": 0.0, "ymin": 1.0, "xmax": 2.0, "ymax": 3.0}, {"xmin": 5.0, "ymin": 5.0, "xmax": 6.0, "ymax": 6.0}]
    table = arrow.table({"geometry": [b"not a geometry", b""], "bbox": boxes, "name": ["a", "b"]})
    parquet.write_table(table, tmp_path / "geo.parquet")
    lower, upper = read_boxes(tmp_path / "geo.parquet")
    assert (lower.tolist(), upper.tolist()) == ([[0, 1], [5, 5]], [[2, 3], [6, 6]])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "damaged|cannot|not"),
        ('{"images": []}', "must be a list of results"),
        ('[{"bbox": [1, 2, 3]}]', "Entry 0 of .* has no bbox of four numbers"),
        ('[{"bbox": [1, 2, 3, "4"]}]', "Entry 0"),
        ('[{"bbox": [1, 2, 3, true]}]', "Entry 0"),
        ('[{"bbox": [1, 2, -3, 4]}]', "sizes must not be negative"),
        ('[{"bbox": [1, NaN, 3, 4]}]', "must be finite"),
        ('[{"bbox": [1, 2, 3, 4], "score": "high"}]', "scores .* are not all numbers"),
        ("[" * 100_000, "nests too deeply|damaged|cannot"),
        ('[{"bbox": [1, 2, 3, 1%s]}]' % ("0" * 400), "Entry 0"),
        ('[{"bbox": [1, 2, 3, 4], "score": 1%s}]' % ("0" * 400), "scores .* are not all numbers"),
        ('[{"bbox": [1, 2, 3, 4], "score": NaN}]', "scores .* are not all numbers"),
        ('[{"bbox": [1, 2, 3, 4], "score": 1}, {"bbox": [1, 2, 3, 4], "score": [1]}]', "Entry 1 of .* has no score"),
        ('[{"bbox": [1, 2, 3, 4], "image_id": 1}, {"bbox": [1, 2, 3, 4]}]', "Entry 1 of .* has no image_id"),
        (
            '{"annotations": [{"bbox": [1, 2, 3, 4], "category_id": {}}], "categories": [{"id": 1, "name": "a"}]}',
            "Entry 0",
        ),
    ],
)
def test_bad_coco_files_are_refused_with_a_sentence(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(UnreadableFile, match=words):
        read_detections(tmp_path / "a.json")


def test_large_numbers_of_images_stay_apart(tmp_path: Path) -> None:
    numbers = [-1, 2**63, 2**63 + 1]
    found = read_detections(
        written(tmp_path / "a.json", [{"bbox": [0, 0, 1, 1], "image_id": each} for each in numbers])
    )
    assert found.images is not None
    assert found.images.tolist() == [str(each) for each in numbers]


def test_a_hash_within_quotes_begins_no_comment(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        'label,x1,y1,x2,y2 # pixels\n"dog #1",0,0,1,1\n"dog #2",0,0,1,1 # "blurred"\n5" #3,0,0,1,1\n'
    )
    with pytest.raises(UnreadableFile, match="line 4: 1 field where"):
        read_detections(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text(
        'label,x1,y1,x2,y2 # pixels\n"dog #1",0,0,1,1\n"dog #2",0,0,1,1 # "blurred"\n5",0,0,1,1 # "\n'
    )
    assert read_detections(tmp_path / "a.csv").labels.tolist() == ["dog #1", "dog #2", '5"']


def test_lines_of_a_table_end_where_those_of_its_boxes_do(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x1,y1,x2,y2,label\n0,0,1,1,a\x0cb\n0,0,1,1,c\u2028d\n")
    assert read_detections(tmp_path / "a.csv").labels.tolist() == ["a\x0cb", "c\u2028d"]
    (tmp_path / "a.csv").write_text('x1,y1,x2,y2,label\n0,0,1,1,"a\n0,0,1,1,b\n')
    with pytest.raises(UnreadableFile, match="a quoted field does not end"):
        read_detections(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text('x1,y1,x2,y2,label\n0,0,1,1,"%s"\n' % ("a" * 200_000))
    with pytest.raises(UnreadableFile, match="field larger than field limit"):
        read_detections(tmp_path / "a.csv")


def test_one_long_label_does_not_multiply_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [{"bbox": [0, 0, 1, 1], "category_id": "a" * (100_000 if row == 0 else 1)} for row in range(1000)]
    monkeypatch.setenv("CHOQUE_READ_LIMIT", "100M")
    with pytest.raises(UnreadableFile, match="CHOQUE_READ_LIMIT"):
        read_detections(written(tmp_path / "a.json", entries))


def test_a_file_that_changes_before_its_entries_are_written(tmp_path: Path) -> None:
    written(tmp_path / "a.json", RESULTS[:1])
    with pytest.raises(UnreadableFile, match=r"a\.json"):
        write_kept(tmp_path / "b.json", tmp_path / "a.json", np.array([2]))
    assert not (tmp_path / "b.json").exists()
