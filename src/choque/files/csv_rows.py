"""Rows of words and numbers as CSV: what studies, benchmarks and tables of contacts write."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from typing import Any

from choque.files.atomic import replacing


def write_rows(
    path: str | os.PathLike[str],
    names: Sequence[str],
    rows: Iterable[Sequence[object]],
    remarks: Mapping[str, object] | None = None,
) -> None:
    """Write a line of ``names`` and a line for each of ``rows``, whole or not at all; None is an empty field.

    ``remarks`` come first, a line each that starts with ``#``: the machine's description belongs there.
    """
    text = io.StringIO(newline="")
    for key, value in (remarks or {}).items():
        text.write(f"# {key}: {value}\n")
    writer = csv.writer(text, lineterminator="\n")
    if names:
        writer.writerow(names)
    writer.writerows(rows)
    with replacing(path) as handle:
        handle.write(text.getvalue().encode())


def write_dataclasses(
    path: str | os.PathLike[str], rows: Sequence[Any], remarks: Mapping[str, object] | None = None
) -> None:
    """Write instances of one dataclass, a column a field; without any there is no line of names either."""
    names = [each.name for each in fields(rows[0])] if rows else []
    write_rows(path, names, map(astuple, rows), remarks)
