"""The study of the three sweeps: every method answers right on every kind of instance, and stages add up."""

from __future__ import annotations

from pathlib import Path

import pytest

from choque.lab import Result
from choque.lab.records import Records
from choque.lab.stopwatch import Stopwatch
from choque.lab.trial import CutOff
from choque.theses.kinetic.study import (
    FRAME_METHODS,
    STUDY,
    beside_the_matrix,
    incremental_overtakes,
    instance,
    ten_times_direct,
)

METHODS = ("kinetic", *FRAME_METHODS)


def _parameters(**changed: object) -> dict[str, object]:
    base = {"scene": "thesis", "n": 30, "occupancy": 0.1, "frames_per_second": 50, "method": "kinetic", "seed": 1}
    return {**base, **changed}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scene", ["thesis", "fixed", "boxes-3d"])
def test_every_method_is_right_on_every_scene(method: str, scene: str) -> None:
    trial = STUDY.prepare(_parameters(method=method, scene=scene))  # type: ignore[arg-type]
    watch = Stopwatch()
    trial.run(watch)
    reading = watch.stop()
    assert trial.check().judgement in ("exact", "rounding")
    assert set(reading.stages) == ({"init", "follow"} if method == "kinetic" else {"init", "sort", "collision"})
    assert trial.counters()["peak_bytes"] > 0


def test_matrix_is_that_of_the_thesis() -> None:
    levels = STUDY.levels()
    assert levels["n"] == [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    assert levels["occupancy"] == [0.01, 0.02, 0.05, 0.10]
    assert len(levels["seed"]) == 10
    listed = list(beside_the_matrix(levels, False))
    assert max(cell["n"] for cell in listed) == 100_000  # type: ignore[type-var]
    assert {cell["scene"] for cell in listed} == {"thesis", "fixed", "boxes-3d"}


def test_the_same_instance_feeds_all_methods_and_fixed_objects_stay_as_they_are() -> None:
    first, again = instance("thesis", 20, 0.05, 3), instance("thesis", 20, 0.05, 3)
    assert all((a == b).all() for a, b in zip(first[:3], again[:3], strict=True))
    few, many = (instance("fixed", n, 0.05, 0)[3] for n in (10, 1_000))
    assert many / few == pytest.approx(100)


def test_too_long_a_run_is_cut_off() -> None:
    trial = STUDY.prepare(_parameters(method="direct", frames_per_second=1e9))  # type: ignore[arg-type]
    with pytest.raises(CutOff, match="would take about"):
        trial.warm_up(0.5)


@pytest.mark.parametrize(
    ("dense", "verdict", "measured"),
    [
        ([7.0, 7.1, 7.2, 7.1, 7.0], "refuted", "7.1"),
        ([13.0, 13.1, 13.2, 13.1, 13.0], "confirmed", "13.1"),
        ([9.0, 11.0, 10.2, 9.5, 10.8], "not testable here", None),
    ],
)
def test_ten_times_is_judged_at_every_density(dense: list[float], verdict: str, measured: str | None) -> None:
    seconds = {0.01: [20.0, 20.5, 19.5, 20.0, 20.0], 0.1: dense}
    rows = [
        {
            **_parameters(n=1000, occupancy=occupancy, frames_per_second=1000, method=method, seed=0),
            "duration": 1.0,
            "cell": f"{occupancy} {method}",
            "verdict": "exact",
            "repetition": place,
            "total": value if method == "direct" else 1.0,
        }
        for occupancy, values in seconds.items()
        for method in ("direct", "kinetic")
        for place, value in enumerate(values)
    ]
    finding = ten_times_direct(Result(STUDY, Path(), {}, Records(rows)))  # type: ignore[arg-type]
    assert (finding.verdict, finding.measured) == (verdict, measured)


@pytest.mark.parametrize(
    ("rates", "seconds", "verdict"),
    [
        ((10, 1_000), (0.5, 2.0), "confirmed"),
        ((10, 1_000), (1.5, 2.0), "refuted"),
        ((300, 1_000), (1.5, 2.0), "not testable here"),
        ((300, 1_000), (0.5, 2.0), "confirmed"),
    ],
)
def test_that_incremental_is_never_faster_needs_the_lowest_frame_rate(
    rates: tuple[int, int], seconds: tuple[float, float], verdict: str
) -> None:
    """A tenth of the design had no rate below 300 a second, and refuted what holds up to 30."""
    rows = [
        {
            **_parameters(n=1_000, occupancy=0.05, frames_per_second=rate, method=method, seed=seed),
            "duration": 1.0,
            "cell": f"{rate} {method} {seed}",
            "verdict": "exact",
            "repetition": 0,
            "total": total if method == "incremental" else 1.0,
        }
        for rate, total in zip(rates, seconds, strict=True)
        for method in ("incremental", "kinetic")
        for seed in range(3)
    ]
    finding = incremental_overtakes(Result(STUDY, Path(), {}, Records(rows)))  # type: ignore[arg-type]
    assert finding.verdict == verdict
