"""Fitting models to times: planted models, intervals, and the choice of a family."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from choque.errors import InvalidInput, UnknownName
from choque.lab.fit import FAMILIES, TERMS, Fit, choose, fit_all, fit_family, fit_power, relative
from choque.lab.reporting import family_name

PLACES = np.repeat([1.0, 2, 5, 10, 20, 50, 100, 200, 500, 1_000], 10)
"""The numbers of objects of the thesis, ten experiments each."""
TRUTH = {
    "sublinear": (50, 20),
    "linear": (12, 30, 40),
    "subquadratic": (7, 3, 40, 30),
    "quadratic": (0.5, 4, 10, 40, 30),
}


def curve(family: str) -> Any:
    return sum(value * TERMS[term](PLACES) for value, term in zip(TRUTH[family], FAMILIES[family], strict=True))


@pytest.mark.parametrize("family", FAMILIES)
def test_known_models_are_recovered(family: str) -> None:
    fit = fit_family(family, PLACES, curve(family))
    np.testing.assert_allclose(fit.coefficients, TRUTH[family], rtol=1e-6)
    np.testing.assert_allclose(fit(PLACES), curve(family), rtol=1e-9)
    assert fit.r2 == pytest.approx(1)
    assert fit.dfe == len(PLACES) - len(TRUTH[family])


@pytest.mark.parametrize("noise", [0.01, 0.1])
@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_of_coefficients_hold_the_planted_ones(family: str, noise: float, thorough: bool) -> None:
    generator = np.random.default_rng([len(family), int(noise * 100)])
    held = []
    for _ in range(400 if thorough else 50):
        y = curve(family) * (1 + noise * generator.standard_normal(len(PLACES)))
        fit = fit_family(family, PLACES, y, relative(curve(family)))
        lower, upper = fit.intervals[0]
        held.append(lower <= TRUTH[family][0] <= upper)
    assert 0.86 <= np.mean(held) <= 1


@pytest.mark.parametrize("noise", [0.001, 0.01, 0.05, 0.1])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_right_family_is_chosen(family: str, noise: float, thorough: bool) -> None:
    """Nine times in ten: the leading coefficient of a family too large is above 0 by chance now and then."""
    generator = np.random.default_rng([len(family), int(noise * 1_000)])
    draws = 200 if thorough else 25
    chosen = []
    for _ in range(draws):
        y = curve(family) * (1 + noise * generator.standard_normal(len(PLACES)))
        chosen.append(choose(fit_all(PLACES, y, relative(curve(family)))).family)
    assert chosen.count(family) >= 0.85 * draws


def test_statistics_are_those_of_their_definitions() -> None:
    generator = np.random.default_rng(5)
    x, y = PLACES, curve("linear") + generator.normal(0, 30, len(PLACES))
    fit = fit_family("linear", x, y)
    errors = y - fit(x)
    sst = ((y - y.mean()) ** 2).sum()
    assert fit.sse == pytest.approx((errors**2).sum())
    assert fit.r2 == pytest.approx(1 - fit.sse / sst)
    assert fit.adjusted_r2 == pytest.approx(1 - fit.sse * (len(x) - 1) / (sst * fit.dfe))
    assert fit.rmse == pytest.approx(np.sqrt(fit.sse / (len(x) - 3)))


def test_intervals_agree_with_an_independent_library() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    stats = pytest.importorskip("scipy.stats")
    generator = np.random.default_rng(6)
    y = curve("linear") + generator.normal(0, 30, len(PLACES))
    fit = fit_family("linear", PLACES, y)
    model = lambda x, a, b, c: a * x + b * np.log(x) + c  # noqa: E731
    values, covariance = optimize.curve_fit(model, PLACES, y, p0=(1, 1, 1))
    half = stats.t.ppf(0.975, fit.dfe) * np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(fit.coefficients, values, rtol=1e-5)
    np.testing.assert_allclose([upper - lower for lower, upper in fit.intervals], 2 * half, rtol=1e-4)


def test_a_power_law_is_recovered_with_its_interval() -> None:
    generator = np.random.default_rng(7)
    x = np.repeat([500.0, 1_000, 2_000, 4_000, 6_000], 20)
    exact = fit_power(x, 4.9 * x**0.727)
    np.testing.assert_allclose(exact.coefficients, (4.9, 0.727), rtol=1e-9)
    noisy = fit_power(x, 4.9 * x**0.727 * np.exp(generator.normal(0, 0.05, len(x))))
    for (lower, upper), truth in zip(noisy.intervals, (4.9, 0.727), strict=True):
        assert lower < truth < upper
    assert noisy.r2 > 0.98
    assert str(exact) == "4.9·x^0.727"


def test_aic_prefers_the_model_that_made_the_points() -> None:
    y = curve("quadratic") * (1 + 0.01 * np.random.default_rng(8).standard_normal(len(PLACES)))
    assert choose(fit_all(PLACES, y, relative(y)), rule="aic").family == "quadratic"


def test_a_fit_without_freedom_promises_nothing() -> None:
    fit = fit_family("linear", [1, 2, 3], [3, 5, 7])
    assert fit.dfe == 0
    assert fit.intervals[0] == (-np.inf, np.inf)
    assert np.isnan(fit.rmse)
    assert list(fit_all([1, 2, 3], [3, 5, 7])) == ["sublinear", "linear"]


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: fit_family("cubic", [1, 2], [1, 2]), "cubic"),
        (lambda: fit_family("linear", [1, 2], [1, 2]), "different places; measured: 2"),
        (lambda: fit_family("linear", [0, 1, 2], [1, 2, 3]), "above 0"),
        (lambda: fit_family("linear", [1, 2, 3], [1, 2]), "3 places and 2 values"),
        (lambda: fit_family("sublinear", [1, 2, 3], [1, 2, 3], [1, 0, 1]), "weights"),
        (lambda: fit_power([1, 2], [0, 1]), "above 0"),
        (lambda: choose([]), "no fits"),
        (lambda: choose(fit_all([1, 2], [1, 2]), "luck"), "luck"),  # type: ignore[arg-type]
    ],
)
def test_bad_input_is_refused_in_a_sentence(work: Any, message: str) -> None:
    with pytest.raises((InvalidInput, UnknownName), match=message):
        work()


def test_fits_print_as_formulas() -> None:
    fit = Fit("linear", FAMILIES["linear"], (2.0, -3.0, 1.5), ((0, 0),) * 3, 3, 0, 0, 1, 1, 0, 0)
    assert str(fit) == "2·x -3·ln x +1.5"


def test_few_sizes_say_only_that_growth_is_not_slower() -> None:
    """Three sizes allow no family beyond the linear one: quadratic times are called linear or faster."""
    for count, name in ((3, "linear or faster"), (12, "quadratic")):
        sizes = np.repeat(np.linspace(10, 200, count), 3)
        tried = fit_all(sizes, sizes**2 * (1 + 1e-3 * np.tile([-1, 0, 1], count)))
        assert family_name(choose(tried).family, tried) == name
