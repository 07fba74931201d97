"""Rendering on the processor: nearest surfaces by depth, then light and shadow.

Round bodies are not meshes: a ball or a capsule is intersected with the ray through each sample of the rectangle that
bounds it, so that its outline is exact at any distance. Triangles are filled by edge functions in homogeneous
coordinates, which need no clipping (Olano and Greer, "Triangle scan conversion using 2D homogeneous coordinates",
1997). Both write the inverse of the distance along the view, which is linear on the screen, and the number of what is
seen. The same pass from the light gives the shadow map (Williams, "Casting curved shadows on curved surfaces", 1978).
Shading comes last and once for each visible pixel; only pixels on edges are shaded sample by sample.

All coordinates are those of a view: x to the right, y down, z ahead.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import forceinline, helper, kernel
from choque._core.types import Integer

Floats = NDArray[np.float64]

NOTHING = -1
"""The number of the background."""

SELF_SHADOW = 1.0 + 3e-4
"""How much nearer to the light another body must be to cast a shadow: less than the error of the shadow map."""

AMBIENT, SUN, CAMERA_LIGHT, SHINE = 0.45, 0.77, 0.16, 0.2
"""Shares of the light from everywhere, of the sun, of a light at the camera, and of the reflection of the sun."""


class View(NamedTuple):
    """The samples of one camera: their nearest surfaces."""

    focal: float
    """Distance of the screen from the camera [samples]."""
    inverse: NDArray[np.float32]
    """(height, width) the inverse of z of the nearest surface; 0 for the background."""
    seen: NDArray[np.int32]
    """(height, width) the number of what is nearest, first balls, then triangles, then lines; or `NOTHING`."""


class Shapes(NamedTuple):
    """What is drawn, in the coordinates of a view."""

    balls: Floats
    """(m, 7) center, radius, and half the axis of a capsule, zero for a ball; the nearest first, which saves time."""
    triangles: Floats
    """(t, 9) corners."""
    lines: Floats
    """(k, 6) ends."""
    body: NDArray[np.int32]
    """(m + t,) the body of each ball and triangle: bodies cast no shadow on themselves."""


class Paint(NamedTuple):
    """Colours and light."""

    color: NDArray[np.uint8]
    """(m + t, 3) the colour of each ball and triangle."""
    line_color: NDArray[np.uint8]
    """(k, 2, 3) the colours of both ends of each line."""
    normals: Floats
    """(t, 9) normals at the corners of each triangle, in the coordinates of the view."""
    sky: Floats
    """(2, 3) the colours of the sky overhead and at the horizon."""
    ground: Floats
    """(10,) height of the ground, side of its cells, distance at which it fades out, opacity, its colour, that of its
    lines; an opacity of 0 is no ground."""
    to_world: Floats
    """(3, 4) from the coordinates of the view to those of the world."""
    sun: Floats
    """(3,) the direction to the light."""
    to_light: Floats
    """(3, 4) from the coordinates of the view to those of the light."""
    casters: NDArray[np.int32]
    """(m + t,) the body of each ball and triangle in the order of the light, which is not that of the view."""


@kernel
def find_surfaces(first: int, last: int, shapes: Shapes, line_width: float, view: View) -> None:
    """Write the nearest surface of every sample in the rows ``first`` to ``last``."""
    inverse, seen = view.inverse, view.seen
    for y in range(first, last):
        for x in range(inverse.shape[1]):
            inverse[y, x], seen[y, x] = 0.0, NOTHING
    balls, triangles = shapes.balls, shapes.triangles
    limits = np.empty(4)
    for k in range(balls.shape[0]):
        _draw_ball(k, balls, first, last, limits, view)
    planes = np.empty(9)
    for k in range(triangles.shape[0]):
        _draw_triangle(k, triangles, balls.shape[0] + k, first, last, planes, view)
    for k in range(shapes.lines.shape[0]):
        _draw_line(k, shapes.lines, balls.shape[0] + triangles.shape[0] + k, first, last, line_width, view)


@helper
def _slopes(side: float, ahead: float, radius: float, limits: Floats, place: Integer) -> None:
    """Widen the slopes ``limits[place]`` to ``limits[place + 1]``, side over ahead, to those of a circle in front."""
    distance = math.sqrt(side * side + ahead * ahead)
    lowest, highest = -1e30, 1e30
    if distance > radius:
        middle, spread = math.atan2(side, ahead), math.asin(radius / distance)
        if middle - spread > -0.5 * math.pi:
            lowest = math.tan(middle - spread)
        if middle + spread < 0.5 * math.pi:
            highest = math.tan(middle + spread)
    if lowest < limits[place]:
        limits[place] = lowest
    if highest > limits[place + 1]:
        limits[place + 1] = highest


@helper
def _draw_ball(k: Integer, balls: Floats, first: Integer, last: Integer, limits: Floats, view: View) -> None:
    cx, cy, cz, radius = balls[k, 0], balls[k, 1], balls[k, 2], balls[k, 3]
    ax, ay, az = balls[k, 4], balls[k, 5], balls[k, 6]
    if cz + abs(az) + radius <= 0.0:
        return
    height, width = view.inverse.shape
    limits[0], limits[1], limits[2], limits[3] = 1e30, -1e30, 1e30, -1e30
    for side in range(2):
        sign = 1.0 - 2.0 * side
        _slopes(cx + sign * ax, cz + sign * az, radius, limits, 0)
        _slopes(cy + sign * ay, cz + sign * az, radius, limits, 2)
    focal = view.focal
    left = int(max(0.0, math.floor(limits[0] * focal + 0.5 * width)))
    right = int(min(float(width), math.ceil(limits[1] * focal + 0.5 * width)))
    top = int(max(float(first), math.floor(limits[2] * focal + 0.5 * height)))
    bottom = int(min(float(last), math.ceil(limits[3] * focal + 0.5 * height)))
    inverse, seen = view.inverse, view.seen
    is_capsule = ax != 0.0 or ay != 0.0 or az != 0.0
    front = cz - abs(az) - radius
    nearest = np.float32(1.0 / front) if front > 0.0 else np.float32(np.inf)
    for y in range(top, bottom):
        dy = (y + 0.5 - 0.5 * height) / focal
        for x in range(left, right):
            if nearest <= inverse[y, x]:
                continue
            dx = (x + 0.5 - 0.5 * width) / focal
            if is_capsule:
                distance = _to_capsule(dx, dy, k, balls)
            else:
                distance = _to_sphere(dx, dy, cx, cy, cz, radius)
            if distance > 0.0:
                near = np.float32(1.0 / distance)
                if near > inverse[y, x]:
                    inverse[y, x], seen[y, x] = near, k


@forceinline
def _to_sphere(dx: float, dy: float, cx: float, cy: float, cz: float, radius: float) -> float:
    """Return where the ray (dx, dy, 1) meets a sphere first; 0 if it does not, or only behind."""
    along = dx * cx + dy * cy + cz
    square = dx * dx + dy * dy + 1.0
    rest = along * along - square * (cx * cx + cy * cy + cz * cz - radius * radius)
    return (along - math.sqrt(rest)) / square if rest >= 0.0 else 0.0


@forceinline
def _to_capsule(dx: float, dy: float, k: Integer, balls: Floats) -> float:
    """Return where the ray (dx, dy, 1) meets a capsule first; 0 if it does not, or only behind."""
    cx, cy, cz, radius = float(balls[k, 0]), float(balls[k, 1]), float(balls[k, 2]), float(balls[k, 3])
    ax, ay, az = float(balls[k, 4]), float(balls[k, 5]), float(balls[k, 6])
    length = ax * ax + ay * ay + az * az
    ray_axis, center_axis = dx * ax + dy * ay + az, cx * ax + cy * ay + cz * az
    square = length * (dx * dx + dy * dy + 1.0) - ray_axis * ray_axis
    along = length * (dx * cx + dy * cy + cz) - ray_axis * center_axis
    rest = length * (cx * cx + cy * cy + cz * cz - radius * radius) - center_axis * center_axis
    inside = along * along - square * rest
    if inside >= 0.0 and square > 1e-12 * length:
        distance = (along - math.sqrt(inside)) / square
        height = distance * ray_axis - center_axis
        if abs(height) <= length:
            return distance
        sign = 1.0 if height > 0.0 else -1.0
        return _to_sphere(dx, dy, cx + sign * ax, cy + sign * ay, cz + sign * az, radius)
    if square <= 1e-12 * length:  # along the axis
        sign = -1.0 if ray_axis > 0.0 else 1.0
        return _to_sphere(dx, dy, cx + sign * ax, cy + sign * ay, cz + sign * az, radius)
    return 0.0


@helper
def _draw_triangle(
    k: Integer, triangles: Floats, number: Integer, first: Integer, last: Integer, planes: Floats, view: View
) -> None:
    """Fill a triangle: a sample is inside where the planes through the camera and each edge have it on one side."""
    x0, y0, z0 = triangles[k, 0], triangles[k, 1], triangles[k, 2]
    x1, y1, z1 = triangles[k, 3], triangles[k, 4], triangles[k, 5]
    x2, y2, z2 = triangles[k, 6], triangles[k, 7], triangles[k, 8]
    if z0 <= 0.0 and z1 <= 0.0 and z2 <= 0.0:
        return
    planes[0], planes[1], planes[2] = y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2
    planes[3], planes[4], planes[5] = y2 * z0 - z2 * y0, z2 * x0 - x2 * z0, x2 * y0 - y2 * x0
    planes[6], planes[7], planes[8] = y0 * z1 - z0 * y1, z0 * x1 - x0 * z1, x0 * y1 - y0 * x1
    volume = x0 * planes[0] + y0 * planes[1] + z0 * planes[2]
    if volume == 0.0:
        return
    height, width = view.inverse.shape
    focal = view.focal
    top, bottom = first, last
    if min(z0, z1, z2) > 1e-9:
        low, high = min(y0 / z0, y1 / z1, y2 / z2), max(y0 / z0, y1 / z1, y2 / z2)
        top = int(max(float(first), math.floor(low * focal + 0.5 * height)))
        bottom = int(min(float(last), math.ceil(high * focal + 0.5 * height)))
    for at in range(9):
        planes[at] /= volume
    step = 1.0 / focal
    slope = (planes[0] + planes[3] + planes[6]) * step
    inverse, seen = view.inverse, view.seen
    for y in range(top, bottom):
        dy = (y + 0.5 - 0.5 * height) * step
        start = (0.5 - 0.5 * width) * step
        left, right = 0.0, width - 1.0
        for edge in range(3):
            value = planes[3 * edge] * start + planes[3 * edge + 1] * dy + planes[3 * edge + 2]
            change = planes[3 * edge] * step
            if change > 0.0:
                left = max(left, math.ceil(-value / change))
            elif change < 0.0:
                right = min(right, math.floor(-value / change))
            elif value < 0.0:
                right = -1.0
        if left > right:
            continue
        near = (planes[0] + planes[3] + planes[6]) * start + (planes[1] + planes[4] + planes[7]) * dy
        near += planes[2] + planes[5] + planes[8]
        for x in range(int(left), int(right) + 1):
            here = np.float32(near + slope * x)
            if here > inverse[y, x]:
                inverse[y, x], seen[y, x] = here, number


@helper
def _draw_line(
    k: Integer, lines: Floats, number: Integer, first: Integer, last: Integer, line_width: float, view: View
) -> None:
    """Draw a line by columns or rows, whichever it crosses more of, a little nearer than it is."""
    height, width = view.inverse.shape
    x0, y0, z0 = lines[k, 0], lines[k, 1], lines[k, 2]
    x1, y1, z1 = lines[k, 3], lines[k, 4], lines[k, 5]
    smallest = 1e-3 * max(z0, z1)
    if max(z0, z1) <= 0.0:
        return
    if z0 < smallest:
        share = (smallest - z0) / (z1 - z0)
        x0, y0, z0 = x0 + share * (x1 - x0), y0 + share * (y1 - y0), smallest
    if z1 < smallest:
        share = (smallest - z1) / (z0 - z1)
        x1, y1, z1 = x1 + share * (x0 - x1), y1 + share * (y0 - y1), smallest
    u0, v0 = x0 / z0 * view.focal + 0.5 * width, y0 / z0 * view.focal + 0.5 * height
    u1, v1 = x1 / z1 * view.focal + 0.5 * width, y1 / z1 * view.focal + 0.5 * height
    w0, w1 = 1.002 / z0, 1.002 / z1
    is_steep = abs(v1 - v0) > abs(u1 - u0)
    if is_steep:
        u0, v0, u1, v1 = v0, u0, v1, u1
    if u0 > u1:
        u0, v0, w0, u1, v1, w1 = u1, v1, w1, u0, v0, w0
    length = max(u1 - u0, 1e-9)
    ends = height if is_steep else width
    half = 0.5 * line_width * math.sqrt(1.0 + ((v1 - v0) / length) ** 2)
    for u in range(int(max(0.0, math.floor(u0))), int(min(ends - 1.0, math.floor(u1))) + 1):
        share = min(max((u + 0.5 - u0) / length, 0.0), 1.0)
        middle, near = v0 + share * (v1 - v0), np.float32(w0 + share * (w1 - w0))
        for v in range(math.ceil(max(middle - half - 0.5, -1.0)), int(min(middle + half + 0.5, 1e6)) + 1):
            x, y = (v, u) if is_steep else (u, v)
            if 0 <= x < width and first <= y < last and near > view.inverse[y, x]:
                view.inverse[y, x], view.seen[y, x] = near, number


@kernel
def shade(
    first: int,
    last: int,
    factor: int,
    shapes: Shapes,
    paint: Paint,
    view: View,
    light: View,
    picture: NDArray[np.uint8],
) -> None:
    """Write the rows ``first`` to ``last`` of a picture whose pixels are ``factor`` × ``factor`` samples each."""
    seen = view.seen
    mixed, one = np.empty(3), np.empty(3)
    normal = np.empty(3)
    for y in range(first, last):
        for x in range(picture.shape[1]):
            row, column = y * factor, x * factor
            number = seen[row, column]
            is_even = True
            for at in range(1, factor * factor):
                is_even = is_even and seen[row + at // factor, column + at % factor] == number
            if is_even and number < shapes.body.size:
                half = factor // 2
                _shade_sample(row + half, column + half, shapes, paint, view, light, normal, mixed)
            else:
                mixed[0], mixed[1], mixed[2] = 0.0, 0.0, 0.0
                for at in range(factor * factor):
                    _shade_sample(row + at // factor, column + at % factor, shapes, paint, view, light, normal, one)
                    for channel in range(3):
                        mixed[channel] += one[channel] / (factor * factor)
            # Rounded up more often the nearer the next level is, by a fixed pattern: steps of one level would be rings.
            rank = 8 * ((x ^ y) & 1) + 4 * (y & 1) + 2 * ((x ^ y) >> 1 & 1) + (y >> 1 & 1)
            for channel in range(3):
                picture[y, x, channel] = np.uint8(min(mixed[channel] + (rank + 0.5) / 16.0, 255.0))


@forceinline
def _shade_sample(
    row: Integer, column: Integer, shapes: Shapes, paint: Paint, view: View, light: View, normal: Floats, color: Floats
) -> None:
    """Write the colour of one sample."""
    height, width = view.seen.shape
    number = np.int64(view.seen[row, column])
    dx, dy = (column + 0.5 - 0.5 * width) / view.focal, (row + 0.5 - 0.5 * height) / view.focal
    if number == NOTHING:
        _shade_background(dx, dy, 1.0 / view.focal, paint, light, color)
        return
    if number >= shapes.body.size:
        _color_of_line(number - shapes.body.size, dx, dy, shapes.lines, paint.line_color, color)
        return
    z = 1.0 / float(view.inverse[row, column])
    px, py, pz = dx * z, dy * z, z
    _normal_at(number, px, py, pz, shapes, paint.normals, normal)
    size = math.sqrt(px * px + py * py + pz * pz)
    facing = -(normal[0] * px + normal[1] * py + normal[2] * pz) / size
    if facing < 0.0:
        facing = -facing
        normal[0], normal[1], normal[2] = -normal[0], -normal[1], -normal[2]
    toward = normal[0] * paint.sun[0] + normal[1] * paint.sun[1] + normal[2] * paint.sun[2]
    bright, shine = AMBIENT + CAMERA_LIGHT * facing, 0.0
    if toward > 0.0:
        lit = _light_share(px, py, pz, shapes.body[number], paint, light)
        bright += SUN * lit * toward
        hx, hy, hz = paint.sun[0] - px / size, paint.sun[1] - py / size, paint.sun[2] - pz / size
        along = (hx * normal[0] + hy * normal[1] + hz * normal[2]) / math.sqrt(hx * hx + hy * hy + hz * hz)
        fourth = along * along * along * along if along > 0.0 else 0.0
        eighth = fourth * fourth
        shine = 255.0 * SHINE * lit * eighth * eighth * eighth * fourth
    for channel in range(3):
        color[channel] = min(paint.color[number, channel] * bright + shine, 255.0)


@helper
def _shade_background(dx: float, dy: float, sample: float, paint: Paint, light: View, color: Floats) -> None:
    """Write the colour of the sky or the ground along the ray (dx, dy, 1); ``sample`` is the side of a sample."""
    matrix, ground = paint.to_world, paint.ground
    up = matrix[1, 0] * dx + matrix[1, 1] * dy + matrix[1, 2]
    length = math.sqrt(dx * dx + dy * dy + 1.0)
    high = abs(up) / length
    share = high / (high + 0.3)
    for channel in range(3):
        far = paint.sky[0, channel] if up > 0.0 else 0.75 * ground[4 + channel]
        color[channel] = paint.sky[1, channel] * (1.0 - share) + far * share
    if ground[3] <= 0.0 or up >= 0.0 or matrix[1, 3] <= ground[0]:
        return
    z = (ground[0] - matrix[1, 3]) / up
    away = z * length / ground[2]
    fade = ground[3] * math.exp(-away * away)
    if fade < 0.004:
        return
    wx = matrix[0, 0] * dx + matrix[0, 1] * dy + matrix[0, 2]
    wy = matrix[2, 0] * dx + matrix[2, 1] * dy + matrix[2, 2]
    x, y, step = (matrix[0, 3] + z * wx) / ground[1], (matrix[2, 3] + z * wy) / ground[1], z * sample / ground[1]
    # The sides of a sample on the ground, by the derivatives of x and y: lines are one and a half samples wide.
    wide_x = 1.5 * step * math.hypot(matrix[0, 0] - matrix[1, 0] * wx / up, matrix[0, 1] - matrix[1, 1] * wx / up)
    wide_y = 1.5 * step * math.hypot(matrix[2, 0] - matrix[1, 0] * wy / up, matrix[2, 1] - matrix[1, 1] * wy / up)
    fine = max(_line_share(x, wide_x), _line_share(y, wide_y))
    lines = max(0.5 * fine, _line_share(0.2 * x, 0.25 * wide_x), _line_share(0.2 * y, 0.25 * wide_y))
    dark = 0.62 + 0.38 * _light_share(dx * z, dy * z, z, -1, paint, light)
    for channel in range(3):
        here = (ground[4 + channel] * (1.0 - lines) + ground[7 + channel] * lines) * dark
        color[channel] = color[channel] * (1.0 - fade) + here * fade


@forceinline
def _line_share(x: float, wide: float) -> float:
    """Return the share of a sample, ``wide`` cells, that the lines at whole x cover; cells of few samples have none."""
    return max(0.0, 1.0 - abs(x - math.floor(x + 0.5)) / wide) * max(0.0, 1.0 - 3.0 * wide)


@forceinline
def _normal_at(
    number: Integer, px: float, py: float, pz: float, shapes: Shapes, normals: Floats, normal: Floats
) -> None:
    """Write the unit normal of a ball or triangle at a point of its surface."""
    balls, triangles = shapes.balls, shapes.triangles
    if number < balls.shape[0]:
        nx, ny, nz = px - balls[number, 0], py - balls[number, 1], pz - balls[number, 2]
        ax, ay, az = balls[number, 4], balls[number, 5], balls[number, 6]
        length = ax * ax + ay * ay + az * az
        if length > 0.0:
            share = min(max((nx * ax + ny * ay + nz * az) / length, -1.0), 1.0)
            nx, ny, nz = nx - share * ax, ny - share * ay, nz - share * az
    else:
        k = number - balls.shape[0]
        x0, y0, z0 = triangles[k, 0], triangles[k, 1], triangles[k, 2]
        x1, y1, z1 = triangles[k, 3], triangles[k, 4], triangles[k, 5]
        x2, y2, z2 = triangles[k, 6], triangles[k, 7], triangles[k, 8]
        # Shares of the corners: volumes of the tetrahedra of the camera, the point and two corners.
        first = px * (y1 * z2 - z1 * y2) + py * (z1 * x2 - x1 * z2) + pz * (x1 * y2 - y1 * x2)
        second = px * (y2 * z0 - z2 * y0) + py * (z2 * x0 - x2 * z0) + pz * (x2 * y0 - y2 * x0)
        third = px * (y0 * z1 - z0 * y1) + py * (z0 * x1 - x0 * z1) + pz * (x0 * y1 - y0 * x1)
        nx = first * normals[k, 0] + second * normals[k, 3] + third * normals[k, 6]
        ny = first * normals[k, 1] + second * normals[k, 4] + third * normals[k, 7]
        nz = first * normals[k, 2] + second * normals[k, 5] + third * normals[k, 8]
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    size = size if size > 0.0 else 1.0
    normal[0], normal[1], normal[2] = nx / size, ny / size, nz / size


@helper
def _color_of_line(
    k: Integer, dx: float, dy: float, lines: Floats, line_color: NDArray[np.uint8], color: Floats
) -> None:
    """Write the colour of a line where the ray (dx, dy, 1) passes: that of its ends in proportion on the screen."""
    z0, z1 = max(lines[k, 2], 1e-9), max(lines[k, 5], 1e-9)
    ux, uy = lines[k, 0] / z0, lines[k, 1] / z0
    ex, ey = lines[k, 3] / z1 - ux, lines[k, 4] / z1 - uy
    square = ex * ex + ey * ey
    share = ((dx - ux) * ex + (dy - uy) * ey) / square if square > 0.0 else 0.0
    share = min(max(share, 0.0), 1.0)
    for channel in range(3):
        color[channel] = line_color[k, 0, channel] * (1.0 - share) + line_color[k, 1, channel] * share


@forceinline
def _light_share(px: float, py: float, pz: float, own: Integer, paint: Paint, light: View) -> float:
    """Return how much light reaches a point of the body ``own``: a weighted share of 16 samples of the shadow map.

    Edges of shadows are about three samples wide. Where the outer corners and a middle sample agree, they decide.
    """
    side, to_light = light.seen.shape[0], paint.to_light
    if side == 0:
        return 1.0
    qx = to_light[0, 0] * px + to_light[0, 1] * py + to_light[0, 2] * pz + to_light[0, 3]
    qy = to_light[1, 0] * px + to_light[1, 1] * py + to_light[1, 2] * pz + to_light[1, 3]
    qz = to_light[2, 0] * px + to_light[2, 1] * py + to_light[2, 2] * pz + to_light[2, 3]
    if qz <= 0.0:
        return 1.0
    u, v = qx / qz * light.focal + 0.5 * side - 0.5, qy / qz * light.focal + 0.5 * side - 0.5
    left, top = math.floor(u), math.floor(v)
    if not (1.0 <= left < side - 2.0 and 1.0 <= top < side - 2.0):
        return 1.0
    column, row = int(left), int(top)
    across, down = u - left, v - top
    near = SELF_SHADOW / qz
    is_bright, agree = _is_lit(row, column, near, own, paint, light), True
    for at in range(4):
        y, x = row + 3 * (at >> 1) - 1, column + 3 * (at & 1) - 1
        agree = agree and _is_lit(y, x, near, own, paint, light) == is_bright
    if agree:
        return 1.0 if is_bright else 0.0
    share = 0.0
    for dy in range(4):
        high = (1.0 - down, 2.0 - down, 1.0 + down, down)[dy]
        for dx in range(4):
            if _is_lit(row + dy - 1, column + dx - 1, near, own, paint, light):
                share += high * (1.0 - across, 2.0 - across, 1.0 + across, across)[dx] / 16.0
    return share


@forceinline
def _is_lit(y: Integer, x: Integer, near: float, own: Integer, paint: Paint, light: View) -> bool:
    """Return whether nothing but the body ``own`` is between the light and a sample of the shadow map."""
    number = light.seen[y, x]
    return bool(number == NOTHING or paint.casters[number] == own or light.inverse[y, x] <= near)
