"""
Meshes in many poses
====================

Two rings in a thousand poses: which of them collide, how far the others are apart, and the
curve in which two surfaces meet. Exact by the floats given.
"""

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab.style import COLOURS, SETTINGS


def ring(n, radius=1.0, tube=0.3):
    i, j = np.indices((2 * n, n))
    u, v = i * np.pi / n, j * 2 * np.pi / n
    reach = radius + tube * np.cos(v)
    points = np.stack((reach * np.cos(u), reach * np.sin(u), tube * np.sin(v)), -1)
    i, j = i.ravel(), j.ravel()
    after, beside = (i + 1) % (2 * n) * n, (j + 1) % n
    a, b, c, d = i * n + j, after + j, after + beside, i * n + beside
    faces = np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))
    return choque.Mesh(points.reshape(-1, 3), faces)


outer, inner = ring(40), ring(30, 0.8, 0.2)
print(outer)

# %%
# A thousand poses in one call. Touching counts, and closed meshes are solids.
random = np.random.default_rng(0)
turns = np.linalg.qr(random.standard_normal((1000, 3, 3)))[0]
turns *= np.sign(np.linalg.det(turns))[:, None, None]
shifts = random.normal(0, 1.0, (1000, 3))
hits = choque.meshes.collide(outer, inner, (turns, shifts))
gaps = choque.meshes.distance(outer, inner, (turns, shifts), bound=0.5).distance
print(f"{hits.sum()} collide, {(gaps[~hits] < 0.1).sum()} others are closer than 0.1")

# %%
# The curve of intersection in the first pose that collides.
first = int(np.argmax(hits & (gaps == 0)))
found = choque.meshes.intersections(outer, inner, pose=(turns[first], shifts[first]))
print(found)

with plt.rc_context(SETTINGS):
    figure, axes = plt.subplots(figsize=(5, 5))
    for mesh in (outer, inner.moved((turns[first], shifts[first]))):
        x, y, _ = mesh.vertices.T
        axes.triplot(x, y, mesh.faces, lw=0.2, color="0.6")
    for segment in found.segments:
        axes.plot(segment[:, 0], segment[:, 1], color=COLOURS[1], lw=2)
    axes.set_aspect("equal")
    axes.set_title("Two rings, seen along z, and the curve in which they meet")
plt.show()
