"""What a stop of the tour is, and what it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from choque._core.types import Progress
from choque.errors import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Shown:
    """What a stop showed: a sentence, a picture, and the figures behind them for programs."""

    sentence: str
    picture: Path
    try_next: str
    """A command to go on with."""
    facts: dict[str, Any] = field(default_factory=dict)
    is_right: bool = True


@dataclass(frozen=True)
class Stop:
    """A stop of the tour.

    ``ready`` uses everything once in small, so that what is timed afterwards neither compiles nor loads; ``show`` does
    the work in a folder, in a quick way if asked to, and is given what tells how far it is.
    """

    title: str
    ready: Callable[[], object]
    show: Callable[[Path, bool, Progress], Shown]


@contextmanager
def drawing(path: Path, width: float, height: float, **layout: Any) -> Iterator[tuple[Figure, Any]]:
    """A figure of ``width`` × ``height`` inches in the house style, which is written to ``path`` in the end."""
    require("matplotlib", extra="lab", purpose="to draw pictures")
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from choque.files.atomic import replacing
    from choque.lab.style import SETTINGS

    style: dict[Any, Any] = dict(SETTINGS)
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure, figure.subplots(**layout)
        with replacing(path) as handle:
            figure.savefig(handle, format="png", dpi=120)
