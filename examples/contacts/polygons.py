"""
Outlines that touch
===================

Which edges of two polygons touch, and whether one lies inside the other. Signs of areas are
exact: an edge that ends on another touches it, independent of rounding.
"""

import matplotlib.pyplot as plt
import numpy as np

from choque.lab.style import COLOURS, SETTINGS
from choque.narrow import polygons
from choque.theses.kinetic import shapes

star = shapes.shape("star-6", size=8.0)
others = {
    "crossing": shapes.shape("boomerang", size=4.0, at=(1.4, 0.6)),
    "corner on corner": np.array([star[0], [3.3, 1.5], [2.7, 0.2]]),
    "inside": shapes.shape("pentagon", size=0.8),
    "apart": shapes.shape("arrow-head", size=1.5, at=(1.9, 1.9)),
}

# %%
# Rows of (edge of the first, edge of the second).
found = {name: polygons.contact(star, other) for name, other in others.items()}
for name, contact in found.items():
    print(
        f"{name}: touch {bool(contact)}, "
        f"edges {contact.edges.tolist()}, inside {contact.inside!r}"
    )

# %%
# The edges that touch in red.
plt.rcParams.update(SETTINGS)
figure, panels = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
for axes, (name, other) in zip(panels, others.items(), strict=True):
    axes.fill(*star.T, color=COLOURS[2], alpha=0.3)
    axes.fill(*other.T, color=COLOURS[3], alpha=0.6)
    for outline, edges in zip((star, other), found[name].edges.T, strict=True):
        for edge in edges:
            axes.plot(*outline[[edge, (edge + 1) % len(outline)]].T, color=COLOURS[1])
    axes.set(title=name, aspect="equal", xlim=(-2.4, 3.4), ylim=(-2.4, 3))
    axes.axis("off")
plt.show()
