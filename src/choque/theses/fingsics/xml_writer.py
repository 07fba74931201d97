"""Writing Fingsics scenes, ``.xml``."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from choque.errors import InvalidInput
from choque.files.atomic import replacing
from choque.scene import BodyScene
from choque.scene.body_scenes.columns import KIND_WORDS, TILE, BodyColumns
from choque.scene.files import SceneFormat
from choque.theses.fingsics.xml_reader import ATTRIBUTES, ELEMENTS, SHARED, default_of, read_xml


def write_xml(path: str | os.PathLike[str], scene: BodyScene) -> None:
    """Write ``scene`` so that reading gives the same columns and camera, bit for bit.

    Attributes at their defaults are left out. The format has no place for boxes and grounds, which are refused, nor for
    steps a second and settings of the world, which are left out.
    """
    with replacing(path) as handle:
        for line in _document(scene):
            handle.write(f"{line}\n".encode())


XML = SceneFormat(read_xml, write_xml, "bodies")


def _document(scene: BodyScene) -> list[str]:
    camera = scene.camera
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    if scene.summary:
        lines.append(f"<!-- {_comment(scene.summary)} -->")
    lines.append("<config>")
    lines.append(f'  <camera rad="{_text(camera.radius)}" pitch="{_text(camera.pitch)}" yaw="{_text(camera.yaw)}"/>')
    lines.append("  <objects>")
    lines.extend(f"    <{element}/>" for element in _elements(scene.bodies))
    lines.extend(("  </objects>", "</config>"))
    return lines


def _comment(words: str) -> str:
    """Make words fit for a comment: no line breaks, no control characters, and never two dashes in a row."""
    printable = "".join(each if each.isprintable() else " " for each in words)
    single = " ".join(printable.split())
    while "--" in single:
        single = single.replace("--", "-")
    return single.rstrip("-")


def _elements(bodies: BodyColumns) -> list[str]:
    unfit = np.flatnonzero(bodies.kind > TILE)
    if len(unfit):
        row = int(unfit[0])
        word = KIND_WORDS[bodies.kind[row]]
        raise InvalidInput(f"Body {row} is a {word}, for which this XML has no element; save the scene as .toml.")
    elements = [KIND_WORDS[kind] for kind in bodies.kind.tolist()]
    for name in (*SHARED, "rocket"):
        column = ATTRIBUTES[name][0]
        values = getattr(bodies, column)
        differs = values != np.asarray(default_of(column))
        rows = np.flatnonzero(differs.any(axis=1) if differs.ndim == 2 else differs)
        for row, value in zip(rows.tolist(), values[rows].tolist(), strict=True):
            elements[row] += f' {name}="{_text(value)}"'
    for word, own in ELEMENTS.items():
        rows = np.flatnonzero(bodies.kind == KIND_WORDS.index(word))
        for place, name in enumerate(own):
            for row, value in zip(rows.tolist(), bodies.size[rows, place].tolist(), strict=True):
                elements[row] += f' {name}="{_text(value)}"'
    return elements


def _text(value: Any) -> str:
    """The shortest text that reads back as the same value."""
    if isinstance(value, list):
        return ",".join(map(_text, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value).removesuffix(".0")
