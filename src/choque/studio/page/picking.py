"""The body under the mouse, and the description of the selected body."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.narrow.shapes import CAPSULE, CONVEX, KIND_NAMES, SPHERE, TILE
from choque.studio.page.findings import Findings
from choque.studio.page.overlays import Options, area_members
from choque.world import Bodies

MAX_LISTED = 12
"""How many ids of other bodies are listed."""

Vector = NDArray[np.float64]


def body_on_ray(bodies: Bodies, origin: Vector, direction: Vector) -> int | None:
    """Return the row of the first drawn body that a ray hits, or None; ground planes cannot be selected."""
    along = np.asarray(direction, np.float64) / np.linalg.norm(direction)
    start = np.asarray(origin, np.float64)
    distance = np.full(len(bodies), np.inf)
    for kind, meet in ((SPHERE, _spheres), (CAPSULE, _capsules), (TILE, _tiles), (CONVEX, _hulls)):
        rows = np.flatnonzero(bodies.drawn & (bodies.kind == kind))
        if len(rows):
            distance[rows] = meet(bodies, rows, start, along)
    first = int(distance.argmin()) if len(distance) else -1
    return first if first >= 0 and np.isfinite(distance[first]) else None


def about_body(findings: Findings, options: Options, row: int) -> str:
    """Return the state of a body, its pairs and the members of its area, as HTML."""
    bodies = findings.bodies
    lines = [
        ("Kind", _kind(bodies, row)),
        ("Position", _vector(bodies.position[row])),
        ("Velocity", f"{_vector(bodies.velocity[row])} (speed {findings.speed[row]:.3f})"),
        ("Angular velocity", _vector(bodies.angular_velocity[row])),
        ("Mass", "infinite (static)" if bodies.static[row] else f"{bodies.mass[row]:.4g}"),
        ("Restitution", f"{bodies.elasticity[row]:.3g}"),
        ("Candidates", _names(bodies, findings.partners(row))),
        ("Touches", _names(bodies, findings.touching(row))),
    ]
    if findings.is_bounded[row] and not bodies.static[row]:
        lines.append((f"In its area (×{options.area:g})", _names(bodies, area_members(findings, options, row))))
    cells = "".join(
        f'<tr><td style="padding-right:0.8em;vertical-align:top;opacity:0.7">{name}</td><td>{escape(value)}</td></tr>'
        for name, value in lines
    )
    return f"<b>Body {bodies.ids[row]}</b><table>{cells}</table>"


def _kind(bodies: Bodies, row: int) -> str:
    kind, size = int(bodies.kind[row]), bodies.size[row]
    if kind == SPHERE:
        return f"sphere, radius {size[0]:.3g}"
    if kind == CAPSULE:
        return f"{'rocket' if bodies.rocket[row] else 'capsule'}, radius {size[0]:.3g}, length {size[1]:.3g}"
    if kind == TILE:
        return f"tile, {size[0]:.3g} by {size[1]:.3g}"
    return KIND_NAMES[kind]


def _vector(values: NDArray[np.floating[Any]]) -> str:
    return ", ".join(f"{value:.3f}" for value in values.tolist())


def _names(bodies: Bodies, rows: NDArray[np.integer[Any]]) -> str:
    if not len(rows):
        return "none"
    named = ", ".join(str(identity) for identity in bodies.ids[rows[:MAX_LISTED]].tolist())
    more = f" and {len(rows) - MAX_LISTED:,} more" if len(rows) > MAX_LISTED else ""
    return f"{len(rows):,}: {named}{more}"


def _spheres(bodies: Bodies, rows: NDArray[np.intp], start: Vector, along: Vector) -> Vector:
    return _round(bodies.position[rows].astype(np.float64), bodies.size[rows, 0].astype(np.float64), start, along)


def _round(center: Vector, radius: Vector, start: Vector, along: Vector) -> Vector:
    """Return the distances at which the ray enters spheres; infinity for a miss."""
    away = center - start
    middle = away @ along
    inside = radius**2 - ((away - middle[:, None] * along) ** 2).sum(axis=1)
    enters = middle - np.sqrt(np.maximum(inside, 0.0))
    return np.where((inside >= 0) & (enters > 0), enters, np.inf)


def _capsules(bodies: Bodies, rows: NDArray[np.intp], start: Vector, along: Vector) -> Vector:
    """Intersect both end spheres and the cylinder between them."""
    center, radius = bodies.position[rows].astype(np.float64), bodies.size[rows, 0].astype(np.float64)
    axis, half = bodies.rotation[rows, :, 2].astype(np.float64), bodies.size[rows, 1].astype(np.float64) / 2
    ends = [_round(center + sign * half[:, None] * axis, radius, start, along) for sign in (-1, 1)]
    away = start - center
    slope, rise = axis @ along, np.einsum("ni,ni->n", away, axis)
    across = along - slope[:, None] * axis
    beside = away - rise[:, None] * axis
    a = (across**2).sum(axis=1)
    b, c = (across * beside).sum(axis=1), (beside**2).sum(axis=1) - radius**2
    inside = b * b - a * c
    with np.errstate(divide="ignore", invalid="ignore"):
        enters = (-b - np.sqrt(np.maximum(inside, 0.0))) / a
    on_mantle = (inside >= 0) & (a > 1e-12) & (enters > 0) & (np.abs(rise + enters * slope) <= half)
    return np.minimum(np.where(on_mantle, enters, np.inf), np.minimum(*ends))


def _tiles(bodies: Bodies, rows: NDArray[np.intp], start: Vector, along: Vector) -> Vector:
    turn = bodies.rotation[rows].astype(np.float64)
    local = np.einsum("nji,nj->ni", turn, start - bodies.position[rows].astype(np.float64))
    way = np.einsum("nji,j->ni", turn, along)
    with np.errstate(divide="ignore", invalid="ignore"):
        meets = -local[:, 1] / way[:, 1]
        place = local + meets[:, None] * way
        hit = (meets > 0) & (np.abs(place[:, [0, 2]]) <= bodies.size[rows, :2] / 2).all(axis=1)
    return np.where(hit, meets, np.inf)


def _hulls(bodies: Bodies, rows: NDArray[np.intp], start: Vector, along: Vector) -> Vector:
    """Clip the ray by the face planes of each hull, in its own frame."""
    found = np.full(len(rows), np.inf)
    for place, row in enumerate(rows.tolist()):
        hull = bodies.hulls[int(bodies.hull[row])]
        turn = bodies.rotation[row].astype(np.float64)
        local = turn.T @ (start - bodies.position[row])
        way = turn.T @ along
        corners = (hull.points * bodies.size[row])[hull.triangles]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        over, rate = np.einsum("ti,ti->t", normal, corners[:, 0] - local), normal @ way
        with np.errstate(divide="ignore", invalid="ignore"):
            meets = over / rate
        enters = float(np.max(meets[rate < 0], initial=0.0))
        leaves = float(np.min(meets[rate > 0], initial=np.inf))
        if enters <= leaves and not (over[rate == 0] < 0).any() and enters > 0:
            found[place] = enters
    return found
