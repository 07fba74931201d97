"""
Cut, join, subtract
===================

Volumes are solids of voxels, stored by their corners alone. Booleans are exact, and so are
the measures of the result.
"""

import matplotlib.pyplot as plt

from choque.lab import phantoms
from choque.lab.style import SETTINGS

ball = phantoms.make("ball", 64)
gyroid = phantoms.make("gyroid", 64, periods=2)
print(ball)
print(gyroid)

# %%
# Only the corners at which an odd number of voxels meets are kept.
print(
    f"{gyroid.voxel_count:,} voxels, "
    f"{len(gyroid.model.points):,} vertices, {gyroid.byte_count:,} bytes"
)

# %%
# The operators of sets.
results = {
    "A | B": ball | gyroid,
    "A & B": ball & gyroid,
    "A - B": ball - gyroid,
    "A ^ B": ball ^ gyroid,
}
for name, result in results.items():
    print(f"{name}: volume {result.volume:9,.0f}, surface {result.surface_area:8,.0f}")
assert results["A | B"].volume == ball.volume + gyroid.volume - results["A & B"].volume

# %%
# Dilated, eroded, and split into connected components.
print(f"{len((ball - gyroid).components())} parts are left of the ball")
print(f"grown by a voxel: {ball.dilated().volume:,.0f}; shrunk: {ball.eroded().volume:,.0f}")

# %%
# A slice through each, half-way up.
plt.rcParams.update(SETTINGS)
figure, panels = plt.subplots(1, 6, figsize=(10, 2), layout="constrained")
for axes, (name, volume) in zip(
    panels, {"A": ball, "B": gyroid, **results}.items(), strict=True
):
    axes.imshow(
        volume.voxels((0, 0, 24), (64, 64, 25))[:, :, 0].T,
        origin="lower",
        cmap="Blues",
        vmax=1.4,
    )
    axes.set(title=name)
    axes.axis("off")
plt.show()
