"""Tables of contact rules by name: which routine finds the contacts of which pair of kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from choque._core.registry import Registry
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

Table: TypeAlias = Mapping[tuple[int, int], Routine]
"""A routine for each pair of kinds, the smaller kind first."""

EXACT: Table = {
    (SPHERE, SPHERE): sphere_sphere,
    (SPHERE, CAPSULE): sphere_capsule,
    (SPHERE, TILE): sphere_tile,
    (SPHERE, PLANE): sphere_plane,
    (CAPSULE, CAPSULE): capsule_capsule,
    (CAPSULE, TILE): capsule_tile,
    (CAPSULE, PLANE): capsule_plane,
}
"""The exact rules. Tiles and planes pass through each other; convex bodies are tested by GJK and EPA."""

RULES: Registry[Table] = Registry(
    "set of contact rules", {"exact": "choque.narrow.rules:EXACT"}, group="choque.contact_rules"
)
"""Tables by name. Pairs of kinds that a table leaves out are tested by the exact rules."""
