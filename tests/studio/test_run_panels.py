"""Panels of a run by their content: the median of the latest values, the stages of steps as a flame."""

from __future__ import annotations

import re

import numpy as np
import pytest

from choque.studio.page.run_panels import COLUMNS, FLAME_HEIGHT, MEDIAN_OF, Recent, flame
from choque.world.report import SOLVER_STAGES, STAGES


def test_one_slow_step_does_not_change_the_median() -> None:
    recent = Recent()
    assert recent.median == 0.0
    values = np.random.default_rng(0).random(3 * MEDIAN_OF)
    for value in (1e6, *values):
        recent.add(value)
    assert recent.median == np.median(values[-MEDIAN_OF:])


@pytest.mark.parametrize("stages", [STAGES, SOLVER_STAGES, ("bounds", "broad", "of another package", "integrate")])
def test_a_flame_stacks_the_stages_of_the_latest_steps(stages: tuple[str, ...]) -> None:
    times = np.random.default_rng(0).uniform(0.1, 2.0, (3 * COLUMNS, len(stages)))
    times[-5] *= 1000  # a step that compiles is cut off and does not flatten the others
    shown = flame(np.arange(1.0, len(times) + 1), stages, times)
    parts = [re.findall(r"M(\d+) ([\d.]+)h\.9V([\d.]+)", path) for path in re.findall(r'<path[^>]* d="([^"]*)"', shown)]
    assert [len(part) for part in parts] == [COLUMNS] * len(stages)
    low, high = np.array(parts, float)[:, :, 1:].transpose(2, 0, 1)
    np.testing.assert_array_equal(low[0], FLAME_HEIGHT)
    np.testing.assert_array_equal(low[1:], high[:-1])  # without gaps
    usual = np.arange(COLUMNS) != COLUMNS - 5
    heights = (low - high)[:, usual]
    scale = heights.sum() / times[-COLUMNS:][usual].sum()
    np.testing.assert_allclose(heights, scale * times[-COLUMNS:][usual].T, atol=0.11)
    assert low[-1, ~usual] == pytest.approx(0.0)
    hint = re.findall("<title>([^<]*)</title>", shown)[-1]
    assert hint.startswith(f"frame {len(times)}: {times[-1].sum():.2f} ms; ")
    assert hint.endswith(f"{stages[-1]} {times[-1, -1]:.2f}")
