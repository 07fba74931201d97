"""Explanations of events in words: why the next one happens and what it does."""

from __future__ import annotations

from choque.studio.motion.player import Instant
from choque.studio.motion.state import AXIS_NAMES, MotionState, Planned
from choque.theses.kinetic.trace import end_name

END_WORDS = ("lower", "upper")


def explain_next(state: MotionState) -> str:
    """Explain which certificate fails next, when, why, and what it changes."""
    if not state.queue:
        return "Nothing more will happen: no certificate fails before the end."
    planned = state.queue[0]
    together = [other for other in state.queue if other.time == planned.time]
    line = state.lists[planned.axis]
    gap = float(line.position[planned.slot + 1] - line.position[planned.slot])
    wait = planned.time - state.time
    meet = (
        f"{end_name(planned.left)} ({_end_words(planned.left)}) is {_number(gap)} behind "
        f"{end_name(planned.right)} ({_end_words(planned.right)}) on {AXIS_NAMES[planned.axis]} and comes nearer at "
        f"{_number(planned.closing_speed)} a second: {_number(gap)} ÷ {_number(planned.closing_speed)} = "
        f"{_number(wait)} from now, at t = {_number(planned.time)}."
    )
    others = f" {len(together) - 1} more at the same time." if len(together) > 1 else ""
    return f"{meet} {effect_sentence(planned)}{others}"


def effect_sentence(planned: Planned) -> str:
    """Explain what an exchange changes for its two objects."""
    axis, other = AXIS_NAMES[planned.axis], AXIS_NAMES[1 - planned.axis]
    one, two = planned.objects
    if planned.effect == 0:
        kind = "upper" if planned.left & 1 else "lower"
        return f"Two {kind} ends change places: no overlap begins or ends."
    if planned.effect > 0:
        if planned.overlaps_elsewhere:
            return f"Objects {one} and {two} then overlap on {axis}, and on {other} they do now: the pair begins."
        return f"Objects {one} and {two} then overlap on {axis}, but on {other} they do not now: no pair."
    if planned.overlaps_elsewhere:
        return f"Objects {one} and {two} then no longer overlap on {axis}: the pair ends."
    return f"Objects {one} and {two} then no longer overlap on {axis}; they were no pair, as {other} keeps them apart."


def describe_instant(instant: Instant) -> list[str]:
    """Describe an event: each meeting, then each pair that began or ended."""
    lines = []
    for meeting in instant.meetings:
        kind = f"multiple meeting of {len(meeting.after)}" if meeting.is_multiple else "exchange"
        before = " ".join(map(end_name, meeting.before))
        after = " ".join(map(end_name, meeting.after))
        lines.append(f"{AXIS_NAMES[meeting.axis]}: {kind}, {before} → {after}")
    lines += [f"pair {event.pair[0]}-{event.pair[1]} {event.kind}" for event in instant.events]
    return lines


def short_effect(planned: Planned) -> str:
    """Return the effect of an exchange on its axis in a few words, for a table."""
    one, two = planned.objects
    if planned.effect == 0:
        return "order only"
    return f"{one} and {two} {'meet' if planned.effect > 0 else 'part'} on {AXIS_NAMES[planned.axis]}"


def _end_words(end: int) -> str:
    return f"{END_WORDS[end & 1]} end of {end >> 1}"


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")
