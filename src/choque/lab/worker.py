"""The process that measures one cell: ``python -m choque.lab.worker ANSWER``.

The order comes as one line of JSON on stdin; the answer goes, whole or not at all, to the file ANSWER. Each phase is
printed on stdout when it begins, so that the parent can apply the time limit to the measuring alone. When stdin closes,
the parent has ended, and this process ends too.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from choque.lab import machine
from choque.lab.design import Parameters
from choque.lab.sampling import Outcome, Plan, sample, sample_in_rounds
from choque.lab.stopwatch import CLOCKS, WALL, Stopwatch
from choque.lab.study import Study
from choque.lab.trial import Trial
from choque.lab.verdict import JUDGEMENTS, Verdict

Order = dict[str, Any]
Answer = dict[str, Any]

MEASURING, CHECKING = "measuring", "checking"
BEGUN, ENDED = "begun", "ended"
"""What `choque.lab.ready` says of a cell's process: its number when it is there, its exit code when it is gone."""


def answer(order: Order, tell: Callable[[str], None] = lambda _: None) -> Answer:
    """Prepare, measure and check one cell in this process.

    ``order`` has the study's name and origin, the parameters, the plan, and the folder for scenes, if any; that of a
    head-to-head comparison also has the ``opponents``. One with ``kernels``, a list of parameters, only compiles.
    """
    from choque.lab import studies

    study = studies.find(order["study"]["origin"] or order["study"]["name"])
    if "kernels" in order:
        return _compiled(study, order)
    if order.get("opponents"):
        return _head_to_head(study, order, tell)
    trial = _prepared(study, order, order["parameters"])
    baseline = machine.peak_resident_bytes()
    tell(MEASURING)
    (outcome,) = sample([trial], Plan(**order["plan"]))
    peak = machine.peak_resident_bytes()
    tell(CHECKING)
    verdict = _verdict(outcome)
    return {
        "verdict": verdict.judgement,
        "note": verdict.note,
        "readings": [{**each.stages, "total": each.total} for each in outcome.readings],
        "counters": dict(trial.counters()) if outcome.status == "measured" else {},
        "facts": dict(trial.facts()),
        "warm_up": outcome.warm_up_seconds,
        "process_bytes": peak,
        "baseline_bytes": baseline,
        "machine": machine.label(),
    }


def _compiled(study: Study, order: Order) -> Answer:
    """Do some work once, so that Numba keeps its kernels on disk; return how many were compiled."""
    for parameters in order["kernels"]:
        with suppress(Exception):  # its cells will say what is wrong with it
            trial = _prepared(study, order, parameters)
            trial.warm_up(float("inf"))
            trial.run(Stopwatch(trial.clock))
            trial.check()
    kernel = sys.modules.get("choque._core.kernel")
    return {"compiled": kernel.announcement.count if kernel else 0}


def _head_to_head(study: Study, order: Order, tell: Callable[[str], None]) -> Answer:
    """Measure the level of the order and its opponents in turns; those that fail are left out."""
    levels = [order["parameters"][study.compares], *order["opponents"]]
    trials = [_prepared(study, order, {**order["parameters"], study.compares: level}) for level in levels]
    tell(MEASURING)
    outcomes = sample_in_rounds(trials, Plan(**order["plan"]))
    turns = {
        level: [{**reading.stages, "total": reading.total} for reading in outcome.readings]
        for level, outcome in zip(levels, outcomes, strict=True)
        if outcome.readings
    }
    is_measured = levels[0] in turns and len(turns) > 1
    note = "; ".join(outcome.note for outcome in outcomes if outcome.note)
    return {
        "verdict": "measured" if is_measured else "failed",
        "note": note,
        "turns": turns if is_measured else {},
        "readings": [],
    }


def _prepared(study: Study, order: Order, parameters: Parameters) -> Trial:
    scratch = Path(order["scratch"]) if order.get("scratch") else None
    trial = study.prepare(parameters, scratch)
    spare_scipy()
    if order.get("clock", WALL) != WALL:
        trial.clock = CLOCKS[order["clock"]]
    return trial


def _verdict(outcome: Outcome[Trial]) -> Verdict:
    if outcome.status != "measured":
        return Verdict(outcome.status, outcome.note)
    try:
        verdict = outcome.trial.check()
    except Exception as problem:
        return Verdict("failed", f"the check raised {type(problem).__name__}: {problem}")
    if not isinstance(verdict, Verdict) or verdict.judgement not in JUDGEMENTS:
        return Verdict("failed", f"the check returned {verdict!r}; it must be a Verdict of {', '.join(JUDGEMENTS)}")
    return verdict


_ASKING = "numba.np.arraymath"
_ASKED_FOR = "scipy.linalg"
_FOUND = "_HAVE_BLAS"


def spare_scipy() -> None:
    """Load what Numba loads with its first kernel, without SciPy; do nothing where Numba is not loaded.

    With its first kernel Numba imports ``scipy.linalg`` to learn whether BLAS is there: a third of the time that the
    process of a cell takes to start, for functions that no kernel here calls. Numba checks again wherever one is
    called, so the import can wait until then. Call this on the main thread, with no other import under way.
    """
    if "numba" not in sys.modules or _ASKING in sys.modules or _ASKED_FOR in sys.modules:
        return
    sys.modules[_ASKED_FOR] = None  # type: ignore[assignment]  # its import fails, and Numba takes it as absent
    try:
        # If a later Numba works differently, its first kernel loads SciPy as usual.
        with suppress(Exception):
            setattr(importlib.import_module(_ASKING), _FOUND, find_spec("scipy") is not None)
    finally:
        del sys.modules[_ASKED_FOR]


def main() -> None:
    """Serve one order."""
    # What a library prints must not be mistaken for a phase.
    phases = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    order = json.loads(sys.stdin.readline())
    threading.Thread(target=leave_when_alone, daemon=True).start()
    write_answer(sys.argv[1], answer(order, lambda phase: print(phase, file=phases, flush=True)))


def write_answer(path: str, reply: Answer) -> None:
    """Write an answer, whole or not at all."""
    from choque.files.atomic import replacing

    with replacing(path) as handle:
        handle.write(json.dumps(reply, default=_plain).encode())


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is neither a number nor text")


def leave_when_alone() -> None:
    """End this process as soon as its parent has ended."""
    sys.stdin.read()
    os._exit(3)


if __name__ == "__main__":
    main()
