"""The command ``choque``: one file for each verb, nothing heavy imported before a verb runs."""

from __future__ import annotations

from choque.cli._app import main

__all__ = ["main"]
