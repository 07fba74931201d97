"""The cost model T = C + bB + oO of each step and each run (F-001-15)."""

from __future__ import annotations

import math

import pytest
from world_scenes import gas, pile

from choque.theses.fingsics.totals import Cost, CostMeter, cost_of


def test_the_thesis_s_own_figures() -> None:
    """4:1 of figure 5.8: 419,274 and 135,933 checks at 546 and 25 ns need 21.84 > 1.48, which holds."""
    cost = Cost(1.0, 419_274, 419_274 * 25e-9, 135_933, 135_933 * 546e-9, 419_274)
    assert cost.ratio == pytest.approx(21.84)
    assert cost.threshold == pytest.approx(1.48, abs=0.005)
    assert cost.filter_pays is True
    assert "O/B = 21.84 > 1.48 = o1/(o1 - o2): the filter pays." in str(cost)


def test_the_verdict_is_that_of_the_two_totals() -> None:
    """With the filter T = C + bB + o₂O, without it T = C + o₁O: the inequality says which is smaller."""
    for exact in (0, 1, 50, 99, 100):
        for unit in (1e-9, 2e-9, 1e-7):
            cost = Cost(0.5, 100, 100 * 2e-8, exact, exact * unit, 100)
            with_filter, without = cost.seconds, 0.5 + 100 * unit
            if exact == 0:
                assert cost.filter_pays is None, "nothing tells what an exact test costs"
            else:
                assert cost.filter_pays is (with_filter < without)
    useless = Cost(0.5, 100, 1e-6, 100, 1.0, 100)
    assert useless.threshold == math.inf
    assert useless.filter_pays is False
    assert "the filter does not pay" in str(useless)


def test_a_sweep_with_a_filter_reports_all_five() -> None:
    world = gas(300, broad="sap-obb")
    reports = [world.step() for _ in range(10)]
    plain = gas(300, broad="sap-incremental")
    without = [plain.step() for _ in range(10)]
    for report, other in zip(reports, without, strict=True):
        letters = cost_of(report).letters()
        assert set(letters) == {"C", "b", "B", "o", "O"}
        assert letters["o"] == report.pairs
        assert letters["b"] == other.pairs, "b of SAP+OBB is o of SAP"
        assert cost_of(other).letters()["b"] == 0
        assert cost_of(other).filter_pays is None
        assert cost_of(report).seconds == pytest.approx(report.seconds["broad"] + report.seconds["narrow"], rel=1e-9)
        if report.pairs:
            whole = letters["C"] + letters["b"] * letters["B"] + letters["o"] * letters["O"]
            assert whole == pytest.approx(cost_of(report).seconds, rel=1e-9)
    total = sum(map(cost_of, reports), Cost())
    assert total.exact_tests == sum(report.pairs for report in reports)
    assert total.bounding_tests == sum(report.pairs for report in without)
    assert total.seconds == pytest.approx(sum(cost_of(report).seconds for report in reports))
    assert math.isfinite(total.ratio)
    assert total.filter_pays is (total.ratio > total.threshold)
    for part in ("C = ", "b = ", "B = ", "o = ", "O = ", "O/B = ", "the filter"):
        assert part in str(total)


def test_brute_force_has_no_structure() -> None:
    world = pile(40, broad="brute")
    report = world.step()
    count = len(world)
    assert cost_of(report).structure_seconds == 0
    assert cost_of(report).bounding_tests >= count * (count - 1) // 2 - 10
    assert cost_of(report).letters()["B"] > 0
    assert "no filter" in str(cost_of(report))


def test_the_letters_add_up_where_nothing_is_tested() -> None:
    """`all` lists pairs and tests none: what that takes is its C, and T is what the letters say."""
    world = pile(40, broad="all")
    cost = cost_of(world.step())
    letters = cost.letters()
    assert letters["b"] == letters["B"] == 0
    assert letters["C"] > 0
    assert letters["C"] + letters["o"] * letters["O"] == pytest.approx(cost.seconds, rel=1e-9)


def test_a_switch_begins_a_new_account() -> None:
    world, meter = pile(40, broad="brute"), CostMeter()
    meter(world, world.step())
    assert meter.total.bounding_tests > 0
    world.switch("grid")
    meter(world, world.step())
    assert meter.total.bounding_tests == 0
    assert meter.total.structure_seconds > 0
