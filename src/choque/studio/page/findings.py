"""Bounds, candidates and contacts of the bodies of one frame, each computed at its first use by the library."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.parts import parts_of
from choque.bounds import Bounds
from choque.narrow import Contacts, Hulls
from choque.narrow.hulls import Hull
from choque.narrow.pair import MAX_POINTS
from choque.record import BodyTable, Poses
from choque.world import Bodies, World
from choque.world.bounds import find_bounds
from choque.world.detection import Detected, Detection


class Findings:
    """What overlays, colours and the panel of a body show of one frame.

    Parameters
    ----------
    bodies
        Bodies in the poses of the frame.
    detection
        Finds candidates and contacts; keeps its state from frame to frame.
    world
        The world of the bodies, which knows forces, islands and sleep; None for bodies without one.
    """

    def __init__(self, bodies: Bodies, detection: Detection, world: World | None = None) -> None:
        self.bodies = bodies
        self.detection = detection
        self._world = world
        self._bounds: dict[str, Bounds] = {}

    @property
    def method(self) -> str:
        """The name of the broad phase."""
        return self.detection.settings.broad

    @cached_property
    def detected(self) -> Detected:
        """Candidates and contacts, by rows of the bodies."""
        return self.detection.find(self.bodies)

    @cached_property
    def is_touching(self) -> NDArray[np.bool_]:
        """(n,) whether a body touches another."""
        found = np.zeros(len(self.bodies), np.bool_)
        found[self.detected.contacts.pairs.ravel()] = True
        return found

    @cached_property
    def candidate_count(self) -> NDArray[np.int64]:
        """(n,) number of candidates of each body."""
        return np.bincount(self.detected.pairs.ravel(), minlength=len(self.bodies)).astype(np.int64)

    @cached_property
    def speed(self) -> NDArray[np.float64]:
        """(n,) speed of each body [units/s]."""
        found: NDArray[np.float64] = np.linalg.norm(self.bodies.velocity.astype(np.float64), axis=1)
        return found

    @cached_property
    def asleep(self) -> NDArray[np.bool_]:
        """(n,) which bodies sleep."""
        return np.zeros(len(self.bodies), np.bool_) if self._world is None else self._world.asleep

    @cached_property
    def islands(self) -> NDArray[np.integer]:
        """(n,) the island of each body that is not static: of the solver if it has islands, else by contacts."""
        found = None if self._world is None else self._world.response.islands(self.bodies)
        if found is not None:
            return found
        pairs = self.detected.contacts.pairs
        pairs = pairs[~self.bodies.static[pairs].any(axis=1)].astype(np.int64)
        return parts_of(pairs[:, [0, 1, 1]], len(self.bodies))

    @cached_property
    def pressed(self) -> tuple[Contacts, NDArray[np.float64]]:
        """Contacts by rows, and the normal force at each of their points (m, 4); NaN where forces are not known."""
        if self._world is not None:
            contacts = self._world.contacts()
            rows = np.searchsorted(self.bodies.ids, contacts.pairs).clip(max=len(self.bodies) - 1).astype(np.int32)
            if len(contacts) and (self.bodies.ids[rows] == contacts.pairs).all():  # none was removed since
                return replace(contacts, pairs=rows), self._world.forces()
        contacts = self.detected.contacts
        return contacts, np.full((len(contacts), MAX_POINTS), np.nan)

    @cached_property
    def is_bounded(self) -> NDArray[np.bool_]:
        """(n,) whether a body has finite bounds: all but ground planes."""
        boxes: Any = self.bounds("box")
        ends: NDArray[np.bool_] = np.isfinite(boxes.lower).all(axis=1) & np.isfinite(boxes.upper).all(axis=1)
        return ends

    def bounds(self, name: str) -> Any:
        """Return the bounds of a kind: "box", "oriented", "sphere", "18-dop"."""
        if name not in self._bounds:
            count = threads.resolve_count(self.detection.settings.threads, len(self.bodies))
            self._bounds[name] = find_bounds(name, self.method)(self.bodies, count)
        return self._bounds[name]

    def partners(self, row: int) -> NDArray[np.int32]:
        """Return the rows of the candidates of one body."""
        return _others(self.detected.pairs, row)

    def touching(self, row: int) -> NDArray[np.int32]:
        """Return the rows of the bodies that one body touches."""
        return _others(self.detected.contacts.pairs, row)


def bodies_of(cast: BodyTable, poses: Poses, velocity: NDArray[np.floating[Any]] | None = None) -> Bodies:
    """Make bodies of a world from recorded ones, in float64; masses are not recorded and become 1."""
    count = len(cast)
    columns: dict[str, Any] = {
        name: np.zeros((count, *shape), np.float64 if kind is None else kind)
        for name, (kind, shape) in Bodies.COLUMNS.items()
    }
    columns |= {name: np.ascontiguousarray(getattr(cast, name), np.float64) for name in ("size",)}
    columns["position"] = poses.position.astype(np.float64)
    columns["rotation"] = poses.rotation.astype(np.float64)
    columns["mass"] = columns["inverse_mass"] = np.ones(count)
    columns["group"] = columns["mask"] = np.ones(count, np.uint32)
    if velocity is not None:
        columns["velocity"] = velocity.astype(np.float64)
    for name in ("ids", "kind", "static", "hull", "color", "drawn", "rocket"):
        columns[name] = getattr(cast, name)
    return Bodies(**columns, hulls=_hulls_of(cast))


def _hulls_of(cast: BodyTable) -> Hulls | None:
    count = len(cast.hull_first) - 1
    if not count:
        return None
    meshes = [cast.hull_mesh(row) for row in range(count)]
    still = np.zeros(3), np.eye(3)
    return Hulls(Hull(points.astype(np.float64), faces, 1.0, np.ones(3), *still) for points, faces in meshes)


def _others(pairs: NDArray[np.int32], row: int) -> NDArray[np.int32]:
    return np.sort(np.concatenate((pairs[pairs[:, 0] == row, 1], pairs[pairs[:, 1] == row, 0])))
