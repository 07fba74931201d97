"""Overlays: what the methods see, drawn as lines over the bodies; each has a key and a colour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque import broad
from choque.bounds import Boxes, directions
from choque.interest import Areas
from choque.studio.page.findings import Findings
from choque.studio.page.wires import NO_SEGMENTS, Segments, box_wires, oriented_wires, slab_wires, sphere_wires
from choque.studio.palette import HORIZON

LEVEL_COLORS = np.array(
    [(255, 176, 59), (120, 220, 130), (90, 180, 255), (220, 130, 255), (255, 110, 110), (240, 240, 120)], np.uint8
)
"""Colours of the levels of a tree or a hierarchy of grids, the finest first; repeated if there are more levels."""

MAX_CELLS = 6_000
"""Maximum number of cells or blocks that are drawn, the coarsest first."""

NO_CORNERS, NO_LEVELS = np.empty((0, 3)), np.empty(0, np.int64)

MAX_INTERVALS = 2_000
HEIGHT_SHARE = 0.3
"""Maximum height of the intervals on a sweep axis, as a share of the height of the scene."""


class Parts(NamedTuple):
    """Boxes (k, 3) with a level each, and a description."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    level: NDArray[np.int64]
    note: str

    def wires(self) -> tuple[Segments, NDArray[np.uint8]]:
        """Return their edges, and the colour of each end."""
        color = LEVEL_COLORS[self.level % len(LEVEL_COLORS)]
        ends: NDArray[np.uint8] = np.repeat(color, 24, axis=0).reshape(-1, 2, 3)
        return box_wires(self.lower, self.upper), ends


def structure_of(method: str, boxes: Boxes) -> Parts:
    """Build the structure of ``method`` over finite ``boxes``."""
    if not len(boxes):
        return _limited(NO_CORNERS, NO_CORNERS, NO_LEVELS, "There are no bodies.")
    made = broad.create(method, boxes).structure()
    via = "" if made.method == method else f"{method} uses {made.method}. "
    lower, upper, parts = made.lower, made.upper, f"{len(made):,}"
    if made.kind == "blocks":
        note = f"{len(boxes):,} boxes in blocks of sixteen: {int(made.level.max()) + 1} levels."
    elif made.kind == "cells":
        grids = int(made.level.max(initial=0)) + 1
        stack = "one grid" if grids == 1 else f"{grids} grids, one for each class of sizes"
        note = f"{parts} cells of {stack} that hold a box or its lower corner."
    elif made.kind == "leaves":
        # The bounds of the bodies of a leaf, because outer leaves are infinite.
        lower = np.minimum.reduceat(boxes.lower[made.members].astype(np.float64), made.starts[:-1])
        upper = np.maximum.reduceat(boxes.upper[made.members].astype(np.float64), made.starts[:-1])
        note = f"Bounds of the bodies of {parts} leaves."
    else:
        note = f"{made.method} builds neither cells nor a tree; it may have a sweep axis."
    # Outer cells may be infinite: they are drawn up to the bounds of all boxes.
    lower = np.where(np.isfinite(lower), lower, boxes.lower.min(axis=0))
    upper = np.where(np.isfinite(upper), upper, boxes.upper.max(axis=0))
    return _limited(lower, upper, made.level, f"{via}{note}")


def sweep_axis_of(method: str, boxes: Boxes, around: Boxes | None = None) -> tuple[Segments, str]:
    """Return the axis along which a sweep sorts ``boxes``, with their intervals above it; empty for other methods.

    It lies along the lower front edge of the bounds of ``around``, None for all boxes.
    """
    made = broad.create(method, boxes).structure() if len(boxes) else None
    if made is None or made.axis is None or made.order is None:
        return NO_SEGMENTS, f"{method} does not sweep along an axis."
    axis, shown = made.axis, made.order[:MAX_INTERVALS]
    seen = boxes if around is None else around
    lower, upper = seen.lower.min(axis=0).astype(np.float64), seen.upper.max(axis=0).astype(np.float64)
    up, across = ((1, 2), (0, 2), (1, 0))[axis]
    base = lower.copy()
    base[across] = upper[across]
    lanes = _lanes(boxes.lower[shown, axis], boxes.upper[shown, axis])
    height = HEIGHT_SHARE * (upper - lower)[up] / max(int(lanes.max()) + 1, 12)
    ends = np.broadcast_to(base, (len(shown) + 1, 2, 3)).copy()
    ends[0, :, axis] = lower[axis], upper[axis]
    ends[1:, 0, axis], ends[1:, 1, axis] = boxes.lower[shown, axis], boxes.upper[shown, axis]
    ends[1:, :, up] += ((lanes + 1) * height)[:, None]
    via = "" if made.method == method else f"{method} uses {made.method}, which"
    return ends.astype(np.float32), f"{via or method} sorts along {'xyz'[axis]}, the axis of the largest spread."


def _limited(lower: NDArray[np.float64], upper: NDArray[np.float64], level: NDArray[np.int64], note: str) -> Parts:
    if len(lower) <= MAX_CELLS:
        return Parts(lower, upper, level, note)
    kept = np.sort(np.argsort(-level, kind="stable")[:MAX_CELLS])
    return Parts(lower[kept], upper[kept], level[kept], f"{note} {MAX_CELLS:,} of {len(lower):,} are drawn.")


def _lanes(lower: NDArray[np.floating], upper: NDArray[np.floating]) -> NDArray[np.int64]:
    """Assign intervals, sorted by start, to at most 24 lanes so that those in a lane do not overlap if possible."""
    ends = np.full(24, -np.inf)
    lanes = np.zeros(len(lower), np.int64)
    for row, (start, end) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        free = np.flatnonzero(ends < start)
        lane = int(free[0]) if len(free) else int(np.argmin(ends))
        lanes[row], ends[lane] = lane, end
    return lanes


LINE_WIDTH, INSIDE_WIDTH = 1.4, 2.4
"""Widths of lines, and of lines inside transparent bodies [pixels]."""

MAX_BOXES, MAX_SPHERES, MAX_AREAS, MAX_SLABS, MAX_LINES = 5_000, 1_000, 60, 400, 30_000
"""Maximum numbers that are drawn, those nearest to the target of the camera first."""

FADES_FROM, FADES_TO, FADED = 1.0, 1.9, 0.85
"""Lines fade from the distance of the target of the camera on, until this multiple of it, by this share."""

SLAB_NAMES = ("14-dop", "18-dop", "26-dop")
NORMAL_LENGTH = 0.8
MAX_FORCE_LENGTH = 1.8
"""Length of the normal of a contact, in radii of the smaller body; of the greatest force, in radii of a typical one."""


@dataclass
class Options:
    """Options of the overlays."""

    slabs: str = "18-dop"
    area: float = 4.0
    """Radius of an area of interest, in radii of its owner."""
    target: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    """The target of the camera."""
    picked: int | None = None
    """The row of the selected body."""
    eye: NDArray[np.float64] | None = None
    """The position of the camera, from which lines fade with distance; None for lines that do not."""


class Drawing(NamedTuple):
    """Lines, their colours if they differ from that of the overlay, and a note."""

    lines: Segments
    colors: NDArray[np.uint8] | None = None
    note: str = ""


class Overlay(NamedTuple):
    """One overlay: its key, its colour, a short and a long label, and the function that draws it."""

    key: str
    color: tuple[int, int, int]
    word: str
    label: str
    draw: Callable[[Findings, Options], Drawing]
    is_inside: bool = False
    """Whether its lines run inside bodies, which become transparent."""


def _boxes(findings: Findings, options: Options) -> Drawing:
    rows, note = _nearest(findings, options, MAX_BOXES)
    boxes = findings.bounds("box")
    return Drawing(box_wires(boxes.lower[rows], boxes.upper[rows]), note=note)


def _oriented(findings: Findings, options: Options) -> Drawing:
    rows, note = _nearest(findings, options, MAX_BOXES)
    boxes = findings.bounds("oriented")
    return Drawing(oriented_wires(boxes.center[rows], boxes.half[rows], boxes.axes[rows]), note=note)


def _spheres(findings: Findings, options: Options) -> Drawing:
    rows, note = _nearest(findings, options, MAX_SPHERES)
    spheres = findings.bounds("sphere")
    return Drawing(sphere_wires(spheres.center[rows], spheres.radius[rows]), note=note)


def _slabs(findings: Findings, options: Options) -> Drawing:
    rows, note = _nearest(findings, options, MAX_SLABS)
    slabs = findings.bounds(options.slabs)
    along = directions(int(options.slabs.partition("-")[0]))
    return Drawing(slab_wires(slabs.lower[rows], slabs.upper[rows], along), note=note)


def _areas(findings: Findings, options: Options) -> Drawing:
    """Draw the area of the selected body, with lines to its members; without a selection, the areas of all bodies."""
    bodies, radius = findings.bodies, area_radius(findings, options)
    owners = ~bodies.static & findings.is_bounded
    if options.picked is not None and owners[options.picked]:
        row = options.picked
        members = area_members(findings, options, row)
        rays = np.stack((np.broadcast_to(bodies.position[row], (len(members), 3)), bodies.position[members]), axis=1)
        lines = np.concatenate((sphere_wires(bodies.position[[row]], radius[[row]]), rays.astype(np.float32)))
        return Drawing(lines, note=f"The area of body {bodies.ids[row]} has {len(members):,} members.")
    rows, note = _nearest(findings, options, MAX_AREAS, owners)
    return Drawing(sphere_wires(bodies.position[rows], radius[rows]), note=note)


def _structure(findings: Findings, options: Options) -> Drawing:  # noqa: ARG001
    found = structure_of(findings.method, _finite_boxes(findings))
    lines, colors = found.wires()
    return Drawing(lines, colors, found.note)


def _pairs(findings: Findings, options: Options) -> Drawing:
    pairs = findings.detected.pairs
    shown, note = _among(len(pairs), "candidates", MAX_LINES)
    if options.picked is not None:
        shown = np.flatnonzero((pairs == options.picked).any(axis=1))
        note = f"{len(shown):,} candidates of body {findings.bodies.ids[options.picked]}."
    return Drawing(findings.bodies.position[pairs[shown]].astype(np.float32), note=note)


def _contacts(findings: Findings, options: Options) -> Drawing:  # noqa: ARG001
    """Draw the points of contacts with normals, as long as the square roots of their forces where these are known."""
    contacts, forces = findings.pressed
    is_known = len(contacts) > 0 and bool(np.isfinite(forces[:, 0]).all())
    counts = contacts.point_count if is_known else np.ones(len(contacts), np.int64)
    which, point = np.nonzero(np.arange(forces.shape[1]) < counts[:, np.newaxis])
    shown, note = _among(len(which), "points of contact" if is_known else "contacts", MAX_LINES // 3)
    which, point = which[shown], point[shown]
    reach = np.minimum(*findings.bounds("sphere").radius[contacts.pairs[which]].T)
    length = NORMAL_LENGTH * reach
    if is_known:
        force = forces[which, point]
        greatest = float(force.max(initial=0.0))
        length = MAX_FORCE_LENGTH * float(np.median(reach)) * np.sqrt(force / max(greatest, 1e-300))
        note = f"{note} The longest normal is a force of {greatest:.4g}."
    start = contacts.points[which, point].astype(np.float64)
    end = start + contacts.normal[which] * length[:, np.newaxis]
    # A small cross marks the point where the normal starts.
    arm = 0.12 * reach[:, np.newaxis]
    cross = [np.stack((start - arm * axis, start + arm * axis), axis=1) for axis in np.eye(3)]
    lines = np.concatenate((np.stack((start, end), axis=1), *cross))
    return Drawing(lines.astype(np.float32), note=note)


def _sweep(findings: Findings, options: Options) -> Drawing:  # noqa: ARG001
    boxes, moving = findings.bounds("box"), findings.is_bounded & ~findings.bodies.static
    around = Boxes(boxes.lower[moving], boxes.upper[moving]) if moving.any() else _finite_boxes(findings)
    lines, note = sweep_axis_of(findings.method, _finite_boxes(findings), around)
    return Drawing(lines, note=note)


OVERLAYS: dict[str, Overlay] = {
    "boxes": Overlay("I", (220, 0, 220), "Boxes", "Boxes along the axes", _boxes),
    "oriented": Overlay("O", (220, 220, 0), "Oriented", "Oriented boxes", _oriented),
    "slabs": Overlay("K", (0, 205, 190), "k-DOPs", "k-DOPs", _slabs),
    "spheres": Overlay("L", (120, 170, 255), "Spheres", "Bounding spheres", _spheres),
    "areas": Overlay("G", (255, 150, 200), "Areas", "Areas of interest", _areas),
    "structure": Overlay("T", (255, 176, 59), "Cells, tree", "Cells or tree of the method", _structure),
    "pairs": Overlay("J", (90, 200, 255), "Candidates", "Candidate pairs", _pairs, is_inside=True),
    "contacts": Overlay("N", (255, 128, 48), "Contacts", "Contacts with normals and forces", _contacts, is_inside=True),
    "sweep": Overlay("X", (150, 255, 150), "Sweep axis", "Sweep axis, and the interval of each body on it", _sweep),
}
"""Each overlay by name; I and O have the keys and colours of the Fingsics engine."""


class OverlaysLayer:
    """Draws the active overlays."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._handles: dict[str, Any] = {}
        self.options = Options()
        self.on: set[str] = set()
        self.notes: dict[str, str] = {}
        """The notes of the active overlays."""
        self.line_counts: dict[str, int] = {}

    @property
    def is_inside(self) -> bool:
        """Whether an active overlay has lines inside bodies."""
        return any(OVERLAYS[name].is_inside for name in self.on)

    def drawings(self, findings: Findings) -> list[tuple[str, Drawing]]:
        """Draw the active overlays, by name, with a colour for each end of a line."""
        return [
            (name, faded(overlay.draw(findings, self.options), overlay.color, self.options))
            for name, overlay in OVERLAYS.items()
            if name in self.on
        ]

    def show(self, findings: Findings) -> None:
        """Update the active overlays, and remove the others."""
        for name, overlay in OVERLAYS.items():
            if name in self.on:
                self._draw(name, overlay, findings)
                continue
            self.notes.pop(name, None)
            self.line_counts.pop(name, None)
            if name in self._handles:
                self._handles.pop(name).remove()

    def _draw(self, name: str, overlay: Overlay, findings: Findings) -> None:
        drawing = faded(overlay.draw(findings, self.options), overlay.color, self.options)
        self.notes[name], self.line_counts[name] = drawing.note, len(drawing.lines)
        handle = self._handles.get(name)
        if handle is not None:
            self._handles.pop(name).remove()
        if len(drawing.lines):
            self._handles[name] = self._scene.add_line_segments(
                f"/overlays/{name}",
                drawing.lines,
                overlay.color if drawing.colors is None else drawing.colors,
                thickness=INSIDE_WIDTH if overlay.is_inside else LINE_WIDTH,
                thickness_units="screen",
            )


def faded(drawing: Drawing, color: tuple[int, int, int], options: Options) -> Drawing:
    """Return lines whose colours fade into the horizon beyond what the camera looks at."""
    lines = drawing.lines
    own = np.broadcast_to(np.array(color, np.uint8), lines.shape) if drawing.colors is None else drawing.colors
    if options.eye is None or not len(lines):
        return drawing._replace(colors=np.ascontiguousarray(own))
    reach = max(float(np.linalg.norm(options.eye - options.target)), 1e-9)
    away = np.linalg.norm(lines - options.eye.astype(np.float32), axis=2) / reach
    share = np.clip(FADED * (away - FADES_FROM) / (FADES_TO - FADES_FROM), 0.0, FADED)[..., np.newaxis]
    return drawing._replace(colors=((1.0 - share) * own + share * np.array(HORIZON)).astype(np.uint8))


def area_radius(findings: Findings, options: Options) -> NDArray[np.float64]:
    """Return the radius of the area of each body, (n,)."""
    found: NDArray[np.float64] = findings.bounds("sphere").radius.astype(np.float64) * options.area
    return found


def area_members(findings: Findings, options: Options, row: int) -> NDArray[np.int64]:
    """Return the rows of the bodies in the area of one body, without ground planes; their sizes count."""
    spheres = findings.bounds("sphere")
    kept = np.flatnonzero(findings.is_bounded)
    radius = np.ma.masked_array(area_radius(findings, options)[kept], kept != row)
    position, size = findings.bodies.position[kept].astype(np.float64), spheres.radius[kept].astype(np.float64)
    areas = Areas(position, radius=radius, body_radius=size)
    return kept[areas.members(int(np.searchsorted(kept, row)))].astype(np.int64)


def _finite_boxes(findings: Findings) -> Boxes:
    boxes, kept = findings.bounds("box"), findings.is_bounded
    return Boxes(boxes.lower[kept], boxes.upper[kept])


def _nearest(
    findings: Findings, options: Options, maximum: int, among: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.intp], str]:
    """Return the rows to draw, at most ``maximum``, and a note if there are more."""
    bodies = findings.bodies
    rows = np.flatnonzero(findings.is_bounded & bodies.drawn if among is None else among)
    if len(rows) <= maximum:
        return rows, ""
    away = ((bodies.position[rows] - options.target) ** 2).sum(axis=1)
    return np.sort(
        rows[np.argpartition(away, maximum)[:maximum]]
    ), f"The {maximum:,} of {len(rows):,} nearest to the target of the camera."


def _among(count: int, what: str, maximum: int) -> tuple[NDArray[np.intp], str]:
    if count <= maximum:
        return np.arange(count), f"{count:,} {what}."
    return np.linspace(0, count - 1, maximum).astype(np.intp), f"{maximum:,} of {count:,} {what} are drawn."
