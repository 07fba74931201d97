"""Everything that has a name: scenes of boxes, generators of bodies, and the scenes of bodies that come along."""

from __future__ import annotations

from choque.errors import UnknownName
from choque.scene import body_registry, loading, registry


def describe(name: str) -> str:
    """Say in a sentence what the scene ``name`` is, of whatever sort."""
    for generators in (registry.GENERATORS, body_registry.GENERATORS):
        if name in generators.names():
            return generators.summary(name)
    if name in loading.built_in_names():
        return loading.load_bodies(name).summary
    raise UnknownName("scene", str(name), [*registry.names(), *body_registry.body_names(), *loading.built_in_names()])
