"""
Neighbours in a crystal
=======================

Atoms of diamond in a periodic cell: every atom has four bonds, also across the faces of
the cell. While atoms move, a list with a skin is searched only once in several steps.
"""

import numpy as np

import choque

edge = 3.567  # Å
basis = [
    [0, 0, 0],
    [2, 2, 0],
    [2, 0, 2],
    [0, 2, 2],
    [1, 1, 1],
    [3, 3, 1],
    [3, 1, 3],
    [1, 3, 3],
]
cells = np.stack(np.meshgrid(*[np.arange(6)] * 3), axis=-1).reshape(-1, 1, 3)
positions = (cells + np.array(basis) / 4).reshape(-1, 3) * edge
cell = np.eye(3) * 6 * edge

# %%
# Bonds, also across the faces of the cell.
i, j, shift, distance = choque.neighbors(positions, 1.6, cell=cell, quantities="ijSd")
print(f"{len(positions):,} atoms, {len(i) // 2:,} bonds of {distance.mean():.3f} Å")
print(f"{np.count_nonzero(shift.any(axis=1)) // 2} of them cross a face of the cell")
# sphinx_gallery_thumbnail_path = 'images/studio_neighbors.png'

# %%
# Atoms that vibrate: neighbours within 4 Å at each of 50 steps.
random = np.random.default_rng(0)
neighbors = choque.Neighbors(4.0, skin=0.6)
for _ in range(50):
    positions += random.normal(0, 0.02, positions.shape)
    neighbors.update(positions, cell)
print(f"{len(neighbors):,} neighbours after 50 steps, {neighbors.rebuild_count} searches")
