"""Figures of the narrow phase."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial import ConvexHull

import choque
from choque.narrow.convex import epa as _epa
from choque.narrow.convex import gjk as _gjk
from choque.narrow.convex import impact as _advancement
from choque.narrow.convex.queries import as_query
from choque.narrow.shapes import CAPSULE, SPHERE, TILE

from .canvas import BLACK, BLUE, GREEN, GREY, OCHRE, RED, drawn, overheard, panels, plain


def polygon(corners: int, radius: float, turned: float, at: tuple[float, float]) -> Any:
    """Return the vertices (k, 3) of a flat regular body."""
    angle = turned + 2 * np.pi * np.arange(corners) / corners
    return np.stack((at[0] + radius * np.cos(angle), at[1] + radius * np.sin(angle), 0 * angle), axis=1)


@drawn()
def gjk() -> Figure:
    """Draw the steps of GJK on the difference of two flat bodies, toward the origin."""
    one, other = polygon(23, 1.5, 0.4, (0, 0)), polygon(17, 1.2, 0.2, (3.0, 2.0))
    cores = as_query(one, other, None, 1).cores
    steps: list[Any] = []

    def listen(arguments: Any, result: Any) -> None:
        steps.append((np.array(arguments)[:, :2], np.array(result[0])[:2]))

    simplex = _gjk.new_simplex()
    _gjk.nearest_on_triangle(*(tuple(row) for row in np.eye(3).tolist()))  # compiled before its parts are overheard
    with overheard(_gjk, "nearest_on_segment", listen), overheard(_gjk, "nearest_on_triangle", listen):
        gjk_pair: Any = _gjk.gjk_pair
        _, _, nearest, _ = gjk_pair.py_func(cores, 0, 1, (-1.0, 1.0, 0.0), math.inf, simplex)
    found = choque.narrow.gjk(one, other)
    figure, (bodies, difference) = panels(9, 4.2, 2)
    for outline, colour in ((one, BLUE), (other, OCHRE)):
        bodies.fill(*outline[:, :2].T, color=colour, alpha=0.5)
    bodies.plot(*np.stack((found.first, found.second))[:, :2].T, "o-", color=RED)
    plain(bodies, f"two bodies, {found.distance:.3f} apart")
    cloud = (one[:, None] - other).reshape(-1, 3)[:, :2]
    difference.fill(*cloud[ConvexHull(cloud).vertices].T, color=GREEN, alpha=0.2)
    difference.plot(*cloud.T, ".", color=GREY, markersize=3)
    for number, (corners, point) in enumerate(steps, start=1):
        ring = np.concatenate((corners, corners[:1]))
        shade = 0.3 + 0.7 * number / len(steps)
        difference.plot(*ring.T, color=BLUE, alpha=shade, linewidth=1 + 0.5 * (number == len(steps)))
        difference.plot(*point, "o", color=RED, markersize=4)
    for place, (numbers, point) in enumerate(_together([point for _, point in steps], 0.25)):
        offset, side = ((-5, -9), "right") if place < 2 else ((10, -4), "left")  # the last ones lie close together
        difference.annotate(numbers, point, xytext=offset, textcoords="offset points", color=RED, fontsize=8, ha=side)
    difference.plot(0, 0, "+", color=BLACK, markersize=12)
    difference.plot((0, nearest[0]), (0, nearest[1]), color=RED)
    plain(difference, f"their difference, {len(steps)} steps toward the origin (+)")
    return figure


def _together(points: list[Any], near: float) -> list[tuple[str, Any]]:
    """Return one label for each run of points that are too close together for labels of their own."""
    labels: list[tuple[str, Any]] = []
    first = 0
    for number, point in enumerate(points):
        if number and np.linalg.norm(point - points[first]) < near:
            labels.pop()
        else:
            first = number
        labels.append((str(number + 1) if number == first else f"{first + 1} to {number + 1}", points[first]))
    return labels


@drawn("png")
def epa() -> Figure:
    """Draw the polytope of EPA as it expands toward the surface of the difference."""
    hulls = choque.narrow.Hulls.solids("rhombicuboctahedron")
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    one, other = hulls.at([0, 0, 0]), hulls.at([0.9, 0.35, 0.2], turn)
    cores = as_query(one, other, None, 1).cores
    simplex, polytope = _gjk.new_simplex(), _epa.new_polytope()
    stages: list[Any] = []

    def note(arguments: Any) -> None:
        nearest, planes, faces = arguments[1], polytope.planes, polytope.faces
        real = np.isfinite(planes[:, 3]) & (faces[:, 0] != faces[:, 1])
        stages.append((polytope.corners[faces[real][:, :3]].copy(), polytope.corners[faces[nearest, :3]].copy()))

    _, _, _, count = _gjk.gjk_pair(cores, 0, 1, _gjk.start_axis(cores.place, 0, 1), math.inf, simplex)
    epa_pair: Any = _epa.epa_pair
    with overheard(_epa, "_look", before=note):
        _, iterations, normal, depth = epa_pair.py_func(cores, 0, 1, simplex, count, polytope)
    points = hulls.points
    cloud = (points[:, None] - (points @ turn.T + [0.9, 0.35, 0.2])).reshape(-1, 3)
    surface = ConvexHull(cloud)
    chosen = (0, len(stages) // 2, len(stages) - 1)
    figure, axes = panels(9.6, 3.5, 3, subplot_kw={"projection": "3d"})
    for panel, stage in zip(axes, chosen, strict=True):
        faces, nearest = stages[stage]
        panel.add_collection3d(
            Poly3DCollection(cloud[surface.simplices], facecolor="none", edgecolor="#cccccc", linewidths=0.3)
        )
        panel.add_collection3d(Poly3DCollection(faces, facecolor=BLUE, alpha=0.25, edgecolor=BLUE, linewidths=0.5))
        panel.add_collection3d(Poly3DCollection([nearest], facecolor=RED, alpha=0.8))
        panel.scatter(0, 0, 0, color=BLACK, s=14)
        tip = np.array(normal) * depth
        panel.plot(*np.stack(((0, 0, 0), tip)).T, color=RED, linewidth=1.5)
        low, high = cloud.min(axis=0), cloud.max(axis=0)
        panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]), aspect="equal")
        panel.set_title(f"step {stage + 1} of {iterations}: {len(faces)} faces")
        panel.set_box_aspect(None, zoom=1.35)
        panel.axis("off")
    return figure


@drawn()
def conservative_advancement() -> Figure:
    """Draw how far a rod that turns toward a floor advances in each step, and its distance."""
    cube = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    rod, floor = cube * [2.4, 0.25, 0.25] + [0, 2.2, 0], cube * [20, 1, 20] - [0, 0.5, 0]
    move, spin = (0.0, -2.6, 0.0), (0.0, 0.0, 2.4)
    query = as_query(rod, floor, None, 1)
    _advancement._center(query.cores)
    times: list[float] = []
    gaps: list[float] = []
    motion = np.array([[move, (0, 0, 0), spin, (0, 0, 0)]], float)
    results = _advancement._Impacts(
        np.empty(1, np.uint8), np.empty(1), np.zeros((1, 3)), np.zeros((1, 3)), np.empty(1, np.int64)
    )
    with (
        overheard(_advancement, "_pose", lambda given, _: times.append(given[4]) if given[6] == 0 else None),
        overheard(_advancement, "gjk_pair", lambda _, found: gaps.append(float(np.linalg.norm(found[2])))),
    ):
        advance: Any = _advancement._advance
        advance.py_func(query.cores, query.rows, motion, 1e-3, results, 0, 1)
    figure, (space, chart) = panels(9, 3.8, 2)
    outline = np.array([[-1.2, -0.125], [1.2, -0.125], [1.2, 0.125], [-1.2, 0.125]])
    for number, time in enumerate(times):
        c, s = np.cos(time * spin[2]), np.sin(time * spin[2])
        placed = outline @ [[c, s], [-s, c]] + [0, 2.2 + time * move[1]]
        last = number == len(times) - 1
        space.fill(*placed.T, facecolor=BLUE, alpha=0.8 if last else 0.15, edgecolor=BLUE)
    space.axhline(0, color=BLACK, linewidth=2)
    plain(space, f"contact at {times[-1]:.4f} of the motion")
    chart.semilogy(range(1, len(times) + 1), gaps, "o-", color=BLUE)
    chart.set(xlabel="step", ylabel="distance", title=f"{len(times)} steps, none beyond the contact")
    return figure


@drawn()
def contacts() -> Figure:
    """Draw point, normal and depth of five pairs of shapes in section."""
    across = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # a capsule along x
    c, s = np.cos(0.5), np.sin(0.5)
    leaning = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ across
    eye = np.eye(3)
    scenes = {
        "sphere, sphere": ((SPHERE, (0, 0, 0), eye, (0.8, 0, 0)), (SPHERE, (1.0, 0.7, 0), eye, (0.6, 0, 0))),
        "sphere, capsule": ((SPHERE, (0, 0.85, 0), eye, (0.6, 0, 0)), (CAPSULE, (0.3, 0, 0), leaning, (0.45, 1.5, 0))),
        "capsule, capsule": (
            (CAPSULE, (0, 0, 0), across, (0.4, 1.6, 0)),
            (CAPSULE, (0.5, 0.95, 0), leaning, (0.4, 1.4, 0)),
        ),
        "sphere, tile": ((SPHERE, (0.95, 0.35, 0), eye, (0.6, 0, 0)), (TILE, (0, 0, 0), eye, (1.6, 2, 0))),
        "capsule, tile": ((CAPSULE, (0, 0.5, 0), leaning, (0.35, 1.5, 0)), (TILE, (0, 0, 0), eye, (2.6, 2, 0))),
    }
    figure, axes = panels(9.8, 2.5, 5)
    for panel, (name, pair) in zip(axes, scenes.items(), strict=True):
        kind, position, rotation, size = (np.array(column, float) for column in zip(*pair, strict=True))
        shapes = choque.narrow.Shapes(kind.astype(np.int8), position, rotation, size)
        found = choque.narrow.contacts(shapes)
        for (shape, middle, turn, (a, b, _)), colour in zip(pair, (BLUE, OCHRE), strict=True):
            if shape == SPHERE:
                panel.add_patch(Circle(middle[:2], a, color=colour, alpha=0.4, linewidth=0))
            elif shape == TILE:
                panel.plot((middle[0] - a / 2, middle[0] + a / 2), (middle[1],) * 2, color=colour, linewidth=3)
            else:
                ends = np.array([np.array(middle) - turn[:, 2] * b / 2, np.array(middle) + turn[:, 2] * b / 2])[:, :2]
                _capsule(panel, ends, a, colour)
        point, arrow = found.point[0, :2], 3 * (found.depth * found.normal.T).T[0, :2]
        panel.plot(*point, "o", color=RED, markersize=4)
        panel.annotate(
            "",
            point + arrow,
            point,
            arrowprops={"arrowstyle": "-|>", "color": RED, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.5},
        )
        plain(panel, f"{name}\n{found.depth[0]:.2f} deep")
        panel.set(xlim=(-1.5, 1.7), ylim=(-1.0, 1.9))
    return figure


def _capsule(axes: Any, ends: Any, radius: float, colour: str) -> None:
    from matplotlib.transforms import Affine2D

    length = float(np.linalg.norm(ends[1] - ends[0]))
    angle = float(np.arctan2(*(ends[1] - ends[0])[::-1]))
    patch = FancyBboxPatch((0, 0), length, 0, boxstyle=f"round,pad={radius}", color=colour, alpha=0.4, linewidth=0)
    patch.set_transform(Affine2D().rotate(angle).translate(*ends[0]) + axes.transData)
    axes.add_patch(patch)
