"""The contact rules of the Fingsics engine, defects included, so that its counts can be checked.

One routine for each pair of kinds, the smaller kind first; tiles pass through each other. Everything is computed in
single precision, whatever the arrays hold. The number of a body is its row: the order of bodies in the scene.
"""

from __future__ import annotations

from choque.narrow.shapes import CAPSULE, SPHERE, TILE
from choque.theses.fingsics.capsule_contacts import capsule_capsule, capsule_tile
from choque.theses.fingsics.sphere_contacts import sphere_capsule, sphere_sphere, sphere_tile

CONTACT_RULES = {
    (SPHERE, SPHERE): sphere_sphere,
    (SPHERE, CAPSULE): sphere_capsule,
    (SPHERE, TILE): sphere_tile,
    (CAPSULE, CAPSULE): capsule_capsule,
    (CAPSULE, TILE): capsule_tile,
}
"""The routine for each pair of kinds; see `choque.narrow.rules` for what a routine takes."""
