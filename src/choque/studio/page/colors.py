"""What the colour of a body can tell."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from choque.studio.page.findings import Findings

Colors = NDArray[np.uint8]

APART, TOUCHING = (214, 48, 49), (46, 190, 92)
"""Red turns green on contact."""

STATIC = (110, 116, 128)
PICKED = (255, 235, 60)

_SCALE = np.array(
    [
        (48, 18, 59),
        (65, 110, 222),
        (28, 184, 222),
        (52, 220, 130),
        (170, 245, 66),
        (246, 190, 48),
        (240, 90, 25),
        (150, 12, 8),
    ],
    np.float64,
)
"""From little to much."""


def scene_colors(findings: Findings) -> Colors:
    """The colours that the scene gives."""
    return findings.bodies.color


def speed_colors(findings: Findings) -> Colors:
    """From slow to fast; the fastest body but one in a hundred is the end of the scale."""
    moving = ~findings.bodies.static
    fastest = float(np.quantile(findings.speed[moving], 0.99)) if moving.any() else 0.0
    return _at_rest(findings, _scaled(findings.speed / max(fastest, 1e-12)))


def contact_colors(findings: Findings) -> Colors:
    """Red, and green for those that touch another."""
    shown = np.where(findings.is_touching[:, None], np.array(TOUCHING), np.array(APART)).astype(np.uint8)
    return _at_rest(findings, shown)


def candidate_colors(findings: Findings) -> Colors:
    """By the number of candidates, the most being the end of the scale."""
    count = findings.candidate_count
    return _at_rest(findings, _scaled(count / max(int(count.max(initial=0)), 1)))


COLORINGS: dict[str, tuple[Callable[[Findings], Colors], str]] = {
    "scene": (scene_colors, "The colours of the scene."),
    "speed": (speed_colors, "Blue is slow, red is fast; what is static is grey."),
    "contact": (contact_colors, "Red; green where it touches another body. What is static is grey."),
    "candidates": (candidate_colors, "Blue has few candidates, red has many; what is static is grey."),
}
"""Each colouring by name, with what it means."""


def _scaled(share: NDArray[np.floating]) -> Colors:
    place = np.clip(share, 0.0, 1.0) * (len(_SCALE) - 2) + 1  # the darkest is too dark for a dark page
    below = np.minimum(place.astype(np.int64), len(_SCALE) - 2)
    part = (place - below)[:, None]
    mixed: Colors = ((1 - part) * _SCALE[below] + part * _SCALE[below + 1]).astype(np.uint8)
    return mixed


def _at_rest(findings: Findings, colors: Colors) -> Colors:
    return np.where(findings.bodies.static[:, None], np.array(STATIC, np.uint8), colors)
