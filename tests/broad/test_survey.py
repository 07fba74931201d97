"""What a sample tells of the boxes it is taken from."""

from __future__ import annotations

import numpy as np
import pytest

import choque
from choque.bounds import Boxes
from choque.broad import create
from choque.broad._survey import survey_boxes


@pytest.mark.parametrize("scene", ["uniform", "clustered", "aligned", "brownian"])
def test_it_foresees_what_a_grid_takes(scene: str) -> None:
    """Against the grid's own probe: within a factor of two where boxes are crowded and where they are not."""
    grid = create("grid", Boxes(*choque.scene.generate(scene, 20_000, seed=1).frame()))
    survey = survey_boxes(grid._records)
    assert survey.box_count == 20_000
    assert survey.size_classes == grid.level_count == 1
    assert 0.5 < survey.grid_tests / grid.probe_tests() < 2.0


def test_it_sees_classes_of_sizes() -> None:
    grid = create("grid", Boxes(*choque.scene.generate("mixed", 20_000, seed=1).frame()))
    assert survey_boxes(grid._records).size_classes == grid.level_count


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
    survey = survey_boxes(create("brute", Boxes(lower, upper))._records)
    assert survey.size_classes >= 1
    assert survey.grid_tests >= 0
