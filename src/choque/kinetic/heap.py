"""An indexed binary heap of certificates, as arrays.

Every certificate is always in the heap, those that never fail with the time infinity. So a certificate is found by its
number, its time changes in place, and there are no stale entries. Times are stored in heap order: the two children of a
place share a cache line. Equal times are ordered by the number of the certificate, axis × slots + slot: ties go by
axis, then by slot, and no result depends on how the heap was built.

Guarantees: O(log n) for a change of a time, O(n) to build, 16 bytes for each certificate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from choque._core.kernel import forceinline, helper
from choque._core.types import F64, I32, Integer


class Queue(NamedTuple):
    """All certificates; the one that fails first is at place 0."""

    due: F64  # the failure time at each place of the heap
    heap: I32  # the certificate at each place
    place: I32  # the place of each certificate


@helper
def rise(queue: Queue, at: Integer, certificate: Integer, time: float) -> None:
    """Put a certificate at the free place ``at``, or at a place above it, as its time requires."""
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
def sink(queue: Queue, at: Integer, certificate: Integer, time: float) -> None:
    """Put a certificate at the free place ``at``, or at a place below it, as its time requires."""
    due, heap, place = queue
    count = heap.size
    child = 2 * at + 1
    while child < count:
        if child + 1 < count:
            # No branch: which of the two is earlier is unpredictable.
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


@forceinline
def reschedule(queue: Queue, certificate: Integer, time: float) -> None:
    """Change the failure time of a certificate."""
    at = queue.place[certificate]
    previous = queue.due[at]
    if time < previous:
        rise(queue, at, certificate, time)
    elif time > previous:
        sink(queue, at, certificate, time)


@helper
def build(queue: Queue) -> None:
    """Make a heap of all certificates, whose failure times are in ``due`` by number."""
    due, heap, place = queue
    for certificate in range(heap.size):
        heap[certificate] = certificate
        place[certificate] = certificate
    for at in range(heap.size // 2 - 1, -1, -1):
        sink(queue, np.int32(at), np.int64(heap[at]), due[at])
