"""Tables of any values as comma-separated text, with remarks before them."""

from __future__ import annotations

import csv
import dataclasses
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from choque.files.atomic import replacing


def write_rows(
    path: str | os.PathLike[str],
    names: Sequence[str],
    rows: Iterable[Sequence[object]],
    remarks: Mapping[str, object] | None = None,
) -> None:
    """Write a line of ``names`` and a line for each of ``rows``; None becomes an empty field.

    ``remarks``, such as a description of the machine, come first, each on a line that starts with ``#``.
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
    """Write instances of one dataclass, one column for each field; no rows give no line of names either."""
    names = [each.name for each in dataclasses.fields(rows[0])] if rows else []
    write_rows(path, names, map(dataclasses.astuple, rows), remarks)
