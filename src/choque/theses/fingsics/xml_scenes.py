"""Fingsics scenes, ``.xml``: every attribute and default of the engine, read as a stream.

The document is ``<config>`` with an optional ``<camera>`` and ``<objects>``, which holds ``<sphere>``, ``<capsule>``
and ``<tile>`` elements. As in the engine, stray text and unknown elements mean nothing and every attribute has a
default; unlike it, an unknown attribute is noted, and a document type is refused. A comment before
``<config>`` says what the scene is.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler, ErrorHandler, LexicalHandler, property_lexical_handler
from xml.sax.xmlreader import AttributesImpl

import numpy as np

from choque.errors import InvalidInput, UnreadableFile
from choque.files.atomic import replacing
from choque.files.budget import check_size
from choque.files.source import DOCUMENT_MEMORY, naming_damage, read_head
from choque.scene import BodyScene, Camera
from choque.scene.columns import DEFAULTS, KIND_WORDS, TILE, BodyColumns, first_fault
from choque.scene.files import SceneFormat
from choque.theses.fingsics.words import color, flag, number, remark_lines, triplet

ATTRIBUTES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "pos": ("position", triplet),
    "vel": ("velocity", triplet),
    "acceleration": ("acceleration", triplet),
    "ang": ("angles", triplet),
    "angVel": ("spin", triplet),
    "mass": ("mass", number),
    "elasticityCoef": ("restitution", number),
    "static": ("static", flag),
    "draw": ("drawn", flag),
    "color": ("color", color),
    "radius": ("radius", number),
    "length": ("length", number),
    "width": ("width", number),
    "rocket": ("rocket", flag),
}
"""What the file calls an attribute, which column it is, and how its text is read."""

ELEMENTS: dict[str, dict[str, float]] = {
    "sphere": {"radius": 1.0},
    "capsule": {"radius": 1.0, "length": 1.0},
    "tile": {"length": 30.0, "width": 30.0},
}
"""The attributes that not all bodies have, with their defaults."""

_CAMERA = {"rad": "radius", "pitch": "pitch", "yaw": "yaw"}
SHARED = tuple(name for name in ATTRIBUTES if name not in ("radius", "length", "width", "rocket"))
"""The attributes that all bodies have."""

_ALLOWED = {
    "camera": list(_CAMERA),
    **{kind: [*SHARED, *own, *(["rocket"] if kind == "capsule" else [])] for kind, own in ELEMENTS.items()},
}
_VECTORS = [column for column, read in ATTRIBUTES.values() if read is triplet]
_FILE_NAMES = {column: name for name, (column, _) in ATTRIBUTES.items()}


JOINED_ATTRIBUTES = re.compile(rb"""(=[ \t]*+(?:"[^"<>]*+"|'[^'<>]*+'))(?=[A-Za-z_])""")
"""The value of an attribute, right before the name of the next one."""


def read_xml(path: Path) -> BodyScene:
    """Read a scene; 100,000 bodies take seconds, and no more memory than their columns and texts need.

    Attributes without a blank between them (``radius="1"mass="2"``), which the engine takes, are read and noted.
    """
    read_head(path)
    check_size(DOCUMENT_MEMORY * path.stat().st_size, path)
    reader = _Reader(path)
    with naming_damage(path), path.open("rb") as handle:
        try:
            _parse(reader, handle)
        except UnreadableFile:
            data = path.read_bytes()
            first = JOINED_ATTRIBUTES.search(data)
            if first is None:
                raise
            parted, count = JOINED_ATTRIBUTES.subn(rb"\1 ", data)
            lines = [data.count(b"\n", 0, first.start()) + 1] * count
            reader = _Reader(path, {"there is no blank between two attributes": lines})
            _parse(reader, BytesIO(parted))
        return reader.scene()


def _parse(reader: _Reader, handle: Any) -> None:
    """Run the parser; what it stumbles over gets its line."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.expatreader import create_parser

    parser = create_parser(forbid_dtd=True)
    parser.setContentHandler(reader)
    parser.setErrorHandler(ErrorHandler())
    parser.setProperty(property_lexical_handler, reader)
    try:
        parser.parse(handle)
    except DefusedXmlException as problem:
        raise reader.refusal(
            "the file declares a document type or an entity; a scene needs neither, so take the declaration out.",
            parser.getLineNumber(),
        ) from problem
    except SAXParseException as problem:
        sentence = f"this is not well-formed XML: {problem.getMessage()}."
        raise reader.refusal(sentence, problem.getLineNumber()) from problem
    except (LookupError, UnicodeError) as problem:
        raise reader.refusal(f"this is not text in an encoding that is known: {problem}.", 1) from problem


@dataclass
class _Given:
    """The values of one attribute, and the rows of the bodies that have it."""

    rows: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)


class _Reader(ContentHandler, LexicalHandler):
    """Collects the attributes of all elements; columns are made at the end of the document."""

    def __init__(self, path: Path, remarks: dict[str, list[int]] | None = None) -> None:
        super().__init__()
        self._summary = ""
        self._path = path
        self._open: list[str] = []
        self._kinds: list[int] = []
        self._lines: list[int] = []
        self._given = {name: _Given() for name in ATTRIBUTES}
        self._camera: Camera | None = None
        self._has_objects = False
        self._remarks = remarks or {}

    def startElement(self, name: str, attributes: AttributesImpl) -> None:  # noqa: N802
        """Read a body or the camera; other elements only nest."""
        above = self._open
        if above == ["config", "objects"] and name in ELEMENTS:
            self._take_body(name, attributes)
        elif above == ["config"] and name == "camera":
            self._take_camera(attributes)
        elif above == ["config"] and name == "objects":
            self._has_objects = True
        elif not above and name != "config":
            raise self.refusal(f"the document is a <{name[:80]}>; a scene is a <config> with <objects> in it.")
        self._open.append(name)

    def endElement(self, name: str) -> None:  # noqa: ARG002, N802
        """Leave an element."""
        self._open.pop()

    def comment(self, content: str) -> None:
        """Keep the first comment before the document as the summary of the scene."""
        if not self._summary and not self._open and not self._has_objects:
            self._summary = " ".join(content.split())

    def scene(self) -> BodyScene:
        """Return the scene, after the end of the document."""
        if not self._has_objects:
            raise UnreadableFile(f"{self._path}: there is no <objects> inside <config>; bodies are listed in it.")
        bodies = self._columns()
        fault = first_fault(bodies)
        if fault is not None:
            name = _FILE_NAMES.get(fault.attribute)
            raise UnreadableFile(f"{self._path}, line {self._lines[fault.row]}: {fault.sentence(name)}")
        moving = np.flatnonzero((bodies.kind == TILE) & ~self._filled("static", False, len(bodies)))
        if len(moving):
            remark = 'a tile is always static, and is so here, though the file does not say static="true"'
            self._remarks[remark] = [self._lines[row] for row in moving]
        notes = remark_lines(self._remarks)
        camera, settings = self._camera or Camera(), {"response": "impulse"}  # bodies of these files have no friction
        return BodyScene(self._path.stem, bodies, camera, settings=settings, summary=self._summary, notes=notes)

    def refusal(self, sentence: str, line: int | None = None) -> UnreadableFile:
        """Return an error about a line, by default the present one."""
        return UnreadableFile(f"{self._path}, line {line or self._line()}: {sentence}")

    def _line(self) -> int:
        return int(self._locator.getLineNumber())  # type: ignore[attr-defined]

    def _take_body(self, kind: str, attributes: AttributesImpl) -> None:
        row = len(self._kinds)
        self._kinds.append(KIND_WORDS.index(kind))
        self._lines.append(self._line())
        allowed = _ALLOWED[kind]
        for name, text in attributes.items():
            if name not in allowed:
                self._pass_over(kind, name)
                continue
            given = self._given[name]
            given.rows.append(row)
            given.values.append(self._read(kind, name, ATTRIBUTES[name][1], text))

    def _take_camera(self, attributes: AttributesImpl) -> None:
        if self._camera is not None:
            return
        numbers = {}
        for name, text in attributes.items():
            if name in _CAMERA:
                numbers[_CAMERA[name]] = self._read("camera", name, number, text)
            else:
                self._pass_over("camera", name)
        try:
            self._camera = Camera(**numbers)
        except InvalidInput as problem:
            raise self.refusal(str(problem)) from problem

    def _read(self, kind: str, name: str, read: Callable[[str], Any], text: str) -> Any:
        try:
            return read(text)
        except ValueError as problem:
            raise self.refusal(f"the {name} of this {kind} is {text[:80]!r}; it must be {problem}.") from problem

    def _pass_over(self, kind: str, name: str) -> None:
        near = difflib.get_close_matches(name, _ALLOWED[kind], n=1)
        hint = f" ({near[0]} may be meant)" if near else ""
        remark = f"a {kind} has no attribute {name}{hint}, which was passed over"
        self._remarks.setdefault(remark, []).append(self._line())

    def _columns(self) -> BodyColumns:
        count = len(self._kinds)
        kind = np.array(self._kinds, dtype=np.int8)
        size = np.zeros((count, 3))
        for word, sizes in ELEMENTS.items():
            own = kind == KIND_WORDS.index(word)
            for place, (name, default) in enumerate(sizes.items()):
                size[own, place] = self._filled(name, default, count)[own]
        attributes: dict[str, Any] = {}
        for name in (*SHARED, "rocket"):
            if self._given[name].rows:
                column = ATTRIBUTES[name][0]
                attributes[column] = self._filled(name, default_of(column), count)
        position = attributes.pop("position", np.zeros((count, 3)))
        return BodyColumns.filled(kind, position, size, **attributes)

    def _filled(self, name: str, default: Any, count: int) -> Any:
        """Return one value for each body: that of its element, or the default."""
        column = np.array(np.broadcast_to(np.asarray(default), (count, *np.shape(default))))
        given = self._given[name]
        if given.rows:
            column[given.rows] = given.values
        return column


def default_of(column: str) -> Any:
    """Return the default of a column, for an element without the attribute."""
    return (0.0, 0.0, 0.0) if column in _VECTORS else DEFAULTS[column]


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
    """Return the shortest text that reads back as the same value."""
    if isinstance(value, list):
        return ",".join(map(_text, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value).removesuffix(".0")
