"""Boxes with scores and classes: COCO JSON, and tables with a column for each.

COCO's ``bbox`` is x, y, width and height. A file of results is a list of objects with ``image_id``, ``category_id``,
``bbox`` and ``score``; a file of annotations has such a list under ``annotations``, without scores.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque._core.tables import SCHEMES
from choque._core.types import F64, I64, Floats
from choque.errors import InvalidInput, UnreadableFile
from choque.files.atomic import replacing
from choque.files.boxes import FRAME_FORMATS, READERS, arrow_columns, pyarrow, read_boxes
from choque.files.budget import check_size
from choque.files.csv_table import fields_of, is_blank
from choque.files.source import check_suffix, lower_suffix, naming_damage, read_text

SCORE_NAMES = ("score", "scores", "confidence", "conf", "probability")
GROUP_NAMES = ("category_id", "class_id", "class", "label", "category", "name", "class_name")
IMAGE_NAMES = ("image_id", "image", "frame", "image_name", "file_name", "filename")


@dataclass(frozen=True)
class Detections:
    """Boxes as a detector writes them.

    Attributes
    ----------
    lower, upper
        (n, d) corners.
    scores
        (n,) float64, or None if the file has none.
    groups
        (n,) int64: boxes of one image and one class have one number; None if the file has neither.
    labels
        (n,) text: the class of each box; empty without classes.
    images
        (n,) text: the image of each box; None if the file has none.
    """

    lower: Floats
    upper: Floats
    scores: F64 | None
    groups: I64 | None
    labels: NDArray[np.str_]
    images: NDArray[np.str_] | None = None

    def __len__(self) -> int:
        return len(self.lower)


def read_detections(path: str | os.PathLike[str], *, score: str | None = None, group: str | None = None) -> Detections:
    """Read boxes, scores and classes from COCO ``.json``, ``.csv`` or ``.parquet``; other formats have boxes alone.

    Parameters
    ----------
    path
        The file.
    score, group
        The columns of a table with the scores and the classes; None for usual names: score, confidence, …;
        category_id, class, label, ….
    """
    file = Path(path)
    suffix = lower_suffix(file)
    if suffix == ".json":
        with naming_damage(file):
            return _read_coco(file)
    check_suffix(file, suffix, [".json", *READERS, *FRAME_FORMATS], "boxes")
    lower, upper = read_boxes(file)
    if suffix not in (".csv", ".parquet"):
        return Detections(lower, upper, None, None, np.zeros(len(lower), np.str_))
    wanted = {"score": (score,) if score else SCORE_NAMES, "group": (group,) if group else GROUP_NAMES}
    read_columns: Any = _csv_columns if suffix == ".csv" else arrow_columns
    with naming_damage(file):
        columns = read_columns(file, [*wanted["score"], *wanted["group"], *IMAGE_NAMES])
    for asked in (score, group):
        if asked is not None and asked not in columns:
            raise InvalidInput(f"The file {file} has no column {asked!r}.")
    scores, classes, images = (
        next((columns[name] for name in names if name in columns), None)
        for names in (wanted["score"], wanted["group"], IMAGE_NAMES)
    )
    return _assembled(file, (lower, upper), scores, classes, images)


def write_kept(path: str | os.PathLike[str], source: str | os.PathLike[str], rows: I64) -> None:
    """Write the entries ``rows`` of a file of detections, as they are, to ``path``, a file of the same format."""
    file = Path(source)
    with naming_damage(file), replacing(Path(path)) as handle:
        if lower_suffix(file) == ".csv":
            header, *lines = _csv_lines(file)
            handle.write("".join(f"{line}\n" for line in (header, *(lines[row] for row in rows.tolist()))).encode())
        elif lower_suffix(file) == ".parquet":
            parquet = pyarrow("pyarrow.parquet")
            parquet.write_table(parquet.read_table(file).take(rows), handle)
        else:
            document, entries = _coco_entries(file)
            kept: Any = [entries[row] for row in rows.tolist()]
            if isinstance(document, dict):
                kept = document | {"annotations": kept}
            handle.write(json.dumps(kept).encode())


def _coco_entries(file: Path) -> tuple[Any, list[Any]]:
    text = read_text(file, "COCO JSON, which is text")
    try:
        document = json.loads(text)
    except RecursionError as problem:
        raise UnreadableFile(f"The file {file} nests too deeply for a COCO file.") from problem
    entries = document.get("annotations") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise UnreadableFile(
            f"The file {file} is not a COCO file: it must be a list of results, or have a list of annotations."
        )
    return document, entries


def _read_coco(file: Path) -> Detections:
    document, entries = _coco_entries(file)
    boxes = np.empty((len(entries), 4))
    for row, entry in enumerate(entries):
        box: Any = entry.get("bbox") if isinstance(entry, dict) else None
        is_given = isinstance(box, list) and len(box) == 4 and all(check.is_number(part) for part in box)
        if not is_given or not (np.isfinite(box).all() and min(box[2:]) >= 0):
            raise UnreadableFile(
                f"Entry {row} of {file} has no bbox of four numbers but {str(box)[:80]}: x, y, width and height must "
                "be finite, and sizes must not be negative."
            )
        boxes[row] = box
    scores, classes, images = (_coco_values(file, entries, key) for key in ("score", "category_id", "image_id"))
    if document == []:  # a detector that found nothing
        scores = []
    names = _category_names(document)
    classes = classes and [names.get(each, each) for each in classes]
    return _assembled(file, (boxes[:, :2].copy(), boxes[:, :2] + boxes[:, 2:]), scores, classes, images)


def _coco_values(file: Path, entries: list[Any], key: str) -> list[Any] | None:
    """Return what all entries have for ``key``; None if none has it."""
    if not any(key in entry for entry in entries):
        return None
    for row, entry in enumerate(entries):
        if isinstance(entry.get(key, []), list | dict):
            raise UnreadableFile(
                f"Entry {row} of {file} has no {key} that is a number or text; other entries have one."
            )
    return [entry[key] for entry in entries]


def _category_names(document: Any) -> dict[Any, str]:
    given = document.get("categories", []) if isinstance(document, dict) else []
    entries = given if isinstance(given, list) else []
    return {
        each["id"]: str(each["name"])
        for each in entries
        if isinstance(each, dict) and isinstance(each.get("id"), int) and "name" in each
    }


def _assembled(file: Path, boxes: tuple[Any, Any], scores: Any, classes: Any, images: Any) -> Detections:
    if scores is not None:
        try:
            scores = check.numbers(np.asarray(scores).astype(np.float64), "scores")
        except (TypeError, ValueError, OverflowError):
            raise UnreadableFile(f"The scores of {file} are not all numbers; NaN is none.") from None
    labels, places = (None if each is None else _texts(file, each) for each in (classes, images))
    parts = [part for part in (labels, places) if part is not None]
    groups = None
    if parts:
        groups = np.zeros(len(boxes[0]), np.int64)
        for part in parts:
            numbers = np.unique(part, return_inverse=True)[1]
            groups = np.unique(groups * (numbers.max(initial=0) + 1) + numbers, return_inverse=True)[1]
    labels = np.zeros(len(boxes[0]), np.str_) if labels is None else labels
    return Detections(*boxes, scores, groups, labels, places)


def _texts(file: Path, values: Any) -> NDArray[np.str_]:
    """Return values of any kind as text; the array gives each of them the space of the longest."""
    words = [str(value) for value in values]
    check_size(4 * len(words) * max(map(len, words), default=0), file)
    return np.array(words, np.str_)


def _csv_lines(file: Path) -> list[str]:
    """Return the lines of a CSV file that are not blank, the header first."""
    return [line for line in read_text(file, "comma-separated text").split("\n") if not is_blank(line)]


def _csv_columns(file: Path, wanted: list[str]) -> dict[str, list[str]]:
    """Return those of the ``wanted`` columns that the header of a CSV file names."""
    header, *rows = map(fields_of, _csv_lines(file))
    names = [field.strip("\"'").lower() for field in header]
    if not any({scheme[0], scheme[3]} <= set(names) for scheme in SCHEMES):
        return {}
    places = {name: names.index(name.lower()) for name in wanted if name.lower() in names}
    return {name: [row[place] for row in rows] for name, place in places.items()}
