"""The coding of poses: bit for bit, and small for what rests or coasts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from choque.errors import UnreadableFile
from choque.record._chunks import BYTES_PER_POSE, decode, encode  # the coding of poses, bit for bit

SHAPES = st.tuples(st.integers(1, 7), st.integers(0, 5))


@settings(max_examples=60, deadline=None)
@given(st.data(), SHAPES)
def test_every_bit_comes_back(data: st.DataObject, shape: tuple[int, int]) -> None:
    """Any bits at all: NaN payloads, infinities and −0.0 among them."""
    bits = data.draw(arrays.arrays(np.uint32, (*shape, 12), elements=st.integers(0, 2**32 - 1)))
    position, rotation = bits[..., :3].copy().view("f4"), bits[..., 3:].copy().view("f4").reshape(*shape, 3, 3)
    found = decode(encode(position, rotation), *shape)
    assert np.array_equal(found[0].view(np.uint32), position.view(np.uint32))
    assert np.array_equal(found[1].view(np.uint32), rotation.view(np.uint32))


def test_rest_costs_next_to_nothing_and_coasting_little() -> None:
    random = np.random.default_rng(0)
    start, velocity = random.uniform(-20, 20, (2000, 3)), random.uniform(-5, 5, (2000, 3))
    turn = np.broadcast_to(np.eye(3, dtype="f4"), (30, 2000, 3, 3))
    resting = encode(np.broadcast_to(start.astype("f4"), (30, 2000, 3)).copy(), turn)
    coasting = encode(np.stack([start + k * velocity / 60 for k in range(30)]).astype("f4"), turn)
    whole = 30 * 2000 * BYTES_PER_POSE
    assert len(resting) < whole / 90  # little more than the first frame
    assert len(coasting) < whole / 10


@pytest.mark.parametrize("cut", [0, 1, 5, 40, -1])
def test_truncated_bytes_are_refused(cut: int) -> None:
    data = encode(np.ones((3, 4, 3), "f4"), np.ones((3, 4, 3, 3), "f4"))
    with pytest.raises(UnreadableFile):
        decode(data[:cut], 3, 4)
    with pytest.raises(UnreadableFile):
        decode(data + b"\0", 3, 4)
