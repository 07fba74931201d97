"""Shape matching: a response that treats convex bodies as clouds of particles with a fixed shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque._core.types import Pairs
from choque.dynamics.response import Response, State, integrate
from choque.errors import InvalidInput
from choque.narrow.convex.contacts import Axes
from choque.narrow.convex.cores import cores_of_shapes
from choque.narrow.convex.epa import Polytope, new_polytope
from choque.narrow.shapes import CONVEX, KIND_NAMES, PLANE, TILE, Shapes
from choque.theses.kdop.particles import Candidates, Matching, commit, relax

POLYTOPE_ROOM = 512
"""Maximum number of corners of the polytope of EPA; a pair that needs more is left for the next iteration."""


class ShapeMatching(Response):
    """Separates bodies by moving their vertices, in up to ten passes over all candidate pairs, and keeps them rigid.

    If two bodies collide, by GJK on their present vertices, EPA gives the direction. The vertices of each that lie
    beyond the deepest point of the other move back to its level. Then each body gets the rigid motion that fits its
    moved vertices best, by polar decomposition. Velocities do not change, so a body at rest keeps the speed that
    gravity gives it; `integrate` damps them. There is no restitution: elasticities have no effect. Bodies collide with
    the ground by their lowest vertices. A step moves bodies first, so that its result shows them separated.

    Guarantees: rigid shapes; no NaN for any overlap; a shape whose vertices allow no rotation (collapsed, mirrored, or
    distorted by more than 0.01) keeps its own and is only translated; a function of the state and of the remembered
    axes, which are part of `state`. O(iterations · pairs), one thread. After Müller, Heidelberger,
    Teschner, Gross, "Meshless deformations based on shape matching", 2005.

    Parameters
    ----------
    iterations
        The maximum number of passes over all pairs.
    damping
        The fraction of each velocity and angular velocity that a step keeps, from 0 to 1.
    """

    name: ClassVar[str] = "shape-matching"
    needs_candidates: ClassVar[bool] = True
    """Its exact tests are its own; it takes the pairs of the broad phase."""
    moves_first: ClassVar[bool] = True

    def __init__(self, iterations: int = 10, damping: float = 0.95) -> None:
        self.iterations: int = check.whole_number(iterations, "iterations", 1)
        self.damping: float = check.number(damping, "damping", 0, 1)
        self.counts: NDArray[np.int64] = np.zeros(5, np.int64)
        """(5,) tests, collisions, shapes matched, matches skipped and tests by GJK of the latest `respond`."""
        self._axes: Axes = Axes()
        self._polytope: Polytope = new_polytope(POLYTOPE_ROOM)

    def check(self, bodies: State) -> None:
        """Refuse bodies that have no vertices to move."""
        is_fine = (bodies.kind == CONVEX) | (bodies.kind == PLANE) | ((bodies.kind == TILE) & bodies.static)
        if not is_fine.all():
            row = int(np.argmin(is_fine))
            raise InvalidInput(
                f"The body {bodies.ids[row]} is a {KIND_NAMES[bodies.kind[row]]}; shape matching moves convex bodies "
                "only. Use hulls, or the response 'impulse'."
            )

    def respond(self, bodies: State, candidates: Pairs, dt: float) -> int:  # noqa: ARG002
        """Separate the bodies of ``candidates`` (m, 2), rows of ``bodies``, in place; return the collision count."""
        self.counts[:] = 0
        shapes = Shapes(bodies.kind, bodies.position, bodies.rotation, bodies.size, bodies.hull, bodies.hulls)
        if len(candidates) == 0:
            self._axes = Axes()
            return 0
        cores, rows = cores_of_shapes(shapes, candidates, 1)
        used = np.empty(len(cores.spans), np.int64)
        used[rows.reshape(-1)] = candidates.reshape(-1)
        is_plane = shapes.kind[candidates] == PLANE
        ground = (is_plane[:, 0] + 2 * is_plane[:, 1]).astype(np.uint8)
        pairs = bodies.ids[candidates]
        axis = self._axes.recall(pairs)
        matching = Matching.at_rest(cores)
        start = matching.mean.copy()
        up = np.ascontiguousarray(bodies.rotation[used][:, :, 1], np.float64)
        fixed = bodies.static[used] | (shapes.kind[used] == PLANE)
        among = Candidates(rows, ground, up, fixed, axis)
        relax(self.iterations, cores, among, matching, self._polytope, self.counts)
        commit(cores, used, start, matching, bodies.position, bodies.rotation)
        self._axes.remember(pairs, axis)
        return int(self.counts[1])

    def integrate(
        self,
        bodies: State,
        dt: float,
        *,
        max_speed: float | None = None,
        max_spin: float | None = None,
        threads: int | None = None,
    ) -> None:
        """Move all bodies by ``dt`` seconds, in place, as every response does; then damp those that are not static."""
        integrate(bodies, dt, max_speed=max_speed, max_spin=max_spin, threads=threads)
        kept = np.where(bodies.static, 1.0, self.damping)[:, np.newaxis].astype(bodies.velocity.dtype)
        for speeds in (bodies.velocity, bodies.angular_velocity):
            np.multiply(speeds, kept, out=speeds)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the remembered axes, by pair of ids."""
        return {"keys": self._axes.keys, "axis": self._axes.axis}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue with the axes that `state` returned."""
        keys, axis = (np.asarray(state.get(name, np.empty(0))) for name in ("keys", "axis"))
        if keys.ndim != 1 or axis.shape != (len(keys), 3):
            raise InvalidInput(
                f"Of shape matching, keys {keys.shape} and axis {axis.shape} do not fit: (m,) and (m, 3)."
            )
        self._axes.keys = keys.astype(np.int64)
        self._axes.axis = np.ascontiguousarray(axis, np.float64)
