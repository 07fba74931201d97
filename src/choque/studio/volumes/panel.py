"""Panels of the volume view as HTML: answers, times, sources, and the log of events."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from choque.studio.stage.quaternions import angle_and_axis
from choque.studio.volumes.shapes import MAX_CUBES
from choque.volumes.pair import PairAnswer, VolumePair, VolumePart

YES, NO, MAYBE = "#ff6b5e", "#6fcf97", "#f0b357"
_SIGNS = {"models collide": "●", "models apart": "○", "triangles collide": "▲", "triangles apart": "△"}
_COLORS = {"models collide": YES, "models apart": NO, "triangles collide": YES, "triangles apart": MAYBE}


MAX_NOTICES = 200
"""Number of notices that are kept."""


@dataclass(frozen=True)
class Notice:
    """One line of the events panel."""

    kind: Literal["models collide", "models apart", "triangles collide", "triangles apart"]
    shift: NDArray[np.float64]
    """Translation of the moved volume [world]."""
    text: str


@dataclass
class CollisionLog:
    """Notices in the order of time; one for each change of an answer."""

    notices: list[Notice] = field(default_factory=list)
    _models: bool = False
    _triangles: bool | None = None

    def observe(self, answer: PairAnswer, shift: NDArray[np.float64]) -> list[Notice]:
        """Record an answer and return the notices that it adds: of the voxels first, then of the triangles."""
        new = []
        if answer.voxels != self._models:
            new.append(
                Notice("models collide", shift.copy(), "the voxel models collide")
                if answer.voxels
                else Notice("models apart", shift.copy(), "the voxel models are apart")
            )
        if answer.voxels and answer.triangles != self._triangles:
            new.append(
                Notice("triangles collide", shift.copy(), "triangles meet")
                if answer.triangles
                else Notice("triangles apart", shift.copy(), "no triangles meet: " + without_triangles(answer))
            )
        self._models, self._triangles = answer.voxels, answer.triangles
        self.notices = [*self.notices, *new][-MAX_NOTICES:]
        return new


def answer_html(pair: VolumePair, answer: PairAnswer) -> str:
    """Return whether voxels and triangles collide, the size of the intersection, and the time of each test."""
    if not answer.voxels:
        lines = [_answer("Voxel models", "apart", NO), _answer("Triangles", "not tested: the voxels are apart", NO)]
    else:
        meet = f"{len(answer.triangle_pairs):,} pair{'' if len(answer.triangle_pairs) == 1 else 's'} of triangles meet"
        lines = [
            _answer("Voxel models", "collide", YES),
            _answer(
                "Triangles",
                meet if answer.triangles else f"none meet: {without_triangles(answer)}",
                MAYBE if answer.inside is None and not answer.triangles else YES,
            ),
        ]
    if answer.region is not None:
        lines.append(
            _answer(
                "Shared", f"{answer.region.voxel_count:,} voxels, a volume of {answer.region.volume:.4g}", "inherit"
            )
        )
    lines.append(_answer("Moved by", " ".join(f"{value:.4g}" for value in pair.shift), "inherit"))
    lines.append(_answer("Turned by", _rotation_text(pair), "inherit"))
    times = "".join(
        f'<tr><td style="opacity:0.7">{escape(_TESTS[name])}</td>'
        f'<td style="text-align:right;white-space:nowrap">{_duration(seconds)}</td></tr>'
        for name, seconds in answer.seconds.items()
    )
    return _block(
        f'<table style="width:100%;border-spacing:0 0.25em">{"".join(lines)}</table>'
        f'<p style="margin:0.8em 0 0.2em"><b>Time of each test</b></p>'
        f'<table style="width:100%;font-variant-numeric:tabular-nums">{times}</table>'
    )


def log_html(log: CollisionLog) -> str:
    """Return the notices, latest first."""
    if not log.notices:
        return _block('<span style="opacity:0.65">Nothing yet: drag one volume into the other.</span>')
    rows = [
        f'<p style="margin:0.25em 0"><span style="color:{_COLORS[notice.kind]}">{_SIGNS[notice.kind]}</span> '
        f'{escape(notice.text)} <span style="opacity:0.55">at '
        f"{' '.join(f'{value:.3g}' for value in notice.shift)}</span></p>"
        for notice in reversed(log.notices[-40:])
    ]
    return _block("".join(rows))


def part_html(part: VolumePart, color: tuple[int, int, int]) -> str:
    """Return the source of a volume, its voxels and vertices, and the time to make them."""
    volume = part.volume
    spacing = " × ".join(f"{edge:.4g}" for edge in volume.spacing)
    note = ""
    if volume.voxel_count > MAX_CUBES:
        words = f"Above {MAX_CUBES:,} visible cubes, the surface is drawn instead."
        note = f'<br><span style="color:{MAYBE}">{words}</span>'
    return _block(
        f'<span style="color:rgb{color}">■</span> <b>{escape(part.source.name)}</b>, a {part.source.kind}<br>'
        f"{volume.voxel_count:,} voxels of {spacing}<br>{len(volume.model):,} extreme vertices, "
        f"{len(part.mesh.faces):,} triangles<br>made in {_duration(part.seconds)}{note}"
    )


def _rotation_text(pair: VolumePair) -> str:
    """Return the angle, the axis, and the time to make the voxels of the turned volume."""
    part = pair.parts[1]
    if not part.is_turned:
        return "nothing"
    angle, axis = angle_and_axis(part.rotation)
    return f"{np.degrees(angle):.4g}° about {' '.join(f'{each:.2g}' for each in axis)}, in {_duration(part.seconds)}"


_TESTS = {"voxels": "Collision of voxels", "triangles": "Triangles that meet", "region": "Intersection"}


def without_triangles(answer: PairAnswer) -> str:
    """Return how voxels can collide though no triangles meet."""
    if answer.inside is None:
        return "both surfaces cross the same voxels; finer voxels may be apart"
    return ("the first lies inside the second", "the second lies inside the first")[answer.inside]


def _answer(question: str, answer: str, color: str) -> str:
    return (
        f'<tr><td style="opacity:0.7;vertical-align:top;padding-right:0.8em;white-space:nowrap">{escape(question)}</td>'
        f'<td style="color:{color}"><b>{escape(answer)}</b></td></tr>'
    )


def _duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1.0 else f"{seconds:.2f} s"


def _block(content: str) -> str:
    return f'<div style="padding:0.2em 0.8em;font-size:0.88em;line-height:1.4">{content}</div>'
