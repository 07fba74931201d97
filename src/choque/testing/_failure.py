"""What a conformance suite raises."""

from __future__ import annotations

from choque.errors import ChoqueError


class ConformanceFailure(ChoqueError, AssertionError):
    """A method broke its contract; the message names the check, scene, settings and first wrong pair."""
