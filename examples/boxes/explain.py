"""
Which method, and why
=====================

`choque.pairs` chooses a method from a sample of the boxes; `choque.explain` says which
one, and why. Any method can be chosen by name, and all of them give the same pairs.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

import choque
from choque.lab.style import COLOURS, SETTINGS

random = np.random.default_rng(0)
even = random.random((4_000, 2)) * 100
crowd = random.random((12, 2))[random.integers(0, 12, 4_000)] * 100 + random.normal(
    0, 0.6, (4_000, 2)
)
scenes = {
    "even": (even, even + 1.0),
    "in clusters": (crowd, crowd + 0.4),
    "all sizes": (even, even + 10 ** random.uniform(-2, 1.2, (4_000, 1))),
    "a few": (even[:100], even[:100] + 8.0),
}

# %%
# A sentence for each scene.
for name, (lower, upper) in scenes.items():
    print(f"{name:<11}  {choque.explain(lower, upper)}")

# %%
# Methods differ in their work: here, the number of tests of two boxes.
lower, upper = scenes["all sizes"]
for method in ("brute", "sap-direct", "grid", "bvh", "octree"):
    broad = choque.broad.create(method, choque.bounds.Boxes(lower, upper))
    print(f"{method:<10}  {len(broad.pairs())} pairs from {broad.counters.tests:>9,} tests")

# %%
# The four scenes.
plt.rcParams.update(SETTINGS)
figure, panels = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
for axes, (name, (lower, upper)) in zip(panels, scenes.items(), strict=True):
    boxes = [
        Rectangle(corner, *size) for corner, size in zip(lower, upper - lower, strict=True)
    ]
    axes.add_collection(
        PatchCollection(
            boxes, facecolor=COLOURS[2], alpha=0.3, edgecolor=COLOURS[0], linewidth=0.2
        )
    )
    chosen = choque.explain(lower, upper).method
    axes.set(xlim=(0, 100), ylim=(0, 100), aspect="equal", xticks=[], yticks=[])
    axes.set_title(f"{name}: {chosen}")
plt.show()
