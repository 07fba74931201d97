"""Docstrings reach the page as they were written.

Napoleon takes what stands before a colon in an attribute's first line for its type, "The float type: float32 or
float64.", and names that share a description for a type and a name. Fields of named tuples that say nothing of their
own get a sentence of Python's. All three are put right here, before and after Napoleon.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

HELD = "\ue000"
"""Replaces a colon while Napoleon parses; a character that no docstring contains."""

ATTRIBUTES = ("attribute", "data", "property")
SHARED = re.compile(r":ivar (?P<names>\w+(?:, \w+)+):(?P<text>.*)")
NOTHING = re.compile(r"Alias for field number \d+")


def hold(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Hide the colons of an attribute's first line, and inherited text."""
    if what in ATTRIBUTES and lines:
        lines[0] = "" if NOTHING.fullmatch(lines[0]) else lines[0].replace(":", HELD)


def release(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Give the colons back, and every name its own line."""
    whole = [line.replace(HELD, ":") for line in lines]
    lines.clear()
    while whole:
        field = [whole.pop(0)]
        while field[0].startswith(":ivar ") and whole and whole[0].startswith(" "):
            field.append(whole.pop(0))
        shared = SHARED.fullmatch(field[0])
        for each in shared["names"].split(", ") if shared else ():
            lines += [f":ivar {each}:{shared['text']}", *field[1:]]
        if not shared:
            lines += field


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx; Napoleon's own priority is 500."""
    app.connect("autodoc-process-docstring", hold, priority=400)
    app.connect("autodoc-process-docstring", release, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
