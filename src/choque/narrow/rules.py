"""Which routine finds the contacts of which pair of kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from choque.narrow.capsule_plane import capsule_plane
from choque.narrow.capsule_tile import capsule_tile
from choque.narrow.capsules import capsule_capsule
from choque.narrow.shapes import CAPSULE, PLANE, SPHERE, TILE
from choque.narrow.sphere_capsule import sphere_capsule
from choque.narrow.sphere_plane import sphere_plane
from choque.narrow.sphere_tile import sphere_tile
from choque.narrow.spheres import sphere_sphere

Routine: TypeAlias = Callable[..., None]
"""``routine(rows, position, rotation, size, hit, point, normal, depth, first, last)``, a kernel.

``rows`` (k, 2) int32 names the two bodies of each pair, that of the smaller kind first; ``position`` (n, 3),
``rotation`` (n, 3, 3) and ``size`` (n, 3) are those of `Shapes`. For the pairs from ``first`` to ``last`` − 1 the
routine writes ``hit`` (k,) uint8 and, where that is 1, ``point`` (k, 3), ``normal`` (k, 3) from the first column to the
second, and ``depth`` (k,).
"""

ROUTINES: dict[tuple[int, int], Routine] = {
    (SPHERE, SPHERE): sphere_sphere,
    (SPHERE, CAPSULE): sphere_capsule,
    (SPHERE, TILE): sphere_tile,
    (SPHERE, PLANE): sphere_plane,
    (CAPSULE, CAPSULE): capsule_capsule,
    (CAPSULE, TILE): capsule_tile,
    (CAPSULE, PLANE): capsule_plane,
}
"""The exact rules, smaller kind first. Tiles and planes pass through each other; convex bodies go another way."""
