"""The plan of a search: which tiles, what each task reads, and what it will take; a small file that people can read."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from choque._core.types import Floats
from choque.errors import InvalidInput, UnreadableFile
from choque.files.atomic import replacing
from choque.files.budget import in_words
from choque.scale.inputs import BoxSet, File, Sets, read_batches
from choque.scale.tiling import Tiling, count_tiles, cut

VERSION = 1
SAMPLE_ROWS = 1_000_000  # boxes that are looked at before the cuts are made
SAMPLE_BYTES = 100  # memory for each of them, while their pairs are counted
PROCESS_BYTES = 210 << 20  # memory of a process that has loaded the libraries and kernels and holds no boxes
LEAST_BYTES = 48 << 20  # memory beside `PROCESS_BYTES` with which a worker can still work

TILE_ROWS, BATCH_ROWS = 1_000_000, 2 << 20
"""Tiles and batches are not larger than this without need: many of them keep all workers busy to the end."""

PIECE_ROWS = 4096
"""About the fewest boxes that a tile has in a batch: for very many boxes, tiles and batches are larger instead."""

MAX_RUN = 8 << 20  # pairs that are sorted and written at once, at most

REPRESENTATIVE = 0.8
"""The first rows of a group stand for all of it if they cover this share of its extent on every axis."""

SCATTER_SECONDS, JOIN_SECONDS, PAIR_SECONDS = 4e-7, 5e-7, 1e-7
"""Time for each box that is scattered and joined, and for each pair, on one core of a common machine [s]."""

Order = Literal["tile", "global"]


@dataclass(frozen=True)
class Share:
    """What one task of the scatter reads: groups of rows of a file."""

    set_number: int
    file_number: int
    first_group: int
    last_group: int
    first_row: int  # the number of the first row in its set


@dataclass(frozen=True)
class Options:
    """What decides the answer and the bytes in which it is written."""

    closed: bool
    order: Order
    tile_rows: int  # boxes that one join takes; tiles with more of them are divided
    batch_rows: int  # boxes that are read at once
    run_pairs: int  # pairs that are sorted and written at once


@dataclass(frozen=True)
class Expectation:
    """What a search will take, by the sample."""

    replication: float  # how often a box is written to a tile
    large_count: int  # boxes that touch many tiles and are seen by all
    pair_count: int
    disk_bytes: int  # bytes beside the input at the worst moment: scattered boxes and pairs
    seconds: float


@dataclass(frozen=True)
class SearchPlan:
    """How a search for pairs larger than memory is divided; ``print`` shows what it will take.

    Attributes
    ----------
    sets
        One set of boxes, or two for a join.
    options, expected
        What decides the answer, and what the search is expected to take.
    memory, workers
        Bytes for all processes together, and the number of workers.
    """

    sets: Sets
    tiling: Tiling
    options: Options
    expected: Expectation
    memory: int
    workers: int

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self.sets[0].dimension

    @property
    def dtype(self) -> np.dtype[Any]:
        """The float type of the scattered boxes."""
        return np.result_type(*(each.dtype for each in self.sets))

    @property
    def box_count(self) -> int:
        """The number of boxes, those of both sets in a join."""
        return sum(each.row_count for each in self.sets)

    @property
    def digest(self) -> str:
        """A hash of the inputs and of all that decides the bytes of the answer."""
        record = self._record()
        decisive = {name: record[name] for name in ("version", "sets", "options", "cuts")}
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def identities(self) -> tuple[Any, ...]:
        """What tells the sets from others; see `identity`."""
        return tuple(identity(each) for each in self.sets)

    def shares(self) -> list[Share]:
        """Return what each task of the scatter reads: about the rows of one batch; groups of a file are not divided."""
        return [share for number, each in enumerate(self.sets) for share in self._shares_of(number, each)]

    def _shares_of(self, number: int, boxes: BoxSet) -> Iterator[Share]:
        first_row = 0
        for place, file in enumerate(boxes.files):
            start = rows = 0
            for group, count in enumerate(file.groups):
                if rows and rows + count > self.options.batch_rows:
                    yield Share(number, place, start, group, first_row)
                    first_row += rows
                    start, rows = group, 0
                rows += count
            if rows:
                yield Share(number, place, start, len(file.groups), first_row)
                first_row += rows

    def __str__(self) -> str:
        sizes = " and ".join(f"{each.row_count:,}" for each in self.sets)
        expected, tiles = self.expected, self.tiling.tile_count
        lines = {
            "boxes": f"{sizes} in {self.dimension}D, {self.dtype}, {in_words(sum(b.byte_count for b in self.sets))}",
            "tiles": f"{tiles:,}, of about {math.ceil(self.box_count * expected.replication / tiles):,} boxes each",
            "written": f"{expected.replication:.3f} times a box; {expected.large_count:,} boxes are seen by every tile",
            "pairs": f"about {expected.pair_count:,}",
            "disk": f"{in_words(expected.disk_bytes)} beside the input",
            "memory": f"{in_words(self.memory)} for {self.workers} {'worker' if self.workers == 1 else 'workers'}",
            "time": f"about {max(1, round(expected.seconds)):,} s",
        }
        return "\n".join(f"{word:<9}{text}" for word, text in lines.items())

    # The file

    def _record(self) -> dict[str, Any]:
        def node(child: int) -> str:
            return f"tile {~child}" if child < 0 else f"cut {child}"

        cuts = [
            ["xyz"[axis], position, node(below), node(above)]
            for axis, position, (below, above) in zip(
                self.tiling.axis.tolist(), self.tiling.position.tolist(), self.tiling.children.tolist(), strict=True
            )
        ]
        files = [
            [{name: value for name, value in asdict(file).items() if name != "extents"} for file in each.files]
            for each in self.sets
        ]
        return {
            "version": VERSION,
            "sets": [{"ids": each.ids, "files": listed} for each, listed in zip(self.sets, files, strict=True)],
            "options": asdict(self.options),
            "memory": self.memory,
            "workers": self.workers,
            "expected": asdict(self.expected),
            "cuts": cuts,
        }

    def write(self, path: Path) -> None:
        """Write the plan as JSON."""
        record = {"digest": self.digest, **self._record()}
        parts = [f"  {json.dumps(name)}: {_laid_out(value)}" for name, value in record.items()]
        with replacing(path) as handle:
            handle.write(("{\n" + ",\n".join(parts) + "\n}\n").encode())

    @classmethod
    def read(cls, path: Path) -> SearchPlan:
        """Read what `write` has written."""
        try:
            record = json.loads(path.read_text("utf-8"))
            sets = tuple(BoxSet(tuple(map(_file, each["files"])), each["ids"]) for each in record["sets"])
            cuts = record["cuts"]
            children = [[_node_number(word) for word in (below, above)] for _, _, below, above in cuts]
            tiling = Tiling(
                np.array(["xyz".index(each[0]) for each in cuts], np.int64),
                np.array([each[1] for each in cuts], np.float64),
                np.array(children, np.int64).reshape(-1, 2),
            )
            options, expected = Options(**record["options"]), Expectation(**record["expected"])
            plan = cls(sets, tiling, options, expected, record["memory"], record["workers"])
            is_whole = plan.digest == record["digest"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
            raise UnreadableFile(f"The plan {path} cannot be read: {problem!r}. Remove its folder.") from problem
        if not is_whole:
            raise UnreadableFile(f"The plan {path} was changed by hand or by another version. Remove its folder.")
        return plan


def identity(boxes: BoxSet) -> tuple[Any, ...]:
    """Return what tells a set of boxes from another: its files, their sizes and times, and the columns read."""
    return boxes.ids, tuple((file.path, file.stamp, file.columns) for file in boxes.files)


def _laid_out(value: Any) -> str:
    """JSON with a line for each item of a list."""
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"    {json.dumps(item)}" for item in value) + "\n  ]"
    return json.dumps(value)


def _file(record: dict[str, Any]) -> File:
    return File(**{**record, "groups": tuple(record["groups"]), "columns": tuple(record["columns"])})


def _node_number(word: str) -> int:
    kind, _, number = word.partition(" ")
    return ~int(number) if kind == "tile" else int(number)


# Making one


def make_plan(
    sets: Sets, *, closed: bool, order: Order, memory: int, workers: int, tile_rows: int | None = None
) -> SearchPlan:
    """Sample the boxes, cut space into tiles that fit the memory of a worker, and say what the search will take."""
    if len({each.dimension for each in sets}) > 1:
        raise InvalidInput(f"The two sets are {sets[0].dimension}D and {sets[1].dimension}D; they must agree.")
    dimension = sets[0].dimension
    dtype = np.result_type(*(each.dtype for each in sets))
    box_count = sum(each.row_count for each in sets)
    tile, batch, run = _fitting(memory, workers, dimension, dtype)
    tile, batch = min(tile_rows or tile, tile), min(max(BATCH_ROWS, box_count >> 11), batch)
    options = Options(closed, order, tile, batch, run)
    sample_rows = min(SAMPLE_ROWS, _third(memory, workers) // SAMPLE_BYTES)
    sample = np.concatenate([_sample(each, dtype, max(1, sample_rows // len(sets))) for each in sets])
    weight = box_count / max(1, len(sample))
    useful = max(TILE_ROWS, PIECE_ROWS * box_count // options.batch_rows)
    tiling = cut(sample, weight, options.tile_rows if tile_rows else min(options.tile_rows, useful), dimension)
    expected = _expect(sample, weight, tiling, options, dtype, workers)
    return SearchPlan(sets, tiling, options, expected, memory, workers)


def least_memory(workers: int) -> int:
    """Return the least memory with which this number of workers can work [bytes]."""
    return (workers + 1) * PROCESS_BYTES + workers * LEAST_BYTES if workers > 1 else PROCESS_BYTES + LEAST_BYTES


def _third(memory: int, workers: int) -> int:
    """Return a third of what a worker may use beside its libraries [bytes]."""
    processes = workers + 1 if workers > 1 else 1
    return (memory - processes * PROCESS_BYTES) // workers // 3


def _fitting(memory: int, workers: int, dimension: int, dtype: np.dtype[Any]) -> tuple[int, int, int]:
    """Divide the memory of a worker into three: boxes of a tile, the search among them, and pairs.

    Return how many boxes of a tile, boxes of a batch and pairs of a run fit.
    """
    if memory < least_memory(workers):
        raise InvalidInput(
            f"memory is {in_words(memory)}; {workers} {'worker needs' if workers == 1 else 'workers need'} at least "
            f"{in_words(least_memory(workers))}" + (", or fewer workers." if workers > 1 else ".")
        )
    third = _third(memory, workers)
    box_bytes = 2 * dimension * dtype.itemsize + 8
    # A search holds records, the same in the order of cells, keys and rows; three times the boxes, and a little.
    join_bytes = 6 * dtype.itemsize * 2 + 48
    tile = max(1024, min(2 * third // (box_bytes + join_bytes), 1 << 30))
    batch = max(1024, 2 * third // (3 * box_bytes))  # held as columns, as rows, and in the order of tiles
    # Keys, sorted keys, pairs of rows, two columns of ids, and the buffers of the Parquet writer.
    return tile, batch, min(third // 80, MAX_RUN)


def _expect(
    sample: Floats, weight: float, tiling: Tiling, options: Options, dtype: np.dtype[Any], workers: int
) -> Expectation:
    from choque.bounds import Boxes
    from choque.broad import create

    dimension = sample.shape[1] // 2
    homes, counts = np.empty(len(sample), np.int64), np.zeros(tiling.tile_count + 1, np.int64)
    count_tiles(sample, tiling, homes, counts)
    boxes = Boxes(np.ascontiguousarray(sample[:, :dimension]), np.ascontiguousarray(sample[:, dimension:]))
    # Both boxes of a pair are in the sample with the probability of one, squared.
    pair_count = create("auto", boxes, closed=options.closed).count() * weight**2 if len(sample) else 0
    written = float(counts.sum() * weight)
    pair_bytes = 5 if options.order == "tile" else 10
    record_bytes = 2 * dimension * dtype.itemsize + 8
    busy = len(sample) * weight * SCATTER_SECONDS + written * JOIN_SECONDS + pair_count * PAIR_SECONDS
    return Expectation(
        replication=written / max(1.0, len(sample) * weight),
        large_count=round(int(counts[-1]) * weight),
        pair_count=round(pair_count),
        disk_bytes=round(written * record_bytes + pair_count * pair_bytes),
        seconds=round(busy / workers, 3),
    )


def _sample(boxes: BoxSet, dtype: np.dtype[Any], limit: int) -> Floats:
    """Return at most ``limit`` boxes, the same at every call: the first rows of each group, or every k-th of it.

    The first rows of a group stand for it if they cover what the statistics of the file say about it.
    """
    step = max(1, math.ceil(boxes.row_count / limit))
    parts = [np.empty((0, 2 * boxes.dimension), dtype)]
    for file in boxes.files:
        for group, row_count in enumerate(file.groups):
            extent = file.extents[group]
            if row_count and (step == 1 or extent is not None):
                first = next(_read(file, group, math.ceil(row_count / step), dtype, boxes.ids))
                if step == 1 or _covers(first, extent):
                    parts.append(first)
                    continue
            start = 0
            for rows in _read(file, group, 1 << 18, dtype, boxes.ids):
                parts.append(rows[-start % step :: step].copy())
                start += len(rows)
    return np.concatenate(parts)


def _read(file: File, group: int, batch_rows: int, dtype: np.dtype[Any], ids: str | None) -> Iterator[Floats]:
    batches = read_batches(file, group, group + 1, batch_rows=batch_rows, dtype=dtype, ids=ids)
    return (batch.boxes for batch in batches)


def _covers(boxes: Floats, extent: Any) -> bool:
    """Return whether ``boxes`` reach over most of ``extent`` on every axis."""
    dimension = boxes.shape[1] // 2
    low, high = np.array(extent[0]), np.array(extent[1])
    with np.errstate(invalid="ignore"):
        reach = boxes[:, dimension:].max(axis=0) - boxes[:, :dimension].min(axis=0)
        return bool((reach >= REPRESENTATIVE * (high - low)).all())
