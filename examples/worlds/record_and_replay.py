"""
Record, replay, verify
======================

A run is recorded while it is simulated, replayed in any order without simulating, and
verified to repeat to the last bit.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab.style import COLOURS, SETTINGS
from choque.theses.fingsics.totals import Totals

# %%
# A ball rolls into ten pins; one observer of the run records it, another sums up
# events.
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "bowling.choque"
scene = choque.scene.read("bowling")
run = choque.studio.Run(scene.world(broad="sap-obb"), dt=scene.dt)
totals = Totals()
with choque.record.Recorder(
    path, run.world, scene=scene.name, camera=scene.camera
) as recorder:
    run.observers += [recorder, totals]
    run.step(180)
print(
    f"{recorder.frame_count} frames, "
    f"{totals.contacts} contacts, {path.stat().st_size:,} bytes"
)
# sphinx_gallery_thumbnail_path = 'images/studio_recording.png'

# %%
# Any frame, in any order.
recording = choque.record.Recording(path)
replay = choque.record.Replay(recording)
print(
    f"{replay.seek(+60)}, {replay.seek(+600)}, {replay.seek(-1)}: "
    f"the ball is at {replay.poses.position[3].round(2)}"
)
replay.seek_to(180)
assert (replay.poses.position == run.world.bodies.position.astype("float32")).all()

# %%
# The recording holds the initial state and a hash of each frame: the run can be done again,
# with another number of threads, and compared.
found = choque.record.verify(recording, threads=2)
print(found)
assert found.is_equal

# %%
# The alley from above, from light to dark: the ball in red, the pins in blue.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(8, 2.6), layout="constrained")
for index in range(0, 181, 12):
    x, _, z = recording.frame(index).position[3:14].T
    strength = 0.1 + 0.7 * index / 180
    colours = [COLOURS[1], *[COLOURS[2]] * (len(x) - 1)]
    axes.scatter(
        x,
        z,
        s=np.r_[110, np.full(len(x) - 1, 30)],
        color=colours,
        alpha=strength,
        linewidths=0,
    )
axes.set(aspect="equal", xlim=(-14, 18), ylim=(-4, 4), yticks=[])
plt.show()
recording.close()
folder.cleanup()
