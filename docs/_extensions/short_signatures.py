"""Signatures say what the code says: names of array types, ``ArrayLike | None``, and not how they are stored.

Types of properties and values of data reach the page by another way than signatures; they are shortened there.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

KIND = r"(?P<kind>~?typing\.Any|~?numpy\.\w+(?:\[~?typing\.Any\])?)"
SHORTER = {
    r"TypeAliasForwardRef\('(?P<name>\w+)'\)": r"\g<name>",
    rf"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[{KIND}\]\]": r"NDArray[\g<kind>]",
    r"type\[~?typing\.Any\] \| ~?numpy\.dtype\[~?typing\.Any\] \| .*?_DTypeDict \| str": "DTypeLike",
    r"<class '(?:\w+\.)*(?P<name>\w+)'>": r"\g<name>",
    r"<factory>": "...",  # anything else in angle brackets keeps Sphinx from reading the signature
}

ARRAY = re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)(?:\[Any\])?\]\]")


def shorten(
    app: Sphinx,  # noqa: ARG001
    what: str,  # noqa: ARG001
    name: str,  # noqa: ARG001
    obj: Any,  # noqa: ARG001
    options: Any,  # noqa: ARG001
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    """The signature and what it returns, with plain names."""
    for stored, plain in SHORTER.items():
        signature, returned = (None if text is None else re.sub(stored, plain, text) for text in (signature, returned))
    return signature, returned


def shorten_annotations(app: Sphinx, page: nodes.document, name: str) -> None:  # noqa: ARG001
    """Name the arrays in types of properties, and leave out values that hold functions."""
    for note in list(page.findall(addnodes.desc_annotation)):
        text = note.astext()
        if "<function" in text:
            note.parent.remove(note)
        elif ARRAY.search(text):
            note.clear()
            note += nodes.Text(ARRAY.sub(r"NDArray[\1]", text))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("autodoc-process-signature", shorten)
    app.connect("doctree-resolved", shorten_annotations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
