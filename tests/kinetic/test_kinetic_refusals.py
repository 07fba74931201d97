"""Invalid arguments of sweeps, lists and billiards: one sentence each, and none of NumPy's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from choque.errors import InvalidInput
from choque.kinetic import Sweep
from choque.theses.kinetic import Billiards, SortedList


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: SortedList([0, "a"]), "position"),
        (lambda: Billiards([[0, 0]], [[1, 0]], 1.0).advance(1.0, limit=1.5), "limit is 1.5"),  # type: ignore[arg-type]
        (lambda: Billiards([[0, 0], [1]], [[0, 0]], 1), "position is not a rectangular array"),
        (lambda: Sweep([[0, 0]], [[1, 1]], 0).bounce([[1], [1, 2]], [9, 9]), "lower of the walls"),
    ],
)
def test_arguments(call: Callable[[], object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call()
