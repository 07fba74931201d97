"""Does this screw fit this vertebra? Both from voxels, then the same with the screw as a mesh.

python examples/volume_implant.py
"""

from __future__ import annotations

import numpy as np

from choque.volumes import Volume, phantoms

# %% A bone from a mask with axes x, y, z. With a scan it would be Volume.from_scan("scan.nii.gz", above=300).
bone = Volume.from_voxels(phantoms.vertebra(96), spacing=0.5)
print(bone)

# %% A screw, drawn as a closed mesh and voxelised on the lattice of the bone: every voxel that it touches.
screw = Volume.from_voxels(phantoms.screw(96), spacing=0.5)
implant = Volume.from_mesh(screw.surface(), like=bone, conservative=True)

# %% Where can it go? Translations cost nothing, so a whole path is asked in a moment.
for height in np.arange(0.0, 40.0, 8.0):
    there = implant.translated((10.0, 0.0, height))
    found = bone.collision(there)
    if found is None:
        print(f"at height {height:4.1f}: free, with a clearance of {bone.clearance(there):.2f}")
    else:
        print(f"at height {height:4.1f}: shares {found.volume():.1f}, parted by {found.separation().tolist()}")

# %% How far can it slide down before it touches?
above = implant.translated((0.0, 0.0, 48.0))
print(f"from above it slides {bone.slide(above, (0, 0, -1)):.1f} until it touches")

# %% The hole to drill, and what is left of the bone.
drilled = bone - implant
parts = drilled.components()
print(f"drilled away {bone.volume() - drilled.volume():.1f} of {bone.volume():.1f}; {len(parts)} part is left")
assert not drilled.collides(implant)
assert drilled.collides(implant, contact="closed")
