"""What objects look like in a notebook: a line, a small table, and a small picture in SVG of where things lie."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_DRAWN = 150  # boxes in a picture: every k-th, so that it stays small
SIDE = 140  # width and height of a picture [pixels]
STYLE = "fill:#3b7dd8;fill-opacity:.18;stroke:#3b7dd8;stroke-width:1"


def card(title: str, facts: Mapping[str, object], picture: str = "") -> str:
    """Return HTML: a title, a table of facts, and a picture beside it."""
    rows = "".join(
        f'<tr><td style="text-align:left;opacity:.65">{escape(name)}</td>'
        f'<td style="text-align:left">{escape(_words(value))}</td></tr>'
        for name, value in facts.items()
    )
    return (
        '<div style="display:flex;gap:1em;align-items:center">'
        f"{picture}<div><b>{escape(title)}</b><table>{rows}</table></div></div>"
    )


def boxes_picture(lower: NDArray[Any], upper: NDArray[Any]) -> str:
    """Return an SVG of boxes (n, d) along their first two axes; those that reach to infinity are left out."""
    step = max(1, -(-len(lower) // MAX_DRAWN))
    low, high = lower[::step, :2].astype(np.float64), upper[::step, :2].astype(np.float64)
    is_finite = np.isfinite(low).all(axis=1) & np.isfinite(high).all(axis=1)
    low, high = low[is_finite] / 4, high[is_finite] / 4  # so that no difference overflows
    if not len(low):
        return ""
    origin = low.min(axis=0)
    extent = float((high.max(axis=0) - origin).max())
    if not 0 < extent < np.inf:
        extent = 1.0
    scale = (SIDE - 4) / extent
    places, sizes = (low - origin) * scale + 2, np.maximum((high - low) * scale, 1.5)
    shapes = "".join(
        # y points up, as in figures.
        f'<rect x="{x:.1f}" y="{SIDE - y - height:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
        for (x, y), (width, height) in zip(places.tolist(), sizes.tolist(), strict=True)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIDE}" height="{SIDE}" viewBox="0 0 {SIDE} {SIDE}" '
        f'style="{STYLE}">{shapes}</svg>'
    )


def _words(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray):
        return ", ".join(f"{part:.6g}" for part in value.ravel().tolist())
    return str(value)
