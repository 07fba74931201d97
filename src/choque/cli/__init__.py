"""The command ``choque``: one file for each verb; a verb imports what it needs when it runs."""

from __future__ import annotations

from choque.cli._app import FAMILIES, GROUPS, build, main, verb_name

__all__ = ["FAMILIES", "GROUPS", "build", "main", "verb_name"]
