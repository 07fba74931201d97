"""What the k-DOP study measures beside its runs: landing, convergence, fields, sorts, and the cost of a match."""

from __future__ import annotations

import numpy as np
import pytest

from choque.lab.stopwatch import Stopwatch
from choque.lab.trial import CutOff
from choque.theses.kdop.pile import seconds_a_match
from choque.theses.kdop.tower import Tower
from choque.theses.kdop.trials import SORTS, ConvergenceTrial, FieldTrial, LandingTrial, SortTrial, random_rotations


@pytest.mark.parametrize("preset", ["reproduce", "thesis-text"])
def test_the_topmost_body_lands_by_the_closed_form(preset: str) -> None:
    """F-002-36, in a world, with a lower tower."""
    trial = LandingTrial(Tower(24, preset=preset))
    trial.run(Stopwatch())
    assert trial.check().judgement == "exact"
    assert trial.facts()["landed"] == pytest.approx(trial.tower.landing_frame(), abs=1)


@pytest.mark.parametrize("elongation", [1, 3])
def test_iterations_of_gjk_and_epa_are_counted(elongation: int) -> None:
    """F-002-29: most and mean; the share of hits is that of the specification's own sample of 60,000 pairs."""
    trial = ConvergenceTrial(3_000, elongation, 0)
    trial.run(Stopwatch())
    counted = trial.counters()
    assert trial.check().judgement == "exact"
    assert 1 <= counted["gjk_mean"] <= counted["gjk_most"] < 64
    assert 1 <= counted["epa_mean"] <= counted["epa_most"] < 64
    expected = {1: 41_486 / 60_000, 3: 7_288 / 60_000}[elongation]
    assert counted["contacts"] / counted["runs"] == pytest.approx(expected, abs=0.03)
    trial.run(Stopwatch())
    assert trial.counters() == counted


def test_fields_have_the_same_contacts_behind_every_volume() -> None:
    """F-002-08, F-002-09: nothing missed; 18-DOPs pass no more than boxes, nor 26-DOPs than 14- or 18-DOPs."""
    pairs, contacts = {}, set()
    for volume in ("sphere", "6-dop", "14-dop", "18-dop", "26-dop"):
        trial = FieldTrial(volume, 300, 4, seed=1)
        trial.run(watch := Stopwatch())
        trial.release()
        assert set(watch.stop().stages) == {"bounds", "broad", "narrow"}
        assert trial.check().judgement == "exact"
        counted = trial.counters()
        assert counted["false_positives"] == counted["pairs"] - counted["contacts"] >= 0
        pairs[volume] = counted["pairs"]
        contacts.add(counted["contacts"])
    assert len(contacts) == 1
    assert (
        pairs["26-dop"]
        <= min(pairs["18-dop"], pairs["14-dop"])
        <= max(pairs["18-dop"], pairs["14-dop"])
        <= pairs["6-dop"]
    )
    assert pairs["6-dop"] < pairs["sphere"]
    assert 2 * pairs["6-dop"] / 300 == pytest.approx(3.0, rel=0.35)  # fewer near the walls


def test_what_would_not_fit_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.theses.kdop.trials.MAX_PAIRS", 1_000)
    with pytest.raises(CutOff, match="pairs at once"):
        FieldTrial("sphere", 500, 8, seed=0).warm_up(10.0)


@pytest.mark.parametrize("sort", sorted(SORTS))
def test_every_sort_sorts(sort: str) -> None:
    if sort not in ("numpy", "radix-cpu"):
        pytest.importorskip("warp")
    trial = SortTrial(sort, 1_000, seed=2)
    trial.run(Stopwatch())
    assert trial.check().judgement == "exact"


def test_a_wrong_order_is_wrong() -> None:
    trial = SortTrial("numpy", 10, seed=0)
    trial.run(Stopwatch())
    trial._order = trial._order[::-1]
    assert trial.check().judgement == "wrong"


def test_random_rotations_are_uniform() -> None:
    rotation = random_rotations(np.random.default_rng(0), 4_000)
    np.testing.assert_allclose(np.linalg.det(rotation), 1.0)
    assert np.abs(rotation.mean(axis=0)).max() < 0.04


def test_the_cost_of_a_match_changes_nothing() -> None:
    tower = Tower(6)
    world = tower.world(threads=1)
    before = world.hash()
    assert seconds_a_match(world) >= 0
    assert world.hash() == before
