"""The files that scenes are read from, one family a file; importing them registers them."""

from __future__ import annotations

from choque.scene.formats import boxes, choque_toml
from choque.theses.fingsics import xml_reader as fingsics_xml

__all__ = ["boxes", "choque_toml", "fingsics_xml"]
