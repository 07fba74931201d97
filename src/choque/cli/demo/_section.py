"""What a section of the demo is, and what it shows."""

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
    """Result of a section: a sentence, a film, maybe a chart, and its figures for programs."""

    sentence: str
    picture: Path
    """A film, or a picture where ffmpeg is not installed."""
    try_next: str
    """A command to try next."""
    chart: Path | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    is_right: bool = True


@dataclass(frozen=True)
class Section:
    """A part of the demo."""

    title: str
    prepare: Callable[[], object]
    """Makes small calls that compile or load every kernel that is timed later."""
    show: Callable[[Path, bool, Progress], Shown]
    """Does the work: takes the folder to write to, whether to be quick, and a progress callback."""


@contextmanager
def drawing(path: Path, width: float, height: float, **layout: Any) -> Iterator[tuple[Figure, Any]]:
    """Give a figure of ``width`` × ``height`` inches in the common style, and write it to ``path`` at the end."""
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
