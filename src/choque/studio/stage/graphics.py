"""Limits of pictures."""

from __future__ import annotations

from numbers import Integral

from choque.errors import InvalidInput

MIN_SIDE, MAX_SIDE = 16, 8192
"""Limits of the sides of a picture [pixels]."""


def check_size(size: tuple[int, int], smoothing: int = 1, definition: int | None = None) -> None:
    """Refuse pictures that are too small or too large, too coarse or too fine."""
    if not (isinstance(size, tuple | list) and len(size) == 2 and all(isinstance(side, Integral) for side in size)):
        raise InvalidInput(f"The picture size is {size!r}; give width and height in pixels, such as (1280, 720).")
    if min(size) < MIN_SIDE or max(size) > MAX_SIDE:
        raise InvalidInput(
            f"The picture size is {size[0]} × {size[1]}; each side must be {MIN_SIDE} to {MAX_SIDE} pixels."
        )
    if not 1 <= smoothing <= 4:
        raise InvalidInput(f"The smoothing is {smoothing}; it must be 1 to 4.")
    if definition is not None and not 3 <= definition <= 200:
        raise InvalidInput(f"The definition is {definition}; it must be 3 to 200.")
