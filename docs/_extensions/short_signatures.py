"""Signatures name the aliases of array types as the code does, ``ArrayLike | None``, and not how they are stored."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

STORED = re.compile(r"TypeAliasForwardRef\('(?P<name>\w+)'\)")


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
    plain = (text if text is None else STORED.sub(r"\g<name>", text) for text in (signature, returned))
    return next(plain), next(plain)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("autodoc-process-signature", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
