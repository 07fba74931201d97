"""The pairs of one tile: an ordinary search in memory, of which the tile keeps the pairs that belong to it.

A pair belongs to the tile that contains its reference point, the greater of the two lower corners on each axis
(Dittrich and Seeger, "Data Redundancy and Duplicate Detection in Spatial Join Processing", ICDE 2000). The point lies
in both boxes, so both are in that tile; hence every pair is found exactly once, and no results are compared.

A tile with more boxes than one search may hold is cut again; where cuts do not help, because all boxes contain one
point, blocks of boxes are searched against each other. Pairs are written in runs, so that any number of them takes a
limited amount of memory. All of this depends on the plan alone: a task that is run twice writes the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from choque._core.emission import Sink
from choque._core.records import pack_records
from choque._core.sort import sorted_pairs
from choque._core.types import F64, I64, Floats, Keys
from choque.bounds import Boxes
from choque.broad.index import BoxTable, find
from choque.broad.join import Task, join_boxes
from choque.scale._plan import Options, SearchPlan
from choque.scale.pair_files import PairWriter, sort_pairs, writing
from choque.scale.scatter import Spill
from choque.scale.tiling import Scattered, cut, keep_own

MAX_DEPTH = 6  # how often a tile is cut again before its boxes are searched in blocks
CUT_SAMPLE = 100_000  # boxes that decide where a tile is cut again


@dataclass(frozen=True)
class Place:
    """A tile or a part of one."""

    tile: int
    region: F64  # (2, 3): lower and upper faces, NaN where there is none
    depth: int = 0

    def parts(self, regions: F64) -> list[Place]:
        """Return what of this place lies in each of ``regions`` (m, 2, 3)."""
        return [Place(self.tile, np.where(np.isnan(each), self.region, each), self.depth + 1) for each in regions]


class Tiles(NamedTuple):
    """The tiles of a plan after the scatter."""

    options: Options
    regions: F64  # (tiles, 2, 3)
    spills: tuple[Spill, ...]  # the scattered boxes of each set

    @classmethod
    def open(cls, plan: SearchPlan, work: Path) -> Tiles:
        """Look at what the scatter has written."""
        spills = tuple(Spill.open(plan, work, number) for number in range(len(plan.sets)))
        return cls(plan.options, plan.tiling.regions(), spills)

    def join(self, tile: int, target: Path) -> int:
        """Find the pairs that belong to ``tile`` and write them to the file ``target``; return their number."""
        with writing(target) as writer:
            _Search(self.spills, self.options, writer).join(Place(tile, self.regions[tile]))
            return writer.count


class _Search:
    """The searches for the pairs of one tile."""

    def __init__(self, spills: Sequence[Spill], options: Options, writer: PairWriter) -> None:
        self._spills = spills
        self._options = options
        self._writer = writer

    def join(self, place: Place) -> None:
        """Write the pairs whose reference point is in ``place``."""
        limit = self._options.tile_rows
        if place.depth or sum(spill.count(place.tile) + spill.large_count for spill in self._spills) > limit:
            count, sample = self._survey(place)
            if count > limit:
                dimension = sample.shape[1] // 2
                tiling = cut(sample, count / len(sample), limit, dimension)
                if tiling.tile_count > 1 and place.depth < MAX_DEPTH:
                    for part in place.parts(tiling.regions()):
                        self.join(part)
                else:
                    self._join_blocks(place)
                return
        sets = [self._gather(number, place) for number in range(len(self._spills))]
        self._write_pairs(sets, place)

    def _survey(self, place: Place) -> tuple[int, Floats]:
        """Return how many boxes touch ``place``, and some of them."""
        upper = sum(spill.count(place.tile) + spill.large_count for spill in self._spills)
        step = max(1, upper // CUT_SAMPLE)
        count, parts = 0, []
        for number in range(len(self._spills)):
            for boxes, _ in self._read(number, place):
                parts.append(boxes[-count % step :: step].copy())
                count += len(boxes)
        return count, np.concatenate(parts)

    def _read(self, number: int, place: Place) -> Iterator[Scattered]:
        return self._spills[number].read(place.tile, place.region, whole=place.depth == 0)

    def _gather(self, number: int, place: Place, first: int = 0, last: int | None = None) -> Scattered:
        """Return the boxes of a set that touch ``place``, in the order of their ids: all, or those of one block."""
        parts: list[Scattered] = []
        passed = 0
        for part in self._read(number, place):
            begin, end = max(first - passed, 0), len(part.ids) if last is None else last - passed
            passed += len(part.ids)
            if begin < min(end, len(part.ids)):
                parts.append(Scattered(part.boxes[begin:end], part.ids[begin:end]))
        spill = self._spills[number]
        boxes = np.empty((sum(len(part.ids) for part in parts), spill.columns), spill.dtype)
        ids = np.empty(len(boxes), np.int64)
        start = 0
        while parts:
            part = parts.pop(0)  # released one by one, so that memory never holds all of them twice
            boxes[start : start + len(part.ids)] = part.boxes
            ids[start : start + len(part.ids)] = part.ids
            start += len(part.ids)
        if (ids[1:] < ids[:-1]).any():
            order = np.argsort(ids, kind="stable")
            boxes, ids = boxes[order], ids[order]
        return Scattered(boxes, ids)

    def _join_blocks(self, place: Place) -> None:
        """Search blocks of boxes against each other, two at a time."""
        size = max(1, self._options.tile_rows // 2)
        counts = [sum(len(part.ids) for part in self._read(number, place)) for number in range(len(self._spills))]
        blocks = [[(first, first + size) for first in range(0, count, size)] for count in counts]
        is_one_set = len(blocks) == 1
        for number, block in enumerate(blocks[0]):
            own = self._gather(0, place, *block)
            if is_one_set:
                self._write_pairs([own], place)
            for other in blocks[0][number + 1 :] if is_one_set else blocks[1]:
                self._write_pairs([own, self._gather(len(blocks) - 1, place, *other)], place)

    def _write_pairs(self, sets: list[Scattered], place: Place) -> None:
        """Write the pairs of boxes of one set, or of two, that belong to ``place``; ``sets`` is emptied."""
        if not all(len(each.ids) for each in sets):
            return
        sides = [_Side.of(each) for each in sets]
        sets.clear()
        runs = _Runs(sides[0], sides[-1], place.region, self._options.run_pairs, self._writer)
        closed = self._options.closed
        if len(sides) == 2:
            runs.unordered = len(self._spills) == 1
            join_boxes(Task(sides[0].boxes, sides[1].boxes, closed, 1, runs), "auto", {})
        else:
            boxes = sides[0].boxes
            index = find("auto")().over(BoxTable(pack_records(boxes, closed, 1), boxes.dimension, closed, threads=1))
            index.emit(Sink(len(boxes), 1, runs, keep=False))
        runs.flush()


class _Side(NamedTuple):
    """The boxes of one side of a search, and their ids."""

    boxes: Boxes
    ids: I64

    @classmethod
    def of(cls, given: Scattered) -> _Side:
        """Divide rows into lower and upper corners."""
        dimension = given.boxes.shape[1] // 2
        corners = (np.ascontiguousarray(half) for half in (given.boxes[:, :dimension], given.boxes[:, dimension:]))
        return cls(Boxes.unchecked(*corners), given.ids)


class _Runs:
    """Takes pairs from a search as its filter, and writes them in sorted runs; the search itself keeps none.

    One thread searches: the order in which pairs are found, and with it the bytes, are the same every time.
    """

    unordered = False  # whether both sides are of one set: then the first id of a pair may be the greater

    def __init__(self, first: _Side, second: _Side, region: F64, limit: int, writer: PairWriter) -> None:
        self._first, self._second, self._region = first, second, region
        self._limit, self._writer = limit, writer
        self._chunks: list[Keys] = []
        self._count = 0

    def keep_allowed(self, keys: Keys) -> int:
        """Take the pairs that belong here, and leave none to the search."""
        kept = keep_own(keys, self._first.boxes.lower, self._second.boxes.lower, self._region)
        for start in range(0, kept, self._limit):
            part = keys[start : min(start + self._limit, kept)]
            if self._count + len(part) > self._limit:
                self.flush()
            self._chunks.append(part.copy())
            self._count += len(part)
        return 0

    def flush(self) -> None:
        """Write what was taken since the last run."""
        if not self._count:
            return
        pairs = sorted_pairs(self._chunks, len(self._first.ids), 1, len(self._second.ids))
        self._count = 0
        first, second = self._first.ids[pairs[:, 0]], self._second.ids[pairs[:, 1]]
        if self.unordered:
            first, second = sort_pairs(np.minimum(first, second), np.maximum(first, second))
        self._writer.write(first, second)
