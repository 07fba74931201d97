"""Poses of several frames as few bytes, and back, bit for bit.

A body that coasts moves by the same step in each frame. So a number is predicted from the two frames before it, and
what is kept is by how many floats the prediction was off: the floats are numbered in their order, the differences
are whole numbers that wrap, and nothing is ever rounded. Small differences have zeros in their high bytes, which are
gathered into planes of their own (byte shuffling) and packed. Bodies that rest for a whole chunk cost one bit.

Guarantee: ``decode(encode(x)) == x`` in every bit, also of −0.0, infinities and NaN payloads. Time and memory are
linear in the number of poses; working memory is a twelfth of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque.record._planes import Unpacker, pack

Poses32 = NDArray[np.float32]
Whole = NDArray[np.uint32]

BYTES_PER_POSE = 48
"""A position and a rotation matrix of float32: twelve numbers, as in the recordings of the original."""

_BYTE_PLANES = 4


def encode(position: Poses32, rotation: Poses32) -> bytes:
    """Pack ``position`` (k, n, 3) and ``rotation`` (k, n, 3, 3), k >= 1."""
    frame_count, body_count = position.shape[:2]
    return _encode_numbers(position) + _encode_numbers(rotation.reshape(frame_count, body_count, 9))


def decode(data: bytes | memoryview, frame_count: int, body_count: int) -> tuple[Poses32, Poses32]:
    """Undo `encode`: positions (k, n, 3) and rotations (k, n, 3, 3)."""
    source = Unpacker(data)
    position = _decode_numbers(source, frame_count, body_count, 3)
    rotation = _decode_numbers(source, frame_count, body_count, 9)
    source.finish()
    return position, rotation.reshape(frame_count, body_count, 3, 3)


def _encode_numbers(values: Poses32) -> bytes:
    """Pack (k, n, c) numbers: the first frame, who moves afterwards, and how each of these moves."""
    from choque.record._poses_kernels import find_movers, split_surprises

    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    moves = np.zeros(bits.shape[1], np.uint8)
    find_movers(bits, moves)
    movers = np.flatnonzero(moves)
    parts = [pack(_planes(bits[0])), pack(np.packbits(moves))]
    planes = np.empty((_BYTE_PLANES, len(movers) * (len(bits) - 1)), np.uint8)
    for column in range(bits.shape[2]):
        split_surprises(bits, movers, column, planes)
        parts += [pack(plane) for plane in planes]
    return b"".join(parts)


def _decode_numbers(source: Unpacker, frame_count: int, body_count: int, columns: int) -> Poses32:
    from choque.record._poses_kernels import join_surprises

    numbers = body_count * columns
    first = _joined(source.take(_BYTE_PLANES * numbers), numbers).reshape(body_count, columns)
    movers = np.flatnonzero(np.unpackbits(source.take((body_count + 7) // 8), count=body_count))
    bits = np.empty((frame_count, body_count, columns), np.uint32)
    bits[:] = first
    planes = np.empty((_BYTE_PLANES, len(movers) * (frame_count - 1)), np.uint8)
    for column in range(columns):
        for plane in planes:
            plane[:] = source.take(plane.size)
        join_surprises(bits, movers, column, planes)
    return bits.view(np.float32)


def _planes(numbers: Whole) -> NDArray[np.uint8]:
    """Gather the lowest bytes of all ``numbers``, then the next …: (4, count)."""
    flat = np.ascontiguousarray(numbers, dtype="<u4").reshape(-1)
    return np.ascontiguousarray(flat.view(np.uint8).reshape(-1, _BYTE_PLANES).T)


def _joined(planes: NDArray[np.uint8], count: int) -> Whole:
    """Undo `_planes`."""
    return np.ascontiguousarray(planes.reshape(_BYTE_PLANES, count).T).view("<u4").reshape(-1).astype(np.uint32)
