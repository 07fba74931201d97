"""The usual value of what is measured again and again."""

from __future__ import annotations

import numpy as np

from choque.studio.page.recent import KEPT, Recent


def test_one_step_that_took_long_does_not_show() -> None:
    recent = Recent()
    assert recent.usual == 0.0
    values = np.random.default_rng(0).random(3 * KEPT)
    for value in (1e6, *values):
        recent.note(value)
    assert recent.usual == np.median(values[-KEPT:])
