"""Contacts in labelled images: against a loop over all pixels, through a TIFF file, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque.errors import InvalidInput, UnreadableFile
from choque.theses.kinetic import Model, shapes
from choque.theses.kinetic.labels import (
    frame_contacts,
    label_contacts,
    motion,
    outlines,
    read_frames,
    synthetic_stack,
    write_stack,
    write_table,
)


def _by_pixel(frame: Any, height: float, width: float) -> dict[tuple[int, int], float]:
    found: Counter[tuple[int, int]] = Counter()
    for y in range(frame.shape[0]):
        for x in range(frame.shape[1]):
            for v, u, edge in ((y, x + 1, height), (y + 1, x, width)):
                if v < frame.shape[0] and u < frame.shape[1]:
                    a, b = int(frame[y, x]), int(frame[v, u])
                    if a != b and a and b:
                        found[min(a, b), max(a, b)] += edge  # type: ignore[assignment]
    return dict(found)


@given(st.integers(0, 1000), st.sampled_from([np.uint8, np.int64, np.uint32]))
def test_lengths_equal_a_loop_over_pixels(seed: int, dtype: type) -> None:
    random = np.random.default_rng(seed)
    frame = random.integers(0, 5, random.integers(1, 9, 2)).astype(dtype)
    found = frame_contacts(frame, pixel_size=(2.0, 0.5))
    pairs = [tuple(pair) for pair in found.pairs.tolist()]
    assert pairs == sorted(pairs)
    assert dict(zip(pairs, found.lengths.tolist(), strict=True)) == _by_pixel(frame, 2.0, 0.5)


def test_contacts_are_joined_over_consecutive_frames() -> None:
    apart, touching, longer = np.array([[1, 0, 2]] * 2), np.array([[1, 2, 0]] * 2), np.array([[1, 2, 2], [1, 1, 2]])
    found = label_contacts([apart, touching, longer, apart, touching], frame_interval=0.5, pixel_size=(3.0, 3.0))
    assert [(c.first_frame, c.last_frame, c.began, c.ended) for c in found] == [(1, 2, 0.5, 1.0), (4, 4, 2.0, 2.0)]
    assert [(c.first_label, c.second_label, c.mean_length, c.greatest_length) for c in found] == [
        (1, 2, (6 + 9) / 2, 9.0),
        (1, 2, 6.0, 6.0),
    ]
    assert label_contacts([]) == label_contacts([apart]) == []


def test_synthetic_stack_is_the_same_for_a_seed_and_has_contacts() -> None:
    stack = synthetic_stack(frames=4, size=64, objects=9, seed=2)
    assert (stack == synthetic_stack(frames=4, size=64, objects=9, seed=2)).all()
    assert (stack.shape, stack.dtype, int(stack.max())) == ((4, 64, 64), np.uint16, 9)
    found = label_contacts(stack)
    per_frame = [_by_pixel(frame.astype(int), 1.0, 1.0) for frame in stack]
    for number, truth in enumerate(per_frame):
        here = {(c.first_label, c.second_label) for c in found if c.first_frame <= number <= c.last_frame}
        assert here == set(truth)


def test_table_and_stack_through_files(tmp_path: Path) -> None:
    pytest.importorskip("tifffile")
    stack = synthetic_stack(frames=3, size=48, objects=6)
    write_stack(tmp_path / "stack.tif", stack)
    assert [(frame == own).all() for frame, own in zip(read_frames(tmp_path / "stack.tif"), stack, strict=True)] == [
        True
    ] * 3
    found = label_contacts(read_frames(tmp_path / "stack.tif"))
    assert found == label_contacts(stack)
    write_table(tmp_path / "contacts.csv", found)
    lines = (tmp_path / "contacts.csv").read_text().splitlines()
    assert lines[0].startswith("first_label,second_label,first_frame,last_frame,began,ended")
    assert len(lines) == 1 + len(found)


def test_outlines_enclose_the_pixels_and_become_a_model() -> None:
    pytest.importorskip("skimage")
    frame = np.zeros((12, 20), int)
    frame[2:6, 3:9] = 7
    frame[8:11, 15:18] = 3
    traced = outlines(frame)
    assert sorted(traced) == [3, 7]
    assert (traced[7].min(axis=0).tolist(), traced[7].max(axis=0).tolist()) == ([2.5, 1.5], [8.5, 5.5])
    assert abs(shapes.area(traced[7])) == pytest.approx(24, abs=0.5)
    moved = np.roll(frame, 2, axis=1)
    polygons, velocity = motion([frame, moved], pixel_size=(0.5, 0.5), frame_interval=0.25)
    assert list(polygons) == list(traced)
    np.testing.assert_allclose(velocity, [[4.0, 0.0]] * 2)
    model = Model.from_labels([frame, moved], pixel_size=(0.5, 0.5), frame_interval=0.25)
    np.testing.assert_allclose(model.velocity, velocity)
    assert model.frame == ((0.0, 10.0), (0.0, 6.0))
    assert model.interval == (0.0, 0.25)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: label_contacts([np.zeros((3, 3))]), "float64"),
        (lambda: label_contacts([np.zeros((3, 3), int), np.zeros((3, 3), bool)]), "Frame 1 .*bool"),
        (lambda: label_contacts([np.zeros((3, 3), int), np.zeros((3, 4), int)]), "Frame 1 has the shape"),
        (lambda: label_contacts([np.full((3, 3), -1)]), "-1"),
        (lambda: label_contacts([np.zeros(3, int)]), "shape"),
        (lambda: label_contacts([], pixel_size=(0.0, 1.0)), "pixel_size"),
        (lambda: label_contacts([], frame_interval=-1.0), "frame_interval"),
        (lambda: synthetic_stack(objects=0), "objects"),
    ],
)
def test_bad_input_is_named(call: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        call()


def test_stack_of_another_kind_is_one_sentence(tmp_path: Path) -> None:
    tifffile = pytest.importorskip("tifffile")
    (tmp_path / "text.tif").write_text("no image")
    for path, kind in ((tmp_path / "text.tif", UnreadableFile), (tmp_path / "none.tif", UnreadableFile)):
        with pytest.raises(kind):
            list(read_frames(path))
    tifffile.imwrite(tmp_path / "deep.tif", np.zeros((2, 2, 5, 5), np.uint8), photometric="minisblack")
    with pytest.raises(InvalidInput, match="frames, height, width"):
        list(read_frames(tmp_path / "deep.tif"))
