"""Scenes that are boxes and nothing else, baked so that every method and every run sees the same ones."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from choque.errors import InvalidInput
from choque.files import FrameStore, open_boxes, read_boxes
from choque.files.boxes import FRAME_FORMATS, READERS, write_frames
from choque.scene.loading import loader
from choque.scene.model import BoxScene


def bake(path: str | os.PathLike[str], scene: BoxScene) -> None:
    """Write every frame of ``scene`` to ``path``, Broadmark's ``.aabbs`` (float32) or NumPy's ``.npz``.

    Frames are streamed: memory is that of a few frames, whatever their number. The file appears once it is
    complete.
    """
    if not isinstance(scene, BoxScene):
        raise InvalidInput(f"What is to be written is {scene!r}; give the path first, and then the scene.")
    write_frames(path, scene.frames(), frame_count=scene.frame_count, name=scene.name)


@loader(*FRAME_FORMATS)
def load_frames(path: Path) -> BoxScene:
    """Open a baked scene, memory-mapped."""
    return _scene(open_boxes(path))


@loader(*READERS)
def load_boxes(path: Path) -> BoxScene:
    """Read a file of boxes as a scene of one frame."""
    lower, upper = read_boxes(path)
    return _scene(FrameStore(path.stem, lower[np.newaxis], upper[np.newaxis]))


def _scene(store: FrameStore) -> BoxScene:
    return BoxScene(
        name=store.name,
        box_count=store.box_count,
        dimension=store.dimension,
        frame_count=store.frame_count,
        dtype=store.dtype,
        motion=store,
    )
