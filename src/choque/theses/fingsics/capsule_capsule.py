"""Capsule against capsule by the rules of the original.

Ends are chosen by the nearest points of the *infinite* axes, so some contacts near an end are missed; of nearly
parallel capsules, contacts of a single end are missed too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core.kernel import kernel
from choque._core.types import Index
from choque.theses.fingsics.lines import common_normal, nearest_on_lines
from choque.theses.fingsics.order import text_key
from choque.theses.fingsics.sphere_capsule import (
    Capsule,
    capsule_end,
    read_capsule,
    touch_sphere_capsule,
    touch_sphere_cylinder,
)
from choque.theses.fingsics.sphere_sphere import touch_spheres
from choque.theses.fingsics.vectors import (
    HALF,
    ONE,
    ZERO,
    Touch,
    apart,
    are_parallel,
    is_near_zero,
    minus,
    opposite,
    plus,
    times,
    unit,
    write_touch,
)


@kernel
def _touch_parallel(a: Capsule, b: Capsule) -> Touch:
    """Each end of either capsule against the other; midway between the first two that touch.

    Normal and depth are those of the earlier of the two; that of b's ends points toward a, and is left so.
    """
    a_plus = touch_sphere_capsule(capsule_end(a, ONE), a[2], b)
    a_minus = touch_sphere_capsule(capsule_end(a, -ONE), a[2], b)
    b_plus = touch_sphere_capsule(capsule_end(b, ONE), b[2], a)
    b_minus = touch_sphere_capsule(capsule_end(b, -ONE), b[2], a)
    for touch, other in (
        (a_plus, a_minus),
        (a_plus, b_plus),
        (a_minus, b_plus),
        (b_plus, b_minus),
        (a_plus, b_minus),
        (a_minus, b_minus),
    ):
        if touch[0] and other[0]:
            return True, times(plus(touch[1], other[1]), HALF), touch[2], touch[3]
    return apart()


@kernel
def touch_capsules(a: Capsule, b: Capsule) -> Touch:
    """Where the axes come nearest if that is inside both cylinders, else by the ends on those sides."""
    if are_parallel(a[1], b[1]):
        return _touch_parallel(a, b)
    across = common_normal(a[1], b[1])
    s, t, w = nearest_on_lines(a[0], a[1], b[0], b[1], across)
    distance = abs(w)
    reach = a[2] + b[2]
    if not distance < reach:
        return apart()
    if abs(s) < a[3] * HALF and abs(t) < b[3] * HALF:
        on_a = plus(times(a[1], s), a[0])
        on_b = plus(times(b[1], t), b[0])
        toward = minus(on_b, on_a)
        if is_near_zero(toward):
            toward = across
        return True, plus(on_a, times(toward, b[2] / reach)), unit(toward), reach - distance
    a_end = capsule_end(a, ONE if s > ZERO else -ONE)
    b_end = capsule_end(b, ONE if t > ZERO else -ONE)
    touch = touch_sphere_cylinder(b_end, b[2], a)
    if touch[0]:
        return True, touch[1], opposite(touch[2]), touch[3]
    touch = touch_sphere_cylinder(a_end, a[2], b)
    if touch[0]:
        return touch
    return touch_spheres(a_end, a[2], b_end, b[2])


@kernel
def capsule_capsule(
    rows: Any,
    position: Any,
    rotation: Any,
    size: Any,
    hit: Any,
    point: Any,
    normal: Any,
    depth: Any,
    first: Index,
    last: Index,
) -> None:
    """Contacts of the pairs ``first`` to ``last − 1``; the capsule whose number reads first is the first."""
    for row in range(first, last):
        a, b = np.int64(rows[row, 0]), np.int64(rows[row, 1])
        sign = ONE
        if text_key(b) < text_key(a):
            a, b, sign = b, a, -ONE
        touch = touch_capsules(read_capsule(position, rotation, size, a), read_capsule(position, rotation, size, b))
        write_touch(row, touch, sign, hit, point, normal, depth)
