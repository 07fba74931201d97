"""Tables of contact rules by name: which rule finds the contacts of which pair of kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from choque._core.registry import Registry
from choque.narrow.capsule import capsule_capsule, capsule_plane, capsule_tile
from choque.narrow.pair import Rule
from choque.narrow.shapes import CAPSULE, PLANE, SPHERE, TILE
from choque.narrow.sphere import sphere_capsule, sphere_plane, sphere_sphere, sphere_tile

Table: TypeAlias = Mapping[tuple[int, int], Rule]  # a rule for each pair of kinds, the smaller kind first

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
