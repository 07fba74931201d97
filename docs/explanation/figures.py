"""Draw the figures of the explanation pages: all of them, or those named.

    python docs/explanation/figures.py [name …]

They go to ``docs/images/explanation_<name>`` and are the same on every run.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))

from drawn import bounds, broad, contact, evidence, mesh, motion, neighbor, response, volume  # noqa: F401 - registered
from drawn.canvas import FIGURES

from choque.files.atomic import replacing
from choque.lab.style import figure_style, to_svg

IMAGES = Path(__file__).parents[1] / "images"


def draw(name: str) -> Path:
    """Draw one figure into its file."""
    function, form = FIGURES[name]
    path = IMAGES / f"explanation_{name}.{form}"
    with figure_style():
        figure = function()
        with replacing(path) as handle:
            if form == "svg":
                handle.write(to_svg(figure).encode())
            else:
                handle.write(_small_png(figure))
    return path


def _small_png(figure: Figure) -> bytes:
    """A picture of few colours: a third of the bytes, and no eye sees the difference."""
    drawing, small = BytesIO(), BytesIO()
    figure.savefig(drawing, format="png", dpi=120)
    Image.open(drawing).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(small, "png", optimize=True)
    return small.getvalue()


if __name__ == "__main__":
    for wanted in sys.argv[1:] or sorted(FIGURES):
        drawing = draw(wanted)
        print(f"{drawing.name}: {drawing.stat().st_size / 1024:.0f} kB")  # noqa: T201
