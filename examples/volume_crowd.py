"""Many parts in one machine: a broad phase over their boxes, exact collisions for the rest, one of them moving.

python examples/volume_crowd.py
"""

from __future__ import annotations

import numpy as np

from choque.volumes import Body, Scene, phantoms

# %% Two hundred parts of four kinds, strewn over a cube. All translations of a kind share its arrays.
random = np.random.default_rng(7)
kinds = [phantoms.make(name, 24) for name in ("ball", "gyroid", "menger", "screw")]
parts = [kinds[number % 4].translated(random.integers(0, 150, 3)) for number in range(200)]
scene = Scene(parts, method="sap-incremental")
print(f"{len(scene.candidates())} pairs of boxes meet, {len(scene.pairs())} pairs of parts collide")

# %% One part travels through the crowd; a step costs its own box, not the scene.
for step in range(5):
    scene.translate(0, (12, 12, 12))
    hit = sorted({int(other) for pair in scene.pairs() for other in pair if 0 in pair} - {0})
    print(f"step {step}: the traveller touches {hit or 'nothing'}")

# %% Turning is another matter: the voxels are made anew, and the body says what that has cost.
body = Body(scene[3])
for angle in np.linspace(0.2, 1.0, 5):
    body.turn_to((0.0, angle, 0.0))
    scene.move(3, body.volume)
print(f"{body.turn_count} turns took {body.turn_seconds * 1e3:.1f} ms; {len(scene.pairs())} pairs collide now")
