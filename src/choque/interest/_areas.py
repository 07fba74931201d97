"""Areas of interest: which bodies are in the area of which, and which entered and left."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core import threads as _threads
from choque._core.counters import Counters
from choque._core.ids import Identities, frozen
from choque._core.pair_sets import Change, difference, no_pairs
from choque._core.threads import Gate, one_thread
from choque._core.types import F64, I32, I64, Pairs, Rows
from choque.errors import InvalidInput
from choque.interest._bodies import NO_AREA, AreaBodies, checked_position, checked_reach, each_value, make_bodies
from choque.interest._member_lists import MemberLists, Patch, changes, farthest_move, make_lists, open_patch
from choque.interest._search import fitting_reach

Method = TypeVar("Method", bound=Callable[..., Any])
SHAPES = ("sphere", "box")
LASTING_FRAMES = 12  # number of frames that lists are made to serve at the present speed

MIN_FRAMES = 3
"""Lists that would not serve this long are made without slack: they are shorter, and searched every frame."""

LOOSE_SHARE = 32  # with one loose body of this many, the lists of all are made again
MIN_LOOSE = 64  # number of loose bodies that is always allowed
MIN_PATCHED = 2_000  # with fewer bodies, any change searches or follows all lists: it takes no longer
MAX_SLACK = 0.25  # maximum slack [median radius of the areas]: an area widened by it holds twice as many bodies


def _whole(method: Method) -> Method:
    """Make a change happen wholly or not at all, for one thread at a time.

    After an exception, such as that of Ctrl-C, the bodies are as before, and all lists are searched again when they are
    needed: they may have followed a part of the change. Arguments that are refused have changed nothing.
    """

    @wraps(method)
    def change(self: Areas, *arguments: Any, **options: Any) -> Any:
        before = self._bodies, self._identities, self._change
        self._undo = None
        try:
            return method(self, *arguments, **options)
        except InvalidInput:
            raise
        except BaseException:
            self._bodies, self._identities, self._change = before
            if self._undo is not None:
                rows, spheres, reach = self._undo
                self._bodies.spheres[rows], self._bodies.reach[rows] = spheres, reach
            self._patch, self._is_behind = None, True
            raise

    return one_thread(cast("Method", change))


class Areas:
    """The members of areas around bodies, kept up to date while bodies move, come and go.

    Parameters
    ----------
    position
        (n, 2) or (n, 3); row i gets id i.
    radius
        The radius of each area: one number for all or (n,). A body whose entry is None in a list, or masked in a masked
        array, has no area. Half an edge for boxes. An infinite area contains every body.
    body_radius
        The radius of each body: one number, (n,), or None for points.
    shape
        "sphere": a body is in an area if its distance is at most area radius + body radius. "box": if that is true for
        the distance on every axis, so that areas and bodies are cubes (squares in 2D).
    threads
        The number of threads; None for all. The answer is the same for any number.

    Notes
    -----
    Membership is directed: body a may be in the area of b while b is not in the area of a. A body is never a member of
    its own area. Membership is closed, so touching counts, is computed in float64, spheres squared, and allows a
    relative 2⁻⁴⁹ for rounding: no touch is missed, and on integers below 2²⁴ it is exact.

    Areas follow their owners, and members are kept between changes. The lists are a little larger than the areas,
    depending on the speed of the fastest body. While no body can have come from beyond them, a change costs one pass
    over the lists; otherwise a search in cells, or in a wide tree where cells would be crowded, O(n log n + m), and one
    pass over the old and new lists. If few of many bodies change (`move`, `resize`, `add`, `remove`), only what is near
    them is searched; `members` then searches around its owner, and the next call for all members searches all lists. A
    change that fails or is interrupted leaves the areas as they were; one object is for one thread at a time. Memory is
    O(n + m). The idea of an area for each object is that of the object-based interest of shared worlds (Benford and
    Fahlén, "A spatial model of interaction in large virtual environments", 1993).

    Examples
    --------
    >>> import choque
    >>> areas = choque.interest.Areas([[0, 0], [3, 0], [9, 0]], radius=[4, 1, None])
    >>> areas.members(0).tolist(), areas.members(1).tolist()
    ([1], [])
    >>> areas.update([[0, 0], [3, 0], [4, 0]])
    >>> areas.entered.tolist(), areas.left.tolist()
    ([[0, 2], [1, 2]], [])
    """

    def __init__(
        self,
        position: ArrayLike,
        *,
        radius: Any,
        body_radius: ArrayLike | None = None,
        shape: Literal["sphere", "box"] = "sphere",
        threads: int | None = None,
    ) -> None:
        check.choice(shape, "shape of an area", SHAPES)
        where = checked_position(position)
        self.counters = Counters()  #: ``tests`` counts areas tested against bodies, ``events`` searches of the lists.
        self._gate = Gate()
        self._undo: tuple[Rows, F64, F64] | None = None
        # The rows that a change writes in place, with their spheres and radii before it.
        self._requested_threads = threads
        self._is_box = shape == "box"
        self._dimension = int(where.shape[1])
        self._bodies = make_bodies(where, radius, body_radius)
        self._identities = Identities.first(len(where))
        # While only few bodies change, the lists are left as they were, and the patch follows the bodies.
        self._patch: Patch | None = None
        self._is_behind = False
        self._lists = self._search(0.0)
        self._change: Change = Change(self.pairs(), no_pairs())

    def __len__(self) -> int:
        return self._bodies.total

    def __repr__(self) -> str:
        return f"<Areas: {len(self.owners)} {self.shape} areas among {len(self)} bodies in {self._dimension}D>"

    def _repr_html_(self) -> str:
        from choque._core.notebook import boxes_picture, card

        facts = {"areas": len(self.owners), "bodies": len(self), "shape": self.shape, "dimension": self._dimension}
        return card("Areas", facts, boxes_picture(self.position, self.position))

    @property
    def shape(self) -> Literal["sphere", "box"]:
        """The shape of the areas and of the bodies."""
        return "box" if self._is_box else "sphere"

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self._dimension

    @property
    def ids(self) -> I32:
        """(n,) the ids of all bodies, ascending; positions and radii are in this order."""
        return frozen(self._identities.ids)

    @property
    def owners(self) -> I32:
        """The ids of the bodies that have an area, ascending."""
        return self._identities.ids[self._bodies.reach >= 0]

    @property
    def position(self) -> F64:
        """(n, d) the positions of the bodies, which are the centers of their areas."""
        return frozen(self._snapshot(self._bodies.spheres[:, : self._dimension]))

    @property
    def radius(self) -> F64:
        """(n,) the radius of each area, NaN for a body without one."""
        return np.where(self._bodies.reach >= 0, self._bodies.reach, np.nan)

    @property
    def body_radius(self) -> F64:
        """(n,) the radius of each body."""
        return frozen(self._snapshot(self._bodies.spheres[:, 3]))

    @property
    def slack(self) -> float:
        """How much larger than the areas the lists are; they serve until a body has moved by half of it."""
        return self._lists.slack

    @one_thread
    def members(self, owner: int) -> I32:
        """Return the ids of the bodies in the area of ``owner``, ascending; empty if it has no area."""
        row = self._row_of(owner)
        if self._patch is None:
            return self._identities.ids[self._current_lists().members_of(row)]
        pairs = self._patch.around(np.array([row]), self._bodies)
        members: I32 = self._identities.ids[pairs[pairs[:, 0] == row, 1]]
        return members

    @one_thread
    def listed(self, owner: int) -> I32:
        """Return the ids that an update tests for ``owner``, ascending: all near its area at the search."""
        return self._identities.ids[self._current_lists().listed(self._row_of(owner))]

    @one_thread
    def all_members(self) -> tuple[I64, I32]:
        """Return all members: ``starts`` (n + 1,) and ``others`` (m,).

        The members of the k-th of `ids` are ``others[starts[k]:starts[k + 1]]``, ascending.
        """
        found = self._current_lists().members()
        starts = np.searchsorted(found[:, 0], np.arange(len(self) + 1, dtype=np.int32))
        return starts, self._identities.ids[found[:, 1]]

    @one_thread
    def pairs(self) -> Pairs:
        """Return all members as (m, 2) rows of (owner, other), sorted."""
        return frozen(self._identities.name(self._current_lists().members()))

    @property
    def entered(self) -> Pairs:
        """(k, 2) the (owner, other) rows, sorted, that are members now and were not before the latest change."""
        return frozen(self._change.began)

    @property
    def left(self) -> Pairs:
        """(k, 2) the (owner, other) rows, sorted, that were members before the latest change and are not now."""
        return frozen(self._change.ended)

    @_whole
    def update(self, position: ArrayLike) -> None:
        """Move every body, in ascending id, to a new position (n, d)."""
        where = checked_position(position, self._dimension, len(self))
        self._current_lists()
        self._follow(self._bodies.placed(where))

    @_whole
    def move(self, ids: ArrayLike, position: ArrayLike) -> None:
        """Move the bodies ``ids``, each named once, to new positions; the others stay."""
        rows = self._identities.rows_of(ids)
        where = checked_position(position, self._dimension)
        if len(where) != len(rows):
            raise InvalidInput(f"move was given {len(rows)} ids and {len(where)} positions; give one for each id.")
        if (patch := self._local(rows)) is None:
            self._current_lists()
            self._follow(self._bodies.placed(where, rows))
            return
        before = patch.around(rows, self._bodies)
        self._undo = rows, self._bodies.spheres[rows], self._bodies.reach[rows]
        patch.loosen(rows)
        self._bodies.spheres[rows, : self._dimension] = where
        self._changed(patch, rows, before)

    @_whole
    def resize(self, ids: ArrayLike, radius: Any) -> None:
        """Change the radius of the areas of the bodies ``ids``; None removes an area."""
        rows = self._identities.rows_of(ids)
        wanted = checked_reach(radius, len(rows))
        patch = self._local(rows) if np.isfinite(wanted).all() else None
        if patch is None:
            self._current_lists()
            reach = self._bodies.reach.copy()
            reach[rows] = wanted
            self._set_reach(reach)
            return
        before = patch.around(rows, self._bodies)
        self._undo = rows, self._bodies.spheres[rows], self._bodies.reach[rows]
        patch.loosen(rows)
        patch.largest = max(patch.largest, float(wanted.max(initial=0.0)))
        self._bodies.reach[rows] = wanted
        self._changed(patch, rows, before)

    @_whole
    def adapt(self, target: int, *, smallest: ArrayLike = 0.0, largest: ArrayLike = math.inf) -> None:
        """Choose radii so that every area holds ``target`` bodies, as far as the limits and geometry allow.

        An area in a crowd shrinks, but not below ``smallest``; one with few bodies around it grows, but not above
        ``largest``; both are one number for all or (n,), in ascending id: with ``smallest=k * areas.body_radius`` no
        area is smaller than k bodies. If bodies are equally far away, an area holds fewer bodies than the target rather
        than more. Areas that shrink and grow with the crowd are the idea of VELVET (Oliveira and Georganas, 2003); here
        the radius is found by a search, not by feedback over several frames.
        """
        wanted = min(check.whole_number(target, "target", 1), len(self))
        limits = (each_value(smallest, "smallest", len(self)), each_value(largest, "largest", len(self)))
        if (wrong := limits[0] > limits[1]).any():
            low, high = (limit[wrong][0] for limit in limits)
            raise InvalidInput(f"smallest is {low} and largest is {high}; smallest must not be the larger.")
        self._current_lists()
        self._set_reach(fitting_reach(self._bodies, wanted, *limits, self._is_box, self._thread_count()))

    @_whole
    def add(self, position: ArrayLike, *, radius: Any = None, body_radius: ArrayLike | None = None) -> I32:
        """Add bodies, with areas if a ``radius`` is given, and return their ids, which are never used again."""
        arriving = make_bodies(checked_position(position, self._dimension), radius, body_radius)
        local = np.isfinite(arriving.reach).all() and len(self)
        patch = self._local(np.empty(0, np.int64), arriving.total) if local else None
        before, rows = self.pairs() if patch is None else no_pairs(), np.arange(len(self), len(self) + arriving.total)
        self._patch = None  # until all of it has changed
        self._bodies = self._bodies.joined(arriving)
        self._identities, new = self._identities.joined(arriving.total)
        if patch is None:
            self._search_again(before)
            return new
        patch.extend(arriving.total)
        patch.largest = max(patch.largest, float(arriving.reach.max(initial=0.0)))
        self._patch = patch
        self._changed(patch, rows, before)
        return new

    @_whole
    def remove(self, ids: ArrayLike) -> None:
        """Remove the bodies ``ids`` and their areas."""
        rows = self._identities.rows_of(ids)
        if (patch := self._local(rows)) is not None:
            ended = self._identities.name(patch.around(rows, self._bodies))
            self._patch = None  # until all of it has changed
            self._identities = Identities(np.delete(self._identities.ids, rows), self._identities.following)
            spheres, reach = self._bodies.spheres, self._bodies.reach
            self._bodies = AreaBodies(np.delete(spheres, rows, axis=0), np.delete(reach, rows))
            patch.drop(rows)
            self._patch = patch
            self.counters.tests += patch.tests
            self._change = Change(no_pairs(), ended)
            return
        staying: Rows = np.delete(np.arange(len(self)), rows)
        before = self.pairs()
        self._bodies = self._bodies.kept(staying)
        self._identities = self._identities.kept(staying)
        self._search_again(before)

    @one_thread
    def copy(self) -> Self:
        """Return an independent copy."""
        return copy.deepcopy(self)

    def _row_of(self, owner: int) -> int:
        return int(self._identities.rows_of([check.whole_number(owner, "owner")])[0])

    def _snapshot(self, array: F64) -> F64:
        """Return an array of the bodies that later changes leave as it is."""
        return array.copy() if self._is_behind else array

    def _local(self, rows: Rows, arriving: int = 0) -> Patch | None:
        """Return the patch if ``rows`` may change by it, and ``arriving`` bodies may be added; None otherwise."""
        few = max(MIN_LOOSE, len(self) // LOOSE_SHARE)
        if len(rows) + arriving > few // 8 or len(self) < MIN_PATCHED or self._lists.index is None:
            return None
        patch = self._patch
        if patch is None and self._is_behind:
            return None
        if patch is None:
            # An infinite area has every body as a member: no search is local.
            if np.isinf(self._bodies.reach).any() or np.isinf(self._bodies.spheres[:, 3]).any():
                return None
            moved = farthest_move(self._lists.bodies, self._bodies, self._thread_count())
            self._bodies = AreaBodies(self._bodies.spheres.copy(), self._bodies.reach.copy())  # the lists keep theirs
            patch = self._patch = open_patch(self._lists.index, self._bodies, moved * (1 + 1e-9), self._is_box)
            self._is_behind = True
        return patch if len(patch.loose) + len(rows) + arriving <= few else None

    def _changed(self, patch: Patch, rows: Rows, before: Pairs) -> None:
        """Note what entered and left around ``rows``, which have changed."""
        tests = patch.tests
        self._note(difference(before, patch.around(rows, self._bodies)))
        self.counters.tests += tests + patch.tests

    def _current_lists(self) -> MemberLists:
        """Return the lists of the present members; search them if single bodies have changed."""
        if self._is_behind:
            self._adopt(self._search(self._lists.slack))
        return self._lists

    def _follow(self, bodies: AreaBodies) -> None:
        """Follow a motion by the present lists if they serve, by new ones otherwise."""
        thread_count = self._thread_count()
        if self._lists.serve(bodies, thread_count):
            change, tests = self._lists.follow(bodies, self._is_box, thread_count)
            self.counters.tests += tests
            self._bodies = bodies
        else:
            step = farthest_move(self._bodies, bodies, thread_count)
            self._bodies = bodies
            before = self._lists
            self._adopt(self._search(self._slack(step)))
            change = changes(before, self._lists, thread_count)
        self._note(change)

    def _set_reach(self, reach: F64) -> None:
        """Search again after a change of radii."""
        self._bodies = AreaBodies(self._bodies.spheres, reach)
        before = self._lists
        self._adopt(self._search(before.slack))
        self._note(changes(before, self._lists, self._thread_count()))

    def _search_again(self, before: Pairs) -> None:
        self._adopt(self._search(self._lists.slack))
        self._change = difference(before, self.pairs())

    def _note(self, change: Change) -> None:
        names = self._identities.name
        self._change = Change(names(change.began), names(change.ended))

    def _search(self, slack: float) -> MemberLists:
        lists, tests = make_lists(self._bodies, slack, self._is_box, self._thread_count())
        self.counters.tests += tests
        self.counters.events += 1
        self.counters.note_bytes(lists.byte_count)
        return lists

    def _adopt(self, lists: MemberLists) -> None:
        """Follow the bodies by lists that were searched for the present ones."""
        self._lists = lists  # before the flags: lists that are searched twice do no harm
        self._patch, self._is_behind = None, False

    def _slack(self, step: float) -> float:
        """Return the slack of new lists if the fastest body moves by ``step`` a frame."""
        reach = self._bodies.reach[(self._bodies.reach > NO_AREA) & np.isfinite(self._bodies.reach)]
        if not reach.size:
            return 0.0
        slack = min(2.0 * step * LASTING_FRAMES, MAX_SLACK * float(np.median(reach)))
        return slack if slack > 2.0 * step * MIN_FRAMES else 0.0

    def _thread_count(self) -> int:
        return _threads.resolve_count(self._requested_threads, len(self))
