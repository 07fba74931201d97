"""Comma-separated text: boxes and pairs, one a line."""

from __future__ import annotations

import csv
import re
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.types import F64
from choque.errors import UnreadableFile
from choque.files.atomic import replacing
from choque.files.box_arrays import BoxArrays, boxes_from_table, column_names, usual_columns
from choque.files.budget import check_size
from choque.files.source import NUMBER_MEMORY, require_text, text_lines

ENCODING = "utf-8-sig"
DATA = re.compile(r'(?:(?:^|,)\s*"(?:[^"]|"")*(?:"|($))|[^#,]+|,)*')
"""A line up to its comment, which does not begin within a quoted field; the group is found if such a field is open."""

ROWS_AT_ONCE = 65_536


def read_csv(path: Path) -> BoxArrays:
    """Read boxes from columns of usual names, in any order, or from 4 or 6 unnamed ones.

    Blank lines, text after a ``#`` and columns of other names are ignored; fields may be quoted. A header alone is an
    empty set of boxes in the dimensions that it names. The result is float64.
    """
    require_text(path, "comma-separated text")
    return boxes_from_table(_read_table(path), path)


def write_columns(path: Path, columns: dict[str, NDArray[Any]]) -> None:
    """Write columns (n,) of any kinds of numbers under their names; each reads back as the same value in float64."""
    row = ",".join(["%r"] * len(columns)) + "\n"
    with replacing(path) as handle:
        handle.write((",".join(columns) + "\n").encode())
        for first in range(0, min(map(len, columns.values())), ROWS_AT_ONCE):
            parts = [column[first : first + ROWS_AT_ONCE].tolist() for column in columns.values()]
            # Formatting many rows at once is several times faster than row by row.
            handle.write((row * len(parts[0]) % tuple(chain.from_iterable(zip(*parts, strict=True)))).encode())


def _read_table(path: Path) -> F64:
    """Read the bounds as (n, 2·d); lines are checked one by one only after an error."""
    line_number, fields = _first_line(path)
    columns, skipped = _columns(path, line_number, fields)
    if not _has_data(path, skipped):
        return np.empty((0, len(columns)))
    check_size(NUMBER_MEMORY * len(fields) * _count_lines(path), path)
    # The parser counts the fields of each line only if it is not told which columns to read.
    chosen = None if len(columns) == len(fields) else columns
    try:
        if chosen is not None and not _is_even(path, skipped, len(fields)):
            raise ValueError("its lines differ in length")
        table = np.loadtxt(
            path, delimiter=",", skiprows=skipped, usecols=chosen, ndmin=2, encoding=ENCODING, quotechar='"'
        )
        if chosen is None and table.shape[1] != len(fields):
            raise ValueError("its lines differ in length from the header")
    except ValueError as problem:
        fault = _first_fault(path, skipped, len(fields), columns) or f"The file {path} is damaged: {problem}."
        raise UnreadableFile(fault) from problem
    return table[:, columns] if chosen is None else table


def _first_line(path: Path) -> tuple[int, list[str]]:
    """Return the number, from 1, and the fields of the first line that is not blank."""
    for number, line in enumerate(text_lines(path), start=1):
        if not is_blank(line):
            return number, fields_of(line)
    raise UnreadableFile(f"The file {path} has neither a header nor a line of numbers.")


def _columns(path: Path, line_number: int, fields: list[str]) -> tuple[list[int], int]:
    """Return the columns that hold the bounds, and the number of lines before the numbers."""
    if any(_is_number(field) for field in fields):
        if len(fields) not in (4, 6):
            raise UnreadableFile(
                f"{path}, line {line_number}: {_count(len(fields))} where boxes have 4 or 6, separated by "
                "commas, all lower bounds first."
            )
        return list(range(len(fields))), 0
    names = [field.strip("\"'").lower() for field in fields]
    wanted = usual_columns(names) or column_names(3 if {"z_lower", "z_upper"} & set(names) else 2)
    if len(names) == 1:
        raise UnreadableFile(
            f"{path}, line {line_number}: the header is {fields[0]!r}; boxes have 4 or 6 columns, separated by commas, "
            f"such as {', '.join(wanted)}."
        )
    if any(names.count(name) != 1 for name in wanted):
        raise UnreadableFile(
            f"{path}, line {line_number}: the header is {', '.join(names)[:200]}; it needs one each of "
            f"{', '.join(wanted)}, or of other usual names, such as xmin, ymin, xmax, ymax."
        )
    return [names.index(name) for name in wanted], line_number


def _has_data(path: Path, skipped: int) -> bool:
    return any(not is_blank(line) for line in islice(text_lines(path), skipped, None))


def _count_lines(path: Path) -> int:
    with path.open("rb") as handle:
        blocks = iter(lambda: handle.read(1 << 20), b"")
        return 1 + sum(max(block.count(b"\n"), block.count(b"\r")) for block in blocks)


def _is_even(path: Path, skipped: int, width: int) -> bool:
    """Return whether all lines of numbers have ``width`` fields."""
    return all(_width(line) == width for line in islice(text_lines(path), skipped, None) if not is_blank(line))


def _first_fault(path: Path, skipped: int, width: int, columns: list[int]) -> str | None:
    """Describe the first line that does not have ``width`` fields with numbers in ``columns``."""
    for number, line in enumerate(islice(text_lines(path), skipped, None), start=skipped + 1):
        if is_blank(line):
            continue
        fields = fields_of(line)
        if len(fields) != width:
            return (
                f"{path}, line {number}: {_count(len(fields))} where the first line has {width}. If lines start "
                "with a name of their own, give its column a name in the header."
            )
        for column in columns:
            if not _is_number(fields[column]):
                return f"{path}, line {number}: {fields[column]!r} in column {column + 1} is not a number."
    return None


def _width(line: str) -> int:
    return len(fields_of(line)) if '"' in line else line.partition("#")[0].count(",") + 1


def fields_of(line: str) -> list[str]:
    """Return the fields of a line without its comment, without blanks around them."""
    if '"' not in line:
        return [field.strip() for field in line.partition("#")[0].split(",")]
    found = next(DATA.finditer(line))
    if found[1] is not None:
        raise ValueError(f"a quoted field does not end in the line {line.strip()[:60]!r}")
    return [field.strip() for field in next(csv.reader([found[0]], skipinitialspace=True), [""])]


def is_blank(line: str) -> bool:
    """Return whether a line has nothing, or nothing but a comment."""
    return not line.partition("#")[0].strip()


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def _count(field_count: int) -> str:
    return "1 field" if field_count == 1 else f"{field_count} fields"
