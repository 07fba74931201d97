"""Invalid arguments of sweeps, lists, billiards and labelled images: one sentence each, and none of NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from choque.cli import main
from choque.errors import InvalidInput
from choque.kinetic import Billiards, SortedList, Sweep, Trajectory, contacts, labels


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: contacts(None, 0.0, 1.0), "polygons is None"),  # type: ignore[arg-type]
        (lambda: labels.label_contacts(None), "frames is None"),  # type: ignore[arg-type]
        (lambda: labels.label_contacts("stack.tif"), r"frames is 'stack.tif'.*read_frames"),
        (lambda: labels.label_contacts([[[1, 2], [1]]]), "rows of different lengths"),
        (lambda: labels.outlines([[1]], pixel_size=(1, 2, 3)), "pixel_size"),  # type: ignore[arg-type]
        (lambda: labels.motion([[[1]]], frame_interval=0.0), "frame_interval is 0.0"),
        (lambda: labels.synthetic_stack(frames=1.5), "frames is 1.5"),  # type: ignore[arg-type]
        (lambda: labels.synthetic_stack(seed=-1), "seed is -1"),
        (lambda: labels.write_stack("stack.png", np.zeros((1, 2, 2), np.uint16)), "must end in .tif"),
        (lambda: Billiards([[0, 0]], [[1, 0]], 1.0).advance(1.0, limit=1.5), "limit is 1.5"),  # type: ignore[arg-type]
        (lambda: Billiards([[0, 0], [1]], [[0, 0]], 1), "position is not a rectangular array"),
        (lambda: SortedList([Trajectory("a")]), "not made of numbers"),
        (lambda: SortedList([Trajectory(0), 3]), "mixes trajectories and numbers"),  # type: ignore[list-item]
        (lambda: Sweep([[0, 0]], [[1, 1]], 0).bounce([[1], [1, 2]], [9, 9]), "lower of the walls"),
    ],
)
def test_arguments(call: Callable[[], object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call()


def test_one_number_is_the_size_of_a_square_pixel() -> None:
    stack = [[[1, 1, 2, 2], [1, 1, 2, 2]]]
    (alone,) = labels.label_contacts(stack, pixel_size=0.5)
    assert (alone,) == tuple(labels.label_contacts(stack, pixel_size=(0.5, 0.5)))
    assert alone.greatest_length == 1.0


def test_a_stack_without_contacts_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tifffile")
    labels.write_stack(tmp_path / "apart.tif", np.array([[[1, 0, 2]]], np.uint16))
    assert main(["kinetic", "from-labels", str(tmp_path / "apart.tif")]) == 0
    assert capsys.readouterr().out == "No two objects touch in any frame.\n"
