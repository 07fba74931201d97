"""The median of the latest values."""

from __future__ import annotations

import numpy as np

from choque.studio.page.run_panels import MEDIAN_OF, Recent


def test_one_slow_step_does_not_change_the_median() -> None:
    recent = Recent()
    assert recent.median == 0.0
    values = np.random.default_rng(0).random(3 * MEDIAN_OF)
    for value in (1e6, *values):
        recent.add(value)
    assert recent.median == np.median(values[-MEDIAN_OF:])
