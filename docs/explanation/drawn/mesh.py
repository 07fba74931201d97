"""The figure of triangle meshes: their blocks, boxes and slabs, and the faces that meet."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

from choque.meshes import Mesh, intersections
from choque.meshes._search import _emit_meeting
from choque.meshes.poses import as_poses
from choque.meshes.surface import WIDTH, Surface

from .canvas import BLACK, BLUE, GREEN, GREY, OCHRE, PALE, RED, TEAL, VIOLET, boxes, drawn, panels, plain

SHADES = (BLUE, OCHRE, TEAL, RED, VIOLET, GREEN, GREY)


def torus(around: int, across: int) -> Mesh:
    """A ring about z: radius 3, 1.2 thick."""
    one, two = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    u, v = 2 * np.pi * one / around, 2 * np.pi * two / across
    vertices = np.stack(((3 + 1.2 * np.cos(v)) * np.cos(u), (3 + 1.2 * np.cos(v)) * np.sin(u), 1.2 * np.sin(v)), -1)
    a, b = one * across + two, (one + 1) % around * across + two
    c, d = (one + 1) % around * across + (two + 1) % across, one * across + (two + 1) % across
    faces = np.concatenate((np.stack((a, b, c), -1).reshape(-1, 3), np.stack((a, c, d), -1).reshape(-1, 3)))
    return Mesh(vertices.reshape(-1, 3), faces)


def seen(points: Any) -> tuple[Any, Any]:
    """Points as they appear from above and aside: (…, 2), and how near they are."""
    turn, tilt = np.radians(-30), np.radians(35)
    right = np.array([np.cos(turn), np.sin(turn), 0])
    toward = np.array([np.sin(turn) * np.cos(tilt), -np.cos(turn) * np.cos(tilt), np.sin(tilt)])
    return np.stack((points @ right, points @ np.cross(toward, right)), -1), points @ toward


def draw_faces(axes: Any, corners: Any, colours: Any, **look: Any) -> None:
    """Triangles (m, 3, 3), the nearest last."""
    flat, depth = seen(corners)
    order = np.argsort(depth.mean(axis=1))
    drawing = PolyCollection(flat[order], facecolors=np.array(colours)[order], **{"linewidth": 0.2, **look})
    axes.add_collection(drawing)
    axes.autoscale_view()


def strip(low: Any, high: Any, normal: Any, limits: tuple[float, float]) -> Any:
    """The part of a rectangle between two parallel lines: the corners of a polygon."""
    polygon = [np.array(corner) for corner in (low, (high[0], low[1]), high, (low[0], high[1]))]
    for sign, limit in ((1, limits[0]), (-1, -limits[1])):
        heights = [sign * float(normal @ point) - limit for point in polygon]
        kept = []
        for k, point in enumerate(polygon):
            other, beyond = polygon[k - 1], heights[k - 1]
            if (heights[k] >= 0) != (beyond >= 0):
                kept.append(other + (point - other) * beyond / (beyond - heights[k]))
            if heights[k] >= 0:
                kept.append(point)
        polygon = kept
    return polygon


def section(axes: Any, surface: Surface) -> None:
    """The boxes of blocks that the plane y = 0 cuts on the right, and the slabs in them."""
    count = -(-len(surface.rows) // WIDTH)
    lanes = surface.lanes.reshape(-1, 6, WIDTH)[surface.level_first[1] :].transpose(0, 2, 1).reshape(-1, 6)[:count]
    slabs = surface.slabs.reshape(-1, 5, WIDTH)[surface.level_first[1] :].transpose(0, 2, 1).reshape(-1, 5)[:count]
    y = 0.1  # between two rings of vertices
    cut = np.flatnonzero((lanes[:, 1] <= y) & (lanes[:, 4] >= y) & (lanes[:, 3] > 0))
    plane = [0, 2]
    boxes(axes, lanes[cut][:, plane], lanes[cut][:, [3, 5]], facecolor=PALE, edgecolor=GREY, alpha=0.6)
    for block in cut:
        normal, low, high = slabs[block, :3], slabs[block, 3], slabs[block, 4]
        limits = (low - normal[1] * y, high - normal[1] * y)
        corners = strip(lanes[block][plane], lanes[block][[3, 5]], normal[plane], limits)
        if len(corners) > 2:
            axes.fill(*np.array(corners).T, facecolor=OCHRE, edgecolor=OCHRE, alpha=0.55, linewidth=0.8)
    triangles = surface.vertices[surface.corners] - surface.middle
    side = triangles[..., 1] - y
    for triangle, own in zip(triangles, side, strict=True):
        ends = [
            triangle[k] + (triangle[k - 1] - triangle[k]) * own[k] / (own[k] - own[k - 1])
            for k in range(3)
            if own[k] * own[k - 1] < 0
        ]
        if len(ends) == 2 and ends[0][0] > 0:
            axes.plot(*np.array(ends)[:, plane].T, color=BLACK, linewidth=1.3)
    plain(axes, f"a section: {len(cut)} boxes, slabs")


@drawn("png")
def meshes() -> Figure:
    """The blocks of a mesh, the boxes and slabs around some of them, and the curve in which two meshes meet."""
    ring = torus(60, 30)
    surface = ring.surface
    figure, (blocks, cut, both) = panels(9.8, 3.1, 3, width_ratios=(1.25, 1, 1.25))
    corners = surface.vertices[surface.corners]
    number = np.arange(len(corners)) // WIDTH
    draw_faces(blocks, corners, [SHADES[k % len(SHADES)] for k in number], edgecolors="white")
    plain(blocks, f"{len(ring):,} triangles in {number[-1] + 1} blocks")
    section(cut, surface)

    pose = (np.array([[0.96, 0, 0.28], [0, 1.0, 0], [-0.28, 0, 0.96]]), [4.5, -1.5, 0.3])
    where, found = as_poses(pose), intersections(ring, ring, pose=pose)
    chunk = np.empty(1 << 20, np.uint64)
    *_, tests = _emit_meeting(0, number[-1] + 1, chunk, surface, surface, where)
    other = ring.moved(pose)
    all_corners = np.concatenate((ring.vertices[ring.faces], other.vertices[other.faces]))
    colours = [PALE] * len(ring) + ["#c3d3e6"] * len(ring)
    for column, start in ((0, 0), (1, len(ring))):
        for face in found.pairs[:, column]:
            colours[start + face] = OCHRE
    draw_faces(both, all_corners, colours, edgecolors=GREY)
    segments = seen(found.segments)[0]
    both.add_collection(LineCollection(segments, colors=RED, linewidths=1.8))
    plain(both, f"{tests} pairs decided, {len(found)} meet")
    return figure
