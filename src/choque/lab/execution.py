"""The work of a run: cells handed out in random order, each kept when it is done, so that nothing is done twice.

Cells are handed to processes of this machine or to a Dask cluster, both as a `concurrent.futures.Executor`.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from choque._core.types import Progress
from choque.errors import ChoqueError
from choque.lab import cell
from choque.lab.cell import CAN_COPY, ReadyProcess, ReadyProcesses, other_run, run_cell
from choque.lab.design import Cell
from choque.lab.head_to_head import head_to_head_cells, turn_rows
from choque.lab.records import Records
from choque.lab.result import Result
from choque.lab.sampling import Plan
from choque.lab.stopwatch import WALL
from choque.lab.store import Store, sample_rows, stages_of
from choque.lab.study import Study
from choque.lab.worker import Answer, Order
from choque.scale.executors import Workers, cluster_workers

ATTEMPTS = 3
"""Attempts for a cell whose worker died; after this many, the run ends and names the cell."""

PATIENCE = 2.0  # seconds after which a cell that takes long is named again


@contextmanager
def local_workers(side_by_side: int = 1) -> Iterator[Workers]:
    """Run cells on this machine: each thread waits for one process."""
    executor = ThreadPoolExecutor(side_by_side, thread_name_prefix="choque-lab")
    try:
        yield Workers(executor, side_by_side, is_local=True)
    finally:
        # End the cells that still run when the block ends early.
        cell.end_all()
        executor.shutdown(wait=True, cancel_futures=True)


class Interrupted(ChoqueError):
    """The run was interrupted; finished cells are kept."""


@dataclass
class Execution:
    """One run of a study, from its first cell to its report."""

    study: Study
    store: Store
    progress: Progress | None
    done: dict[str, Answer] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    head_to_heads: list[Cell] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    """Seconds of each part of the run, including earlier interrupted runs."""
    measured: int = 0
    """Cells that were not finished before."""
    ready: ReadyProcesses | None = None
    """The processes whose copies measure the cells of a quick run, or of many short ones."""

    def complete(self, cluster: str | None) -> Result:
        """Measure the cells that are left, on this machine or a cluster, and write the report."""
        record = self.store.record
        design = self.study.design(
            record["levels"],
            quick=record["quick"],
            with_listed=record["with_listed"],
            plan=Plan(**record["plan"]),
            threads=record["threads"],
            seed=record["seed"],
            fraction=record.get("fraction", 1.0),
        )
        self.cells = design.cells()
        self.store.write_record(whole=len(design.whole()))
        self.seconds = dict(record.get("seconds", {}))
        try:
            if cluster is None:
                self._compile(design.order())
            with self._charged("cells"):
                self._do(design.order(), cluster)
            if self.study.selector is not None:
                self.head_to_heads = head_to_head_cells(self._result(), design)
                with self._charged("turns"):
                    self._do(self.head_to_heads, cluster)
            result = self._result()
        except KeyboardInterrupt:
            self._keep()
            raise Interrupted(self._kept("Interrupted")) from None
        except ChoqueError as problem:
            self._keep()
            raise ChoqueError(self._kept(str(problem))) from problem
        finally:
            if self.ready is not None:
                self.ready.close()
        return self._finish(result)

    def _compile(self, cells: Sequence[Cell]) -> None:
        """Compile what the cells call in one process, if cells are left to measure."""
        if self.study.kernels is None or len(self.store.read_cells(cells)) == len(cells):
            return
        self._tell(self._unless_waiting("compiling kernels, once"))
        begin = time.perf_counter()
        record = self.store.record
        small = [dict(each) for each in self.study.kernels(record["levels"])]
        order = {**self._order(cells[0], is_local=True), "kernels": small}
        is_copied = self.study.copies or (record["quick"] and record["side_by_side"] == 1)
        if CAN_COPY and is_copied and record["threads"] == 1:
            first = ReadyProcess(order)
            self.ready = ReadyProcesses(first, order, self.study.copies)
            self.store.write_record(copied=True)
            compiled, waited = first.compiled, first.waited
        else:
            answer = run_cell(order)
            compiled, waited = answer.get("compiled"), answer["waited"]
        self._charge("waiting", waited)
        self._charge("compiling" if compiled else "cells", time.perf_counter() - begin)

    def _charge(self, part: str, seconds: float) -> None:
        self.seconds[part] = self.seconds.get(part, 0.0) + seconds

    @contextmanager
    def _charged(self, part: str) -> Iterator[None]:
        """Add the time of the block to a part of the run."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._charge(part, time.perf_counter() - begin)

    def _do(self, cells: Iterable[Cell], cluster: str | None) -> None:
        """Measure those of ``cells`` that are not finished yet."""
        ordered = list(cells)
        self.done |= self.store.read_cells(ordered)
        waiting = [cell for cell in ordered if cell.key not in self.done]
        if waiting:
            with self._workers(cluster) as workers:
                self._work(waiting, workers)

    def _workers(self, cluster: str | None) -> AbstractContextManager[Workers]:
        return local_workers(self.store.record["side_by_side"]) if cluster is None else cluster_workers(cluster)

    def _work(self, waiting: Iterable[Cell], workers: Workers) -> None:
        queue = list(reversed(list(waiting)))
        lost: dict[str, int] = {}
        pending: dict[Future[Answer], Cell] = {}
        while queue or pending:
            while queue and len(pending) < workers.width:
                cell = queue.pop()
                skipped = self._skipped(cell)
                if skipped is not None:
                    self._finished(cell, skipped)
                else:
                    self._tell(str(cell))
                    pending[self._submitted(cell, workers)] = cell
            ready: set[Future[Answer]] = set()
            while pending and not ready:  # none is pending if the last cells were skipped
                ready = wait(pending, timeout=PATIENCE, return_when=FIRST_COMPLETED).done
                if not ready:
                    self._tell(self._unless_waiting(str(next(iter(pending.values())))))
            for future in ready:
                cell = pending.pop(future)
                problem = future.exception()
                if problem is None:
                    self._finished(cell, future.result())
                    continue
                lost[cell.key] = lost.get(cell.key, 0) + 1
                if lost[cell.key] == ATTEMPTS:
                    raise ChoqueError(f"The cell {cell} was lost {ATTEMPTS} times with its worker ({problem}).")
                queue.append(cell)

    def _submitted(self, cell: Cell, workers: Workers) -> Future[Answer]:
        order = self._order(cell, workers.is_local)
        if self.ready is None:
            return workers.executor.submit(run_cell, order)
        return workers.executor.submit(run_cell, order, self.ready)

    def _order(self, cell: Cell, is_local: bool) -> Order:
        record = self.store.record
        return {
            "study": self.study.to_json(),
            "parameters": dict(cell.parameters),
            "opponents": list(cell.opponents),
            "plan": {**record["plan"], "limit": record["plan"]["limit"] * (1 + len(cell.opponents))},
            "threads": record["threads"],
            "clock": record.get("clock", WALL),
            "alone": record["side_by_side"] == 1,
            # Another machine may have no such folder, and makes its scenes itself.
            "scratch": str(self.store.scratch.resolve()) if is_local else None,
        }

    def _finished(self, cell: Cell, answer: Answer) -> None:
        self._charge("waiting", answer.get("waited", 0.0))
        self.store.write_cell(cell, answer)
        self.done[cell.key] = answer
        self.measured += 1
        self._tell(str(cell))

    def _skipped(self, cell: Cell) -> Answer | None:
        """Return the answer of a cell that is larger than one that was cut off; None for others."""
        grows = self.study.grows
        if grows is None:
            return None
        for other in self.cells:
            answer = self.done.get(other.key)
            if answer is not None and answer["verdict"] == "cut off" and _is_larger(cell, other, grows):
                note = f"not tried: {grows} {other.parameters[grows]:,} was cut off already"
                return {"verdict": "cut off", "note": note, "readings": [], "counters": {}, "facts": {}}
        return None

    def _unless_waiting(self, about: str) -> str:
        """Return what is done, or that another run is waited for: only one cell is timed at a time."""
        other = other_run() if self.store.record["side_by_side"] == 1 else None
        name = f" (process {other})" if other else ""
        return about if other is None else f"waiting: another run{name} is measuring on this machine"

    def _tell(self, about: str) -> None:
        if self.progress is not None:
            self.progress(len(self.done), self._count(), about)

    def _count(self) -> int:
        return len(self.cells) + len(self.head_to_heads)

    def _samples(self) -> Records:
        finished = [cell for cell in self.cells if cell.key in self.done]
        return Records(row for cell in finished for row in sample_rows(cell, self.done[cell.key]))

    def _turns(self) -> Records:
        finished = [cell for cell in self.head_to_heads if cell.key in self.done]
        return Records(row for cell in finished for row in turn_rows(self.study, cell, self.done[cell.key]))

    def _result(self) -> Result:
        self.store.write_record(stages=stages_of(self.done.values()), seconds=self.seconds)
        return Result(self.study, self.store.folder, self.store.record, self._samples(), self._turns())

    def _keep(self) -> None:
        """Write the table of finished cells, if possible; the cells themselves are kept anyway."""
        try:
            if self.done:
                self.store.write_record(stages=stages_of(self.done.values()), seconds=self.seconds)
                self.store.write_samples(self._samples())
        except ChoqueError:
            pass

    def _kept(self, words: str) -> str:
        return (
            f"{words.rstrip('. ')}. {len(self.done)} of {self._count()} cells are finished and kept; continue with: "
            f"{self.store.resuming}"
        )

    def _finish(self, result: Result) -> Result:
        from choque.lab.reporting import write_all

        self._tell("writing the report")
        self.store.write_samples(result.samples)
        self.store.write_turns(result.turns)
        with self._charged("report"):
            write_all(result, self.store)
        self.store.write_record(finished=self.store.record.get("finished") or now(), seconds=self.seconds)
        shutil.rmtree(self.store.scratch, ignore_errors=True)
        result.measured = self.measured
        return result


def _is_larger(cell: Cell, other: Cell, grows: str) -> bool:
    same = all(other.parameters[name] == level for name, level in cell.parameters.items() if name != grows)
    own, theirs = cell.parameters[grows], other.parameters[grows]
    return same and isinstance(own, int | float) and isinstance(theirs, int | float) and own > theirs


def now() -> str:
    """Return the time as ISO 8601, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
