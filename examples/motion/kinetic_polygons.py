"""
Polygons that touch
===================

When do the boxes of moving polygons overlap, and when do the polygons themselves touch?
Times are quotients of areas, not samples.
"""

import matplotlib.pyplot as plt
import numpy as np

from choque.lab.style import COLOURS, SETTINGS
from choque.theses.kinetic import Model, create_simulation, shapes
from choque.theses.kinetic import contacts as find_contacts

# %%
# Shapes by name, scaled to an area, turned, put in place.
star = shapes.shape("star-5", size=4.0, turned=0.3)
arrow = shapes.shape("arrow-head", size=2.0, at=(6.0, 0.8), turned=2.0)
boomerang = shapes.shape("boomerang", size=3.0, at=(11.0, -1.0))
polygons, velocity = [star, arrow, boomerang], np.array([[1.0, 0], [0, -0.1], [0, 0.1]])

# %%
# Boxes begin to overlap earlier, and cease later.
model = Model(tuple(polygons), velocity, frame=((-3, 16), (-5, 5)), interval=(0.0, 20.0))
for time, kind, pair in create_simulation(model, "kinetic").run().events:
    print(
        f"boxes {pair} {kind} to overlap at {time:.6g}"
        if kind == "began"
        else f"boxes {pair} {kind} at {time:.6g}"
    )
contacts = find_contacts(polygons, velocity, until=20.0)
for contact in contacts:
    print(f"polygons {contact.pair} touch from {contact.began:.6g} to {contact.ended:.6g}")

# %%
# The outlines at the first touch of each pair.
plt.rcParams.update(SETTINGS)
figure, panels = plt.subplots(
    1, len(contacts), figsize=(4.2 * len(contacts), 2.2), layout="constrained"
)
for axes, contact in zip(np.atleast_1d(panels), contacts, strict=True):
    for row, polygon in enumerate(model.polygons_at(contact.began)):
        axes.fill(*polygon.T, color=COLOURS[row + 1], alpha=0.6)
        low, high = polygon.min(axis=0), polygon.max(axis=0)
        axes.add_patch(
            plt.Rectangle(low, *(high - low), fill=False, linestyle=":", edgecolor="#888888")
        )
    axes.set(title=f"t = {contact.began:.4f}", xlim=(1, 13), ylim=(-2.4, 2.4), aspect="equal")
    axes.axis("off")
plt.show()
