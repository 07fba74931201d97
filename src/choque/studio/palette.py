"""The colours of pages, pictures and films: quiet ones for what is alone, warm ones for collisions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Colors = NDArray[np.uint8]
Rgb = tuple[int, int, int]

QUIET = np.array(
    [
        (65, 111, 166),
        (115, 150, 186),
        (50, 88, 150),
        (83, 142, 158),
        (145, 168, 194),
        (99, 111, 176),
        (65, 128, 134),
        (136, 152, 162),
    ],
    np.uint8,
)
"""(8, 3) the colours of bodies of a scene that gives almost every body a colour of its own."""

GLOW: Rgb = (255, 112, 24)
"""What just collided; also what touches."""

SPARK: Rgb = (255, 214, 140)
"""The sparks at contacts."""

FREE: Rgb = (86, 126, 178)
"""What touches nothing: cool where collisions are warm, which also those who cannot tell red from green see."""

ISLANDS = np.array(
    [(214, 122, 92), (122, 182, 112), (176, 128, 200), (222, 186, 96), (92, 178, 182), (206, 116, 154), (150, 162, 84)],
    np.uint8,
)
"""(7, 3) the colours of islands, told apart beside `FREE`; a prime number of them, as islands are often in rows."""

ASLEEP: Rgb = (34, 40, 54)
"""What the colours of sleeping bodies are dimmed to, by `DIMMED`."""

DIMMED = 0.38

STATIC: Rgb = (110, 116, 128)
PICKED: Rgb = (255, 235, 60)

SKY: Rgb = (44, 62, 96)
HORIZON: Rgb = (140, 158, 184)
GROUND: Rgb = (118, 117, 115)
GRID: Rgb = (146, 145, 143)
"""Sky overhead and at the horizon, the ground, and the lines on it."""

MAX_KEPT = 8
"""With at most this many colours, moving bodies keep their hues: the scene means something by them."""

VIVID, SATURATION, BRIGHTNESS, BACKGROUND = 1.4, 0.6, (0.5, 0.82), (0.34, 0.58)
"""Factor of the saturation of colours of a scene and its maximum, and their least and greatest brightness: of moving
bodies, of static ones."""


def quiet(color: Colors, static: NDArray[np.bool_]) -> Colors:
    """Return the colours (n, 3) of a scene as they are drawn.

    Hues are kept, neither pale nor saturated, dark nor glaring. If moving bodies have more than `MAX_KEPT` colours,
    each gets one of `QUIET` instead. What is drawn warm is then a collision.
    """
    toned = np.where(static[:, np.newaxis], _toned(color, BACKGROUND), _toned(color, BRIGHTNESS))
    if len(np.unique(color[~static], axis=0)) <= MAX_KEPT:
        return toned
    # A hash of the row: neighbours in a lattice get different colours.
    mixed = (np.arange(len(color), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(61)
    return np.where(static[:, np.newaxis], toned, QUIET[mixed.astype(np.intp)])


def blended(base: Colors, other: Rgb, share: NDArray[np.floating]) -> Colors:
    """Return colours (n, 3) with a ``share`` (n,) of another one mixed in."""
    part = share[:, np.newaxis]
    mixed: Colors = ((1.0 - part) * base + part * np.array(other)).astype(np.uint8)
    return mixed


def clearance_colors(share: NDArray[np.floating]) -> Colors:
    """Return the colours (n, 3) of clearances: red at 0 over yellow to blue at 1, which all eyes tell apart."""
    ends = ((215, 255, 44), (25, 225, 123), (28, 110, 182))
    return np.stack([np.interp(share, (0.0, 0.5, 1.0), end) for end in ends], axis=1).astype(np.uint8)


def _toned(color: Colors, limits: tuple[float, float]) -> Colors:
    share = color.astype(np.float64) / 255.0
    bright = share.max(axis=1, keepdims=True)
    spread = bright - share.min(axis=1, keepdims=True)
    saturation = np.divide(spread, bright, out=np.zeros_like(bright), where=bright > 0.0)
    wished = np.minimum(VIVID * saturation, SATURATION)
    factor = np.divide(wished, saturation, out=np.ones_like(bright), where=saturation > 0.0)
    wanted = np.clip(bright, *limits)
    hue = np.divide(share, bright, out=np.ones_like(share), where=bright > 0.0)
    toned: Colors = np.rint(255.0 * wanted * (1.0 - factor * (1.0 - hue))).astype(np.uint8)
    return toned
