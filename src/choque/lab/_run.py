"""Running a study: cells handed out in random order, each kept when it is done, so that nothing is done twice."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from choque import __version__
from choque._core.types import Progress
from choque.errors import ChoqueError, InvalidInput, UnknownName
from choque.lab import executors, machine, studies
from choque.lab.cell import CAN_COPY, ReadyProcess, run_cell
from choque.lab.design import Cell, Level, code_version
from choque.lab.executors import Hands
from choque.lab.finals import finals_of, turn_rows
from choque.lab.records import Records
from choque.lab.result import Result
from choque.lab.sampling import Plan
from choque.lab.stopwatch import CLOCKS, WALL
from choque.lab.store import Store, sample_rows, stages_of
from choque.lab.study import Study
from choque.lab.worker import Answer, Order

ATTEMPTS = 3
"""A cell that is lost with its worker is run again; one that is lost this often is the reason for it."""


class Interrupted(ChoqueError):
    """The run was ended before its time; what is finished is kept."""


def run(
    study: str | os.PathLike[str] | Study,
    *,
    quick: bool = False,
    output: str | os.PathLike[str] | None = None,
    methods: Sequence[str] | None = None,
    factors: Mapping[str, Sequence[Level]] | None = None,
    peers: bool = False,
    threads: int = 1,
    seed: int = 0,
    plan: Plan | None = None,
    cluster: str | None = None,
    side_by_side: int = 1,
    clock: str = WALL,
    progress: Progress | None = None,
) -> Result:
    """Run a study and write its folder: samples, verdicts, figures and report.

    Parameters
    ----------
    study
        A name of `choque.lab.names()`, or the path of a file that defines ``STUDY``.
    quick
        The smaller design, in minutes.
    output
        The folder for the results, empty or not there yet; None makes one in ``output``, named after study and time.
    methods
        Levels of what the study compares, in place of its own.
    factors
        Levels of any factor, in place of the study's own.
    peers
        Whether the other libraries that are installed take part.
    threads
        How many threads every cell is pinned to.
    seed
        Decides the order of the cells.
    plan
        Repetitions and time limits; None for those of the study.
    cluster
        The address of a Dask scheduler; None for this machine.
    side_by_side
        How many cells may run at once on a machine. More than one is faster and spoils the times.
    clock
        ``"wall"``, what a user waits; or ``"processor"``, the time of all threads of a cell together, which tells more
        on a machine that others keep busy.
    progress
        Called when a cell begins and when it is done.
    """
    found = _found(study)
    wanted = {**(factors or {}), **({found.compares: methods} if methods else {})}
    for name, value, least in (("threads", threads, 1), ("side_by_side", side_by_side, 1), ("seed", seed, 0)):
        if not isinstance(value, int) or value < least:
            raise InvalidInput(f"{name} is {value!r}; it must be a whole number of at least {least}.")
    if cluster is not None:
        executors.require_address(cluster)
    if not isinstance(plan, Plan | None):
        raise InvalidInput(f"plan is {plan!r}; it must be a choque.lab.Plan.")
    if clock not in CLOCKS:
        raise UnknownName("clock", clock, CLOCKS)
    chosen = plan or (found.quick_plan if quick else found.plan)
    # Cells listed one by one belong to the declared design: who asks for levels asks for those alone.
    others = _installed_peers() if peers else []
    record = {
        "study": found.to_json(),
        "title": found.title,
        "quick": quick,
        "levels": found.levels(quick=quick, peers=others, wanted=wanted),
        "with_listed": set(wanted) <= {found.compares},
        "plan": chosen.to_json(),
        "threads": threads,
        "clock": clock,
        "seed": seed,
        "side_by_side": side_by_side,
        "choque": __version__,
        "code": code_version(),
        "machine": machine.describe(_distributions(others)),
        "started": _now(),
        "finished": None,
    }
    store = Store.create(output or _folder_name(found, quick), record)
    return _Run(found, store, progress).complete(cluster)


def resume(folder: str | os.PathLike[str], *, cluster: str | None = None, progress: Progress | None = None) -> Result:
    """Go on with an interrupted run: only cells that are not finished, or whose code has changed, are measured."""
    if cluster is not None:
        executors.require_address(cluster)
    store = Store.open(folder)
    found = _study_of(store)
    if store.record["code"] != code_version():
        store.write_record(code=code_version(), choque=__version__, machine=machine.describe())
    return _Run(found, store, progress).complete(cluster)


def report(folder: str | os.PathLike[str]) -> Result:
    """Judge the claims, draw the figures and write the report again, from the raw samples."""
    store = Store.open(folder)
    return finish(_result_in(store), store)


def load(folder: str | os.PathLike[str]) -> Result:
    """Read a run, without writing anything; its claims are judged again."""
    from choque.lab._report import judge_claims

    result = read(folder)
    judge_claims(result)
    return result


def read(folder: str | os.PathLike[str]) -> Result:
    """Read the samples of a run; its claims are left alone."""
    return _result_in(Store.open(folder))


def _result_in(store: Store) -> Result:
    return Result(_study_of(store), store.folder, store.record, store.read_samples(), store.read_finals())


def finish(result: Result, store: Store) -> Result:
    """Give every claim its verdict and write what is made from the samples."""
    from choque.lab._report import write_all

    write_all(result, store)
    return result


@dataclass
class _Run:
    study: Study
    store: Store
    progress: Progress | None
    done: dict[str, Answer] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    finals: list[Cell] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    """What each part of the run took, interrupted runs before it included."""
    ready: ReadyProcess | None = None
    """The process whose copies measure the cells of a quick run."""

    def complete(self, cluster: str | None) -> Result:
        record = self.store.record
        design = self.study.design(
            record["levels"],
            quick=record["quick"],
            with_listed=record["with_listed"],
            plan=Plan(**record["plan"]),
            threads=record["threads"],
            seed=record["seed"],
        )
        self.cells = design.cells()
        self.seconds = dict(record.get("seconds", {}))
        try:
            if cluster is None:
                self._compile(design.order())
            with self._charged("cells"):
                self._do(design.order(), cluster)
            if self.study.selector is not None:
                self.finals = finals_of(self._result(), design)
                with self._charged("finals"):
                    self._do(self.finals, cluster)
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
        """Let one process compile what the cells call, if there is anything left to measure and to compile."""
        if self.study.kernels is None or len(self.store.read_cells(cells)) == len(cells):
            return
        self._tell("compiling kernels, once")
        begin = time.perf_counter()
        record = self.store.record
        small = [dict(each) for each in self.study.kernels(record["levels"])]
        order = {**self._order(cells[0], is_local=True), "kernels": small}
        if record["quick"] and CAN_COPY and record["side_by_side"] == record["threads"] == 1:
            self.ready = ReadyProcess(order)
            self.store.write_record(copied=True)
            compiled, waited = self.ready.compiled, self.ready.waited
        else:
            answer = run_cell(order)
            compiled, waited = answer.get("compiled"), answer["waited"]
        self._charge("waiting", waited)
        self._charge("compiling" if compiled else "cells", time.perf_counter() - begin)

    def _charge(self, part: str, seconds: float) -> None:
        self.seconds[part] = self.seconds.get(part, 0.0) + seconds

    @contextmanager
    def _charged(self, part: str) -> Iterator[None]:
        """Charge the time of the block to a part of the run."""
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
            with self._hands(cluster) as hands:
                self._work(waiting, hands)

    def _hands(self, cluster: str | None) -> AbstractContextManager[Hands]:
        return executors.local(self.store.record["side_by_side"]) if cluster is None else executors.cluster(cluster)

    def _work(self, waiting: Iterable[Cell], hands: Hands) -> None:
        queue = list(reversed(list(waiting)))
        lost: dict[str, int] = {}
        pending: dict[Future[Answer], Cell] = {}
        while queue or pending:
            while queue and len(pending) < hands.width:
                cell = queue.pop()
                hopeless = self._hopeless(cell)
                if hopeless is not None:
                    self._finished(cell, hopeless)
                else:
                    self._tell(str(cell))
                    pending[self._submitted(cell, hands)] = cell
            ready, _ = wait(pending, return_when=FIRST_COMPLETED)
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

    def _submitted(self, cell: Cell, hands: Hands) -> Future[Answer]:
        order = self._order(cell, hands.is_local)
        if self.ready is None:
            return hands.executor.submit(run_cell, order)
        return hands.executor.submit(run_cell, order, self.ready)

    def _order(self, cell: Cell, is_local: bool) -> Order:
        record = self.store.record
        return {
            "study": record["study"],
            "parameters": dict(cell.parameters),
            "rivals": list(cell.rivals),
            "plan": {**record["plan"], "limit": record["plan"]["limit"] * (1 + len(cell.rivals))},
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
        self._tell(str(cell))

    def _hopeless(self, cell: Cell) -> Answer | None:
        """The answer to a cell that is like one that was cut off, only larger."""
        grows = self.study.grows
        if grows is None:
            return None
        for other in self.cells:
            answer = self.done.get(other.key)
            if answer is not None and answer["verdict"] == "cut off" and _is_larger(cell, other, grows):
                note = f"not tried: {grows} {other.parameters[grows]:,} was cut off already"
                return {"verdict": "cut off", "note": note, "readings": [], "counters": {}, "facts": {}}
        return None

    def _tell(self, about: str) -> None:
        if self.progress is not None:
            self.progress(len(self.done), self._count(), about)

    def _count(self) -> int:
        return len(self.cells) + len(self.finals)

    def _samples(self) -> Records:
        finished = [cell for cell in self.cells if cell.key in self.done]
        return Records(row for cell in finished for row in sample_rows(cell, self.done[cell.key]))

    def _turns(self) -> Records:
        finished = [cell for cell in self.finals if cell.key in self.done]
        return Records(row for cell in finished for row in turn_rows(self.study, cell, self.done[cell.key]))

    def _result(self) -> Result:
        self.store.write_record(stages=stages_of(self.done.values()), seconds=self.seconds)
        return Result(self.study, self.store.folder, self.store.record, self._samples(), self._turns())

    def _keep(self) -> None:
        """Write the table of what is finished, if the disk still takes it; the cells themselves are kept anyway."""
        try:
            if self.done:
                self.store.write_record(stages=stages_of(self.done.values()), seconds=self.seconds)
                self.store.write_samples(self._samples())
        except ChoqueError:
            pass

    def _kept(self, words: str) -> str:
        return (
            f"{words.rstrip('. ')}. {len(self.done)} of {self._count()} cells are finished and kept; go on with: "
            f"choque lab resume {self.store.folder}"
        )

    def _finish(self, result: Result) -> Result:
        self._tell("writing the report")
        self.store.write_samples(result.samples)
        self.store.write_finals(result.turns)
        with self._charged("report"):
            finish(result, self.store)
        self.store.write_record(finished=self.store.record.get("finished") or _now(), seconds=self.seconds)
        shutil.rmtree(self.store.scratch, ignore_errors=True)
        return result


def _is_larger(cell: Cell, other: Cell, grows: str) -> bool:
    same = all(other.parameters[name] == level for name, level in cell.parameters.items() if name != grows)
    own, theirs = cell.parameters[grows], other.parameters[grows]
    return same and isinstance(own, int | float) and isinstance(theirs, int | float) and own > theirs


def _found(study: object) -> Study:
    if isinstance(study, Study):
        if not study.origin and study.name not in studies.names():
            raise InvalidInput(
                f"The study {study.name!r} is in no file that the processes of its cells could read; write it to one, "
                "and give its path."
            )
        return study
    if not isinstance(study, str | os.PathLike):
        raise InvalidInput(f"The study is {study!r}; give the name of one, its file, or a choque.lab.Study.")
    return studies.find(os.fspath(study))


def _study_of(store: Store) -> Study:
    reference = store.record["study"]
    found = studies.find(reference["origin"] or reference["name"])
    if found.name != reference["name"] or found.version != reference["version"]:
        raise InvalidInput(
            f"The folder {store.folder} holds {reference['name']!r}, version {reference['version']}; "
            f"the study there is now {found.name!r}, version {found.version}. Run it anew in another folder."
        )
    return found


def _installed_peers() -> list[str]:
    from choque.lab import peers

    return peers.installed()


def _distributions(names: Sequence[str]) -> list[str]:
    from choque.lab import peers

    return list(dict.fromkeys(["scipy", *(peers.get(name).distribution for name in names)]))


def _folder_name(study: Study, quick: bool) -> Path:
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return Path("output") / f"{study.name}{'-quick' if quick else ''}-{moment}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
