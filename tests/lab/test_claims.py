"""Claims of a study: measured value, interval and verdict."""

from __future__ import annotations

from typing import Any

import pytest

from choque.errors import ChoqueError, InvalidInput
from choque.lab import Claim
from choque.lab.claims import confirmed, found, judged, not_testable, refuted
from choque.lab.statistics import Estimate

CLAIM = Claim("faster", "A thesis, page 7", "ten times faster")


def test_a_claim_gets_measured_value_interval_and_verdict() -> None:
    done = judged(CLAIM, lambda _: found(False, Estimate(4.0, 3.5, 4.6), "on one machine"), None)  # type: ignore[arg-type]
    assert done == Claim("faster", "A thesis, page 7", "ten times faster", "4", (3.5, 4.6), "refuted", "on one machine")
    assert done.to_row()["interval_upper"] == 4.6


def test_the_three_verdicts() -> None:
    assert [each.verdict for each in (confirmed("1"), refuted("2"), not_testable("no card"))] == [
        "confirmed",
        "refuted",
        "not testable here",
    ]


def test_what_the_run_cannot_answer_is_not_testable_here() -> None:
    def judge(_: Any) -> Any:
        raise InvalidInput("'slow' has no right answer there.")

    done = judged(CLAIM, judge, None)  # type: ignore[arg-type]
    assert (done.verdict, done.note) == ("not testable here", "'slow' has no right answer there.")


@pytest.mark.parametrize("judge", [lambda _: None, lambda _: "confirmed", lambda _: 1 / 0])
def test_no_claim_goes_without_a_verdict(judge: Any) -> None:
    with pytest.raises(ChoqueError, match="'faster' has no verdict"):
        judged(CLAIM, judge, None)  # type: ignore[arg-type]
