"""Designs of studies: factors, cells, exclusions, order and fractions."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque.errors import InvalidInput, UnknownName
from choque.lab import Factor, Metric, Plan, Study, design
from choque.lab.design import Design, Level, Parameters

LEVELS: dict[str, list[Level]] = {"n": [10, 20], "method": ["a", "b"], "seed": [0, 1, 2]}


def study(**changes: object) -> Study:
    factors = (
        Factor("n", (10, 20, 30), quick=(10,)),
        Factor("method", lambda: ["a", "b"], further=lambda: ["c"], takes_peers=True),
        Factor("seed", (0, 1)),
    )
    arguments = {"name": "s", "title": "", "about": "", "factors": factors, "metrics": (Metric("total", "s", ""),)}
    return Study(**{**arguments, **changes})  # type: ignore[arg-type]


def test_the_factorial_is_full_and_listed_cells_are_added_once() -> None:
    listed: list[Parameters] = [{"n": 99, "method": "a", "seed": 0}, {"n": 10, "method": "a", "seed": 0}]
    cells = Design(LEVELS, listed).cells()
    assert len(cells) == 2 * 2 * 3 + 1
    assert cells[0].parameters == {"n": 10, "method": "a", "seed": 0}
    assert cells[-1].parameters["n"] == 99
    assert len({cell.key for cell in cells}) == len(cells)


def test_excluded_cells_are_left_out() -> None:
    cells = Design(LEVELS, exclude=lambda each: each["method"] == "b" and each["n"] == 20).cells()
    assert len(cells) == 9
    with pytest.raises(InvalidInput, match="has no cells"):
        Design(LEVELS, exclude=lambda _: True).cells()


@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_the_order_is_random_but_the_seed_decides_it(one: int, other: int) -> None:
    orders = [Design(LEVELS, seed=seed).order() for seed in (one, one, other)]
    assert orders[0] == orders[1]
    assert sorted(orders[0], key=str) == sorted(orders[2], key=str)
    assert len(orders[0]) == 12


def test_the_order_is_not_that_of_the_factors() -> None:
    assert Design(LEVELS).order() != Design(LEVELS).cells()


@given(st.integers(0, 2**32), st.sampled_from([1 / 12, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 3 / 4]))
def test_a_fraction_keeps_settings_whole_and_gives_each_level_its_share(seed: int, fraction: float) -> None:
    levels: dict[str, list[Level]] = {"scene": ["s", "t"], "n": [1, 2, 3, 4], "method": ["a", "b"], "seed": [0, 1, 2]}
    taken = Design(levels, seed=seed, fraction=fraction, compares="method", instance=["seed"])
    cells = taken.cells()
    assert len(cells) == round(24 * fraction) * 2
    assert len(taken.whole()) == 48
    assert sorted(taken.order(), key=str) == sorted(cells, key=str)
    settings = Counter(tuple(cell.parameters[name] for name in ("scene", "n", "seed")) for cell in cells)
    assert set(settings.values()) == {2}
    for name in ("scene", "n", "seed"):
        counts = Counter(setting[("scene", "n", "seed").index(name)] for setting in settings)
        assert all(abs(counts[level] - len(settings) / len(levels[name])) < 2 for level in levels[name])
    combinations = Counter(setting[:2] for setting in settings)
    assert max(combinations.values()) <= 3 * fraction + 1


def test_a_larger_fraction_contains_a_smaller_one_and_the_seed_decides_which() -> None:
    rows = [(n, seed) for n in range(20) for seed in range(5)]
    assert design.balanced(rows, 50, seed=3)[:20] == design.balanced(rows, 20, seed=3)
    assert design.balanced(rows, 20, seed=3) != design.balanced(rows, 20, seed=4)
    assert sorted(design.balanced(rows, 100)) == list(range(100))


def test_a_key_depends_on_parameters_and_code_and_on_nothing_else() -> None:
    one = Design(LEVELS, salt="1").key({"n": 1, "method": "a"})
    assert one == Design({}, salt="1").key({"method": "a", "n": 1})
    assert one != Design(LEVELS, salt="2").key({"n": 1, "method": "a"})
    assert one != Design(LEVELS, salt="1").key({"n": 2, "method": "a"})


def test_the_code_version_changes_with_the_code_that_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    before = design.code_version.__wrapped__()
    assert before == design.code_version.__wrapped__()
    monkeypatch.setattr(design, "UNMEASURED_PACKAGES", ("lab", "studio", "cli", "testing", "broad"))
    assert before != design.code_version.__wrapped__()


def test_plan_and_threads_are_part_of_what_is_measured() -> None:
    planned, levels = study(), study().levels()
    keys = [
        planned.design(levels, plan=plan, threads=threads).cells()[0].key
        for plan, threads in ((Plan(), 1), (Plan(), 2), (Plan(maximum=9), 1))
    ]
    assert len(set(keys)) == 3


def test_levels_are_the_declared_ones_the_quick_ones_or_the_wanted_ones() -> None:
    assert study().levels() == {"n": [10, 20, 30], "method": ["a", "b"], "seed": [0, 1]}
    assert study().levels(quick=True)["n"] == [10]
    wanted = study().levels(quick=True, wanted={"n": [7, 7], "method": ["c"]}, peers=["p"])
    assert wanted == {"n": [7], "method": ["c", "p"], "seed": [0, 1]}


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"nn": [1]}, "no factor called 'nn'. Did you mean 'n'"),
        ({"method": ["aa"]}, "no method called 'aa'"),
        ({"n": ["ten"]}, "takes a number"),
        ({"method": [3]}, "takes a name"),
        ({"n": []}, "no level"),
    ],
)
def test_unknown_factors_and_levels_are_refused(wanted: dict[str, list[object]], message: str) -> None:
    with pytest.raises((InvalidInput, UnknownName), match=message):
        study().levels(wanted=wanted)  # type: ignore[arg-type]


def test_whole_numbers_may_be_written_as_others_are() -> None:
    """``--factor n=1e3`` names the same cell as ``--factor n=1000``."""
    whole = Factor("n", (100, 200)).accept([1e3, 1000, 2.5])
    assert [(type(level), level) for level in whole] == [(int, 1000), (float, 2.5)]
    assert type(Factor("occupancy", (0.1, 0.2)).accept([1.0])[0]) is float


def test_levels_may_be_of_numpy_and_come_alone() -> None:
    """Levels are written as JSON, and a single one needs no list."""
    factor = Factor("n", np.array([100, 200]))
    assert json.dumps(factor.chosen(False)) == "[100, 200]"
    assert json.dumps(factor.accept(np.array([7, 8]))) == "[7, 8]"
    assert factor.accept(np.int64(7)) == factor.accept(7) == [7]
    assert Factor("method", ("fast", "slow")).accept("slow") == ["slow"]


def test_a_study_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(UnknownName, match="technique"):
        study(compares="technique")
    with pytest.raises(InvalidInput, match="no metric"):
        study(metrics=())


def test_methods_and_engines_kept_for_comparison_make_finished_cells_stale() -> None:
    for name in ("broad/_grid.py", "lab/methods/octree.py", "theses/fingsics/response.py", "theses/kdop/trials.py"):
        assert design.is_measured(Path(name)), name
    for name in ("lab/reporting.py", "cli/lab.py", "theses/kdop/claims.py", "theses/evm/study.py"):
        assert not design.is_measured(Path(name)), name


@pytest.mark.parametrize(
    ("declared", "level"), [((1, 10), 0), ((1, 10), -1), ((0, 1), -1), ((0.1, 0.5), 0.0), ((0.1, 0.5), float("nan"))]
)
def test_numbers_must_be_of_the_kind_of_the_declared_ones(declared: tuple[float, ...], level: float) -> None:
    with pytest.raises(InvalidInput, match=r"The factor 'n' was given .*; it takes .*numbers"):
        Factor("n", declared).accept([level])


def test_other_numbers_of_the_kind_are_levels() -> None:
    assert Factor("n", (1, 10)).accept([1e3, 7]) == [1_000, 7]
    assert Factor("seed", (0, 1)).accept([0, 5]) == [0, 5]
    assert Factor("share", (0.1, 0.5)).accept([1, 0.25]) == [1, 0.25]
    assert Factor("offset", (-1.0, 1.0)).accept([0, -3]) == [0, -3]
