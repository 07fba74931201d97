"""
From a scan to a solid
======================

Grey values above a threshold become a volume, in the units and at the position that the file
gives. Here the scan is a phantom written as a NumPy array; NIfTI, NRRD, TIFF stacks and DICOM
folders are read by the same call.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab import phantoms
from choque.lab.style import SETTINGS

# %%
# A noisy scan: bone at 700, tissue at 40, air at −1000, and thick slices.
random = np.random.default_rng(0)
bone = phantoms.vertebra(80)[:, :, ::2]
x, y, z = np.indices(bone.shape) / 40 - 1
grey = np.where(bone, 700.0, np.where(x**2 + y**2 < 0.95, 40.0, -1000.0)) + random.normal(
    0, 90, bone.shape
)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "scan.npy"
    np.save(path, grey.astype(np.int16))
    scan = choque.Volume.from_scan(path, above=300, spacing=(0.4, 0.4, 0.8))
print(f"{scan.voxel_count:,} voxels of {scan.spacing} mm, {scan.volume:,.0f} mm³")

# %%
# Noise leaves small components; the largest one is the bone.
parts = scan.components()
vertebra = parts[0]
print(f"{len(parts)} parts; the largest has {vertebra.volume:.0f} of {scan.volume:.0f} mm³")
assert abs(vertebra.voxel_count / bone.sum() - 1) < 0.01

# %%
# A volume can be written as a mesh or in its own format.
with tempfile.TemporaryDirectory() as folder:
    vertebra.write(Path(folder) / "vertebra.stl")
    vertebra.write(Path(folder) / "vertebra.evm")
    sizes = {file.name: file.stat().st_size for file in sorted(Path(folder).iterdir())}
print(sizes)

# %%
# A slice of the scan, and of the solid.
plt.rcParams.update(SETTINGS)
figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.5), layout="constrained")
left.imshow(grey[:, :, 20].T, cmap="gray", origin="lower")
right.imshow(
    vertebra.voxels((0, 0, 20), (80, 80, 21))[:, :, 0].T, cmap="gray", origin="lower"
)
for axes, title in ((left, "grey values"), (right, "above 300, the largest part")):
    axes.set(title=title)
    axes.axis("off")
plt.show()
