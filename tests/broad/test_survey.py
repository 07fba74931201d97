"""Numbers that are estimated from a sample of boxes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import choque
from choque._core.records import pack_records
from choque._core.types import Floats
from choque.bounds import Boxes
from choque.broad import create
from choque.broad.auto import COORDINATES, survey_numbers


def survey_boxes(records: Floats, previous: Floats | None = None) -> SimpleNamespace:
    """What a sample of the boxes says, by name."""
    return SimpleNamespace(**dict(zip(COORDINATES, survey_numbers(records, previous).tolist(), strict=False)))


def records_of(boxes: Boxes) -> Floats:
    """The boxes as methods see them."""
    return pack_records(boxes, True, 1)


@pytest.mark.parametrize("scene", ["uniform", "clustered", "aligned", "brownian"])
def test_it_foresees_what_a_grid_takes(scene: str) -> None:
    """Within a factor of two where boxes are crowded and where they are not."""
    boxes = Boxes(*choque.scene.generate(scene, 20_000, seed=1).frame())
    grid = create("grid", boxes)
    grid.count()
    survey = survey_boxes(records_of(boxes))
    assert survey.n == 20_000
    assert survey.size_classes == grid.index.level_count == 1
    assert 0.5 < survey.grid_tests / (grid.counters.tests / 20_000) < 2.0


def test_it_sees_classes_of_sizes() -> None:
    """As many as a grid has levels, or one more: classes are fourfold from the largest, levels at least fourfold."""
    boxes = Boxes(*choque.scene.generate("mixed", 20_000, seed=1).frame())
    level_count = create("grid", boxes).index.level_count  # type: ignore[attr-defined]
    assert 0 <= survey_boxes(records_of(boxes)).size_classes - level_count <= 1


@pytest.mark.parametrize(("dimension", "step"), [(2, 0.05), (3, 0.01), (3, 0.3)])
def test_it_foresees_the_exchanges_of_a_sweep_that_keeps_its_order(dimension: int, step: float) -> None:
    """Within a factor of two, from 128 boxes of 3,000."""
    scene = choque.scene.generate("brownian", 3_000, seed=1, dimension=dimension, frames=2, step=step)
    first, second = (Boxes(*frame) for frame in scene.frames())
    sweep = create("sap-incremental", first)
    sweep.update(second)
    survey = survey_boxes(records_of(second), records_of(first))
    assert survey.moving
    assert 0.5 < survey.passed / (sweep.counters.exchanges / 3_000) < 2.0


def test_what_moves_as_one_passes_nothing() -> None:
    lower, upper = choque.scene.generate("uniform", 1_000, seed=1).frame()
    before, after = (records_of(Boxes(lower + shift, upper + shift)) for shift in (0, 8))
    assert survey_boxes(after, before).passed < 1e-2
    assert not survey_boxes(after).moving


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (np.zeros((1, 3)), np.zeros((1, 3))),
        (np.zeros((500, 3)), np.zeros((500, 3))),
        (np.array([[-np.inf] * 3, [0, 0, 0]]), np.array([[np.inf] * 3, [1, 1, 1]])),
        (np.full((9, 3), -1e307), np.full((9, 3), 1e307)),
    ],
)
def test_it_takes_anything(lower: np.ndarray, upper: np.ndarray) -> None:
    records = create("brute", Boxes(lower, upper)).index.records
    survey = survey_boxes(records, records[::-1].copy())
    assert survey.size_classes >= 1
    assert survey.passed >= 0
    assert survey.grid_tests >= 0
