"""Claims as data: what was printed, what was measured here, and a verdict on each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from choque.errors import ChoqueError, InvalidInput
from choque.lab.statistics import Estimate

if TYPE_CHECKING:
    from choque.lab.result import Result

ClaimVerdict = Literal["confirmed", "refuted", "not testable here"]
VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)


@dataclass(frozen=True)
class Claim:
    """A published sentence, and the finding of this run about it."""

    id: str
    source: str
    """Where it is printed."""
    printed: str
    """What is claimed, with the printed value."""
    measured: str | None = None
    """What was measured here, with its unit."""
    interval: tuple[float, float] | None = None
    """The 95 % interval of the measured value, where there is one."""
    verdict: ClaimVerdict | None = None
    note: str = ""

    def to_row(self) -> dict[str, Any]:
        """Return one flat row for a table."""
        row = asdict(self)
        lower, upper = row.pop("interval") or (None, None)
        return {**row, "interval_lower": lower, "interval_upper": upper}


@dataclass(frozen=True)
class Finding:
    """What the function of a claim returns; made by `confirmed`, `refuted`, `found` or `not_testable`."""

    verdict: ClaimVerdict
    measured: str | None = None
    interval: tuple[float, float] | None = None
    note: str = ""


Judge = Callable[["Result"], Finding]


def found(holds: bool, measured: object, note: str = "", *, unit: str = "") -> Finding:
    """Confirm or refute a claim by what was measured: words, or an `Estimate` with its interval and ``unit``."""
    interval = measured.interval if isinstance(measured, Estimate) else None
    words = f"{measured.value:.3g}{unit}" if isinstance(measured, Estimate) else str(measured)
    return Finding("confirmed" if holds else "refuted", words, interval, note)


def confirmed(measured: object, note: str = "") -> Finding:
    """Return the finding that the claim holds here."""
    return found(True, measured, note)


def refuted(measured: object, note: str = "") -> Finding:
    """Return the finding that the claim does not hold here."""
    return found(False, measured, note)


def not_testable(note: str) -> Finding:
    """Return the finding that the claim cannot be tested here; ``note`` says why."""
    return Finding("not testable here", note=note)


def judged(claim: Claim, judge: Judge, result: Result) -> Claim:
    """Return the claim with its verdict; raise if its function gives none.

    What the result cannot answer (a method that was not run, or has no right answer) cannot be tested here.
    """
    try:
        finding = judge(result)
    except InvalidInput as problem:
        finding = not_testable(str(problem))
    except Exception as problem:
        raise ChoqueError(
            f"The claim {claim.id!r} has no verdict: its function raised {type(problem).__name__}: {problem}. "
            "The samples are kept; correct the study and run 'choque lab report' on the folder (--study for a file)."
        ) from problem
    if not isinstance(finding, Finding) or finding.verdict not in VERDICTS:
        raise ChoqueError(
            f"The claim {claim.id!r} has no verdict: its function returned {finding!r}; it must return "
            "confirmed(…), refuted(…) or not_testable(…). The samples are kept."
        )
    return replace(
        claim, measured=finding.measured, interval=finding.interval, verdict=finding.verdict, note=finding.note
    )
