"""The pairs that a search has written: a Parquet dataset, nothing of which is loaded before it is asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from choque._core import check
from choque._core.types import I64
from choque.errors import InvalidInput, UnreadableFile, require
from choque.scale.pair_files import read_pairs

MANIFEST = "_manifest.jsonl"


class Found:
    """The pairs of a finished search, on disk.

    Attributes
    ----------
    folder
        Where they are.
    files
        The Parquet files, in order; each has the columns ``first`` and ``second``, int64.
    count
        The number of pairs.

    Examples
    --------
    >>> found = choque.scale.open("pairs/")                     # doctest: +SKIP
    >>> found.count, found.head(3)                              # doctest: +SKIP
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        path = self.folder / MANIFEST
        try:
            lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            self.files = [self.folder / str(line["file"]) for line in lines]
            self.count = sum(int(line["pairs"]) for line in lines)
        except FileNotFoundError:
            raise UnreadableFile(
                f"The folder {self.folder} holds no finished search: there is no {MANIFEST} in it."
            ) from None
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise UnreadableFile(f"The file {path} is damaged: {problem!r}. Run the search again.") from problem

    def __repr__(self) -> str:
        return f"<Found: {self.count:,} pairs in {len(self.files)} files of {self.folder}>"

    def head(self, count: int = 5) -> I64:
        """Return the first pairs, at most ``count``: (m, 2) int64."""
        count = check.whole_number(count, "count", 0)
        parts, missing = [np.empty((0, 2), np.int64)], count
        for pairs in self.scan(batch_rows=max(1, count)):
            parts.append(pairs[:missing])
            missing -= len(parts[-1])
            if missing <= 0:
                break
        return np.concatenate(parts)

    def scan(self, *, batch_rows: int = 1 << 20) -> Iterator[I64]:
        """Yield all pairs in the order of the files, (m, 2) int64, at most ``batch_rows`` at a time."""
        batch_rows = check.whole_number(batch_rows, "batch_rows", 1)
        for path in self.files:
            yield from read_pairs(path, batch_rows)

    def to_dask(self) -> Any:
        """Return the pairs as a ``dask.dataframe``, with a partition for each file."""
        frames = require("dask.dataframe", extra="scale", purpose="to make a dataframe of the pairs")
        return frames.read_parquet([str(path) for path in self.files])


def open(folder: str | os.PathLike[str]) -> Found:  # noqa: A001
    """Open the pairs that an earlier search has written to ``folder``."""
    if not Path(folder).is_dir():
        raise InvalidInput(f"There is no folder {folder}.")
    return Found(folder)
