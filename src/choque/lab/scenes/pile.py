"""``pile``: bodies that fall on a floor between walls, and stay."""

from __future__ import annotations

import numpy as np

from choque._core import check
from choque.lab.scenes.lattice import GRAVITY, block, block_counts, bright_colors, walls
from choque.scene.columns import CAPSULE, SPHERE, BodyColumns, join
from choque.scene.generators import BodyRequest

RADIUS, LENGTH, PITCH = 0.4, 0.8, 1.7


def pile(request: BodyRequest, *, restitution: float = 0.2, spheres: float = 0.5) -> BodyColumns:
    """Balls, a share of ``spheres``, and capsules turned every way fall into an open box and pile up.

    They start in a tower twice as high as wide, each in a cell that it cannot leave by turning, so nothing overlaps.
    """
    restitution, share = check.number(restitution, "restitution", 0.0, 1.0), check.number(spheres, "spheres", 0.0, 1.0)
    random, count = request.random(), request.body_count
    tower = np.array(block_counts(count, flatness=2.0)) * PITCH
    is_sphere = random.random(count) < share
    size = np.zeros((count, 3))
    size[:, 0] = RADIUS
    size[:, 1] = np.where(is_sphere, 0.0, LENGTH)
    falling = BodyColumns.filled(
        np.where(is_sphere, SPHERE, CAPSULE),
        block(count, (PITCH, PITCH, PITCH), flatness=2.0),
        size,
        angles=random.uniform(0.0, 360.0, size=(count, 3)),
        acceleration=GRAVITY,
        restitution=restitution,
        mass=np.where(is_sphere, 1.0, 2.5),
        color=bright_colors(random, count),
    )
    return join(falling, walls(tower + 1.0, restitution=restitution, lidded=False))
