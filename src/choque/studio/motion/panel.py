"""The sorted lists, the certificates and the queue as HTML, for the panel beside the moving polygons."""

from __future__ import annotations

from html import escape

import numpy as np

from choque.studio.motion.player import Instant
from choque.studio.motion.state import AXIS_NAMES, AxisList, MotionState
from choque.studio.motion.words import describe_instant, explain_next, short_effect
from choque.theses.kinetic.trace import end_name

LOWER, UPPER, NEXT, LATEST = "#6fb1ff", "#f0b357", "#ff7b5c", "#2f6f4f"
"""Colors of lower ends, upper ends, the next certificate, and the background of the latest exchange."""

ROWS_SHOWN = 26
"""Maximum number of rows of each list, around the next event."""

_TABLE = 'style="border-collapse:collapse;width:100%;font-size:0.86em;font-variant-numeric:tabular-nums"'
_HEAD = 'style="text-align:right;font-weight:normal;opacity:0.65;padding:0 0.35em 0.2em"'
_CELL = 'style="text-align:right;padding:0.06em 0.35em;white-space:nowrap"'


def why_html(state: MotionState, latest: Instant | None) -> str:
    """Return the next event with its reason, and the latest one."""
    words = [f"<b>Next</b><br>{escape(explain_next(state))}"]
    if latest is not None:
        description = "<br>".join(escape(line) for line in describe_instant(latest)) or "a body turned back"
        words.append(f'<b>Just now, at t = {latest.time:.6g}</b><br><span style="color:#8fd6ae">{description}</span>')
    return _block("".join(f'<p style="margin:0.3em 0">{part}</p>' for part in words))


def queue_html(state: MotionState) -> str:
    """Return the next events of the queue, the first one on top."""
    if not state.queue:
        return _block("The queue is empty.")
    rows = [
        f'<tr style="{"color:" + NEXT if planned.time == state.queue[0].time else ""}">'
        f"<td {_CELL}>{planned.time:.4f}</td><td {_CELL}>{AXIS_NAMES[planned.axis]}</td>"
        f"<td {_CELL}>{_colored(planned.left)} {_colored(planned.right)}</td>"
        f'<td style="padding-left:0.5em">{escape(short_effect(planned))}</td></tr>'
        for planned in state.queue
    ]
    left = state.queue_length - len(state.queue)
    more = f'<p style="opacity:0.65;margin:0.3em 0">and {left:,} more</p>' if left else ""
    head = f"<tr><th {_HEAD}>time</th><th {_HEAD}>axis</th><th {_HEAD}>ends</th>" + (
        '<th style="text-align:left;font-weight:normal;opacity:0.65;padding-left:0.5em">then</th></tr>'
    )
    return _block(f"<table {_TABLE}>{head}{''.join(rows)}</table>{more}")


def lists_html(state: MotionState, latest: Instant | None) -> str:
    """Return both sorted lists side by side: end point, position, and when its certificate with the next one fails."""
    columns = "".join(
        f'<div style="flex:1;min-width:0">{_list_table(line, state, latest)}</div>' for line in state.lists
    )
    legend = (
        f'<p style="margin:0 0 0.5em;opacity:0.85"><span style="color:{LOWER}">p lower end</span>, '
        f'<span style="color:{UPPER}">q upper end</span>; <i>fails</i>: when it reaches the one below</p>'
    )
    return _block(f'{legend}<div style="display:flex;gap:0.8em">{columns}</div>')


def _list_table(line: AxisList, state: MotionState, latest: Instant | None) -> str:
    following = {planned.slot for planned in state.queue if planned.axis == line.axis} if state.queue else set()
    first_due = state.queue[0].time if state.queue else np.inf
    exchanged: set[int] = set()
    if latest is not None:
        for meeting in latest.meetings:
            if meeting.axis == line.axis:
                exchanged.update(range(meeting.first, meeting.last + 1))
    begin, end = shown_rows(len(line.ends), min(exchanged or following, default=0))
    rows = []
    for slot in range(begin, end):
        due = float(line.due[slot])
        fails = f"{due:.3f}" if np.isfinite(due) else "·"
        color = f"color:{NEXT};font-weight:bold" if due == first_due else ""
        back = f"background:{LATEST}" if slot in exchanged else ""
        rows.append(
            f'<tr style="{back}"><td {_CELL}>{_colored(int(line.ends[slot]))}</td>'
            f'<td {_CELL}>{line.position[slot]:.3f}</td><td {_CELL}><span style="{color}">{fails}</span></td></tr>'
        )
    hidden = len(line.ends) - (end - begin)
    note = f'<p style="opacity:0.65;margin:0.2em 0">{hidden:,} more not shown</p>' if hidden else ""
    head = f"<tr><th {_HEAD}>{AXIS_NAMES[line.axis]}</th><th {_HEAD}>at</th><th {_HEAD}>fails</th></tr>"
    return f"<table {_TABLE}>{head}{''.join(rows)}</table>{note}"


def shown_rows(count: int, middle: int) -> tuple[int, int]:
    """Return the range of rows of a list of ``count`` that are shown: at most `ROWS_SHOWN`, including ``middle``."""
    begin = min(max(middle - ROWS_SHOWN // 2, 0), max(count - ROWS_SHOWN, 0))
    return begin, min(begin + ROWS_SHOWN, count)


def _colored(end: int) -> str:
    return f'<b style="color:{UPPER if end & 1 else LOWER}">{end_name(end)}</b>'


def _block(content: str) -> str:
    return f'<div style="padding:0.2em 0.8em;font-size:0.88em;line-height:1.35">{content}</div>'
