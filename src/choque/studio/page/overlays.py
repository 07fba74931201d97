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

LEVEL_COLORS = np.array(
    [(255, 176, 59), (120, 220, 130), (90, 180, 255), (220, 130, 255), (255, 110, 110), (240, 240, 120)], np.uint8
)
"""Of the levels of a tree or a stack of grids, the finest first; they repeat."""

CELLS_MOST = 6_000
"""No more cells or blocks than this are drawn, the coarsest first."""

NO_CORNERS, NO_LEVELS = np.empty((0, 3)), np.empty(0, np.int64)

INTERVALS_MOST = 2_000
HEIGHT_SHARE = 0.3
"""How much of the height of the scene the intervals on a sweep axis may take."""


class Parts(NamedTuple):
    """Boxes (k, 3) with a level each, and a sentence about them."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    level: NDArray[np.int64]
    note: str

    def wires(self) -> tuple[Segments, NDArray[np.uint8]]:
        """Their edges, and the colour of each end."""
        color = LEVEL_COLORS[self.level % len(LEVEL_COLORS)]
        ends: NDArray[np.uint8] = np.repeat(color, 24, axis=0).reshape(-1, 2, 3)
        return box_wires(self.lower, self.upper), ends


def structure_of(method: str, boxes: Boxes) -> Parts:
    """What ``method`` builds over finite ``boxes``."""
    if not len(boxes):
        return _limited(NO_CORNERS, NO_CORNERS, NO_LEVELS, "There are no bodies.")
    made = broad.create(method, boxes).structure()
    via = "" if made.method == method else f"{method} works with {made.method}. "
    lower, upper, parts = made.lower, made.upper, f"{len(made):,}"
    if made.kind == "blocks":
        note = f"{len(boxes):,} boxes, sixteen to a block: {int(made.level.max()) + 1} levels."
    elif made.kind == "cells":
        grids = int(made.level.max(initial=0)) + 1
        stack = "one grid" if grids == 1 else f"{grids} grids, one for each class of sizes"
        note = f"{parts} cells of {stack}, those that hold a box or its lower corner."
    elif made.kind == "leaves":
        # What a leaf lists shows more than its walls, the outer ones of which are nowhere.
        lower = np.minimum.reduceat(boxes.lower[made.members].astype(np.float64), made.starts[:-1])
        upper = np.maximum.reduceat(boxes.upper[made.members].astype(np.float64), made.starts[:-1])
        note = f"Around the bodies of each of {parts} leaves."
    else:
        note = f"{made.method} builds no cells and no tree: look at its sweep axis, if it has one."
    return _limited(lower, upper, made.level, f"{via}{note}")


def sweep_axis_of(method: str, boxes: Boxes, around: Boxes | None = None) -> tuple[Segments, str]:
    """The axis that a sweep sorts ``boxes`` along, with the interval of each above it; none for other methods.

    It is drawn at the lower front edge of all that is in ``around``, None for all boxes.
    """
    made = broad.create(method, boxes).structure() if len(boxes) else None
    if made is None or made.axis is None or made.order is None:
        return NO_SEGMENTS, f"{method} does not sweep along one axis."
    axis, shown = made.axis, made.order[:INTERVALS_MOST]
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
    via = "" if made.method == method else f"{method} works with {made.method}, which"
    return ends.astype(np.float32), f"{via or method} sorts along {'xyz'[axis]}, where the bodies are spread most."


def _limited(lower: NDArray[np.float64], upper: NDArray[np.float64], level: NDArray[np.int64], note: str) -> Parts:
    if len(lower) <= CELLS_MOST:
        return Parts(lower, upper, level, note)
    kept = np.sort(np.argsort(-level, kind="stable")[:CELLS_MOST])
    return Parts(lower[kept], upper[kept], level[kept], f"{note} {CELLS_MOST:,} of {len(lower):,} are drawn.")


def _lanes(lower: NDArray[np.floating], upper: NDArray[np.floating]) -> NDArray[np.int64]:
    """A lane for each interval, in the order of their starts, so that none covers another of its lane; 24 at most."""
    ends = np.full(24, -np.inf)
    lanes = np.zeros(len(lower), np.int64)
    for row, (start, end) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        free = np.flatnonzero(ends < start)
        lane = int(free[0]) if len(free) else int(np.argmin(ends))
        lanes[row], ends[lane] = lane, end
    return lanes


LINE_WIDTH, INSIDE_WIDTH = 1.4, 2.4
"""In pixels; the second of lines inside bodies, which are seen through these."""

BOXES_MOST, SPHERES_MOST, AREAS_MOST, SLABS_MOST, LINES_MOST = 5_000, 1_000, 60, 400, 30_000
"""No more of each are drawn; those that the camera looks at go first."""

SLAB_NAMES = ("14-dop", "18-dop", "26-dop")
NORMAL_LENGTH = 1.5
"""Of the normal of a contact, in radii of the smaller of its bodies."""


@dataclass
class Options:
    """What the panel lets one choose about overlays."""

    slabs: str = "18-dop"
    area: float = 4.0
    """Radius of an area of interest, in radii of its owner."""
    target: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    """Where the camera looks."""
    picked: int | None = None
    """The row of the body that was picked."""


class Drawing(NamedTuple):
    """Lines, their colours where they are not that of the overlay, and a sentence."""

    lines: Segments
    colors: NDArray[np.uint8] | None = None
    note: str = ""


class Overlay(NamedTuple):
    """One overlay: its key, its colour, what it shows in a word and in full, and how it is drawn."""

    key: str
    color: tuple[int, int, int]
    word: str
    label: str
    draw: Callable[[Findings, Options], Drawing]
    is_inside: bool = False
    """Whether its lines run inside bodies, which must be seen through then."""


def _boxes(findings: Findings, options: Options) -> Drawing:
    rows, note = _nearest(findings, options, BOXES_MOST)
    boxes = findings.bounds("box")
    return Drawing(box_wires(boxes.lower[rows], boxes.upper[rows]), note=note)


def _oriented(findings: Findings, options: Options) -> Drawing:
    rows, note = _nearest(findings, options, BOXES_MOST)
    boxes = findings.bounds("oriented")
    return Drawing(oriented_wires(boxes.center[rows], boxes.half[rows], boxes.axes[rows]), note=note)


def _spheres(findings: Findings, options: Options) -> Drawing:
    rows, note = _nearest(findings, options, SPHERES_MOST)
    spheres = findings.bounds("sphere")
    return Drawing(sphere_wires(spheres.center[rows], spheres.radius[rows]), note=note)


def _slabs(findings: Findings, options: Options) -> Drawing:
    rows, note = _nearest(findings, options, SLABS_MOST)
    slabs = findings.bounds(options.slabs)
    along = directions(int(options.slabs.partition("-")[0]))
    return Drawing(slab_wires(slabs.lower[rows], slabs.upper[rows], along), note=note)


def _areas(findings: Findings, options: Options) -> Drawing:
    """The area of the body that was picked, with lines to its members; of all owners if none is."""
    bodies, radius = findings.bodies, area_radius(findings, options)
    owners = ~bodies.static & findings.is_bounded
    if options.picked is not None and owners[options.picked]:
        row = options.picked
        members = area_members(findings, options, row)
        rays = np.stack((np.broadcast_to(bodies.position[row], (len(members), 3)), bodies.position[members]), axis=1)
        lines = np.concatenate((sphere_wires(bodies.position[[row]], radius[[row]]), rays.astype(np.float32)))
        return Drawing(lines, note=f"The area of body {bodies.ids[row]} has {len(members):,} members.")
    rows, note = _nearest(findings, options, AREAS_MOST, owners)
    return Drawing(sphere_wires(bodies.position[rows], radius[rows]), note=note)


def _structure(findings: Findings, options: Options) -> Drawing:  # noqa: ARG001
    found = structure_of(findings.method, _finite_boxes(findings))
    lines, colors = found.wires()
    return Drawing(lines, colors, found.note)


def _pairs(findings: Findings, options: Options) -> Drawing:
    pairs = findings.detected.pairs
    shown, note = _among(len(pairs), "candidates", LINES_MOST)
    if options.picked is not None:
        shown = np.flatnonzero((pairs == options.picked).any(axis=1))
        note = f"{len(shown):,} candidates of body {findings.bodies.ids[options.picked]}."
    return Drawing(findings.bodies.position[pairs[shown]].astype(np.float32), note=note)


def _contacts(findings: Findings, options: Options) -> Drawing:  # noqa: ARG001
    contacts = findings.detected.contacts
    shown, note = _among(len(contacts), "contacts", LINES_MOST // 3)
    spheres = findings.bounds("sphere")
    reach = np.minimum(*spheres.radius[contacts.pairs[shown]].T) * NORMAL_LENGTH
    start = contacts.point[shown]
    end = start + contacts.normal[shown] * reach[:, None]
    # A small cross marks the point itself, so that the normal is seen to start there.
    arm = 0.12 * reach[:, None]
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
    "contacts": Overlay("N", (255, 70, 70), "Contacts", "Contacts with normals", _contacts, is_inside=True),
    "sweep": Overlay("X", (150, 255, 150), "Sweep axis", "Sweep axis, and the interval of each body on it", _sweep),
}
"""Each overlay by name; I and O are the keys and the colours of the original."""


class OverlaysLayer:
    """Draws those overlays that are switched on; lines that are as they were are not sent again."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._handles: dict[str, Any] = {}
        self.options = Options()
        self.on: set[str] = set()
        self.notes: dict[str, str] = {}
        """What is said about each that is on."""
        self.line_counts: dict[str, int] = {}

    @property
    def is_inside(self) -> bool:
        """Whether lines that are on run inside bodies."""
        return any(OVERLAYS[name].is_inside for name in self.on)

    def drawings(self, findings: Findings) -> list[tuple[str, Drawing]]:
        """Each overlay that is on, by name, as it is drawn for these findings."""
        return [(name, overlay.draw(findings, self.options)) for name, overlay in OVERLAYS.items() if name in self.on]

    def show(self, findings: Findings) -> None:
        """Draw what is on for these findings, and take away what is not."""
        for name, overlay in OVERLAYS.items():
            if name in self.on:
                self._draw(name, overlay, findings)
                continue
            self.notes.pop(name, None)
            self.line_counts.pop(name, None)
            if name in self._handles:
                self._handles.pop(name).remove()

    def _draw(self, name: str, overlay: Overlay, findings: Findings) -> None:
        drawing = overlay.draw(findings, self.options)
        self.notes[name], self.line_counts[name] = drawing.note, len(drawing.lines)
        handle = self._handles.get(name)
        if handle is not None and drawing.colors is None and len(drawing.lines):
            handle.points = drawing.lines
            return
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


def area_radius(findings: Findings, options: Options) -> NDArray[np.float64]:
    """(n,) the radius of the area of each body."""
    found: NDArray[np.float64] = findings.bounds("sphere").radius.astype(np.float64) * options.area
    return found


def area_members(findings: Findings, options: Options, row: int) -> NDArray[np.int64]:
    """The rows of the bodies in the area of one body, whose own size counts; grounds aside."""
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
    findings: Findings, options: Options, most: int, among: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.intp], str]:
    """The rows to draw, at most so many, and a sentence if there are more."""
    bodies = findings.bodies
    rows = np.flatnonzero(findings.is_bounded & bodies.drawn if among is None else among)
    if len(rows) <= most:
        return rows, ""
    away = ((bodies.position[rows] - options.target) ** 2).sum(axis=1)
    return np.sort(rows[np.argpartition(away, most)[:most]]), f"The {most:,} of {len(rows):,} nearest to the middle."


def _among(count: int, what: str, most: int) -> tuple[NDArray[np.intp], str]:
    if count <= most:
        return np.arange(count), f"{count:,} {what}."
    return np.linspace(0, count - 1, most).astype(np.intp), f"{most:,} of {count:,} {what} are drawn."
