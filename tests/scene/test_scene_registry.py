"""Scenes by name, and what is said when they are asked for wrongly."""

from __future__ import annotations

import numpy as np
import pytest

from choque import scene
from choque.errors import InvalidInput, UnknownName
from choque.scene.box_scene import GENERATORS

BUILT_IN = [
    "aligned",
    "arena",
    "brownian",
    "clustered",
    "free-fall",
    "mixed",
    "moving",
    "one-moves",
    "reference",
    "uniform",
]


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    scene.names()
    monkeypatch.setattr(GENERATORS, "_registered", {})


def test_names_and_public_names() -> None:
    assert scene.names() == BUILT_IN
    assert all(hasattr(scene, name) for name in scene.__all__)


def test_a_scene_says_what_it_was_made_from() -> None:
    made = scene.generate("mixed", 10, seed=3, dimension=2, frames=4, ratio=50)
    assert (made.name, made.box_count, made.seed, made.dimension, made.frame_count) == ("mixed", 10, 3, 2, 4)
    assert made.parameters == {"ratio": 50, "overlaps": 3.0}
    assert made.dtype == np.float32
    assert "mixed" in repr(made)
    assert "array" not in repr(made)


@pytest.mark.usefixtures("own_registry")
def test_a_generator_of_ones_own() -> None:
    class Row:
        def __init__(self, request: scene.Request, gap: float) -> None:
            self.request, self.gap = request, gap

        def frame(self, index: int) -> tuple[np.ndarray, np.ndarray]:
            lower = np.zeros((self.request.box_count, self.request.dimension))
            lower[:, 0] = np.arange(len(lower)) * self.gap + index
            return lower, lower + 1

    @scene.generator("row")
    def row(request: scene.Request, *, gap: float = 2.0) -> Row:
        return Row(request, gap)

    assert "row" in scene.names()
    assert scene.parameters("row") == {"gap": 2.0}
    made = scene.generate("row", 3, dimension=2, frames=2, gap=4.0)
    assert made.frame(1)[0].tolist() == [[1, 0], [5, 0], [9, 0]]
    assert made.frame(1)[0].dtype == np.float32
    with pytest.raises(InvalidInput, match="already"):
        scene.generator("row")(lambda request: row(request))


def test_unknown_names_are_answered_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'uniform'"):
        scene.generate("unifrom", 10)
    with pytest.raises(UnknownName, match="no scene of boxes called 'pile'"):
        scene.generate("pile", 10)
    with pytest.raises(UnknownName, match="no scene of boxes called"):
        scene.parameters(7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("uniform", {"ratio": 3}, r"no parameter 'ratio'. Its parameters: overlaps=3.0"),
        ("reference", {"step": 3}, "Its parameters: none"),
        ("uniform", {"overlaps": 0}, "overlaps is 0"),
        ("uniform", {"overlaps": float("nan")}, "overlaps is nan"),
        ("uniform", {"overlaps": "many"}, "overlaps is 'many'"),
        ("uniform", {"overlaps": True}, "overlaps is True"),
        ("clustered", {"clusters": 0}, "clusters is 0"),
        ("clustered", {"clusters": 2.5}, "clusters is 2.5"),
        ("mixed", {"ratio": 0.5}, "ratio is 0.5; it must be a number from 1.0"),
        ("aligned", {"axis": 3}, "axis is 3; it must be from 0 to 2"),
        ("aligned", {"axis": -1}, "axis is -1"),
        ("moving", {"step": -1}, "step is -1"),
        ("one-moves", {"moving": 11}, "there are only 10 boxes"),
        ("brownian", {"cycle": 0}, "cycle is 0"),
        ("brownian", {"density": 0}, "density is 0"),
        ("free-fall", {"restitution": 1}, "restitution is 1"),
        ("free-fall", {"packing": 0.05}, "packing is 0.05; it must be a number from 0.1"),
        ("free-fall", {"gravity": float("inf")}, "gravity is inf"),
        ("uniform", {"seed": -1}, "seed is -1"),
        ("uniform", {"n": -1}, "n is -1"),
        ("uniform", {"n": 2.0}, "n is 2.0"),
        ("uniform", {"frames": 0}, "frames is 0"),
        ("uniform", {"dimension": 4}, "dimension is 4"),
        ("uniform", {"dtype": "int32"}, "no float type called 'int32'"),
        ("uniform", {"dtype": "nonsense"}, "no float type called 'nonsense'"),
    ],
)
def test_bad_values_name_the_parameter(name: str, options: dict[str, object], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        scene.generate(name, **{"n": 10, **options})  # type: ignore[arg-type]


def test_frames_that_are_not_there() -> None:
    made = scene.generate("uniform", 3, frames=2)
    for index in (2, -1, 0.5, "1"):
        with pytest.raises(InvalidInput, match="a whole number from 0 to 1"):
            made.frame(index)  # type: ignore[arg-type]
