"""The conformance suite of broad phases: every method here passes it, and any other package's can take it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from choque._core import check

# Importing them registers their checks.
from choque.testing import _checks_answer, _checks_input, _checks_motion, _checks_threads  # noqa: F401
from choque.testing._subject import Check, Factory, broad_phase


def broad_phase_checks() -> Iterator[tuple[str, Check]]:
    """List every check as (name, function); the function takes the arguments of `check_broad_phase`.

    Examples
    --------
    One test for each check in pytest::

        @pytest.mark.parametrize(("name", "check"), choque.testing.broad_phase_checks())
        def test_my_method(name, check):
            check(MyMethod)
    """
    yield from broad_phase.items()


def check_broad_phase(
    factory: Factory,
    *,
    thorough: bool = False,
    exact: bool = True,
    options: Mapping[str, Any] | None = None,
    checks: Iterable[str] | None = None,
) -> None:
    """Raise `ConformanceFailure` unless a broad phase keeps its contract.

    Parameters
    ----------
    factory
        The name of a registered method, a subclass of `choque.broad.Index`, or a function ``(bounds, **options)``
        that returns a `choque.broad.BroadPhase`.
    thorough
        True for the long form: the large reference scene, runs of 200 frames, more random cases.
    exact
        False for a method that may report more than the boxes' pairs: every pair must still be there, no pair
        that the filter forbids may be, and began and ended must still add up to its own answer.
    options
        Options given to the factory each time, such as ``{"cell": 2.0}``.
    checks
        Only these, by name; all when None. `broad_phase_checks` lists them.
    """
    chosen = list(broad_phase) if checks is None else list(checks)
    for name in chosen:
        check.choice(name, "check of broad phases", broad_phase)
    for name in chosen:
        broad_phase[name](factory, thorough=thorough, exact=exact, options=options)
