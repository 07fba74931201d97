"""A scene of your own: registered by name, baked to disk, read back frame by frame."""

# %% A generator is a function of a request; it says where the boxes are at each frame.
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import choque
from choque.scene import Motion, Request, generator


@dataclass
class Carousel:
    """Boxes on rings that turn, the inner ones faster."""

    radius: np.ndarray
    angle: np.ndarray
    height: np.ndarray

    def frame(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        angle = self.angle + index * 0.1 / self.radius
        center = np.stack((self.radius * np.cos(angle), self.radius * np.sin(angle), self.height), axis=1)
        return center - 0.2, center + 0.2


@generator("carousel")
def carousel(request: Request, *, rings: int = 10) -> Motion:
    random = request.random()
    radius = random.integers(1, rings + 1, request.box_count).astype(float)
    angle = random.random(request.box_count) * 2 * np.pi
    return Carousel(radius, angle, random.random(request.box_count))


# %% Now it is a scene like any other: by name and seed, from Python and in `choque.lab.bench`.
scene = choque.scene.generate("carousel", 2_000, seed=7, frames=30, rings=12)

# %% Baked, every run sees the same boxes. Frames are streamed, and memory-mapped when read.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "carousel.aabbs"
    choque.scene.bake(scene, path)
    print(f"{path.name}: {path.stat().st_size:,} bytes")
    baked = choque.scene.load(path)
    for index in (0, 10, 29):
        pairs = choque.pairs(*baked.frame(index))
        assert np.array_equal(pairs, choque.pairs(*scene.frame(index)))
        print(f"frame {index:2d}: {len(pairs)} pairs")
    choque.files.write_pairs(Path(folder) / "pairs.csv", pairs)
    print((Path(folder) / "pairs.csv").read_text().splitlines()[:3])
    del baked  # the file is mapped as long as the scene is in use
