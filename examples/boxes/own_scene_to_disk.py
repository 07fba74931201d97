"""
Your own scene, written and read
================================

Registered by name, baked into a file that other programs read too, and read back frame by
frame.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab.style import SETTINGS

# %%
# A generator is a function of a request; what it returns says where the boxes are at each
# frame.


@dataclass
class Carousel:
    """Boxes on rings that turn, the inner ones faster."""

    radius: np.ndarray
    angle: np.ndarray

    def frame(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        angle = self.angle + index * 0.3 / self.radius
        center = np.stack(
            (self.radius * np.cos(angle), self.radius * np.sin(angle), 0 * angle), axis=1
        )
        return center - 0.1, center + 0.1


@choque.scene.generator("carousel")
def carousel(request: choque.scene.Request, *, rings: int = 10) -> Carousel:
    random = request.random()
    radius = random.integers(1, rings + 1, request.box_count).astype(float)
    return Carousel(radius, random.random(request.box_count) * 2 * np.pi)


# %%
# From now on it is available by name and seed, also for benchmarks.
scene = choque.scene.generate("carousel", 300, seed=7, frames=20, rings=10)

# %%
# Baked, every run sees the same boxes. Frames are streamed to disk, and memory-mapped when
# read.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "carousel.aabbs"
    choque.scene.write(path, scene)
    baked = choque.scene.read(path)
    print(f"{path.name}: {path.stat().st_size:,} bytes, {baked.frame_count} frames")
    assert np.array_equal(choque.pairs(*baked.frame(10)), choque.pairs(*scene.frame(10)))
    choque.files.write_pairs(Path(folder) / "pairs.csv", choque.pairs(*baked.frame(10)))
    print((Path(folder) / "pairs.csv").read_text().splitlines()[:3])
    del baked  # the file is mapped as long as the scene is in use

# %%
# Where the boxes go.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
for index in range(scene.frame_count):
    x, y, _ = scene.frame(index)[0].T + 0.1
    axes.scatter(x, y, s=4, color=plt.cm.viridis(index / scene.frame_count), linewidths=0)
axes.set(aspect="equal", title="Twenty frames, from dark to bright")
axes.axis("off")
plt.show()
