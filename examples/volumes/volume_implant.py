"""
Does the screw fit the vertebra?
================================

Both are volumes; the screw is moved about, slid in and subtracted, and the answers are exact
for the voxels.
"""

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab import phantoms
from choque.lab.style import COLOURS, SETTINGS

# %%
# A bone from a mask with axes x, y, z; a screw as a closed mesh, turned into every voxel of
# the bone's that it touches.
bone = choque.Volume.from_voxels(phantoms.vertebra(96), spacing=0.5)
screw = choque.Volume.from_voxels(phantoms.screw(96), spacing=0.5)
implant = choque.Volume.from_mesh(screw.surface(), like=bone, conservative=True)
print(bone)
# sphinx_gallery_thumbnail_path = 'images/studio_volumes.png'

# %%
# Where does it fit? Translations cost nothing, so a whole path is tested at once.
heights, shared, clearance = np.arange(0.0, 56.0, 2.0), [], []
for height in heights:
    there = implant.translated((10.0, 0.0, height))
    found = bone.collision(there)
    shared.append(0.0 if found is None else found.region().volume)
    clearance.append(bone.clearance(there))
print(f"free from height {heights[np.argmin(shared)]:g} on")

# %%
# How far can it slide down before it touches? And what is the shortest translation that
# separates two colliding volumes?
above = implant.translated((0.0, 0.0, 48.0))
print(f"from above it slides {bone.slide(above, (0, 0, -1)):.1f} until it touches")
print(f"parted by {bone.separation(implant).tolist()}")

# %%
# The hole to drill, and what is left of the bone.
drilled = bone - implant
print(f"drilled away {bone.volume - drilled.volume:.1f} of {bone.volume:.1f}")
print(f"{len(drilled.components())} part is left")
assert not drilled.collides(implant)
assert drilled.collides(implant, closed=True)

# %%
# A slice of the drilled bone, and the path from above.
plt.rcParams.update(SETTINGS)
figure, (image, chart) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
both = drilled.voxels((0, 0, 0), (96, 96, 96)) + 2.0 * implant.voxels((0, 0, 0), (96, 96, 96))
image.imshow(both[48].T, origin="lower", cmap="cividis")
image.set(title="Bone, drilled, with the screw in it")
image.axis("off")
chart.plot(heights, shared, color=COLOURS[1], label="shared volume")
chart.plot(heights, 20 * np.array(clearance), color=COLOURS[2], label="clearance × 20")
chart.set(xlabel="height")
chart.legend()
plt.show()
