"""Volumes tighter than boxes: oriented boxes and k-DOPs drop pairs that only the boxes around them make."""

# %% Rods in all directions, each a cloud of corner points: (bodies, points, 3).
import numpy as np

import choque
from choque.bounds import Boxes, KDops, OrientedBoxes, Spheres

random = np.random.default_rng(0)
count = 3_000
corners = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T * [1.5, 0.1, 0.1]
turns, _ = np.linalg.qr(random.normal(size=(count, 3, 3)))
center = random.random((count, 1, 3)) * 25
points = center + corners @ turns.transpose(0, 2, 1)

# %% Every kind is fitted to points in the same way. A pair of boxes is the first, coarse answer.
boxes = Boxes.fit(points)
pairs = choque.pairs(boxes.lower, boxes.upper)
print(f"boxes:          {len(pairs)} pairs")

# %% Tighter kinds test the listed pairs, and none that touches is lost.
kinds = {"spheres": Spheres.fit(points), "18-DOPs": KDops.fit(points, k=18), "26-DOPs": KDops.fit(points, k=26)}
kinds["oriented boxes"] = OrientedBoxes.fit(points)
for name, volumes in kinds.items():
    print(f"{name + ':':<15} {volumes.overlap(pairs).sum()} of them")

# %% A method that uses the bounds it is given does both in one step.
oriented = choque.broad.create("brute-obb", kinds["oriented boxes"])
assert np.array_equal(oriented.pairs(), pairs[kinds["oriented boxes"].overlap(pairs)])
