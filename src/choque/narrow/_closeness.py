"""How near to degenerate a pair may be before a direction is chosen instead of computed."""

from __future__ import annotations

NEAR = 1e-6
"""In terms of the size of the pair: two axes, or an axis and a rectangle, that come closer than this meet.

The line between two closest points is then mostly rounding, and moving along it would not part long bodies. Each
routine takes a direction instead that does part them; its depth is at most this much larger than the least one.
"""

FLAT = 1e-10
"""In terms of the size of the pair: how much closer one end may be before two parallel bodies touch at that end.

Below it, they touch along a stretch, and the contact lies in its middle: the same one however the pair is turned.
"""

FLAT_SINGLE = 1e-6
"""The same for float32, whose rotations are rounded that much."""
