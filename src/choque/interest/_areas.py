"""Areas of interest: whose volume touches the area of whom, and who entered and left."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import threads as _threads
from choque._core.ids import Identities
from choque._core.pair_sets import Change, difference, no_pairs
from choque._core.types import Pairs, Rows
from choque.broad import Counters
from choque.errors import InvalidInput, UnknownName
from choque.interest._adapt import fitting_reach
from choque.interest._bodies import NO_AREA, Bodies, checked_position, checked_reach, make_bodies
from choque.interest._lists import Lists, changes, farthest_move, make_lists

Frozen = TypeVar("Frozen", bound=NDArray[Any])

SHAPES = ("sphere", "box")

LASTING_FRAMES = 12
"""For how many frames lists are made to last at the present speed."""

LEAST_FRAMES = 3
"""Lists that would not last this long are made without slack: they are shorter, and made anew each frame."""

SLACK_MOST = 0.25
"""The slack at most, in typical radii of areas: an area with it holds twice as many bodies."""


class Areas:
    """Keeps who is in whose area while bodies move, come and go.

    Parameters
    ----------
    position
        (n, 2) or (n, 3); row i gets id i.
    radius
        The radius of each area: one number for all or (n,), and no area for a body, such as a static one, whose entry
        is None in a list or masked in a masked array. Half an edge for boxes. Infinity sees everybody.
    body_radius
        The size of each body: one number, (n,), or None for points.
    shape
        "sphere": a body is in an area when its distance is at most area radius + body radius. "box": when that holds
        of the distance on every axis, so that areas and bodies are cubes (squares in 2D).
    threads
        How many threads to use; None for all. The answer is the same for any number.

    Notes
    -----
    Membership is directed: I may see you while you do not see me. It is closed, so touching counts, is computed in
    float64, spheres squared, and allows a relative 2⁻⁴⁹ for rounding: no touch is missed, and on integers below 2²⁴ it
    is exact. Nobody is a member of the own area.

    Areas follow their owners and members are kept between changes. The lists reach a little farther than the areas,
    as far as pays at the speed of the fastest body, and while nobody can have come from beyond them a change costs one
    pass over the lists; otherwise a search in cells, or in a wide tree where cells would be crowded, O(n log n + m),
    and one pass over the old and new lists. Memory is O(n + m). The idea of an area for each object is that of the
    object-based interest of shared worlds (Benford and Fahlén, "A spatial model of interaction in large virtual
    environments", 1993).

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
        radius: Any,
        body_radius: ArrayLike | None = None,
        shape: Literal["sphere", "box"] = "sphere",
        *,
        threads: int | None = None,
    ) -> None:
        if shape not in SHAPES:
            raise UnknownName("shape of an area", str(shape), SHAPES)
        where = checked_position(position)
        self.counters = Counters()
        """``tests`` counts areas tested against bodies, ``events`` how often the lists were searched anew."""
        self._requested_threads = threads
        self._is_box = shape == "box"
        self._dimension = int(where.shape[1])
        self._bodies = make_bodies(where, radius, body_radius)
        self._identities = Identities.first(len(where))
        self._lists = self._search(0.0)
        self._change = Change(self.pairs(), no_pairs())

    # What is there

    def __len__(self) -> int:
        return len(self._bodies)

    def __repr__(self) -> str:
        return f"<Areas: {len(self.owners)} {self.shape} areas among {len(self)} bodies in {self._dimension}D>"

    @property
    def shape(self) -> Literal["sphere", "box"]:
        """Spheres or boxes."""
        return "box" if self._is_box else "sphere"

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self._dimension

    @property
    def ids(self) -> NDArray[np.int32]:
        """The ids of all bodies, ascending; positions and radii are in this order."""
        return _frozen(self._identities.ids)

    @property
    def owners(self) -> NDArray[np.int32]:
        """The ids of the bodies that have an area, ascending."""
        return self._identities.ids[self._bodies.reach >= 0]

    @property
    def position(self) -> NDArray[np.float64]:
        """(n, d): where each body is, and the centre of its area."""
        return _frozen(self._bodies.spheres[:, : self._dimension])

    @property
    def radius(self) -> NDArray[np.float64]:
        """(n,): the radius of each area, NaN for a body without one."""
        return np.where(self._bodies.reach >= 0, self._bodies.reach, np.nan)

    @property
    def body_radius(self) -> NDArray[np.float64]:
        """(n,): the size of each body."""
        return _frozen(self._bodies.spheres[:, 3])

    @property
    def slack(self) -> float:
        """How much farther than the areas the lists reach: they serve until somebody has gone half as far."""
        return self._lists.slack

    def members(self, owner: int) -> NDArray[np.int32]:
        """The ids of the bodies in the area of ``owner``, ascending; none if it has no area."""
        return self._identities.ids[self._lists.members_of(self._row_of(owner))]

    def listed(self, owner: int) -> NDArray[np.int32]:
        """The ids that an update tests for ``owner``, ascending: all within `slack` of its area at the last search."""
        return self._identities.ids[self._lists.listed(self._row_of(owner))]

    def all_members(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """All members at once: ``starts`` (n + 1,) and ``others`` (m,).

        Those of the k-th of `ids` are ``others[starts[k]:starts[k + 1]]``, ascending.
        """
        found = self._lists.members()
        starts = np.searchsorted(found[:, 0], np.arange(len(self) + 1, dtype=np.int32))
        return starts, self._identities.ids[found[:, 1]]

    def pairs(self) -> Pairs:
        """All members at once as (m, 2) rows of (owner, other), sorted."""
        return _frozen(self._identities.name(self._lists.members()))

    @property
    def entered(self) -> Pairs:
        """The (owner, other) rows, sorted, that are members now and were not before the latest change."""
        return _frozen(self._change.began)

    @property
    def left(self) -> Pairs:
        """The (owner, other) rows, sorted, that were members before the latest change and are not now."""
        return _frozen(self._change.ended)

    # What changes it

    def update(self, position: ArrayLike) -> None:
        """Put every body, in ascending id, to a new place."""
        where = checked_position(position, self._dimension, len(self))
        self._go_on(self._bodies.placed(where))

    def move(self, ids: ArrayLike, position: ArrayLike) -> None:
        """Put the bodies ``ids``, each named once, to new places; the others stay."""
        rows = self._identities.rows_of(ids)
        where = checked_position(position, self._dimension)
        if len(where) != len(rows):
            raise InvalidInput(f"move was given {len(rows)} ids and {len(where)} positions; give one for each id.")
        self._go_on(self._bodies.placed(where, rows))

    def resize(self, ids: ArrayLike, radius: Any) -> None:
        """Give the bodies ``ids`` areas of another radius, or with None no area."""
        rows = self._identities.rows_of(ids)
        reach = self._bodies.reach.copy()
        reach[rows] = checked_reach(radius, len(rows))
        self._reach_out(reach)

    def adapt(self, target: int, smallest: float = 0.0, largest: float = math.inf) -> None:
        """Let the radii follow the crowd: every area holds ``target`` bodies, as far as the limits and geometry allow.

        An area in a crowd shrinks, but not below ``smallest``; a lonely one grows, but not above ``largest``. Where
        bodies are equally far away, an area holds fewer rather than more than the target. Shrinking and growing with
        the crowd is the idea of VELVET (Oliveira and Georganas, 2003); here the radius is found by search, not by
        feedback, so it fits at once.
        """
        if isinstance(target, bool) or not isinstance(target, Integral) or target < 1:
            raise InvalidInput(f"target is {target!r}; it must be a whole number of at least 1.")
        for name, limit in (("smallest", smallest), ("largest", largest)):
            if isinstance(limit, bool) or not isinstance(limit, Real) or not limit >= 0:
                raise InvalidInput(f"{name} is {limit!r}; it must be a number of at least 0.")
        if smallest > largest:
            raise InvalidInput(f"smallest is {smallest} and largest is {largest}; smallest must not be the larger.")
        limits = float(smallest), float(largest)
        wanted = min(int(target), len(self))
        self._reach_out(fitting_reach(self._bodies, wanted, *limits, self._is_box, self._thread_count()))

    def add(self, position: ArrayLike, radius: Any = None, body_radius: ArrayLike | None = None) -> NDArray[np.int32]:
        """Add bodies, without areas unless a ``radius`` is given, and return their ids; an id is never used again."""
        arriving = make_bodies(checked_position(position, self._dimension), radius, body_radius)
        before = self.pairs()
        self._bodies = self._bodies.joined(arriving)
        self._identities, new = self._identities.joined(len(arriving))
        self._start_again(before)
        return new

    def remove(self, ids: ArrayLike) -> None:
        """Take the bodies ``ids`` out, and their areas with them."""
        staying: Rows = np.delete(np.arange(len(self)), self._identities.rows_of(ids))
        before = self.pairs()
        self._bodies = self._bodies.kept(staying)
        self._identities = self._identities.kept(staying)
        self._start_again(before)

    def copy(self) -> Self:
        """An independent copy."""
        return copy.deepcopy(self)

    # The machinery

    def _row_of(self, owner: int) -> int:
        if isinstance(owner, bool) or not isinstance(owner, Integral):
            raise InvalidInput(f"owner is {owner!r}; it must be the id of one body, a whole number.")
        return int(self._identities.rows_of([int(owner)])[0])

    def _go_on(self, bodies: Bodies) -> None:
        """Follow a motion by the lists if they serve, by new ones otherwise."""
        thread_count = self._thread_count()
        if self._lists.serve(bodies, thread_count):
            change, tests = self._lists.follow(bodies, self._is_box, thread_count)
            self.counters.tests += tests
            self._bodies = bodies
        else:
            step = farthest_move(self._bodies, bodies, thread_count)
            self._bodies = bodies
            before, self._lists = self._lists, self._search(self._slack(step))
            change = changes(before, self._lists, thread_count)
        self._note(change)

    def _reach_out(self, reach: NDArray[np.float64]) -> None:
        """Search anew after a change of radii."""
        self._bodies = replace(self._bodies, reach=reach)
        before, self._lists = self._lists, self._search(self._lists.slack)
        self._note(changes(before, self._lists, self._thread_count()))

    def _start_again(self, before: Pairs) -> None:
        self._lists = self._search(self._lists.slack)
        self._change = difference(before, self.pairs())

    def _note(self, change: Change) -> None:
        names = self._identities.name
        self._change = Change(names(change.began), names(change.ended))

    def _search(self, slack: float) -> Lists:
        lists, tests = make_lists(self._bodies, slack, self._is_box, self._thread_count())
        self.counters.tests += tests
        self.counters.events += 1
        self.counters.note_bytes(lists.nbytes)
        return lists

    def _slack(self, step: float) -> float:
        """How much longer than needed to make the lists when the fastest body moves by ``step`` a frame."""
        reach = self._bodies.reach[(self._bodies.reach > NO_AREA) & np.isfinite(self._bodies.reach)]
        if not reach.size:
            return 0.0
        slack = min(2.0 * step * LASTING_FRAMES, SLACK_MOST * float(np.median(reach)))
        return slack if slack > 2.0 * step * LEAST_FRAMES else 0.0

    def _thread_count(self) -> int:
        return _threads.resolve_count(self._requested_threads, len(self))


def _frozen(array: Frozen) -> Frozen:
    view = array.view()
    view.flags.writeable = False
    return view
