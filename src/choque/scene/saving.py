"""Scenes to files, by suffix."""

from __future__ import annotations

import os

from choque.errors import UnknownName
from choque.files.source import lower_suffix
from choque.scene.body_scene import BodyScene
from choque.scene.formats.boxes import bake
from choque.scene.formats.choque_toml_writer import save_toml
from choque.scene.loading import Scene
from choque.theses.fingsics.xml_writer import save_xml

_SAVERS = {".toml": save_toml, ".xml": save_xml}


def save(path: str | os.PathLike[str], scene: Scene) -> None:
    """Write ``scene`` to ``path``: bodies to ``.toml`` or ``.xml``, boxes as `bake` does.

    The file appears once it is complete. TOML keeps everything; see `save_xml` for what XML has no place for.
    """
    if not isinstance(scene, BodyScene):
        bake(path, scene)
        return
    suffix = lower_suffix(path)
    if suffix not in _SAVERS:
        raise UnknownName("format for bodies", suffix, _SAVERS)
    _SAVERS[suffix](path, scene)
