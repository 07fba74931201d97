"""A trace of a run, line by line: each exchange, each certificate that it schedules, each pair that begins or ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from choque.kinetic import Event, Sweep
from choque.kinetic.results import Meeting
from choque.kinetic.structure import Certificate

_AXES = "xyz"


def trace_initial(sweep: Sweep) -> Iterator[str]:
    """Describe the state before the first event."""
    yield f"t={sweep.time:g} start: {len(sweep)} objects, pairs: {_pairs(sweep)}"
    for certificate in sorted(sweep.certificates(), key=lambda each: (each.time, each.axis, each.slot)):
        yield _planned(certificate)


def trace_instant(
    meetings: Sequence[Meeting], events: Sequence[Event], before: Sequence[Certificate], after: Sequence[Certificate]
) -> Iterator[str]:
    """Describe one instant; ``before`` and ``after`` are the certificates by axis and slot."""
    for meeting in meetings:
        kind = "multiple" if meeting.is_multiple else "simple"
        yield f"t={meeting.time:.12g} {kind} event on {_AXES[meeting.axis]}, slots {meeting.first}-{meeting.last}"
        for left, right in meeting.exchanges:
            yield f"  swap {end_name(left)} and {end_name(right)}{_effect(left, right)}"
    for event in events:
        yield f"  pair {event.pair[0]}-{event.pair[1]} {event.kind}"
    known = {(each.axis, each.slot): each.time for each in before}
    for certificate in after:
        if known.get((certificate.axis, certificate.slot)) != certificate.time:
            yield _planned(certificate)


def _planned(certificate: Certificate) -> str:
    slot = certificate.slot
    return f"  planned {_AXES[certificate.axis]} slot {slot}-{slot + 1} at t={certificate.time:.12g}"


def end_name(end: int) -> str:
    """Return an end point as the thesis writes it: p for the lower and q for the upper end of an object."""
    return f"{'pq'[end & 1]}{end >> 1}"


def _effect(left: int, right: int) -> str:
    if (left ^ right) & 1 == 0 or left >> 1 == right >> 1:
        return ""
    return ": they begin to overlap here" if left & 1 else ": they cease to overlap here"


def _pairs(sweep: Sweep) -> str:
    return " ".join(f"{a}-{b}" for a, b in sweep.pairs().tolist()) or "none"
