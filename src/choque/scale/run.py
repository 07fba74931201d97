"""A search larger than memory, from the plan to the last file: scatter, join, commit."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from choque._core import check
from choque._core.progress import reporting
from choque._core.threads import available_count
from choque._core.types import Progress
from choque.errors import BusyObject, ChoqueError, InvalidInput
from choque.files.atomic import replacing
from choque.files.budget import byte_count_of, in_words
from choque.scale._plan import Order, SearchPlan, Share, identity, least_memory, make_plan
from choque.scale.executors import Workers, completed, find_workers
from choque.scale.inputs import Sets, is_stream, named_file, open_set, spool
from choque.scale.pair_files import MANIFEST, Found, Span, count_pairs, ranges_of_first, sort_range
from choque.scale.scatter import scatter, starts_file
from choque.scale.tiles import Tiles

PLAN, WORK, LOCK = "_plan.json", "_work", "_lock"
"""In the folder of the output: the plan, what is removed in the end, and what keeps other searches out."""

DEFAULT_MEMORY = "4 GiB"

FEW_BOXES = 1_000_000
"""Fewer boxes than this are searched in this process unless workers are asked for: starting others takes longer."""


def pairs(
    boxes: Any,
    output: str | os.PathLike[str],
    *,
    memory: str | int | None = None,
    workers: int | None = None,
    closed: bool = True,
    columns: Sequence[str] | None = None,
    ids: str | None = None,
    order: Order = "tile",
    client: Any = None,
    executor: Executor | None = None,
    tile_rows: int | None = None,
    progress: Progress | bool | None = None,
) -> Found:
    """Find every overlapping pair of boxes in files, in bounded memory, and write the pairs to a folder.

    Parameters
    ----------
    boxes
        A path, a pattern such as ``"boxes/*.parquet"``, a folder of Parquet files, or a list of them. Formats:
        Parquet, ``.npy`` (memory-mapped; (n, 4), (n, 6), (n, 2, 2) or (n, 2, 3)), HDF5 (``file.h5::name``), Zarr.
        Or an Arrow stream (a table of pyarrow, Polars, DuckDB and others) or a Dask dataframe, which are written to
        a file first.
    output
        A new folder for the pairs. If it holds an unfinished search for the same pairs, that one goes on.
    memory
        Memory for all processes together, such as ``"4 GiB"``, the default; with a Dask client the default is that of
        its workers.
    workers
        The number of local processes; None for one on each processor, or none beside this one for few boxes.
    closed
        True: boxes that touch overlap. False: they do not.
    columns
        Names of the 4 or 6 columns of a table, those of the lower corner first. None: ``x_lower``, ``y_lower``,
        …, or the ``bbox`` of GeoParquet.
    ids
        The column with the id of each box, whole numbers; None for the number of its row through all files.
    order
        ``"tile"``: files follow the tiles of space, and are sorted in long runs. ``"global"``: all files together are
        sorted by the first, then by the second id; takes one more pass.
    client
        A Dask ``Client``, or the address of a scheduler. All workers must see the files under the same paths.
    executor
        Any `concurrent.futures.Executor`, which runs ``workers`` tasks at once.
    tile_rows
        The maximum number of boxes in a tile; None for as many as the memory allows.
    progress
        A function, called with the number of tasks done, their total and a description; or True for a line with
        a bar and the time left, in a terminal or a notebook.

    Returns
    -------
    Found
        The pairs on disk: columns ``first`` and ``second``, int64, the smaller id first.

    Notes
    -----
    Guarantees: the same pairs as `choque.pairs`, each once. The bytes of the output depend on the input and the plan
    alone, not on the workers, nor on how often the search was killed and went on. Boxes are read twice, once for the
    sample, and written once for each tile that they touch; `plan` says beforehand how often that is, and how much disk
    it takes. Tiles are half-open, a pair belongs to the tile of its reference point (Dittrich and Seeger 2000).

    Examples
    --------
    >>> found = choque.scale.pairs("boxes/*.parquet", "pairs/", memory="4 GiB")    # doctest: +SKIP
    >>> found.count                                                                # doctest: +SKIP
    """
    given = _Request(closed, order, memory, workers, tile_rows, client, executor)
    return _search(_open_sets([boxes], Path(output).resolve(), columns, ids), output, given, progress)


def join(
    first: Any,
    second: Any,
    output: str | os.PathLike[str],
    *,
    memory: str | int | None = None,
    workers: int | None = None,
    closed: bool = True,
    columns: Sequence[str] | None = None,
    ids: str | None = None,
    order: Order = "tile",
    client: Any = None,
    executor: Executor | None = None,
    tile_rows: int | None = None,
    progress: Progress | bool | None = None,
) -> Found:
    """Find every box of one set that overlaps a box of another, in bounded memory; see `pairs`.

    ``first`` and ``second`` are files as `pairs` takes them; so are the columns of the result, ids of the one and of
    the other set.
    """
    given = _Request(closed, order, memory, workers, tile_rows, client, executor)
    return _search(_open_sets([first, second], Path(output).resolve(), columns, ids), output, given, progress)


def plan(
    boxes: Any,
    other: Any = None,
    *,
    memory: str | int | None = None,
    workers: int | None = None,
    closed: bool = True,
    columns: Sequence[str] | None = None,
    ids: str | None = None,
    order: Order = "tile",
    client: Any = None,
    executor: Executor | None = None,
    tile_rows: int | None = None,
) -> SearchPlan:
    """Plan `pairs`, or `join` with an ``other`` set: its tasks, memory, disk and time; nothing is written.

    Examples
    --------
    >>> print(choque.scale.plan("boxes/*.parquet", memory="4 GiB"))    # doctest: +SKIP
    """
    given = _Request(closed, order, memory, workers, tile_rows, client, executor)
    with TemporaryDirectory() as folder:
        sets = _open_sets([each for each in (boxes, other) if each is not None], Path(folder) / "plan", columns, ids)
        with given.find_workers(sets) as found:
            return given.make_plan(sets, found)


@dataclass(frozen=True)
class _Request:
    """What the caller asked for, beside the boxes."""

    closed: bool
    order: Order
    memory: str | int | None
    workers: int | None
    tile_rows: int | None
    client: Any
    executor: Executor | None

    def __post_init__(self) -> None:
        check.boolean(self.closed, "closed")
        check.choice(self.order, "order", ("tile", "global"))
        if self.tile_rows is not None:
            check.whole_number(self.tile_rows, "tile_rows", 1, otherwise="None for as many as fit")

    @contextmanager
    def find_workers(self, sets: Sets) -> Iterator[Workers]:
        """Give the workers that were asked for; as many local processes as the memory allows, if none were."""
        count = self.workers
        if count is None and self.client is None and self.executor is None:
            if sum(each.row_count for each in sets) < FEW_BOXES:
                count = 1
            else:
                count = available_count()
                while count > 1 and least_memory(count) > self.byte_count(None):
                    count -= 1
        with find_workers(count, self.client, self.executor) as found:
            yield found

    def byte_count(self, default: int | None) -> int:
        """Return the memory for all processes together."""
        if self.memory is None:
            return byte_count_of(DEFAULT_MEMORY, "memory") if default is None else default
        if isinstance(self.memory, str):
            return byte_count_of(self.memory, "memory")
        return check.whole_number(self.memory, "memory", 1, otherwise='text such as "4 GiB"')

    def make_plan(self, sets: Sets, workers: Workers) -> SearchPlan:
        """Plan the search."""
        return make_plan(
            sets,
            closed=self.closed,
            order=self.order,
            memory=self.byte_count(workers.memory),
            workers=workers.width,
            tile_rows=self.tile_rows,
        )


# The search


def _open_sets(given: Sequence[Any], folder: Path, columns: Sequence[str] | None, ids: str | None) -> Sets:
    """Look at the files that were given; streams become files in the folder of the search first."""
    sets = []
    for each in map(named_file, given):
        source = each
        if is_stream(each):
            with _reserved(folder):
                source = spool(each, folder / WORK, columns, ids)
        sets.append(open_set(source, columns, ids))
    return tuple(sets)


def _search(sets: Sets, output: str | os.PathLike[str], given: _Request, progress: Progress | bool | None) -> Found:
    folder = Path(output).resolve()
    with given.find_workers(sets) as workers, _reserved(folder), reporting(progress) as report:
        former = folder / PLAN
        if not (folder / MANIFEST).exists():
            workers.start()
        if former.exists():
            chosen = _continued(SearchPlan.read(former), sets, given, workers, folder)
        else:
            chosen = given.make_plan(sets, workers)
            chosen.write(former)
        if not (folder / MANIFEST).exists():
            _Run(chosen, folder, workers, report).complete()
        shutil.rmtree(folder / WORK, ignore_errors=True)
    return Found(output)


@contextmanager
def _reserved(folder: Path) -> Iterator[None]:
    """Make the folder, if it is new, and keep other searches out of it."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; give the name of a new folder.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / LOCK).exists():
        raise InvalidInput(f"The folder {folder} holds other files; give the name of a new folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = (folder / LOCK).open("ab")
    except OSError as problem:
        raise InvalidInput(f"The folder {folder} cannot be written: {problem.strerror}.") from problem
    with handle:
        try:
            import fcntl
        except ImportError:  # Windows: nothing keeps others out
            yield
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            raise BusyObject(
                f"Another search is writing to {folder}; wait for it, or choose another folder."
            ) from problem
        yield


def _continued(former: SearchPlan, sets: Sets, given: _Request, workers: Workers, folder: Path) -> SearchPlan:
    """Return the plan of the search that the folder holds, if it is this one."""
    different = None
    if former.identities != tuple(identity(each) for each in sets):
        different = "other boxes, or the same files before they were changed"
    elif (former.options.closed, former.options.order) != (given.closed, given.order):
        different = "the same boxes with other options"
    if different:
        raise InvalidInput(
            f"The folder {folder} holds a search for {different}; give another folder, or remove this one first."
        )
    memory = given.byte_count(workers.memory)
    if memory // workers.width < former.memory // former.workers and not (folder / MANIFEST).exists():
        raise InvalidInput(
            f"The search in {folder} was planned for {in_words(former.memory // former.workers)} a worker, and memory "
            f"is {in_words(memory)} for {workers.width}; give more memory or fewer workers, or another folder."
        )
    return former


class _Run:
    """The tasks of a search, those that are not finished."""

    def __init__(self, plan: SearchPlan, folder: Path, workers: Workers, report: Progress) -> None:
        self._plan, self._folder, self._workers, self._report = plan, folder, workers, report
        self._work = folder / WORK
        self._ticket = _Ticket(str(self._work), plan.digest)
        self._is_global = plan.options.order == "global"
        place = self._work if self._is_global else folder
        self._tiles = [place / f"tile-{tile:06d}.parquet" for tile in range(plan.tiling.tile_count)]
        self._done = 0
        self._total = len(plan.shares()) + len(self._tiles)

    def complete(self) -> None:
        """Do what is left, and write the manifest."""
        self._work.mkdir(exist_ok=True)
        try:
            self._scatter()
            self._do("joined", join_task, {path: (tile, str(path)) for tile, path in enumerate(self._tiles)})
            self._commit(self._sort() if self._is_global else self._tiles)
        except KeyboardInterrupt:
            raise ChoqueError(self._kept("Interrupted")) from None
        except (ChoqueError, OSError, MemoryError) as problem:
            kind = type(problem) if isinstance(problem, ChoqueError) else ChoqueError
            raise kind(self._kept(str(problem) or type(problem).__name__)) from problem

    def _scatter(self) -> None:
        """Scatter all shares; those of finished tiles are not needed again."""
        is_needed = not all(path.exists() for path in self._tiles)
        tasks = {starts_file(self._work, task): (task, share) for task, share in enumerate(self._plan.shares())}
        self._do("scattered", scatter_task, tasks, is_needed)

    def _sort(self) -> list[Path]:
        """Sort the pairs of all tiles by ranges of first ids, and return the files."""
        spans = ranges_of_first(self._tiles, self._plan.options.run_pairs)
        self._total += len(spans)
        targets = [self._folder / f"part-{number:06d}.parquet" for number in range(max(1, len(spans)))]
        sources = [str(path) for path in self._tiles]
        tasks = {target: (sources, span, str(target)) for span, target in zip(spans or [(0, 0)], targets, strict=True)}
        self._do("sorted", sort_task, tasks)
        return targets

    def _do(
        self, about: str, task: Callable[..., int], arguments: Mapping[Path, tuple[Any, ...]], is_needed: bool = True
    ) -> None:
        """Run a task for each file that is not there; the arguments are those after the ticket."""
        for path in arguments:
            if path.exists():
                self._step(about)
        waiting = [given for path, given in arguments.items() if is_needed and not path.exists()]
        submit = self._workers.executor.submit
        for _ in completed(self._workers, waiting, lambda given: submit(task, self._ticket, *given)):
            self._step(about)

    def _commit(self, files: list[Path]) -> None:
        """Write the manifest, which says that the search is finished."""
        with replacing(self._folder / MANIFEST) as handle:
            for path in files:
                line = {"file": path.name, "pairs": count_pairs(path), "bytes": path.stat().st_size}
                handle.write((json.dumps(line) + "\n").encode())

    def _step(self, about: str) -> None:
        self._done += 1
        self._report(self._done, self._total, about)

    def _kept(self, words: str) -> str:
        finished = sum(path.exists() for path in self._tiles)
        return (
            f"{words.rstrip('. ')}. {finished} of {len(self._tiles)} tiles are finished and kept in {self._folder}; "
            "make the same call again to go on."
        )


# Tasks, which run in other processes


class _Ticket(NamedTuple):
    """Names the search that a task belongs to."""

    work: str
    digest: str


@lru_cache(maxsize=2)
def _plan_of(ticket: _Ticket) -> SearchPlan:
    """Return the plan of a search; kept, since a worker runs many tasks of one."""
    return SearchPlan.read(Path(ticket.work).with_name(PLAN))


@lru_cache(maxsize=1)
def _tiles_of(ticket: _Ticket) -> Tiles:
    return Tiles.open(_plan_of(ticket), Path(ticket.work))


def scatter_task(ticket: _Ticket, task: int, share: Share) -> int:
    """Scatter the boxes of one share."""
    return scatter(_plan_of(ticket), Path(ticket.work), task, share)


def join_task(ticket: _Ticket, tile: int, target: str) -> int:
    """Find the pairs of one tile."""
    # Beside the target, half a file would outlive a killed process; the folder for work is removed in the end.
    made = Path(ticket.work) / f"made-{tile:06d}.parquet"
    count = _tiles_of(ticket).join(tile, made)
    made.replace(target)
    return count


def sort_task(ticket: _Ticket, sources: list[str], span: Span, target: str) -> int:
    """Sort the pairs of one range of ids."""
    made = Path(ticket.work) / Path(target).name
    limit = 2 * _plan_of(ticket).options.run_pairs  # the ranges are estimates
    count = sort_range([Path(source) for source in sources], span, limit, made)
    made.replace(target)
    return count
