"""
A scene of the Fingsics engine
==============================

Fingsics is the engine of a thesis on rigid bodies. Its XML files are read unchanged, and
``choque.theses.fingsics.world`` computes by its rules in every part, defects included, so
that its counts can be reproduced.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab.style import COLOURS, SETTINGS
from choque.theses import fingsics

# %%
# A ball against a wall of capsules, in the format of Fingsics.
capsules = "\n".join(
    f'<capsule pos="{3 * (number % 3) - 3},{1.3 * (number // 3) + 0.7},0" ang="0,90,0" '
    'radius="0.6" length="1.2" acceleration="0,-9.8,0" elasticityCoef="0.3"/>'
    for number in range(12)
)
text = f"""<?xml version="1.0" encoding="utf-8"?>
<config><camera rad="20" pitch="-15"/><objects>
<tile pos="0,0,0" length="30" width="30" elasticityCoef="0.4"/>
<sphere pos="0,2,8" radius="1.2" mass="8" vel="0,3,-14"
        acceleration="0,-9.8,0" elasticityCoef="0.4"/>
{capsules}
</objects></config>"""
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "wall.xml"
    path.write_text(text)
    scene = choque.scene.find_bodies(path)
print(f"{scene.name}: {len(scene)} bodies at {scene.steps_per_second} steps a second")

# %%
# Two sets of rules on the same scene: those of Fingsics, and exact ones.
courses = {}
for name, world in {
    "Fingsics": fingsics.world(scene, broad="sap-obb"),
    "exact": scene.world(broad="sap-obb"),
}.items():
    contacts = 0
    positions = [world.bodies.position.copy()]
    for _ in range(90):
        contacts += world.step(scene.dt).contacts
        positions.append(world.bodies.position.copy())
    courses[name] = np.array(positions)
    print(
        f"{name}: {contacts} contacts in {world.frame} frames, "
        f"in {world.bodies.position.dtype}"
    )

# %%
# Where the bodies went, seen from the side: the ball (red) comes from the right.
plt.rcParams.update(SETTINGS)
figure, panels = plt.subplots(
    1, 2, figsize=(8, 3.2), layout="constrained", sharex=True, sharey=True
)
for axes, (name, course) in zip(panels, courses.items(), strict=True):
    axes.plot(course[:, 2:, 2], course[:, 2:, 1], color=COLOURS[2], linewidth=0.8)
    axes.plot(course[:, 1, 2], course[:, 1, 1], color=COLOURS[1], linewidth=2)
    axes.plot(*course[-1, 1:, [2, 1]], "o", color=COLOURS[0], markersize=3)
    axes.axhline(0, color=COLOURS[0])
    axes.set(title=name, xlabel="z", ylabel="y")
plt.show()
