"""Files of pairs: Parquet tables with the columns ``first`` and ``second``, int64, written in sorted runs.

A finished search is a folder of them, `Found`, of which nothing is loaded before it is asked for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from choque._core import check
from choque._core.pair_keys import halves
from choque._core.types import I64
from choque.errors import InvalidInput, UnreadableFile, require
from choque.files.atomic import replacing
from choque.files.boxes import PAIR_COLUMNS, pyarrow

Span: TypeAlias = tuple[int, int]  # a range of ids, both ends included

MANIFEST = "_manifest.jsonl"
GROUP_PAIRS = 1 << 17
"""Pairs in a row group: small enough for a reader that wants a range of ``first`` to skip most of a file."""


class PairWriter:
    """Writes runs of pairs to one file."""

    def __init__(self, handle: Any) -> None:
        arrow, parquet = pyarrow("pyarrow", "scale"), pyarrow("pyarrow.parquet", "scale")
        self._schema = arrow.schema([(name, arrow.int64()) for name in PAIR_COLUMNS])
        # Differences of sorted ids take few bits: about 5 bytes a pair instead of 16, at the speed of copying.
        self._writer = parquet.ParquetWriter(
            handle,
            self._schema,
            compression="none",
            use_dictionary=False,
            column_encoding=dict.fromkeys(PAIR_COLUMNS, "DELTA_BINARY_PACKED"),
        )
        self._table = arrow.table
        self.count = 0

    def write(self, first: I64, second: I64) -> None:
        """Append pairs, each column (m,)."""
        self.count += len(first)
        self._writer.write_table(self._table([first, second], schema=self._schema), row_group_size=GROUP_PAIRS)

    def close(self) -> None:
        """Write what a reader looks at first."""
        self._writer.close()


@contextmanager
def writing(path: Path) -> Iterator[PairWriter]:
    """Write a file of pairs beside ``path``, which it replaces when the block ends well."""
    with replacing(path) as handle:
        writer = PairWriter(handle)
        yield writer
        writer.close()


def sort_pairs(first: I64, second: I64) -> tuple[I64, I64]:
    """Return pairs sorted by the first, then by the second id."""
    if not len(first):
        return first, second
    low, high = int(min(first.min(), second.min())), int(max(first.max(), second.max()))
    if high - low >= 1 << 32:
        order = np.lexsort((second, first))
        return first[order], second[order]
    # One key a pair: sorting numbers takes a tenth of the time of sorting places.
    keys = ((first - low).astype(np.uint64) << np.uint64(32)) | (second - low).astype(np.uint64)
    keys.sort()
    one, other = halves(keys)
    return one.astype(np.int64) + low, other.astype(np.int64) + low


def read_pairs(path: Path, batch_rows: int = 1 << 20) -> Iterator[I64]:
    """Yield the pairs of a file in its order, (m, 2) int64, at most ``batch_rows`` at a time."""
    with _opened(path) as source:
        for batch in source.iter_batches(batch_rows, columns=PAIR_COLUMNS):
            yield np.column_stack([batch.column(name).to_numpy() for name in PAIR_COLUMNS])


def count_pairs(path: Path) -> int:
    """Return the number of pairs in a file; only its end is read."""
    with _opened(path) as source:
        return int(source.metadata.num_rows)


def ranges_of_first(paths: Sequence[Path], limit: int) -> list[Span]:
    """Divide all ids by the statistics of the files into ranges with about ``limit`` pairs each."""
    groups = [(facts.min, facts.max, count) for path in paths for facts, count in _statistics(path, 0)]
    if not groups:
        return []
    lowest, highest, counts = zip(*groups, strict=True)
    part_count = -(-sum(counts) // limit)
    # As if the pairs of a group were spread evenly between its lowest and its highest first id.
    low, high = np.array(lowest, np.float64), np.array(highest, np.float64)
    grid = np.linspace(low.min(), high.max() + 1, min(1 << 12, 64 * part_count))
    passed = np.zeros(len(grid))
    for start, end, count in zip(low, high, counts, strict=True):
        passed += count * np.clip((grid - start) / (end - start + 1), 0, 1)
    borders = np.interp(np.arange(1, part_count) / part_count * passed[-1], passed, grid)
    starts = sorted({min(lowest), *(int(border) for border in borders if border > min(lowest))})
    return list(zip(starts, [*(start - 1 for start in starts[1:]), max(highest)], strict=True))


def sort_range(paths: Sequence[Path], span: Span, limit: int, target: Path) -> int:
    """Write the pairs of all ``paths`` with a first id in ``span``, sorted; return their number.

    At most ``limit`` pairs are held: a range with more of them is halved, and so are the second ids of a single first
    one. O(m log m) time for m pairs.
    """
    waiting = [(span, _extent(paths, 1))]
    with writing(target) as writer:
        while waiting:
            first, second = waiting.pop()
            found = _collect(paths, first, second, limit)
            if found is not None:
                writer.write(*sort_pairs(found[:, 0], found[:, 1]))
            elif first[0] < first[1]:
                waiting += [(half, second) for half in _halves(first)]
            else:
                waiting += [(first, half) for half in _halves(second)]
        return writer.count


def _extent(paths: Sequence[Path], column: int) -> Span:
    """Return the lowest and the highest id in a column, by the statistics of the files; (0, 0) if they are empty."""
    found = [facts for path in paths for facts, _ in _statistics(path, column)]
    return (min(facts.min for facts in found), max(facts.max for facts in found)) if found else (0, 0)


def _statistics(path: Path, column: int) -> list[tuple[Any, int]]:
    """Return the statistics of a column and the number of pairs, for each row group of a file."""
    with _opened(path) as source:
        groups = [source.metadata.row_group(number) for number in range(source.metadata.num_row_groups)]
        return [(group.column(column).statistics, group.num_rows) for group in groups]


def _halves(span: Span) -> tuple[Span, Span]:
    """Return the upper and the lower half of a range, in the order in which a stack takes them."""
    middle = (span[0] + span[1]) // 2
    return (middle + 1, span[1]), (span[0], middle)


def _collect(paths: Sequence[Path], first: Span, second: Span, limit: int) -> I64 | None:
    """Return the pairs (m, 2) with ids in these ranges; None if there are more than ``limit``, of different ids."""
    parts: list[I64] = [np.empty((0, 2), np.int64)]
    count = 0
    for path in paths:
        with _opened(path) as source:
            for number in range(source.metadata.num_row_groups):
                facts = source.metadata.row_group(number).column(0).statistics
                if facts.min > first[1] or facts.max < first[0]:
                    continue
                table = source.read_row_group(number, columns=PAIR_COLUMNS)
                pairs = np.column_stack([table.column(name).to_numpy() for name in PAIR_COLUMNS])
                chosen = (pairs[:, 0] >= first[0]) & (pairs[:, 0] <= first[1])
                chosen &= (pairs[:, 1] >= second[0]) & (pairs[:, 1] <= second[1])
                parts.append(pairs[chosen])
                count += len(parts[-1])
                if count > limit and (first[0] < first[1] or second[0] < second[1]):
                    return None
    return np.concatenate(parts)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    parquet = pyarrow("pyarrow.parquet", "scale")
    try:
        source = parquet.ParquetFile(path)
    except (OSError, ValueError) as problem:
        raise UnreadableFile(f"The pairs in {path} cannot be read: {problem}.") from problem
    with source:
        yield source


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
