"""Small pictures of what the chooser lists.

Those of Choque's own things come with the package, in ``thumbnails.zip``, which ``docs/images/thumbnails.py`` writes: a
first page has them at once, before any kernel is compiled. Others are drawn when a page first asks for them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np

from choque.errors import ChoqueError, InvalidInput, require
from choque.record import BodyTable, Poses
from choque.studio.page.entries import ENTRIES, in_chooser
from choque.studio.page.http import THUMBNAILS_PATH
from choque.studio.palette import FREE, GLOW, quiet
from choque.studio.png import png_bytes

if TYPE_CHECKING:
    pass

SIZE = (208, 117)
"""Size of a thumbnail [pixels]."""

COUNT = 150
"""Number of boxes, points and, at most, bodies of a generator."""

PICTURED = ("scene", "generator", "boxes", "crowd", "neighbors", "kinetic", "volumes", "meshes")
"""Entries with thumbnails."""

START = (
    *(("scene", "demolition"), ("generator", "rubble"), ("scene", "house-of-cards")),
    *(("crowd", "crowd"), ("boxes", "uniform"), ("neighbors", "diamond")),
    *(("kinetic", "three-objects"), ("volumes", "vertebra-and-screw"), ("meshes", "two-rings")),
)
"""What is shown first, of these entries."""

SHIPPED = Path(__file__).with_suffix(".zip")

WHEN = 0.08
"""The share of a motion after which it is drawn."""

MAX_OUTLINED = 20
"""Polygons with edges, at most."""

_DRAWING = threading.Lock()


def thumbnail(path: str) -> bytes:
    """Return the picture of a path such as ``thumbnails/scene/bowling``, WebP or PNG; other names are refused."""
    kind, name = in_chooser(path.removeprefix(THUMBNAILS_PATH))
    if kind not in PICTURED:
        raise InvalidInput(f"{kind}/{name} has no thumbnail; those of {', '.join(PICTURED)} have one.")
    found = shipped().get(f"{kind}/{name}")
    if found is not None:
        return found
    with _DRAWING:  # one after another: a page asks for all at once
        return drawn(kind, name)


@cache
def shipped() -> Mapping[str, bytes]:
    """Return the pictures that come with the package, by ``kind/name``."""
    with ZipFile(SHIPPED) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def gallery() -> str:
    """Return the thumbnails as HTML; a click on one opens it, by the address of the page."""
    things = {kind: ENTRIES.find(kind).things() for kind in PICTURED}
    first = [(kind, name, things[kind][name]) for kind, name in START if name in things[kind]]
    rows = [_row("Start here", first)]
    for kind, listed in things.items():
        if listed:
            rows.append(_row(ENTRIES.find(kind).title, [(kind, name, about) for name, about in listed.items()]))
    return "".join(rows)


def _row(title: str, things: Iterable[tuple[str, str, str]]) -> str:
    """Return a heading, and below it the pictures of things: kinds, names and descriptions."""
    cells = "".join(
        f'<a href="#open={kind}/{escape(name)}" title="{escape(about)}" style="color:inherit;text-decoration:none">'
        f'<img src="{THUMBNAILS_PATH}{kind}/{escape(name)}" alt="{escape(about)}" '
        f'loading="lazy" width="{SIZE[0] // 2}" height="{SIZE[1] // 2}" '
        f'style="width:100%;height:auto;display:block;'
        f'border-radius:4px;background:#2a3240">{escape(name)}</a>'
        for kind, name, about in things
    )
    grid = "display:grid;grid-template-columns:repeat(3,1fr);gap:0.5em;font-size:0.85em;line-height:1.3"
    return f'<div style="margin:0.4em 0 0.2em"><b>{escape(title)}</b></div><div style="{grid}">{cells}</div>'


@lru_cache(maxsize=256)
def drawn(kind: str, name: str) -> bytes:
    """Draw the PNG of a thing; it is grey if a library is missing that draws it."""
    draw = {"boxes": _boxes, "kinetic": _motion, "scene": _bodies, "generator": _bodies}.get(kind)
    try:
        return draw(name) if draw is not None else _view(kind, name)
    except ChoqueError:
        return png_bytes(np.full((SIZE[1], SIZE[0], 3), 48, np.uint8))


def _view(kind: str, name: str) -> bytes:
    return ENTRIES.find(kind).open([name], {"n": COUNT} if kind in ("crowd", "neighbors") else {}).picture(None, SIZE)


def _motion(name: str) -> bytes:
    """Draw polygons on their way, those in pairs in the colour of collisions."""
    require("matplotlib", extra="lab", purpose="to draw motion")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure

    from choque.studio.motion.entry import find_model
    from choque.studio.motion.player import MotionPlayer

    player = MotionPlayer(find_model(name, {}))
    begin, end = player.model.interval
    player.seek(begin + (end - begin) * WHEN)
    lower, upper = player.sweep.boxes()
    colliding = np.isin(np.arange(len(lower)), player.sweep.pairs())
    fill = np.where(colliding[:, np.newaxis], GLOW, FREE) / 255.0
    figure = Figure(figsize=(SIZE[0] / 100, SIZE[1] / 100), dpi=100, facecolor="#1d2433")
    axes = figure.add_axes((0.0, 0.04, 1.0, 0.92))
    axes.set_axis_off()
    edge = 0.8 if len(lower) <= MAX_OUTLINED else 0.0
    axes.add_collection(
        PolyCollection(player.model.polygons_at(player.time), facecolors=fill, edgecolors="#e4e9f2", linewidths=edge)
    )
    (left, bottom), (right, top) = lower.min(axis=0), upper.max(axis=0)
    width = max(right - left, (top - bottom) * SIZE[0] / (0.92 * SIZE[1]))
    axes.set(xlim=((left + right - width) / 2, (left + right + width) / 2), ylim=(bottom, top), aspect="equal")
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return png_bytes(np.asarray(canvas.buffer_rgba())[..., :3].copy())


def _bodies(name: str) -> bytes:
    from choque import scene
    from choque.scene.body_scene import GENERATORS
    from choque.studio.page.still import bodies_image

    is_generated = name in scene.names("bodies")
    found = scene.find_bodies(name, **({"n": min(GENERATORS.usual_count(name), COUNT)} if is_generated else {}))
    bodies = found.world(broad="brute").bodies
    cast, poses = BodyTable.of(bodies), Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))
    color = quiet(bodies.color, bodies.static)
    return png_bytes(bodies_image(cast, poses, color, (), viewpoint=found.camera, size=SIZE))


def _boxes(name: str) -> bytes:
    from choque.studio.named_boxes import find_boxes
    from choque.studio.page.boxes import BoxesView

    view = BoxesView(*find_boxes(f"{name}:{COUNT}").frame(0))
    return png_bytes(view.image(SIZE, view.viewpoint(SIZE)))
