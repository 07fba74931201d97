"""Run a study, resume it, read it, write its report again, and compare two runs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from choque._core import __version__, check
from choque._core.types import Progress
from choque.errors import InvalidInput, UnknownName, UnreadableFile, check_installed
from choque.lab import machine, studies
from choque.lab.design import Level, code_version, words_of
from choque.lab.execution import Execution, now
from choque.lab.result import Result
from choque.lab.sampling import Plan
from choque.lab.stopwatch import CLOCKS, WALL
from choque.lab.store import Store, command
from choque.lab.study import Study, declared
from choque.lab.verdict import RIGHT
from choque.scale.executors import require_address

StudyReference: TypeAlias = str | os.PathLike[str] | Study


def run(
    study: StudyReference,
    *,
    quick: bool = False,
    output: str | os.PathLike[str] | None = None,
    methods: Sequence[str] | None = None,
    factors: Mapping[str, Sequence[Level]] | None = None,
    peers: bool = False,
    threads: int = 1,
    seed: int = 0,
    fraction: float = 1.0,
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
        Decides the order of the cells, and which ones a fraction takes.
    fraction
        The share of the design that is measured, above 0 and at most 1. Settings are taken so that each level of each
        factor has its share, each setting with everything that the study compares.
    plan
        Repetitions and time limits; None for those of the study.
    cluster
        The address of a Dask scheduler; None for this machine.
    side_by_side
        How many cells may run at once on a machine. More than one is faster and disturbs the times.
    clock
        ``"wall"``, the time that passes; or ``"processor"``, the time of all threads of a cell together,
        which is steadier on a busy machine.
    progress
        Called when a cell begins and when it is done.
    """
    found = _found(study)
    wanted = {**(factors or {}), **({found.compares: methods} if methods else {})}
    for name, value, least in (("threads", threads, 1), ("side_by_side", side_by_side, 1), ("seed", seed, 0)):
        if not isinstance(value, int) or value < least:
            raise InvalidInput(f"{name} is {value!r}; it must be a whole number of at least {least}.")
    if cluster is not None:
        require_address(cluster)
    if not isinstance(plan, Plan | None):
        raise InvalidInput(f"plan is {plan!r}; it must be a choque.lab.Plan.")
    if not check.is_number(fraction) or not 0 < fraction <= 1:
        raise InvalidInput(f"fraction is {fraction!r}; it must be above 0 and at most 1, such as 0.25.")
    if clock not in CLOCKS:
        raise UnknownName("clock", clock, CLOCKS)
    _check_libraries(cluster)
    chosen = plan or (found.quick_plan if quick else found.plan)
    # Cells listed one by one belong to the declared design; given levels replace them.
    others = _installed_peers() if peers else []
    record = {
        "study": found.to_json(),
        "declaration": found.declaration(),
        "title": found.title,
        "quick": quick,
        "levels": found.levels(quick=quick, peers=others, wanted=wanted),
        "with_listed": set(wanted) <= {found.compares},
        "plan": chosen.to_json(),
        "threads": threads,
        "clock": clock,
        "seed": seed,
        "fraction": float(fraction),
        "side_by_side": side_by_side,
        "choque": __version__,
        "code": code_version(),
        "machine": machine.describe(_distributions(others)),
        "started": now(),
        "finished": None,
    }
    store = Store.create(output or _folder_name(found, quick), record)
    return Execution(found, store, progress).complete(cluster)


def resume(
    folder: str | os.PathLike[str], *, study: StudyReference | None = None, cluster: str | None = None,
    progress: Progress | None = None,
) -> Result:  # fmt: skip
    """Resume an interrupted run: only cells that are not finished, or whose code has changed, are measured.

    The run of a study in a file is resumed only if ``study`` names that file: it is executed, and a folder that comes
    from another person could name any file.
    """
    if cluster is not None:
        require_address(cluster)
    _check_libraries(cluster)
    store = Store.open(folder)
    found = _study_to_resume(store) if study is None else _given(study, store)
    if store.record["study"] != found.to_json():
        store.write_record(study=found.to_json())
    if store.record["code"] != code_version():
        store.write_record(code=code_version(), choque=__version__, machine=machine.describe())
    return Execution(found, store, progress).complete(cluster)


def report(folder: str | os.PathLike[str], *, study: StudyReference | None = None) -> Result:
    """Judge the claims, draw the figures and write the report again, from the raw samples.

    No file that the folder names is executed. The report of a study in a file has the claims and figures of its run,
    unless ``study`` gives the file: then they are judged and drawn again.
    """
    from choque.lab.reporting import write_all

    _check_libraries(None)
    store = Store.open(folder)
    result = _result_in(store, study)
    write_all(result, store)
    return result


def read(folder: str | os.PathLike[str], *, study: StudyReference | None = None) -> Result:
    """Read a run, without writing anything; its claims are judged again.

    No file that the folder names is executed. The claims of a study in a file have the verdicts of its run, unless
    ``study`` gives the file.
    """
    from choque.lab.reporting import judge_claims

    result = _result_in(Store.open(folder), study)
    judge_claims(result)
    return result


def _check_libraries(cluster: str | None) -> None:
    """Raise if the samples of a run could not be kept, or its report not be written."""
    check_installed("pyarrow", "matplotlib", "scipy", "jinja2", extra="lab", purpose="to run a study and report it")
    if cluster is not None:
        check_installed("distributed", extra="scale", purpose="to run a study on a cluster")


def _result_in(store: Store, study: StudyReference | None = None) -> Result:
    found = _study_to_read(store) if study is None else _given(study, store)
    return Result(found, store.folder, store.record, store.read_samples(), store.read_turns())


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


def _study_to_read(store: Store) -> Study:
    """Return the installed study of a run; for one in a file, or not installed, what the record says of it."""
    reference = store.record["study"]
    if not reference["origin"] and reference["name"] in studies.names():
        return _matching(studies.STUDIES.find(reference["name"]), store)
    if "declaration" not in store.record:
        raise InvalidInput(
            f"The run in {store.folder} was written by an earlier version and cannot be read without the code of its "
            f"study. If you trust {reference['origin'] or reference['name']}, give it: "
            f"{command('report', store.folder, reference['origin'] or reference['name'])}"
        )
    try:
        return declared(store.record)
    except (ValueError, TypeError, LookupError, AttributeError) as problem:
        raise UnreadableFile(
            f"The record of {store.folder} is damaged: {type(problem).__name__}: {problem}. Run the study again."
        ) from problem


def _study_to_resume(store: Store) -> Study:
    """Return the installed study of a run; one in a file must be given by name, since it is executed."""
    reference = store.record["study"]
    if reference["origin"]:
        raise InvalidInput(
            f"To resume {store.folder} executes the file {reference['origin']}, which only its record names. "
            f"If you trust that file, give it by name: {store.resuming}"
        )
    return _matching(studies.STUDIES.find(reference["name"]), store)


def _given(study: StudyReference, store: Store) -> Study:
    return _matching(_found(study), store)


def _matching(found: Study, store: Store) -> Study:
    """Return the study if the run is of the same name and version."""
    reference = store.record["study"]
    if found.name != reference["name"] or found.version != reference["version"]:
        raise InvalidInput(
            f"The folder {store.folder} holds {reference['name']!r}, version {reference['version']}; "
            f"the study there is now {found.name!r}, version {found.version}. Run it again in another folder."
        )
    return found


def _installed_peers() -> list[str]:
    from choque.lab import peers

    return peers.installed()


def _distributions(names: Sequence[str]) -> list[str]:
    from choque.lab import peers

    return list(dict.fromkeys(["scipy", *(peers.get(name).distribution for name in names)]))


def _folder_name(study: Study, quick: bool) -> Path:
    moment = datetime.now(UTC).strftime("%Y-%m-%d--%H-%M-%S")
    return Path("output") / f"{study.name}{'-quick' if quick else ''}--{moment}"


COUNTERS = (
    "tests",
    "bounding_tests",
    "exchanges",
    "events",
    "duplicates",
    "false_positives",
    "peak_bytes",
    "bytes",
    "recorded_bytes",
)
"""Counters by which two runs are compared; smaller is better."""


@dataclass(frozen=True)
class Change:
    """One figure of one cell in both runs."""

    cell: str
    figure: str
    before: Any
    after: Any
    ratio: float | None
    is_regression: bool


@dataclass
class RunComparison:
    """What differs between two runs of a study."""

    threshold: float
    cells: int
    """Number of cells of both runs."""
    missing: int
    """Number of cells that only the first run has."""
    changes: list[Change] = field(default_factory=list)
    time_ratio: float | None = None
    """Median over cells of the second's time over the first's: for information, never a regression."""

    @property
    def regressions(self) -> list[Change]:
        """The changes for the worse by more than the threshold."""
        return [change for change in self.changes if change.is_regression]


def compare(
    before: str | os.PathLike[str], after: str | os.PathLike[str], *, threshold: float = 0.05,
    counters: Sequence[str] = COUNTERS,
) -> RunComparison:  # fmt: skip
    """Compare the folder of a later run with that of an earlier one.

    A regression is one of the ``counters`` that grew by more than ``threshold``, as a share, or a right answer that is
    not right any more. Times are not compared cell by cell: machines are noisy, counters are not.
    """
    if not threshold >= 0:
        raise InvalidInput(f"threshold is {threshold}; it must be a share of at least 0, such as 0.05.")
    one, other = _result_in(Store.open(before)), _result_in(Store.open(after))
    if one.study.name != other.study.name:
        raise InvalidInput(
            f"{before} holds the study {one.study.name!r} and {after} holds {other.study.name!r}; "
            "compare two runs of one study."
        )
    return _compare(one, other, threshold, counters)


def _compare(one: Result, other: Result, threshold: float, counters: Sequence[str]) -> RunComparison:
    factors = [factor.name for factor in one.study.factors]
    old, new = ({tuple(row.get(name) for name in factors): row for row in result.cells} for result in (one, other))
    shared = [key for key in old if key in new]
    if not shared:
        raise InvalidInput(
            f"{one.folder} and {other.folder} have no cell in common, so nothing can be compared; "
            "run the study with the same levels."
        )
    known = {name for row in (*one.cells, *other.cells) for name in row if isinstance(row[name], int | float)}
    known &= {*one.samples.columns, *other.samples.columns}
    for counter in counters:
        if counter not in COUNTERS and counter not in known:
            raise UnknownName("counter", counter, known - set(factors))
    found = RunComparison(threshold, len(shared), len(old) - len(shared))
    times = []
    for key in shared:
        before, after = old[key], new[key]
        name = words_of(dict(zip(factors, key, strict=True)))
        if before["verdict"] != after["verdict"]:
            worse = before["verdict"] in RIGHT and after["verdict"] not in RIGHT
            found.changes.append(Change(name, "verdict", before["verdict"], after["verdict"], None, worse))
        for counter in counters:
            was, now = before.get(counter), after.get(counter)
            if isinstance(was, int | float) and isinstance(now, int | float) and was != now:
                ratio = now / was if was else float("inf")
                found.changes.append(Change(name, counter, was, now, ratio, ratio > 1 + threshold))
        if before.get("median") and after.get("median"):
            times.append(float(after["median"]) / float(before["median"]))  # type: ignore[arg-type]
    found.time_ratio = sorted(times)[len(times) // 2] if times else None
    return found
