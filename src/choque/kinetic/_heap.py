"""An indexed binary heap of certificates, as arrays.

Every certificate is in the heap all the time, those that never fail with the time infinity; so a certificate is found
by its number, its time changes in place, and there is never a stale entry. Times lie in heap order, so that the two
children of a place share a cache line. Equal times are ordered by the number of the certificate, which is
axis × slots + slot: ties go by axis, then by slot, and no run depends on how the heap was built.

Guarantees: O(log n) per change of a time, O(n) to build, 16 bytes a certificate.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import helper, inline
from choque._core.types import Index

Numbers: TypeAlias = NDArray[np.int32]
Times: TypeAlias = NDArray[np.float64]


class Queue(NamedTuple):
    """All certificates, the one that fails first at place 0."""

    due: Times
    """The failure time at each place of the heap."""
    heap: Numbers
    """The certificate at each place."""
    place: Numbers
    """The place of each certificate."""


@helper
def rise(queue: Queue, at: Index, certificate: Index, time: float) -> None:
    """Put a certificate at the place ``at``, which is free, or above it where it belongs."""
    due, heap, place = queue
    while at > 0:
        parent = (at - 1) >> 1
        later = due[parent]
        other = heap[parent]
        if not (time < later or (time == later and certificate < other)):
            break
        due[at] = later
        heap[at] = other
        place[other] = at
        at = parent
    due[at] = time
    heap[at] = certificate
    place[certificate] = at


@helper
def sink(queue: Queue, at: Index, certificate: Index, time: float) -> None:
    """Put a certificate at the place ``at``, which is free, or below it where it belongs."""
    due, heap, place = queue
    count = heap.size
    child = 2 * at + 1
    while child < count:
        if child + 1 < count:
            # Without a branch: which of the two is earlier cannot be predicted.
            first, second = due[child], due[child + 1]
            child += (second < first) | ((second == first) & (heap[child + 1] < heap[child]))
        earlier = due[child]
        # Certificates that never fail need no order among themselves.
        if not (earlier < time or (earlier == time and heap[child] < certificate and time < np.inf)):
            break
        other = heap[child]
        due[at] = earlier
        heap[at] = other
        place[other] = at
        at = child
        child = 2 * at + 1
    due[at] = time
    heap[at] = certificate
    place[certificate] = at


@inline
def reschedule(queue: Queue, certificate: Index, time: float) -> None:
    """Give a certificate another failure time."""
    at = queue.place[certificate]
    previous = queue.due[at]
    if time < previous:
        rise(queue, at, certificate, time)
    elif time > previous:
        sink(queue, at, certificate, time)


@helper
def build(queue: Queue) -> None:
    """Make a heap of all certificates, whose failure times are in ``due`` in the order of their numbers."""
    due, heap, place = queue
    for certificate in range(heap.size):
        heap[certificate] = certificate
        place[certificate] = certificate
    for at in range(heap.size // 2 - 1, -1, -1):
        sink(queue, np.int32(at), np.int64(heap[at]), due[at])
