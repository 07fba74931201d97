"""Medians, intervals, outliers and ratios against planted ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from choque.errors import InvalidInput
from choque.lab.statistics import crossover, grouped_median, median_interval, outliers, paired_ratio, summary


@pytest.mark.parametrize("count", [5, 6, 7, 8, 12, 25])
@pytest.mark.parametrize("law", ["lognormal", "exponential"])
def test_intervals_cover_the_true_median_at_their_nominal_rate(count: int, law: str, thorough: bool) -> None:
    """Within 3 points at the full count; the reduced one allows for its own chance, at four deviations."""
    trials = 6_000 if thorough else 500
    generator = np.random.default_rng([count, len(law)])
    draw = {
        "lognormal": lambda: generator.lognormal(0, 0.5, count),
        "exponential": lambda: generator.exponential(1, count),
    }
    truth = {"lognormal": 1.0, "exponential": np.log(2)}[law]
    found = [median_interval(draw[law](), resamples=600, seed=trial) for trial in range(trials)]
    covered = np.mean([each.lower <= truth <= each.upper for each in found])
    allowed = 0.03 if thorough else 0.03 + 4 * np.sqrt(0.95 * 0.05 / trials)
    assert abs(covered - 0.95) <= allowed
    assert all(each.lower <= each.value <= each.upper for each in found)


def test_a_summary_says_where_samples_lie_and_how_far_they_spread() -> None:
    found = summary([1.0, 2.0, 3.0, 4.0, 100.0])
    assert (found.count, found.median.value, found.mean, found.minimum, found.maximum) == (5, 3, 22, 1, 100)
    assert (found.lower_quartile, found.upper_quartile, found.outliers) == (2, 4, 1)
    assert found.deviation == pytest.approx(np.std([1, 2, 3, 4, 100], ddof=1))
    assert summary([5.0]).deviation == 0


def test_outliers_lie_beyond_tukeys_fences() -> None:
    assert outliers([0.0, 1, 2, 3, 4, 7, -3, 7.1]).tolist() == [False] * 8
    assert outliers([0.0, 1, 2, 3, 4, 5, 6, 20]).tolist() == [False] * 7 + [True]


def test_a_planted_ratio_is_found_though_instances_differ_more() -> None:
    generator = np.random.default_rng(3)
    scale = dict(enumerate(generator.lognormal(0, 1.5, 8)))
    one = {key: 2.5 * size * (1 + 0.02 * generator.standard_normal(9)) for key, size in scale.items()}
    other = {key: size * (1 + 0.02 * generator.standard_normal(9)) for key, size in scale.items()}
    ratio = paired_ratio(one, other)
    assert ratio.lower < 2.5 < ratio.upper
    assert ratio.upper - ratio.lower < 0.2
    unpaired = np.median(np.concatenate(list(one.values()))) / np.median(np.concatenate(list(other.values())))
    assert ratio.value == pytest.approx(2.5, rel=0.02)
    assert unpaired > 0


def test_instances_that_only_one_has_are_left_out() -> None:
    assert paired_ratio({0: [4.0], 1: [100.0]}, {0: [2.0], 2: [1.0]}).value == 2
    with pytest.raises(InvalidInput, match="no instance in common"):
        paired_ratio({0: [1.0]}, {1: [1.0]})


def test_groups_widen_the_interval_by_what_lies_between_them() -> None:
    generator = np.random.default_rng(1)
    alike = grouped_median([generator.normal(10, 0.1, 10) for _ in range(6)])
    unlike = grouped_median([generator.normal(middle, 0.1, 10) for middle in (8, 9, 10, 11, 12, 13)])
    assert unlike.upper - unlike.lower > 5 * (alike.upper - alike.lower)


def test_a_planted_crossover_is_found_within_its_interval() -> None:
    """n²/1000 and n meet at 1,000."""
    generator = np.random.default_rng(2)
    x = [100, 300, 900, 2_700, 8_100]

    def noisy(value: float) -> Any:
        return value * (1 + 0.05 * generator.standard_normal(11))

    found = crossover(x, [noisy(n * n / 1_000) for n in x], [noisy(n) for n in x])
    assert found is not None
    assert found.lower < 1_000 < found.upper
    assert found.value == pytest.approx(1_000, rel=0.1)


def test_curves_that_do_not_cross_have_no_crossover() -> None:
    assert crossover([1, 2, 3], [[1.0]] * 3, [[2.0]] * 3) is None
    assert crossover([1, 2, 3], [[3.0]] * 3, [[2.0]] * 3) is None


def test_samples_must_be_numbers() -> None:
    with pytest.raises(InvalidInput, match="no samples"):
        summary([])
    with pytest.raises(InvalidInput, match="Sample 1"):
        summary([1.0, np.nan])


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: summary(["fast"]), "they must be numbers"),  # type: ignore[arg-type]
        (lambda: median_interval([1, 2, 3], level=2), "level is 2"),
        (lambda: median_interval([1, 2, 3], resamples=0), "0 resamples"),
        (lambda: paired_ratio({"a": [1.0]}, {"a": [0.0]}), "A sample of 'a' to divide by is 0"),
        (lambda: crossover([1, 2], [[0], [1]], [[2], [2]]), "must be above 0"),
        (lambda: crossover([1, 2], [[1]], [[2]]), "2 places, 1 and 1 sets"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(work: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        work()
