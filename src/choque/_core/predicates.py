"""Exact signs of areas and volumes: on which side of a line or of a plane a point lies, by the floats given.

A determinant is computed in float64 with a bound on its error. The few that the bound leaves open are computed as
expansions: sums of floats that do not overlap, without any rounding (Shewchuk, "Adaptive Precision Floating-Point
Arithmetic and Fast Robust Geometric Predicates", 1997).

Guarantee: the sign is exact if coordinates other than 0 have magnitudes from `LEAST` to `GREATEST`; outside, products
of three coordinates and their rounding errors are not floats.
"""

from __future__ import annotations

import numpy as np

from choque._core.kernel import helper, kernel
from choque._core.types import F64, Integer
from choque._core.vector import Vector

LEAST, GREATEST = 1e-85, 1e85  # magnitudes of coordinates other than 0 for which signs are exact
_HALF_ULP = 2.0**-53
_PLANE_BOUND = (7.0 + 56.0 * _HALF_ULP) * _HALF_ULP
"""Of a determinant of three differences, in terms of the sum of the magnitudes of its products (Shewchuk)."""
_LINE_BOUND = (3.0 + 16.0 * _HALF_ULP) * _HALF_ULP  # the same for two differences
_SPLITTER = 2.0**27 + 1.0

Work = F64
"""Expansions, one behind the other; an expansion is named by the place of its smallest component and its length."""

UNDECIDED = 2  # what `quick_plane_side` returns where float64 is too coarse


@helper
def quick_plane_side(a: Vector, b: Vector, c: Vector, point: Vector) -> int:
    """Return what `plane_side` returns, or `UNDECIDED`; a helper, for loops that borrow arrays."""
    ax, ay, az = a[0] - point[0], a[1] - point[1], a[2] - point[2]
    bx, by, bz = b[0] - point[0], b[1] - point[1], b[2] - point[2]
    cx, cy, cz = c[0] - point[0], c[1] - point[1], c[2] - point[2]
    bc, cb, ca, ac, ab, ba = bx * cy, cx * by, cx * ay, ax * cy, ax * by, bx * ay
    volume = az * (bc - cb) + bz * (ca - ac) + cz * (ab - ba)
    size = (abs(bc) + abs(cb)) * abs(az) + (abs(ca) + abs(ac)) * abs(bz) + (abs(ab) + abs(ba)) * abs(cz)
    bound = _PLANE_BOUND * size
    if volume > bound:
        return -1
    if -volume > bound:
        return 1
    return 0 if size == 0.0 else UNDECIDED


@helper
def plane_side(a: Vector, b: Vector, c: Vector, point: Vector) -> int:
    """Return 1 if ``point`` lies in front of the plane a b c, −1 if behind it, 0 if in it. Exact.

    The front is the side from which a, b, c turn counter-clockwise. 0 for every point if a, b, c lie on a line.
    """
    side = quick_plane_side(a, b, c, point)
    return _exact_plane_side(a, b, c, point) if side == UNDECIDED else side


@helper
def line_side(a: tuple[float, float], b: tuple[float, float], point: tuple[float, float]) -> int:
    """Return 1 if ``point`` lies left of the line from a to b, −1 if right of it, 0 if on it. Exact."""
    first = (a[0] - point[0]) * (b[1] - point[1])
    second = (a[1] - point[1]) * (b[0] - point[0])
    area = first - second
    bound = _LINE_BOUND * (abs(first) + abs(second))
    if area > bound:
        return 1
    if -area > bound:
        return -1
    if bound == 0.0:
        return 0
    return _exact_line_side(a, b, point)


# Expansions
#
# Places in a working array: differences of coordinates, two components each; products of two of them; a minor of the
# determinant; its multiples; a term of the determinant; and two sums of terms, in turns.

_SCRATCH, _FIRST, _SECOND, _MINOR, _LOW, _HIGH, _TERM, _TOTAL, _OTHER, _END = 18, 26, 34, 42, 58, 90, 122, 186, 378, 570


@kernel
def _exact_plane_side(a: Vector, b: Vector, c: Vector, point: Vector) -> int:
    if a == b or b == c or c == a or point in (a, b, c):
        return 0
    work = np.empty(_END)
    for axis in range(3):
        _subtract(work, 2 * axis, a[axis], point[axis])
        _subtract(work, 6 + 2 * axis, b[axis], point[axis])
        _subtract(work, 12 + 2 * axis, c[axis], point[axis])
    total, other = _TOTAL, _OTHER
    count = 0
    for row in range(3):
        one, two = 6 * ((row + 1) % 3), 6 * ((row + 2) % 3)
        minor = _minor(work, one, two + 2, two, one + 2)
        low = _scale(work, _MINOR, minor, work[6 * row + 4], _LOW)
        high = _scale(work, _MINOR, minor, work[6 * row + 5], _HIGH)
        term = _add(work, _LOW, low, _HIGH, high, _TERM)
        count = _add(work, total, count, _TERM, term, other)
        total, other = other, total
    return -_sign(work[total + count - 1])


@kernel
def _exact_line_side(a: tuple[float, float], b: tuple[float, float], point: tuple[float, float]) -> int:
    work = np.empty(_LOW)
    _subtract(work, 0, a[0], point[0])
    _subtract(work, 2, a[1], point[1])
    _subtract(work, 4, b[0], point[0])
    _subtract(work, 6, b[1], point[1])
    return _sign(work[_MINOR + _minor(work, 0, 6, 2, 4) - 1])


@helper
def _sign(value: float) -> int:
    return 1 if value > 0.0 else (-1 if value < 0.0 else 0)


@helper
def _minor(work: Work, a: int, b: int, c: int, d: int) -> Integer:
    """Write a · b − c · d of four differences to `_MINOR` and return its length, at most 16."""
    first = _multiply(work, a, b, _FIRST)
    second = _multiply(work, c, d, _SECOND)
    for place in range(_SECOND, _SECOND + second):
        work[place] = -work[place]
    return _add(work, _FIRST, first, _SECOND, second, _MINOR)


@helper
def _subtract(work: Work, out: int, a: float, b: float) -> None:
    """Write a − b as two components (Knuth's TwoDiff)."""
    work[out + 1] = a - b
    part = a - work[out + 1]
    work[out] = (a - (work[out + 1] + part)) + (part - b)


@helper
def _multiply(work: Work, a: int, b: int, out: int) -> Integer:
    """Write the product of two differences; at most 8 components."""
    low = _scale(work, a, 2, work[b], _SCRATCH)
    high = _scale(work, a, 2, work[b + 1], _SCRATCH + 4)
    return _add(work, _SCRATCH, low, _SCRATCH + 4, high, out)


@helper
def _add(work: Work, a: int, a_count: Integer, b: int, b_count: Integer, out: int) -> Integer:
    """Write the sum of two expansions without components that are 0, and return its length (FAST-EXPANSION-SUM)."""
    i, j, count = 0, 0, 0
    total = 0.0
    for _ in range(a_count + b_count):
        if j == b_count or (i < a_count and abs(work[a + i]) < abs(work[b + j])):
            value = work[a + i]
            i += 1
        else:
            value = work[b + j]
            j += 1
        total, lost = _two_sum(total, value)
        if lost != 0.0:
            work[out + count] = lost
            count += 1
    if total != 0.0 or count == 0:
        work[out + count] = total
        count += 1
    return count


@helper
def _scale(work: Work, a: int, a_count: Integer, factor: float, out: int) -> Integer:
    """Write an expansion times a number, without components that are 0, and return its length (SCALE-EXPANSION)."""
    count = 0
    total = 0.0
    for i in range(a_count):
        high, low = _two_product(work[a + i], factor)
        total, lost = _two_sum(total, low)
        if lost != 0.0:
            work[out + count] = lost
            count += 1
        total, lost = _two_sum(high, total)
        if lost != 0.0:
            work[out + count] = lost
            count += 1
    if total != 0.0 or count == 0:
        work[out + count] = total
        count += 1
    return count


@helper
def _two_sum(a: float, b: float) -> tuple[float, float]:
    """Return the rounded sum and its error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@helper
def _two_product(a: float, b: float) -> tuple[float, float]:
    """Return the rounded product and its error (Dekker, "A Floating-Point Technique", 1971)."""
    product = a * b
    wide = _SPLITTER * a
    a_high = wide - (wide - a)
    a_low = a - a_high
    wide = _SPLITTER * b
    b_high = wide - (wide - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
