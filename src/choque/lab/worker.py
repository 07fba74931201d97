"""The process that measures one cell: ``python -m choque.lab.worker ANSWER``.

The order comes as one line of JSON on stdin; the answer goes, whole or not at all, to the file ANSWER. Each phase is
told on stdout when it begins, so that whoever waits can hold the measuring to its time limit and nothing else. When
stdin closes, whoever ordered the cell is gone, and so is this process.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from choque.lab import machine
from choque.lab.sampling import Outcome, Plan, sample
from choque.lab.stopwatch import CLOCKS, WALL
from choque.lab.trial import Trial
from choque.lab.verdict import Verdict

Order = dict[str, Any]
Answer = dict[str, Any]

MEASURING, CHECKING = "measuring", "checking"


def answer(order: Order, tell: Callable[[str], None] = lambda _: None) -> Answer:
    """Prepare, measure and check one cell in this process.

    ``order`` has the study's name and origin, the parameters, the plan, and the folder for scenes, if any.
    """
    from choque.lab import studies

    study = studies.find(order["study"]["origin"] or order["study"]["name"])
    scratch = Path(order["scratch"]) if order.get("scratch") else None
    trial = study.prepare(order["parameters"], scratch)
    if order.get("clock", WALL) != WALL:
        trial.clock = CLOCKS[order["clock"]]
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
        "rehearsal": outcome.rehearsal,
        "process_bytes": peak,
        "baseline_bytes": baseline,
        "machine": machine.label(),
    }


def _verdict(outcome: Outcome[Trial]) -> Verdict:
    if outcome.status != "measured":
        return Verdict(outcome.status, outcome.note)
    try:
        return outcome.trial.check()
    except Exception as problem:
        return Verdict("failed", f"the check raised {type(problem).__name__}: {problem}")


def main() -> None:
    """Serve one order."""
    from choque.files.atomic import replacing

    # Whatever a library prints must not be taken for a phase.
    phases = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    order = json.loads(sys.stdin.readline())
    threading.Thread(target=_leave_when_alone, daemon=True).start()
    reply = answer(order, lambda phase: print(phase, file=phases, flush=True))
    with replacing(sys.argv[1]) as handle:
        handle.write(json.dumps(reply).encode())


def _leave_when_alone() -> None:
    sys.stdin.read()
    os._exit(3)


if __name__ == "__main__":
    main()
