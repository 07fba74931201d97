"""
A mesh in, a mesh out
=====================

A triangle mesh becomes voxels whose centres lie inside, or every voxel that it touches; the
boundary of a volume becomes a closed mesh again.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import choque
from choque.lab.style import COLOURS, SETTINGS
from choque.theses.evm.objects import sphere_mesh

# %%
# A sphere as triangles, at two resolutions.
mesh = sphere_mesh(radius=4.0)
for voxels_per_unit in (2, 8):
    solid = choque.Volume.from_mesh(mesh, voxels_per_unit=voxels_per_unit)
    shell = choque.Volume.from_mesh(mesh, voxels_per_unit=voxels_per_unit, conservative=True)
    print(
        f"{voxels_per_unit} voxels a unit: {solid.volume:.1f} inside, "
        f"{shell.volume:.1f} touched; 4/3 π r³ = 268.1"
    )

# %%
# The boundary as a closed mesh: vertices and triangles, oriented outward. Its signed volume
# is that of the voxels.
bitten = choque.Volume.from_mesh(mesh, voxels_per_unit=2)
bitten -= bitten.translated((3, -3, 3))
vertices, faces = bitten.surface()
a, b, c = vertices[faces].transpose(1, 0, 2)
print(
    f"{len(faces)} triangles enclose {(a * np.cross(b, c)).sum() / 6:.3f}, "
    f"the voxels are {bitten.volume:.3f}"
)

# %%
# To a file and back.
with tempfile.TemporaryDirectory() as folder:
    bitten.write(Path(folder) / "bitten.stl")
    again = choque.Volume.from_mesh(Path(folder) / "bitten.stl", like=bitten)
assert (again ^ bitten).is_empty

# %%
# The resulting mesh.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(
    figsize=(4.6, 4.6), layout="constrained", subplot_kw={"projection": "3d"}
)
axes.add_collection3d(
    Poly3DCollection(vertices[faces], facecolors=COLOURS[3], shade=True, linewidths=0)
)
axes.set(xlim=(-4, 4), ylim=(-4, 4), zlim=(-4, 4), aspect="equal")
axes.axis("off")
plt.show()
