"""The view of boxes at one moment: which of them overlap; and its entry, for files and generators of boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import choque
from choque import broad, scene
from choque._core.types import Pairs
from choque.errors import InvalidInput
from choque.files.boxes import FRAME_FORMATS, READERS
from choque.record import BodyTable, Poses
from choque.scene import Camera
from choque.scene.generators import DEFAULT_COUNT
from choque.studio.named_boxes import find_boxes
from choque.studio.page.cameras import away
from choque.studio.page.entries import Entry
from choque.studio.page.findings import Findings
from choque.studio.page.page import Page
from choque.studio.page.points import in_space
from choque.studio.page.stage import BodiesView
from choque.studio.page.still import bodies_image
from choque.studio.palette import GLOW
from choque.studio.stage.camera import around_moving
from choque.studio.viewpoint import Viewpoint
from choque.world import Bodies, World
from choque.world.detection import Detection
from choque.world.settings import Settings

FLAT = 0.02
"""Thickness of boxes of the plane, as a share of their mean side."""

THIN = 1e-3
"""Sides are drawn at least as long as this share of the mean side."""

COLOR = (120, 146, 180)


class BoxFindings(Findings):
    """Findings whose pairs are given: those of the boxes themselves, not of the solids that are drawn for them."""

    def __init__(self, bodies: Bodies, detection: Detection, pairs: Pairs) -> None:
        super().__init__(bodies, detection)
        self.given = pairs

    @cached_property
    def is_touching(self) -> NDArray[np.bool_]:
        """(n,) whether a box overlaps another."""
        found = np.zeros(len(self.bodies), np.bool_)
        found[self.given.ravel()] = True
        return found

    @cached_property
    def candidate_count(self) -> NDArray[np.int64]:
        """(n,) number of boxes that each one overlaps."""
        return np.bincount(self.given.ravel(), minlength=len(self.bodies)).astype(np.int64)


class BoxesView(BodiesView):
    """Boxes (n, 2) or (n, 3); those that overlap are orange.

    Parameters
    ----------
    pairs
        (m, 2) rows that overlap, or belong together in another way; None to find those that overlap.
    method
        The broad phase whose structure the overlays show at first.
    """

    picture_name = "choque-boxes.png"

    def __init__(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        pairs: Pairs | None = None,
        title: str = "Boxes",
        method: str = "auto",
    ) -> None:
        boxes = choque.bounds.Boxes(lower, upper)
        endless = int((~np.isfinite(boxes.lower) | ~np.isfinite(boxes.upper)).any(axis=1).sum())
        if not len(boxes) or endless:
            raise InvalidInput(
                f"{len(boxes):,} boxes were given to show, {endless:,} of them infinite; give at least one, all of "
                "finite size."
            )
        self.title = title
        self._pairs = choque.pairs(boxes.lower, boxes.upper) if pairs is None else pairs
        self._world = _solids(boxes.lower.astype(np.float64), boxes.upper.astype(np.float64))
        self._dimension = boxes.lower.shape[1]
        self._table = BodyTable.of(self._world.bodies)
        self._method = method
        self._findings: BoxFindings | None = None

    def open(self, page: Page) -> None:
        """Build the page."""
        self._findings = None
        self.set_up(page, self.direction)
        with page.tab("Boxes"):
            touching = int(self.look().is_touching.sum())
            page.html(
                f"<b>{len(self._table):,} boxes</b> in {self._dimension}D; {len(self._pairs):,} pairs, "
                f"{touching:,} boxes in pairs"
            )
            page.choice("Broad phase", broad.names(), self._method, self.switch, hint="For the overlays.")
            page.picture_button()
            page.button("Back to the chooser", page.home)
        self.add_show_tab()
        self.add_body_tab()
        self.set_coloring("contact")
        self.color_choice.value = self.coloring
        self.present()

    @property
    def direction(self) -> Camera:
        """The direction from which boxes are seen at first: those of the plane from above."""
        return Camera(30.0, -89.0, 0.0) if self._dimension == 2 else Camera(30.0, -25.0, 30.0)

    def viewpoint(self, size: tuple[int, int]) -> Viewpoint:
        """Return the viewpoint from which the boxes fill a picture."""
        camera, target = around_moving(self._table, self.poses(), self.direction, size)
        return Viewpoint(np.array(target) + away(camera), target)

    def image(self, size: tuple[int, int], viewpoint: Viewpoint) -> NDArray[np.uint8]:
        """Draw the boxes without a page, those in pairs in orange: (height, width, 3), top row first."""
        color = np.where(self.look().is_touching[:, np.newaxis], np.array(GLOW, np.uint8), self._table.color)
        return bodies_image(self._table, self.poses(), color.astype(np.uint8), (), viewpoint=viewpoint, size=size)

    def tick(self) -> float | None:
        """Draw what changed."""
        waits = self.cameras.let_go()
        if self.is_stale:
            self.present()
            self.update_notes()
        return waits

    def cast(self) -> BodyTable:
        """Return the boxes as bodies."""
        return self._table

    def poses(self) -> Poses:
        """Return where they are."""
        bodies = self._world.bodies
        return Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))

    def look(self) -> Findings:
        """Return the pairs of the boxes, and what the chosen method finds for the overlays."""
        if self._findings is None:
            settings = Settings(broad=self._method).checked()
            self._findings = BoxFindings(self._world.bodies, Detection(settings), self._pairs)
        return self._findings

    def switch(self, name: str) -> None:
        """Show the structure of another broad phase."""
        Settings(broad=name).checked()
        self._method, self._findings = name, None
        self.is_stale = True


def _solids(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> World:
    """Return a world with a solid for each box; the plane of 2D boxes is horizontal, y points away."""
    center, size = (lower + upper) / 2, upper - lower
    mean = float(size.mean()) or 1.0
    if lower.shape[1] == 2:
        size = np.column_stack((size[:, 0], np.full(len(lower), FLAT * mean), size[:, 1]))
    world = World(response="impulse")
    world.add_boxes(position=in_space(center), size=np.maximum(size, THIN * mean), color=COLOR)
    return world


def view_of_boxes(thing: Any) -> BoxesView | None:
    """Return the view of bounds, a broad phase or a sweep as it is now; None for all else."""
    from choque.bounds import Bounds
    from choque.kinetic import Sweep

    if isinstance(thing, Bounds):
        boxes = thing.boxes()
        return BoxesView(boxes.lower, boxes.upper)
    if isinstance(thing, broad.BroadPhase):
        thing.structure()  # drops the rows of bodies that were removed
        records, dimension = thing.index.records, thing.dimension
        rows = np.searchsorted(thing.ids, thing.pairs()).astype(np.int32)
        lower, upper = records[:, :dimension], records[:, 3 : 3 + dimension]
        return BoxesView(lower, upper, pairs=rows, title=f"A broad phase: {thing.name}", method=thing.name)
    if isinstance(thing, Sweep):
        lower, upper = thing.boxes()
        return BoxesView(lower, upper, title=f"A sweep at {thing.time:g} s")
    return None


def _open(things: Sequence[str], parameters: Mapping[str, Any]) -> BoxesView:
    if len(things) != 1:
        raise InvalidInput(f"{len(things)} sets of boxes were given, {', '.join(things)}; the studio shows one.")
    given = dict(parameters)
    frame = int(given.pop("frame", 0))
    lower, upper = find_boxes(things[0], frame=frame, **given).frame(frame)
    return BoxesView(lower, upper, title=things[0])


BOXES = Entry(
    title="Boxes",
    about="Boxes from a file or a generator; those that overlap are orange.",
    things=lambda: {name: scene.describe(name) for name in scene.names("boxes")},
    open=_open,
    parameters=lambda name: {"n": DEFAULT_COUNT, "seed": 0, **scene.parameters(name)},
    suffixes=tuple(sorted({*READERS, *FRAME_FORMATS})),
    claims=lambda word: word.partition(":")[0] in scene.names("boxes"),
)
