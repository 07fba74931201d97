"""Images as the bytes of a PNG file, without a library."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray


def png_bytes(image: NDArray[np.uint8]) -> bytes:
    """Return the bytes of a PNG file for (height, width, 3) colours."""
    height, width, _ = image.shape
    lines = np.zeros((height, 1 + 3 * width), np.uint8)  # each line starts with 0: no filter
    lines[:, 1:] = image.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", head)
        + _chunk(b"IDAT", zlib.compress(lines.tobytes(), 6))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
