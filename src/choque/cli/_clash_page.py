"""One page to share: a table of clashes whose rows show the place. Nothing is loaded from elsewhere."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from choque.meshes import Mesh

SIZE = 220
"""Edge of a picture [pixels]."""
MAX_FACES = 600
"""Faces of one part in a picture."""
MAX_PICTURES = 200
"""Rows with pictures; later ones have none, so that a browser can open the page."""

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #1b1f24; }
table { border-collapse: collapse; width: 100%; } td, th { padding: .5rem .7rem; border-bottom: 1px solid #d8dee4;
text-align: left; vertical-align: top; } td.n { font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { background: #f6f8fa; border-radius: 6px; } .crossing, .inside { color: #b42318; } .touching { color: #9a6700; }
.near { color: #0550ae; } .key b { padding: 0 .4rem; }
"""


class Row(NamedTuple):
    """A line of the page: the words of its columns, the two parts, and where they meet."""

    words: tuple[str, ...]
    kind: str
    one: Mesh
    two: Mesh
    point: Any


def write_page(path: Path, title: str, sentence: str, headings: Sequence[str], rows: Sequence[Row]) -> None:
    """Write the page, beside its place first."""
    from choque.files.atomic import replacing

    head = "".join(f"<th>{html.escape(word)}</th>" for word in (*headings, "place"))
    body = "".join(_line(row, number) for number, row in enumerate(rows))
    with replacing(path) as handle:
        handle.write(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
            f"<style>{_STYLE}</style><h1>{html.escape(title)}</h1><p>{html.escape(sentence)}</p>"
            '<p class="key">In the pictures, seen along the axis on which the place is clearest: '
            '<b style="color:#0969da">first part</b><b style="color:#bc4c00">second part</b>'
            '<b style="color:#d1242f">place</b></p>'
            f"<table><tr>{head}</tr>{body}</table></html>\n".encode()
        )


def _line(row: Row, number: int) -> str:
    cells = "".join(f'<td class="n {row.kind}">{html.escape(word)}</td>' for word in row.words)
    picture = _picture(row) if number < MAX_PICTURES else ""
    return f"<tr>{cells}<td>{picture}</td></tr>"


def _picture(row: Row) -> str:
    """Return the surroundings of a place as SVG: a fifth of the smaller part around it, at least."""
    sizes = [float(np.max(np.subtract(*mesh.bounds[::-1]))) for mesh in (row.one, row.two)]
    half = max(0.6 * min(sizes), 1e-12)
    # Look along the axis on which both parts together are thinnest.
    lower = np.minimum(row.one.bounds[0], row.two.bounds[0])
    upper = np.maximum(row.one.bounds[1], row.two.bounds[1])
    axis = int(np.argmin(upper - lower))
    u, v = [(1, 2), (0, 2), (0, 1)][axis]
    scale = SIZE / (2 * half)
    middle = SIZE / 2
    paths = []
    for mesh, color in ((row.one, "#0969da"), (row.two, "#bc4c00")):
        corners = mesh.vertices[mesh.faces] - row.point
        near = np.abs(corners).min(axis=1).max(axis=1) < 1.5 * half
        flat = corners[near][:, :, [u, v]]
        flat = flat[np.argsort(np.abs(flat.mean(axis=1)).max(axis=1), kind="stable")[:MAX_FACES]]
        x, y = middle + scale * flat[..., 0], middle - scale * flat[..., 1]
        path = "".join(
            f"M{a[0]:.1f},{b[0]:.1f}L{a[1]:.1f},{b[1]:.1f} {a[2]:.1f},{b[2]:.1f}Z"
            for a, b in zip(x.tolist(), y.tolist(), strict=True)
        )
        paths.append(f'<path d="{path}" fill="{color}" fill-opacity=".10" stroke="{color}" stroke-width=".6"/>')
    mark = f'<circle cx="{middle}" cy="{middle}" r="6" fill="none" stroke="#d1242f" stroke-width="2.5"/>'
    return f'<svg width="{SIZE}" height="{SIZE}" viewBox="0 0 {SIZE} {SIZE}">{"".join(paths)}{mark}</svg>'
