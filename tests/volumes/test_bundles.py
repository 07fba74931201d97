"""Bundles of sections hold what their four rows hold, and change no answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choque.lab import phantoms
from choque.theses.evm.baselines import DenseMask
from choque.volumes import ExtremeVertices, Volume, _bundles, collision  # that bundles leave a case undecided
from choque.volumes._bundles import bundled  # against masks; no answer shows them
from choque.volumes._sections import paint  # bundles as a mask
from choque.volumes.collision import search


def rows_of_two(mask: np.ndarray) -> np.ndarray:
    """A voxel wherever one of the four rows of its bundle along z has one."""
    even = np.pad(mask, [(0, mask.shape[0] % 2), (0, mask.shape[1] % 2), (0, 0)])
    blocks = even.reshape(even.shape[0] // 2, 2, even.shape[1] // 2, 2, -1).any(axis=(1, 3))
    return blocks.repeat(2, axis=0).repeat(2, axis=1)


@given(
    st.tuples(*(st.integers(1, 9),) * 3), st.sampled_from((0.05, 0.3, 0.7)), st.integers(0, 10_000), st.integers(1, 3)
)
@settings(max_examples=60)
def test_a_bundle_holds_what_its_rows_hold(shape: tuple[int, int, int], share: float, seed: int, enlarged: int) -> None:
    """F-003-46: thick slabs and strips, empty ones, odd and even coordinates."""
    mask = np.random.default_rng(seed).random(shape) < share
    mask = mask.repeat(enlarged, axis=0).repeat(enlarged, axis=1)
    mask[0, 0, 0] = True  # the box starts at 0, so that bundles start where those of the mask do
    found = bundled(ExtremeVertices.from_mask(mask).sections("xyz"))
    wanted = rows_of_two(mask)
    painted = np.zeros(wanted.shape, np.bool_)
    paint(found, np.zeros(3, np.int64), painted)
    np.testing.assert_array_equal(painted, wanted)
    assert (found.slabs[:, 0] % 2 == 0).all()
    filled = wanted.any(axis=(1, 2))
    for number in range(len(found.slabs) - 1):
        if filled[found.slabs[number, 0]]:
            section = np.flatnonzero(wanted[found.slabs[number, 0]].any(axis=0))
            assert found.slabs[number, 2:].tolist() == [section[0], section[-1] + 1]


def test_bundles_change_no_answer(monkeypatch: pytest.MonkeyPatch, thorough: bool) -> None:
    """F-003-46: random blocks in random placements, as the masks say; the witness lies in both."""
    monkeypatch.setattr(collision, "BUNDLE_FROM", 0)
    monkeypatch.setattr(collision, "PROBES", np.empty(0, np.int64))
    random = np.random.default_rng(0)
    hits = 0
    for _ in range(4000 if thorough else 400):
        one, two = (random.random(tuple(random.integers(1, 9, 3))) < random.choice((0.03, 0.2, 0.5)) for _ in range(2))
        shift = tuple(int(step) for step in random.integers(-4, 5, 3))
        left, right = ExtremeVertices.from_mask(one), ExtremeVertices.from_mask(two)
        found = search(left, right, shift, axis=str(random.choice(["x", "y", "z"])))
        assert (found.overlap is not None) == DenseMask(one).collides(DenseMask(two), shift)
        if found.overlap is not None:
            hits += 1
            shared = [slice(low, high) for low, high in zip(*found.overlap, strict=True)]
            moved = [slice(part.start - step, part.stop - step) for part, step in zip(shared, shift, strict=True)]
            assert one[tuple(shared)].size > 0
            assert one[tuple(shared)].all()
            assert two[tuple(moved)].all()
    assert hits > 20


def test_surfaces_beside_each_other_are_distinguished_by_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    """F-003-46: a gyroid and one of its channels, a few voxels apart everywhere: a quarter of the brinks."""
    monkeypatch.setattr(collision, "BUNDLE_FROM", 1 << 40)
    one = Volume.from_voxels(phantoms.gyroid(96, periods=1.0, thickness=0.3))
    two = Volume.from_voxels(phantoms.gyroid_channel(96, periods=1.0, beyond=0.5))
    plain = search(one.model, two.model, (0, 0, 0))
    monkeypatch.setattr(collision, "BUNDLE_FROM", 0)
    quick = search(one.model, two.model, (0, 0, 0))
    assert plain.overlap is None
    assert quick.overlap is None
    assert quick.brinks < 0.4 * plain.brinks


def test_bundles_that_do_not_help_are_given_up() -> None:
    """F-003-46: interlocked blocks, where every bundle meets one: the sections decide."""
    mask = np.indices((24, 24, 24)).sum(axis=0) % 2 == 0
    one, two = ExtremeVertices.from_mask(mask), ExtremeVertices.from_mask(~mask)
    found = np.zeros(8, np.int64)
    bundles = one.bundles("xyz").arrays, two.bundles("xyz").arrays
    sections = one.sections("xyz").arrays, two.sections("xyz").arrays
    answer = _bundles.bundles_overlap(*bundles, *sections, (0, 0, 0), found)
    assert answer == _bundles.UNDECIDED
    assert search(one, two, (0, 0, 0)).overlap is None
    assert search(one, two, (1, 0, 0)).overlap is not None
