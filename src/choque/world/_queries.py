"""Questions to a world: casts of rays and shapes, overlaps and nearest bodies, in batches, by exact tests.

Candidates come from the boxes that the broad phase has, as long as every body is still within its own; else from a tree
over the present boxes, which is kept for the next question. Sleeping or awake makes no difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check, threads
from choque._core.ids import Identities
from choque._core.pair_keys import EVERY_GROUP, bit_field
from choque._core.threads import Gate, one_thread
from choque._core.types import F64, I32, I64, Bools, Pairs, Rows
from choque.bounds import Boxes, Spheres
from choque.errors import InvalidInput
from choque.narrow.shapes import CAPSULE, CONVEX, MESH, PLANE, SPHERE, Shapes
from choque.narrow.solids import LARGEST
from choque.world.bodies import Bodies
from choque.world.detection import Detection
from choque.world.settings import Settings

TOUCH = 1e-6  # how far apart a moving shape stops, as a part of the extent of the smaller solid
FIRST_NEAREST = 8  # boxes nearest to a point that are looked at first; four times as many until the answer is certain


@dataclass(frozen=True, eq=False)
class Hits:
    """What questions to a world found, one row for each answer.

    Attributes
    ----------
    question
        (m,): the row of the question. All in their order where one answer is given to each; where all hits are
        given, sorted by question, then distance.
    ids
        (m,) int32: the body; −1 where there is none.
    distance
        (m,): in units of the direction or motion; in units of length for the nearest bodies. Infinite where there is
        none, 0 for bodies that hold the start of the ray, or overlap the shape at its start.
    normal
        (m, 3): outward unit normal of the body; 0 where the distance is 0 or there is no body.
    point
        (m, 3): where it is hit, or nearest; NaN where there is none.
    """

    question: I64
    ids: I32
    distance: F64
    normal: F64
    point: F64

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def _none(cls, count: int) -> Self:
        """Return no answer to each of ``count`` questions."""
        question, ids = np.arange(count), np.full(count, -1, np.int32)
        return cls(question, ids, np.full(count, np.inf), np.zeros((count, 3)), np.full((count, 3), np.nan))

    def _take(self, rows: Rows) -> Self:
        return type(self)(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def _sorted(self, count: int, *, every: bool) -> Self:
        """Return all answers in their order, or the first one to each of ``count`` questions."""
        order = self._take(np.lexsort((self.ids, self.distance, self.question)))
        if every:
            return order
        asked, first = np.unique(order.question, return_index=True)
        found, chosen = self._none(count), order._take(first)
        for name in ("ids", "distance", "normal", "point"):
            getattr(found, name)[asked] = getattr(chosen, name)
        return found


class Queries:
    """Questions that do not change the world. Sensors are never found: they touch nothing."""

    settings: Settings
    _gate: Gate
    _bodies: Bodies
    _detection: Detection
    _identities: Identities

    @one_thread
    def cast_rays(
        self,
        origin: ArrayLike,
        direction: ArrayLike,
        *,
        longest: float = np.inf,
        every: bool = False,
        ignore: ArrayLike = (),
        mask: int = EVERY_GROUP,
    ) -> Hits:
        """Return the first body that each ray meets, where, and the normal of its surface.

        Exact up to rounding, for every kind of body. A ray that starts in a body meets it at once.

        Parameters
        ----------
        origin, direction
            (k, 3), or (3,) for one or all. A segment from a to b has the direction ``b - a`` and ``longest=1``.
        longest
            How far rays go, in units of their direction.
        every
            True: all bodies that each ray meets, sorted by ray and distance.
        ignore
            (i,): ids of bodies that rays pass through.
        mask
            Groups of bodies that are met, as a bit field; all by default.

        Examples
        --------
        >>> world = choque.World()
        >>> ids = world.add_spheres([[5, 0, 0], [9, 0, 0]])
        >>> hits = world.cast_rays([0, 0, 0], [[1, 0, 0], [0, 1, 0]])
        >>> hits.ids.tolist(), hits.distance.tolist()
        ([0, -1], [4.0, inf])
        """
        from choque.narrow.rays import enter_solids

        starts, ways = _together(origin, direction, "origin", "direction")
        is_wanted = self._wanted(ignore, mask)
        if not len(self._bodies) or not len(starts):
            return Hits._none(0 if check.boolean(every, "every") else len(starts))
        pairs = self._detection.structure_over(self._bodies).query_rays(starts, ways, longest=longest)
        pairs = pairs[is_wanted[pairs[:, 1]]]
        entries = enter_solids(self._bodies.shapes(), pairs, starts, ways, threads=self.settings.threads)
        met = np.flatnonzero(np.isfinite(entries.distance) & (entries.distance <= longest))
        ray, distance = pairs[met, 0].astype(np.int64), entries.distance[met]
        point = starts[ray] + distance[:, np.newaxis] * ways[ray]
        found = Hits(ray, self._bodies.ids[pairs[met, 1]], distance, entries.normal[met], point)
        return found._sorted(len(starts), every=check.boolean(every, "every"))

    @one_thread
    def cast_shapes(
        self,
        shapes: Shapes | Boxes | Spheres,
        motion: ArrayLike,
        *,
        every: bool = False,
        ignore: ArrayLike = (),
        mask: int = EVERY_GROUP,
    ) -> Hits:
        """Return the first body that each moving shape touches: the share of its motion until then, and where.

        The distance is never after the first touch, and at it the shape is at most 10⁻⁶ of the smaller body's extent
        away (conservative advancement, see `choque.narrow.time_of_impact`). Shapes do not turn.

        Parameters
        ----------
        shapes
            At the start: `choque.narrow.Shapes`, such as ``Shapes.of_capsules(…)``, or boxes or spheres of
            `choque.bounds`. No planes and tiles.
        motion
            (k, 3), or (3,) for all.
        every, ignore, mask
            As for `cast_rays`.
        """
        from choque.narrow.convex.impact import impacts_of_shapes

        moving, every, is_wanted = _as_shapes(shapes), check.boolean(every, "every"), self._wanted(ignore, mask)
        count = len(moving)
        ways = check.table(motion, "motion", (count, 3), -LARGEST, LARGEST)
        boxes = moving.boxes(threads=1)
        swept = Boxes.unchecked(boxes.lower + np.minimum(ways, 0), boxes.upper + np.maximum(ways, 0))
        pairs = self._candidates(swept, is_wanted)
        is_plane = self._bodies.kind[pairs[:, 1]] == PLANE
        planes, pairs = pairs[is_plane], pairs[~is_plane]
        both, rows = self._beside(moving, pairs)
        pairs, rows, corners = self._with_triangles(pairs, rows, len(both), swept)
        still = np.zeros((len(pairs), 3))
        motions = np.stack((ways[pairs[:, 0]], still, still, still), axis=1)
        impact = impacts_of_shapes(
            both, rows, motions, triangles=corners, tolerance=TOUCH, threads=self.settings.threads
        )
        met = np.flatnonzero(impact.hit)
        met = met[np.argsort(impact.time[met], kind="stable")]
        met = met[np.unique(pairs[met], axis=0, return_index=True)[1]]  # of a mesh the first triangle
        asked, ids = pairs[met, 0].astype(np.int64), self._bodies.ids[pairs[met, 1]]
        found = Hits(asked, ids, impact.time[met], -impact.normal[met], impact.point[met])
        parts = zip(vars(found).values(), vars(self._meet_planes(moving, ways, planes)).values(), strict=True)
        return Hits(*(np.concatenate(columns) for columns in parts))._sorted(count, every=every)

    @one_thread
    def query(self, shapes: Shapes | Boxes | Spheres, *, ignore: ArrayLike = (), mask: int = EVERY_GROUP) -> Pairs:
        """Return which shapes overlap which bodies, by exact tests: sorted (m, 2) rows of (row in shapes, id).

        ``shapes`` are as for `cast_shapes`; touching is no overlap.
        """
        from choque.narrow.phase import contacts

        asking = _as_shapes(shapes)
        pairs = self._candidates(asking.boxes(threads=1), self._wanted(ignore, mask))
        both, rows = self._beside(asking, pairs)
        found = contacts(both, rows, threads=self.settings.threads).pairs
        names = np.full(len(both), -1, np.int32)
        names[rows[:, 1]] = self._bodies.ids[pairs[:, 1]]
        named: Pairs = np.stack((found[:, 0], names[found[:, 1]]), axis=1).astype(np.int32)
        return named[np.lexsort((named[:, 1], named[:, 0]))]

    @one_thread
    def nearest(self, points: ArrayLike, *, count: int = 1, ignore: ArrayLike = (), mask: int = EVERY_GROUP) -> Hits:
        """Return the ``count`` bodies nearest to each point (k, 3), nearest first, with their nearest points.

        Exact up to rounding (GJK); 0 for bodies that hold the point; of bodies equally near the smaller id comes first.
        All arrays have ``k * count`` rows; ``hits.ids.reshape(k, count)`` has a row for each point.
        """
        asked = _coordinates(points, "points")
        count, is_wanted = check.whole_number(count, "count", 1), self._wanted(ignore, mask)
        found = Hits._none(len(asked) * count)
        found.question[:] = np.repeat(np.arange(len(asked)), count)
        pending, body_count = np.arange(len(asked)), len(self._bodies)
        looked = min(max(FIRST_NEAREST, 2 * count), body_count)
        while len(pending) and body_count:
            near = self._detection.structure_over(self._bodies).nearest(asked[pending], count=looked)
            row, place = np.nonzero((near.ids >= 0) & is_wanted[near.ids])
            pairs = np.stack((pending[row], near.ids[row, place]), axis=1).astype(np.int32)
            measured = self._measured(asked, pairs)._sorted(0, every=True)
            rank = np.arange(len(measured)) - np.searchsorted(measured.question, measured.question)
            kept = measured._take(np.flatnonzero(rank < count))
            for name in ("ids", "distance", "normal", "point"):
                getattr(found, name)[kept.question * count + rank[rank < count]] = getattr(kept, name)
            farthest = found.distance.reshape(-1, count)[pending, -1]
            # No box that was not looked at is nearer than the last one that was.
            pending = pending[farthest > near.distance[:, -1]] if looked < body_count else pending[:0]
            looked = min(4 * looked, body_count)
        return found

    # How

    def _wanted(self, ignore: ArrayLike, mask: int) -> Bools:
        """Return which bodies may be found (n,)."""
        bodies = self._bodies
        wanted: Bools = ~bodies.sensor & (bodies.group & bit_field("mask", mask, len(bodies), 0) != 0)
        if np.size(ignore):
            wanted[self._identities.rows_of(np.unique(ignore))] = False
        return wanted

    def _candidates(self, boxes: Boxes, is_wanted: Bools) -> Pairs:
        """Return the pairs (row of boxes, row of bodies) whose boxes overlap."""
        if not len(self._bodies) or not len(boxes):
            return np.empty((0, 2), np.int32)
        pairs = self._detection.structure_over(self._bodies).query(boxes)
        return pairs[is_wanted[pairs[:, 1]]]

    def _beside(self, asking: Shapes, pairs: Pairs) -> tuple[Shapes, Pairs]:
        """Return the shapes and the bodies of ``pairs`` in one table, and the pairs as rows of it."""
        from choque.world.hull_library import joined

        rows, places = np.unique(pairs[:, 1], return_inverse=True)
        bodies, count = self._bodies, len(asking)
        hulls, hull = bodies.hulls, np.full(count, -1, np.int32)
        if asking.hulls is not None and asking.hull is not None:
            hulls, library_rows = joined(bodies.hulls, asking.hulls)
            hull = np.where(asking.hull >= 0, library_rows[asking.hull], -1).astype(np.int32)
        both = Shapes(
            np.concatenate((asking.kind, bodies.kind[rows])),
            np.concatenate((asking.position, bodies.position[rows])).astype(np.float64),
            np.concatenate((asking.rotation, bodies.rotation[rows])).astype(np.float64),
            np.concatenate((asking.size, bodies.size[rows])).astype(np.float64),
            np.concatenate((hull, bodies.hull[rows])),
            hulls,
        )
        return both, np.stack((pairs[:, 0], count + places.reshape(-1)), axis=1).astype(np.int32)

    def _with_triangles(self, pairs: Pairs, rows: Pairs, count: int, swept: Boxes) -> tuple[Pairs, Pairs, F64 | None]:
        """Return the pairs with one row for each triangle of a mesh near a box; ``rows`` after ``count`` are these."""
        is_mesh = self._bodies.kind[pairs[:, 1]] == MESH
        if not is_mesh.any():
            return pairs, rows, None
        from choque.narrow.pieces import corners_of, local_boxes, pieces_near

        shapes, asked = self._bodies.shapes(), pairs[is_mesh]
        mesh = asked[:, 1].astype(np.int64)
        boxes = local_boxes(shapes, mesh, swept.lower[asked[:, 0]], swept.upper[asked[:, 0]])
        near = pieces_near(shapes, mesh, boxes, 1)
        extra = np.stack((asked[near.pair, 0], count + np.arange(len(near.pair))), axis=1).astype(np.int32)
        corners = corners_of(shapes, mesh[near.pair], near.face)
        both = ((pairs, asked[near.pair]), (rows, extra))
        return *(np.concatenate((one[~is_mesh], other)) for one, other in both), corners  # type: ignore[return-value]

    def _measure_meshes(self, points: F64, pairs: Pairs, places: Rows, found: Hits) -> None:
        """Write the distance of the pairs in ``places``, of a point and a mesh, to ``found``."""
        from choque.meshes import Mesh, distance
        from choque.narrow.pieces import mesh_of

        bodies, one = self._bodies, Mesh(np.zeros((3, 3)), [[0, 1, 2]])
        for row in np.unique(pairs[places, 1]).tolist():
            these = places[pairs[places, 1] == row]
            turn, origin = bodies.rotation[row].astype(np.float64), bodies.position[row].astype(np.float64)
            asked = points[pairs[these, 0]]
            near = distance(mesh_of(bodies.shapes(), row), one, (np.eye(3), (asked - origin) @ turn))
            found.distance[these], found.point[these] = near.distance, near.point_a @ turn.T + origin
            away = asked - found.point[these]
            found.normal[these] = away / np.where(near.distance > 0, near.distance, 1.0)[:, np.newaxis]

    def _measured(self, points: F64, pairs: Pairs) -> Hits:
        """Return the distance of each of ``pairs`` (point, row of bodies)."""
        from choque.narrow.convex.cores import cores_of_shapes
        from choque.narrow.convex.probe import DISTANCE, probe_pairs

        bodies, asked = self._bodies, pairs[:, 0].astype(np.int64)
        found = Hits._none(len(pairs))
        found.question[:], found.ids[:] = asked, bodies.ids[pairs[:, 1]]
        is_plane = bodies.kind[pairs[:, 1]] == PLANE
        is_mesh = bodies.kind[pairs[:, 1]] == MESH
        level, others = np.flatnonzero(is_plane), np.flatnonzero(~is_plane & ~is_mesh)
        self._measure_meshes(points, pairs, np.flatnonzero(is_mesh), found)
        up = bodies.rotation[pairs[level, 1], :, 1].astype(np.float64)
        height = np.einsum("ni,ni->n", points[asked[level]] - bodies.position[pairs[level, 1]], up)
        height = np.maximum(height, 0.0)[:, np.newaxis]
        found.distance[level], found.normal[level] = height[:, 0], np.where(height > 0, up, 0.0)
        found.point[level] = points[asked[level]] - height * up
        both, rows = self._beside(Shapes.of_spheres(points, 0.0), pairs[others])
        thread_count = threads.resolve_count(self.settings.threads, len(others))
        probe = probe_pairs(*cores_of_shapes(both, rows, thread_count), DISTANCE, thread_count)
        apart = ~probe.meets.astype(np.bool_)
        found.distance[others] = np.where(apart, -probe.depth, 0.0)
        found.normal[others] = np.where(apart[:, np.newaxis], -probe.normal, 0.0)
        found.point[others] = np.where(apart[:, np.newaxis], probe.second, points[asked[others]])
        return found

    def _meet_planes(self, moving: Shapes, ways: F64, pairs: Pairs) -> Hits:
        """Return the hits of shapes that come down on planes, in closed form."""
        from choque.narrow.extents import bound, bound_slabs

        asked, rows = pairs[:, 0].astype(np.int64), pairs[:, 1]
        found = Hits._none(len(pairs))
        found.question[:], found.ids[:] = asked, self._bodies.ids[rows]
        for row in np.unique(rows).tolist():
            up = self._bodies.rotation[row, :, 1].astype(np.float64)
            low, high = np.empty((len(moving), 1)), np.empty((len(moving), 1))
            bound(bound_slabs, moving, 1, up[np.newaxis], low, high)
            gap = low[:, 0] - self._bodies.position[row] @ up
            sinks = -(ways @ up)
            with np.errstate(divide="ignore", invalid="ignore"):
                time = np.where(gap <= 0, 0.0, np.where(sinks > 0, gap / sinks, np.inf))
            here = np.flatnonzero(rows == row)
            share = time[asked[here], np.newaxis]
            found.distance[here], found.normal[here] = share[:, 0], np.where(share > 0, up, 0.0)
            center = moving.position[asked[here]] + np.where(share <= 1, share, 0.0) * ways[asked[here]]
            found.point[here] = center - ((center - self._bodies.position[row]) @ up)[:, np.newaxis] * up
        return found._take(np.flatnonzero(found.distance <= 1))


def _together(one: ArrayLike, other: ArrayLike, *names: str) -> tuple[F64, F64]:
    """Return two arrays (k, 3), where one row stands for all."""
    first, second = _coordinates(one, names[0]), _coordinates(other, names[1])
    if len(first) != len(second) and 1 not in (len(first), len(second)):
        raise InvalidInput(f"{names[0]} has {len(first)} rows and {names[1]} {len(second)}; give as many, or one.")
    count = max(len(first), len(second)) if len(first) and len(second) else 0
    return tuple(np.array(np.broadcast_to(part[:count], (count, 3)), order="C") for part in (first, second))  # type: ignore[return-value]


def _coordinates(given: ArrayLike, name: str) -> F64:
    """Return vectors (k, 3) whose squares exact tests can hold."""
    vectors = check.vectors(given, name)
    return check.table(vectors, name, vectors.shape, -LARGEST, LARGEST)


def _as_shapes(given: Shapes | Boxes | Spheres) -> Shapes:
    """Return checked shapes in float64 that a world can be asked about."""
    if isinstance(given, Boxes):
        lower, upper = given.lower.astype(np.float64), given.upper.astype(np.float64)
        return Shapes.of_boxes(_coordinates(0.5 * (lower + upper), "the middle of boxes"), upper - lower)
    if isinstance(given, Spheres):
        return Shapes.of_spheres(_coordinates(given.center, "center"), given.radius)
    if not isinstance(given, Shapes):
        raise InvalidInput(
            f"The shapes are of type {type(given).__name__}; give choque.narrow.Shapes, or Boxes or Spheres of bounds."
        )
    shapes = given.checked()
    strange = np.flatnonzero(~np.isin(shapes.kind, (SPHERE, CAPSULE, CONVEX)))
    if len(strange):
        raise InvalidInput(
            f"Row {strange[0]} of the shapes is flat; a world is asked about spheres, capsules and hulls."
        )
    columns = {name: getattr(shapes, name).astype(np.float64) for name in ("rotation", "size")}
    return replace(shapes, position=_coordinates(shapes.position, "position"), **columns)
