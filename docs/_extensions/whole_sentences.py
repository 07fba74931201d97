"""Docstrings reach the page as they were written.

Napoleon takes what stands before a colon in an attribute's first line for its type, "The float type: float32 or
float64.", and names that share a description for a type and a name. Fields of named tuples that say nothing of their
own get a sentence of Python's. All three are put right here, before and after Napoleon.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

HELD = "\ue000"
"""Replaces a colon while Napoleon parses; a character that no docstring contains."""
GAP = "\ue001"
"""Replaces the blank between names, which Sphinx would take for a type and a name."""

ATTRIBUTES = ("attribute", "data", "property")
SHARED = re.compile(r"^:ivar \w+(?:, \w+)+:")
NOTHING = re.compile(r"Alias for field number \d+")


def hold(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Hide the colons of an attribute's first line, and inherited text."""
    if what in ATTRIBUTES and lines:
        lines[0] = "" if NOTHING.fullmatch(lines[0]) else lines[0].replace(":", HELD)


def release(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Give the colons back, and keep names that share a description together."""
    for number, line in enumerate(lines):
        whole = line.replace(HELD, ":")
        lines[number] = SHARED.sub(lambda names: names[0].replace(", ", f",{GAP}"), whole)


def separate(app: Sphinx, page: nodes.document) -> None:  # noqa: ARG001
    """Put the blanks between such names back."""
    for text in list(page.findall(nodes.Text)):
        if GAP in text:
            text.parent.replace(text, nodes.Text(text.replace(GAP, " ")))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx; Napoleon's own priority is 500."""
    app.connect("autodoc-process-docstring", hold, priority=400)
    app.connect("autodoc-process-docstring", release, priority=600)
    app.connect("doctree-read", separate)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
