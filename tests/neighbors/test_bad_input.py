"""Bad input of `choque.neighbors`: one sentence that says what was given, what is allowed and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import choque
from choque.errors import InvalidInput

POINTS = np.random.default_rng(0).uniform(0, 1, (5, 3))

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("a singular cell", {"cell": [[1, 0, 0], [0, 1, 0], [1, 1, 0]]}, r"lie in a plane or on a line.*Mark axes"),
    ("a left-handed cell", {"cell": [[0, 1, 0], [1, 0, 0], [0, 0, 1]]}, "left-handed: .*exchange two"),
    ("a zero vector", {"cell": [1, 1, 0]}, "Axis 2 is periodic, and its vector is zero; give it a length"),
    ("a cell with NaN", {"cell": [1, 1, float("nan")]}, "must be finite"),
    ("a cell of words", {"cell": "cubic"}, "cell has the element type <U5; convert it"),
    ("a cell of digits", {"cell": ["1", "2", "3"]}, "cell has the element type <U1; convert it"),
    ("a cell of flags", {"cell": True}, "cell has the element type bool"),
    ("a masked cell", {"cell": np.ma.array([1.0, 1, 1], mask=[0, 0, 1])}, "cell has masked values"),
    ("a cell of another shape", {"cell": np.eye(2)}, r"cell has shape \(2, 2\); it must be \(3, 3\)"),
    ("periodic without a cell", {"periodic": True}, "periodic is True and no cell was given; give cell="),
    ("periodic numbers", {"cell": 1, "periodic": (1, 1, 0)}, r"periodic is \(1, 1, 0\); it must be True, False"),
    ("periodic of two", {"cell": 1, "periodic": (True, False)}, "one for each axis"),
    ("a cut-off of 0", {"cutoff": 0}, "cutoff is 0; it must be a number from 1e-150 to"),
    ("a negative cut-off", {"cutoff": -1.0}, "cutoff is -1.0"),
    ("a cut-off of NaN", {"cutoff": float("nan")}, "cutoff is nan"),
    ("an infinite cut-off", {"cutoff": float("inf")}, "finite number"),
    ("a cut-off of words", {"cutoff": "5 Å"}, "cutoff is '5 Å'"),
    ("a cut-off beyond floats", {"cutoff": 1e200}, "another unit of length"),
    ("a cut-off of too many images", {"cutoff": 1e5, "cell": 1.0}, r"reaches .* cells along one axis.*smaller cut-off"),
    ("neither cut-off nor radii", {"cutoff": None}, "neither cutoff nor radii"),
    ("cut-off and radii", {"radii": 1.0}, "cutoff and radii were given; give one"),
    ("a negative radius", {"cutoff": None, "radii": [1, 1, -1, 1, 1]}, "Row 2 of radii is -1.0"),
    ("radii of another length", {"cutoff": None, "radii": [1, 1]}, r"radii has the shape \(2,\)"),
    ("positions of another shape", {"positions": np.zeros(3)}, r"positions has the shape \(3,\)"),
    ("positions in 4D", {"positions": np.zeros((2, 4))}, r"must be \(n, 2\) or \(n, 3\)"),
    ("positions with NaN", {"positions": [[0, 0, 0], [0, float("nan"), 0]]}, "Row 1 of positions"),
    ("infinite positions", {"positions": [[0, 0, float("inf")]]}, "Row 0 of positions"),
    ("mixed dimensions", {"other": np.zeros((2, 2))}, "positions are 3D and other is 2D"),
    ("other with NaN", {"other": [[0, 0, float("nan")]]}, "Row 0 of other"),
    ("half a list of two sets", {"other": POINTS, "full": False}, "leave full=False out"),
    ("a batch of two sets", {"other": POINTS, "batch": [0, 5]}, "leave batch= out"),
    ("radii of one of two sets", {"cutoff": None, "radii": 1.0, "other": POINTS}, "belong together"),
    ("other radii alone", {"other_radii": 1.0}, "other_radii was given without other"),
    ("unknown quantities", {"quantities": "ijx"}, "some of the letters ijSdDP"),
    ("quantities twice", {"quantities": "iji"}, "each at most once"),
    ("no quantities", {"quantities": ""}, "some of the letters"),
    ("full of a number", {"full": 1}, "full is 1; it must be True or False"),
    ("no threads", {"threads": 0}, "threads is 0"),
    ("a batch that ends early", {"batch": [0, 3]}, "from 0 to 5, the number of points"),
    ("a batch out of order", {"batch": [0, 4, 2, 5]}, "in order"),
    ("a batch of floats", {"batch": [0.0, 5.0]}, "batch has the element type float64"),
    ("edge lengths for a batch", {"batch": [0, 2, 5], "cell": [1, 1, 1]}, r"or \(2, 3, 3\), one a system"),
    ("a bad cell in a batch", {"batch": [0, 2, 5], "cell": [np.eye(3), np.ones((3, 3))]}, "of the cell of system 1"),
    ("a point too far away", {"cell": 1.0, "positions": [[0, 0, 1e9]]}, "Point 0 at .* Wrap positions"),
]


@pytest.mark.parametrize(("options", "sentence"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
@pytest.mark.parametrize("small", [True, False], ids=["pairs", "cells"])
def test_bad_input_is_refused_in_a_sentence(
    options: dict[str, Any], sentence: str, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("choque.neighbors._find.MAX_SMALL", 128 if small else -1)
    with pytest.raises(InvalidInput, match=sentence) as caught:
        choque.neighbors(**{"positions": POINTS, "cutoff": 0.5, **options})
    assert str(caught.value).endswith(".")
