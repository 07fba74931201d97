"""The style of figures: the same everywhere, and legible when printed in grey."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from choque.errors import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS = {
    "figure.dpi": 100,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "hatch.linewidth": 0.6,
    "hatch.color": "#333333",
    "svg.fonttype": "path",
    "svg.hashsalt": "choque",
}

COLOURS = ("#111111", "#c4442d", "#1f5fa8", "#e09a2b", "#5b8f3a", "#8a4b9c", "#3aa6a1", "#9c7a4f", "#d275a5", "#777777")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h", "p")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
GREYS = ("#f2f2f2", "#bdbdbd", "#888888", "#d9d9d9", "#a3a3a3", "#5f5f5f")
HATCHES = ("", "////", "", "....", "\\\\\\\\", "xxxx")


@dataclass(frozen=True)
class Mark:
    """Colour, line and marker of one series in every figure of a report; two of them are visible without colour."""

    colour: str
    marker: str
    dash: Any

    def options(self) -> dict[str, Any]:
        """Return the arguments of Matplotlib's ``plot``."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.dash, "markeredgewidth": 0}


def marks(series: Sequence[Any]) -> dict[Any, Mark]:
    """Return distinct marks for each series; the same series in the same order get the same."""
    return {
        each: Mark(COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)], DASHES[i % len(DASHES)])
        for i, each in enumerate(series)
    }


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw in this style; restore the settings of Matplotlib afterwards."""
    matplotlib = require("matplotlib", extra="lab", purpose="to draw figures")
    with matplotlib.rc_context(SETTINGS):
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size [inches], without a window."""
    module = require("matplotlib.figure", extra="lab", purpose="to draw figures")
    figure: Figure = module.Figure(figsize=(width, height), layout="constrained")
    return figure


def empty_figure() -> Figure:
    """Return the figure shown where no answer was right."""
    figure = new_figure(4, 0.6)
    figure.text(0.02, 0.5, "no right answer to show", va="center", color="#777777")
    return figure


def to_svg(figure: Figure) -> str:
    """Return the figure as SVG, the same text for the same figure."""
    buffer = BytesIO()
    with figure_style():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue().decode()


def to_png(path: Path, figure: Figure) -> None:
    """Write the figure as PNG, at twice the resolution of a screen."""
    from choque.files.atomic import replacing

    with figure_style(), replacing(path) as handle:
        figure.savefig(handle, format="png", dpi=200)
