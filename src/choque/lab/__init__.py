"""The laboratory: methods compared on the same scenes, each run checked by an oracle, and one report to share.

>>> import choque
>>> "comparison" in choque.lab.names()
True

``choque.lab.run("comparison", quick=True)`` measures, and returns a `Result` with its tables. To write a study of your
own, see `choque.lab.study`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.lab._compare import Comparison, compare
    from choque.lab._run import load, report, resume, run
    from choque.lab.claims import Claim, Finding, confirmed, found, not_testable, refuted
    from choque.lab.design import Factor
    from choque.lab.records import Records
    from choque.lab.result import Result
    from choque.lab.sampling import Plan
    from choque.lab.stopwatch import Stopwatch
    from choque.lab.studies import names
    from choque.lab.study import Metric, Study
    from choque.lab.trial import CutOff, Trial
    from choque.lab.verdict import Verdict

_HOMES = {
    "claims": ("Claim", "Finding", "confirmed", "found", "not_testable", "refuted"),
    "_compare": ("Comparison", "compare"),
    "design": ("Factor",),
    "records": ("Records",),
    "result": ("Result",),
    "_run": ("load", "report", "resume", "run"),
    "sampling": ("Plan",),
    "stopwatch": ("Stopwatch",),
    "studies": ("names",),
    "study": ("Metric", "Study"),
    "trial": ("CutOff", "Trial"),
    "verdict": ("Verdict",),
}

__all__ = [
    "Claim",
    "Comparison",
    "CutOff",
    "Factor",
    "Finding",
    "Metric",
    "Plan",
    "Records",
    "Result",
    "Stopwatch",
    "Study",
    "Trial",
    "Verdict",
    "compare",
    "confirmed",
    "found",
    "load",
    "names",
    "not_testable",
    "refuted",
    "report",
    "resume",
    "run",
]

__getattr__ = exporting("choque.lab", {name: f"choque.lab.{home}" for home, names in _HOMES.items() for name in names})


def __dir__() -> list[str]:
    return sorted(__all__)
