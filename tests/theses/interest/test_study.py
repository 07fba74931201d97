"""The study of areas of interest: its trials, its formulas, and a small run of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choque.lab import Result, run, studies
from choque.lab.records import Records
from choque.lab.reporting import judge_claims
from choque.lab.sampling import Plan
from choque.lab.stopwatch import Stopwatch
from choque.theses.interest import trials
from choque.theses.interest.methods import CONFIGURATIONS, COUNTS, PAIRS, share_of_all
from choque.theses.interest.study import (
    POLYGONS,
    STARTS,
    STUDY,
    break_even,
    further_cells,
    in_the_arena,
    is_of_another_kind,
    tables,
)
from choque.theses.interest.trials import ArenaTrial, ExtentsTrial


def test_the_full_design_has_the_120_cells() -> None:
    """F-004-31: fifteen configurations, four sizes, two starts; for each seed."""
    assert "interest" in studies.names()
    levels = STUDY.levels()
    assert len(levels["configuration"]) * len(levels["n"]) * len(levels["start"]) == 120
    assert set(PAIRS["dense"]) == set(PAIRS["sparse"]) == set(CONFIGURATIONS)
    assert PAIRS["dense"]["FB"] == tuple(n * (n - 1) / 2 for n in COUNTS)
    assert not is_of_another_kind({"start": "dense", "configuration": "FB"})
    assert is_of_another_kind({"start": "extents", "configuration": "FB"})


def test_break_even_by_hand() -> None:
    """F-004-35: 6,001.62 ms instead of 14.312 ms for 93,291.1 instead of 499,500 pairs: 14.7 µs."""
    assert break_even(6.00162, 0.014312, 93_291.1, 499_500) == pytest.approx(14.7e-6, rel=0.01)
    assert break_even(0.1, 0.2, 10, 100) < 0


def judged(seconds: dict[str, list[float]]) -> dict[str, str]:
    """The verdicts on AoIP from the seconds of steps of both starts; brute force has 400,000 pairs more."""
    rows = [
        {
            "start": start,
            "n": 1000,
            "configuration": name,
            "radii": "equal",
            "seed": 0,
            "solids": "spheres",
            "cell": f"{start} {name}",
            "verdict": "exact",
            "repetition": place,
            "steps": 1,
            "update": 0.0,
            "raw_pairs": 500_000,
            "unique_pairs": 500_000 if name == "FB" else 100_000,
            "pairs": value,
            "total": value,
        }
        for start in STARTS
        for name, values in seconds.items()
        for place, value in enumerate(values)
    ]
    result = Result(STUDY, Path(), {"stages": ["update", "pairs"]}, Records(rows))
    judge_claims(result)
    return {claim.id: str(claim.verdict) for claim in result.claims}


def test_a_verdict_on_times_needs_an_interval_on_one_side() -> None:
    brute = [0.010, 0.0101, 0.0099, 0.010, 0.010]
    near = judged({"FB": brute, "AoIP1-exhaustive": [0.048, 0.053, 0.050, 0.047, 0.051]})  # 0.1 µs a pair
    assert (near["slow-areas"], near["repaid"]) == ("confirmed", "not testable here")
    cheap = judged({"FB": brute, "AoIP1-exhaustive": [0.020, 0.0201, 0.0199, 0.0205, 0.020]})
    assert (cheap["slow-areas"], cheap["repaid"]) == ("confirmed", "confirmed")
    dear = judged({"FB": brute, "AoIP1-exhaustive": [0.100, 0.101, 0.099, 0.100, 0.100]})
    assert (dear["slow-areas"], dear["repaid"]) == ("confirmed", "refuted")
    even = judged({"FB": brute, "AoIP1-exhaustive": [0.0098, 0.0102, 0.0101, 0.0099, 0.010]})
    assert even["slow-areas"] == "not testable here"


def test_every_configuration_is_measured_and_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """F-004-09, F-004-30, F-004-34, F-004-37, F-004-44: stages, counts that add up, twice the same."""
    monkeypatch.setattr(trials, "STRIDE", 10)
    colliding = set()
    counts = {}
    for configuration in (*CONFIGURATIONS, "SaP1-legacy", "AoIP1-legacy", "AoIP1-exhaustive"):
        trial = ArenaTrial(configuration, "dense", 40, 0, "varied")
        watch = Stopwatch()
        trial.run(watch)
        reading = watch.stop()
        assert set(reading.stages) == {"create", "update", "pairs", "narrow"}
        assert trial.check().judgement == "exact"
        counted = dict(trial.counters())
        assert counted["steps"] == len(reading.laps["update"]) == 50
        assert np.mean([counted[f"tenth_{k}"] for k in range(10)]) == pytest.approx(counted["raw_pairs"])
        assert counted["unique_pairs"] <= counted["raw_pairs"]
        colliding.add(counted["colliding"])
        counts[configuration] = counted["unique_pairs"]
        if configuration in ("BSP3", "AoIP2"):
            trial.run(Stopwatch())
            assert trial.counters() == counted
    assert len(colliding) == 1
    assert counts["FB"] == 780
    assert counts["SaP1"] == counts["SaP1-legacy"]
    assert counts["AoIP1"] == counts["AoIP1-legacy"] == counts["AoIP1-exhaustive"] == counts["SaP3"]


@pytest.mark.parametrize(("start", "allowed"), [("sparse", 0.05), ("dense", 0.12)])
def test_the_printed_pairs_are_reproduced(
    start: str, allowed: float, thorough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-004-32: equal radii and box areas; shares of all pairs. One seed of few bodies is allowed to be farther off."""
    n, seeds = (1000, (0,)) if thorough else (300, (0, 1))
    monkeypatch.setattr(trials, "STRIDE", 5 if thorough else 25)
    for configuration in CONFIGURATIONS:
        if configuration.startswith("BSP"):
            continue
        raw = []
        for seed in seeds:
            trial = ArenaTrial(configuration, start, n, seed, "equal")
            trial.run(Stopwatch())
            raw.append(trial.counters()["raw_pairs"])
        share = np.mean(raw) / (n * (n - 1) / 2)
        assert share == pytest.approx(share_of_all(start, configuration), rel=allowed if thorough else 0.15)


def test_polygons_cost_more_and_find_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """F-004-35, F-004-38: the narrow phase of polygons behind a method, in the same trial."""
    monkeypatch.setattr(trials, "STRIDE", 50)
    found = {}
    for solids in ("spheres", "polygons"):
        trial = ArenaTrial("AoIP1", "sparse", 60, 0, "varied", solids)
        trial.run(Stopwatch())
        assert trial.check().judgement == "exact"
        found[solids] = trial.counters()
    assert found["polygons"]["colliding"] <= found["spheres"]["colliding"]
    assert found["polygons"]["raw_pairs"] == found["spheres"]["raw_pairs"]
    cells = list(further_cells(STUDY.levels(), quick=False))
    assert {cell["configuration"] for cell in cells if cell["solids"] == "polygons"} == set(POLYGONS)


def test_extents_are_checked() -> None:
    trial = ExtentsTrial(2000, 0)
    trial.run(Stopwatch())
    assert trial.check().judgement == "exact"
    assert trial.counters()["unique_pairs"] == pytest.approx(3.0 * 1000, rel=0.2)
    trial._pairs = trial._pairs + np.array([0, 1], np.int32)
    assert trial.check().judgement == "wrong"


@pytest.mark.usefixtures("figures_as_vectors")
def test_a_small_run_gives_verdicts_and_figures(tmp_path: Path) -> None:
    """F-004-31, F-004-33: every claim has a verdict, the tables are there, and every figure is drawn from the log."""
    result = run(
        "interest",
        quick=True,
        output=tmp_path / "run",
        methods=["SaP3", "AoIP1"],
        factors={"n": [60], "start": ["dense"]},
        plan=Plan(minimum=1, maximum=1, precision=None),
    )
    verdicts = {claim.id: claim.verdict for claim in result.claims}
    assert verdicts["equal-to-sweep"] == "confirmed"
    assert verdicts["granularity"] == verdicts["larger-areas"] == "not testable here"
    assert all(verdicts.values())
    assert set(result.cells.values("verdict")) == {"exact"}
    for figure in STUDY.figures:
        assert bool(figure.draw(result).axes) == (figure.name != "extents")  # none were matched
    assert set(in_the_arena(result).cells.values("solids")) == {"spheres"}
    shown = {row["configuration"]: row for row in tables(result)}
    assert set(shown) == {"SaP3", "AoIP1"}
    assert shown["SaP3"]["60 pairs"] == shown["AoIP1"]["60 pairs"] > 0
    assert (tmp_path / "run" / "tables.csv").read_text().startswith("start,configuration,60 pairs")
