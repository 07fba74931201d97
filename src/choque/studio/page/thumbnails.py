"""Small pictures of what the chooser lists, drawn when a page first asks for them and kept on disk."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import choque
from choque.errors import ChoqueError, UnknownName
from choque.files.atomic import beside
from choque.record import BodyTable, Poses
from choque.scene import Camera
from choque.studio.page.entries import ENTRIES
from choque.studio.page.http import THUMBNAILS_PATH
from choque.studio.palette import GLOW, quiet
from choque.studio.png import png_bytes

if TYPE_CHECKING:
    from choque.world import Bodies

SIZE = (208, 117)
"""Size of a thumbnail [pixels]."""

COUNT = 150
"""Number of bodies or boxes of a generator."""

PICTURED = ("scene", "generator", "boxes", "crowd", "neighbors")
"""Entries with thumbnails."""

START = (
    *(("scene", "demolition"), ("generator", "rubble"), ("scene", "house-of-cards")),
    *(("crowd", "crowd"), ("boxes", "uniform"), ("neighbors", "diamond")),
)
"""What is shown first, of these entries."""

_DRAWING = threading.Lock()


def thumbnail(path: str) -> bytes:
    """Return the PNG of a path such as ``thumbnails/scene/bowling.png``; other names are refused."""
    kind, _, rest = path.removeprefix(THUMBNAILS_PATH).partition("/")
    name = rest.removesuffix(".png")
    if kind not in PICTURED or name not in ENTRIES.find(kind).things():
        raise UnknownName("thumbnail", f"{kind}/{name}"[:80], [])
    if (kept := _kept(kind, name)) is not None:
        return kept
    with _DRAWING:  # one after another: a page asks for all at once
        image = _drawn(kind, name)
    _keep(kind, name, image)
    return image


def gallery() -> str:
    """Return the thumbnails as HTML; a click on one opens it, by the address of the page."""
    rows = [_row("Start here", START)]
    for kind in PICTURED:
        found = ENTRIES.find(kind)
        if found.things():
            rows.append(_row(found.title, [(kind, name) for name in found.things()]))
    return "".join(rows)


def _row(title: str, things: Iterable[tuple[str, str]]) -> str:
    cells = "".join(
        f'<a href="#open={kind}/{escape(name)}" title="{escape(about)}" style="color:inherit;text-decoration:none">'
        f'<img src="{THUMBNAILS_PATH}{kind}/{escape(name)}.png" alt="{escape(about)}" '
        f'onload="this.style.animation=\'none\'" loading="lazy" width="{SIZE[0] // 2}" height="{SIZE[1] // 2}" '
        f'style="width:100%;height:auto;display:block;'
        f'border-radius:4px;background:#2a3240;animation:choque-drawing 0.8s infinite alternate">{escape(name)}</a>'
        for kind, name in things
        if (about := ENTRIES.find(kind).things().get(name)) is not None
    )
    grid = "display:grid;grid-template-columns:repeat(3,1fr);gap:0.5em;font-size:0.85em;line-height:1.3"
    return f'<div style="margin:0.4em 0 0.2em"><b>{escape(title)}</b></div><div style="{grid}">{cells}</div>'


SIGNATURE = b"\x89PNG\r\n"


def _place(kind: str, name: str) -> Path:
    """Return the file in which a thumbnail is kept; its name ends in a digest of this version of the package."""
    word = hashlib.sha256(f"{kind}/{name}".encode()).hexdigest()[:16]
    return _folder() / f"{word}-{_version()}.png"


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "choque" / "thumbnails"


@cache
def _version() -> str:
    """Return a digest of the names, sizes and times of all files of the package: any of them may change a picture."""
    found = hashlib.sha256()
    root = Path(choque.__file__).parent
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        for each in sorted(names):
            state = Path(folder, each).stat()
            found.update(f"{folder}/{each} {state.st_size} {state.st_mtime_ns}\n".encode())
    return found.hexdigest()[:16]


def _kept(kind: str, name: str) -> bytes | None:
    with suppress(OSError, RuntimeError):  # there may be no home
        content = _place(kind, name).read_bytes()
        return content if content.startswith(SIGNATURE) else None
    return None


def _keep(kind: str, name: str, image: bytes) -> None:
    """Write a thumbnail in the place of those of other versions; a folder that cannot be written keeps none."""
    with suppress(OSError, RuntimeError, ChoqueError):
        place = _place(kind, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        for old in place.parent.glob(f"{place.name.partition('-')[0]}-*.png"):
            old.unlink(missing_ok=True)
        with beside(place) as written:
            written.write_bytes(image)


@lru_cache(maxsize=256)
def _drawn(kind: str, name: str) -> bytes:
    from choque.studio.page.points import PointsView

    if kind in ("crowd", "neighbors"):
        view = ENTRIES.find(kind).open([name], {"n": COUNT})
        assert isinstance(view, PointsView)
        return png_bytes(view.image(SIZE))
    return _boxes(name) if kind == "boxes" else _bodies(name)


def _bodies(name: str) -> bytes:
    from choque import scene

    found = scene.find_bodies(name, **({"n": COUNT} if name in scene.names("bodies") else {}))
    bodies = found.world(broad="brute").bodies
    return _picture(bodies, quiet(bodies.color, bodies.static), found.camera)


def _boxes(name: str) -> bytes:
    from choque.studio.named_boxes import find_boxes
    from choque.studio.page.boxes import BoxesView

    view = BoxesView(*find_boxes(f"{name}:{COUNT}").frame(0))
    findings = view.look()
    color = np.where(findings.is_touching[:, np.newaxis], np.array(GLOW, np.uint8), findings.bodies.color)
    return _picture(findings.bodies, color.astype(np.uint8), view.direction)


def _picture(bodies: Bodies, color: NDArray[np.uint8], camera: Camera) -> bytes:
    from choque.studio.page.still import bodies_image

    poses = Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))
    try:
        return png_bytes(bodies_image(BodyTable.of(bodies), poses, color, (), viewpoint=camera, size=SIZE))
    except ChoqueError:
        return png_bytes(np.full((SIZE[1], SIZE[0], 3), 48, np.uint8))
