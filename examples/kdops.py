"""Convex bodies by their k-DOPs: fewer false alarms than boxes, and the same bodies on a card."""

# %% Two meshes by their vertices, and 4,000 bodies that carry them: long ones, in all directions.
import itertools

import numpy as np

import choque
from choque.bounds import BodyPoints

random = np.random.default_rng(0)
truncated_octahedron = {p for a, b in itertools.product((-1, 1), (-2, 2)) for p in itertools.permutations((0, a, b))}
crystal = np.array(sorted(truncated_octahedron), float) / 2
brick = np.array(list(itertools.product((-1, 1), repeat=3)), float)
meshes = BodyPoints(np.concatenate((crystal, brick)), [0, len(crystal), len(crystal) + len(brick)])

count = 4_000
groups = random.integers(0, 2, count)
position = random.random((count, 3)) * 130
rotation = np.linalg.qr(random.normal(size=(count, 3, 3)))[0]
scale = [1.0, 5.0, 1.0]

# %% The larger k, the tighter the volume; a k-DOP that contains the body never loses a pair.
for k in (6, 14, 18, 26):
    volumes = meshes.kdops(groups, position, rotation, scale, k=k)
    broad = choque.broad.create("sap-kdop", volumes)
    print(f"{k:>2}-DOPs: {len(broad.pairs()):>6} pairs, swept along {broad.axis}")

# %% Meshes with many vertices: a support map is turned instead of the vertices. It contains, and is hardly larger.
mapped = meshes.kdops(groups, position, rotation, scale, k=18, source="map")
print(f"mapped:  {len(choque.broad.create('sap-kdop', mapped).pairs()):>6} pairs")

# %% The same call on a card. Where there is none, the CPU serves and says so.
import warnings  # noqa: E402

with warnings.catch_warnings(record=True) as notes:
    warnings.simplefilter("always")
    broad = choque.broad.create("sap-kdop", mapped, device="cuda")
print(f"served by {broad.device}", *(str(note.message) for note in notes), sep="\n  ")
