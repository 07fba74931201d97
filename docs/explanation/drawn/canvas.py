"""What all figures share: a register by name, and a few strokes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from choque.lab.style import COLOURS, new_figure

BLACK, RED, BLUE, OCHRE, GREEN, VIOLET, TEAL = COLOURS[:7]
GREY, PALE = "#999999", "#e9e9e9"

FIGURES: dict[str, tuple[Callable[[], Figure], str]] = {}
"""By name: the function that draws it, and the format of the file."""


def drawn(form: str = "svg") -> Callable[[Callable[[], Figure]], Callable[[], Figure]]:
    """Register the figure that has the name of the function."""

    def register(function: Callable[[], Figure]) -> Callable[[], Figure]:
        FIGURES[function.__name__] = function, form
        return function

    return register


def panels(width: float, height: float, count: int = 1, **options: Any) -> tuple[Figure, list[Any]]:
    """A figure with axes side by side."""
    figure = new_figure(width, height)
    return figure, list(np.atleast_1d(figure.subplots(1, count, **options)))


def boxes(axes: Any, lower: Any, upper: Any, **look: Any) -> None:
    """Draw rectangles."""
    look = {"facecolor": PALE, "edgecolor": GREY, "linewidth": 0.7, **look}
    patches = [Rectangle(tuple(low[:2]), *(high - low)[:2]) for low, high in zip(lower, upper, strict=True)]
    axes.add_collection(PatchCollection(patches, **look))
    axes.autoscale_view()


def plain(axes: Any, title: str = "") -> None:
    """A picture of space: equal axes and no frame."""
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(title)


def some_boxes(count: int, seed: int, side: float = 10.0, sizes: tuple[float, float] = (0.5, 1.8)) -> tuple[Any, Any]:
    """Boxes in the plane, strewn evenly: lower and upper corners (n, 2)."""
    random = np.random.default_rng(seed)
    lower = random.uniform(0, side, (count, 2))
    return lower, lower + random.uniform(*sizes, (count, 2))


@contextmanager
def overheard(
    module: ModuleType,
    name: str,
    after: Callable[[Any, Any], object] | None = None,
    before: Callable[[Any], object] | None = None,
) -> Iterator[None]:
    """Hear the arguments, and afterwards the result too, of a function that others call as ``module.name``.

    For a compiled function to call it so, run that one's ``py_func``.
    """
    original = getattr(module, name)

    def heard(*arguments: Any) -> Any:
        if before is not None:
            before(arguments)
        result = original(*arguments)
        if after is not None:
            after(arguments, result)
        return result

    setattr(module, name, heard)
    try:
        yield
    finally:
        setattr(module, name, original)
