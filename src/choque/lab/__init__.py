"""The laboratory: methods compared on the same scenes, each run checked by an oracle, and one report to share.

>>> import choque
>>> "comparison" in choque.lab.names()
True

``choque.lab.run("comparison", quick=True)`` measures, and returns a `Result` with its tables. To write a study of your
own, see `choque.lab.study`; `choque.lab.claims` has the findings that judge a claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.lab import phantoms
    from choque.lab.claims import Claim, Finding
    from choque.lab.design import Factor
    from choque.lab.result import Result
    from choque.lab.runs import compare, read, report, resume, run
    from choque.lab.sampling import Plan
    from choque.lab.studies import names
    from choque.lab.study import Metric, Study
    from choque.lab.trial import Trial
    from choque.lab.verdict import Verdict

__all__ = [
    "Claim",
    "Factor",
    "Finding",
    "Metric",
    "Plan",
    "Result",
    "Study",
    "Trial",
    "Verdict",
    "compare",
    "names",
    "phantoms",
    "read",
    "report",
    "resume",
    "run",
]

_HOMES = {
    ".claims": "Claim Finding",
    ".design": "Factor",
    ".result": "Result",
    ".runs": "compare read report resume run",
    ".sampling": "Plan",
    ".studies": "names",
    ".study": "Metric Study",
    ".trial": "Trial",
    ".verdict": "Verdict",
}
__getattr__, __dir__ = exporting(__name__, __all__, _HOMES)
