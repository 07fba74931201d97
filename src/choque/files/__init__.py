"""Files of boxes, moving boxes, pairs, detections and atoms: NumPy, CSV, Parquet, Broadmark, COCO and extended XYZ.

A file is read by its suffix and confirmed by its content; an error is one sentence in a
`choque.errors.UnreadableFile`. A file is written next to its target and then replaces it, so a reader never meets
half a file. Modules of this package read and write further formats: `meshes`, `scans`.
"""

from __future__ import annotations

from choque.files.box_arrays import FrameStore
from choque.files.boxes import open_boxes, read_boxes, write_boxes, write_pairs
from choque.files.detections import Detections, read_detections
from choque.files.xyz import read_atoms

__all__ = [
    "Detections",
    "FrameStore",
    "open_boxes",
    "read_atoms",
    "read_boxes",
    "read_detections",
    "write_boxes",
    "write_pairs",
]
