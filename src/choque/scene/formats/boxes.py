"""Files of boxes as scenes: of many frames, memory-mapped, or of one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from choque.files import FrameStore, open_boxes, read_boxes
from choque.scene.box_scene import BoxScene
from choque.scene.files import SceneFormat


def read_frames(path: Path) -> BoxScene:
    """Return the scene in a file of many frames, memory-mapped."""
    return _scene(open_boxes(path))


def read_single_frame(path: Path) -> BoxScene:
    """Return a file of boxes as a scene of one frame."""
    lower, upper = read_boxes(path)
    return _scene(FrameStore(path.stem, lower[np.newaxis], upper[np.newaxis]))


FRAMES, SINGLE_FRAME = SceneFormat(read_frames), SceneFormat(read_single_frame)


def _scene(store: FrameStore) -> BoxScene:
    return BoxScene(store.name, store.box_count, store.dimension, store.frame_count, store.dtype, motion=store)
