"""
False positives by k
====================

The larger k, the tighter a k-DOP fits a convex body, and the fewer pairs it lists that do
not touch. Since it contains the body, it never loses a pair that does.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab.style import COLOURS, SETTINGS
from choque.theses.kdop import BodyPoints

# %%
# Three thousand long solids in all directions. Their points are stored once for all bodies.
random = np.random.default_rng(0)
hulls = choque.narrow.Hulls.solids("rhombicuboctahedron")
points = BodyPoints(hulls.points, hulls.first)
position = random.random((3_000, 3)) * 60
rotation = np.linalg.qr(random.normal(size=(3_000, 3, 3)))[0]
rotation *= np.linalg.det(rotation)[:, None, None]
scale, groups = [0.4, 2.5, 0.4], np.zeros(3_000, int)

# %%
# One broad phase for all k: sorted along the direction in which the bodies spread most.
listed = {}
for k in (6, 14, 18, 26):
    broad = choque.broad.create(
        "sap-kdop", points.kdops(groups, position, rotation, scale, k=k)
    )
    listed[f"{k}-DOP"] = broad.pairs()
    print(f"{k:>2}-DOPs list {len(broad.pairs()):>5} pairs, swept along {broad.index.axis}")
listed["oriented\nbox"] = choque.broad.create(
    "sap-obb", points.oriented(groups, position, rotation, scale)
).pairs()

# %%
# Which of them really touch: exactly, by the shapes.
bodies = hulls.at(position, rotation, scale)
touching = int(choque.narrow.collide(bodies, bodies, listed["6-DOP"]).sum())
print(f"{touching} pairs touch")

# %%
# The same call runs on a card; where there is none, the processor is used, with a note.
with warnings.catch_warnings(record=True):
    warnings.simplefilter("always")
    broad = choque.broad.create(
        "sap-kdop", points.kdops(groups, position, rotation, scale), device="cuda"
    )
print(f"served by {broad.index.device}")

# %%
# Pairs that do not touch.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.bar(
    listed.keys(),
    [len(pairs) - touching for pairs in listed.values()],
    color="#bbbbbb",
    bottom=touching,
)
axes.bar(listed.keys(), touching, color=COLOURS[1])
axes.set(ylabel="pairs", title="Pairs that touch (red), and that are listed in vain (grey)")
axes.grid(axis="x", visible=False)
plt.show()
