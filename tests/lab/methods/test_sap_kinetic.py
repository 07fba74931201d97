"""`sap-kinetic` passes the public conformance suite and counts what it does."""

from __future__ import annotations

import numpy as np
import pytest

from choque.bounds import Boxes
from choque.broad import create
from choque.lab.methods.sap_kinetic import SapKinetic
from choque.testing import broad_phase_checks

CHECKS = dict(broad_phase_checks())


@pytest.mark.parametrize("check", CHECKS)
def test_sap_kinetic_passes_check(check: str, thorough: bool) -> None:
    CHECKS[check](SapKinetic, thorough=thorough)


def test_exchanges_and_events_are_counted() -> None:
    broad = create(SapKinetic, Boxes([[0, 0], [4, 0]], [[1, 1], [5, 1]]))
    broad.update(Boxes([[8, 0], [4, 0]], [[9, 1], [5, 1]]))
    assert broad.pairs().tolist() == []
    assert broad.counters.exchanges == 4  # on X each end passes each end
    assert broad.counters.events == 3  # at 3/8, 4/8 (two meetings) and 5/8


def test_a_body_that_passes_through_another_leaves_no_trace() -> None:
    broad = create(SapKinetic, Boxes([[0, 0], [4, 0]], [[1, 1], [5, 1]]))
    broad.update(Boxes([[8, 0], [4, 0]], [[9, 1], [5, 1]]))
    assert len(broad.began) == len(broad.ended) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_updates_between_random_states_are_exact(dtype: type) -> None:
    random = np.random.default_rng(2)
    broad = create(SapKinetic, _random_boxes(random, dtype), closed=False)
    for _ in range(5):
        boxes = _random_boxes(random, dtype)
        broad.update(boxes)
        assert broad.pairs().tolist() == create(SapKinetic, boxes, closed=False).pairs().tolist()


def _random_boxes(random: np.random.Generator, dtype: type) -> Boxes:
    lower = random.random((60, 3)).astype(dtype)
    return Boxes(lower, lower + random.random((60, 3)).astype(dtype) / 4)
