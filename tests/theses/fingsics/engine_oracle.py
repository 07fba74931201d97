"""An independent Fingsics engine in plain Python and NumPy, for the counts that `test_own_scenes` expects.

It is written from a description of the engine and shares no code with Choque: every pair is visited, the broad phases
are sets of pairs, and nothing is kept between frames but the depths of contacts. Single precision throughout. Run it
to write the expected counts again:

    python tests/theses/fingsics/engine_oracle.py

Not covered, because the scenes avoid it: the edges of tiles, parallel capsules, ties of the sweep.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

F = np.float32
SCENES = Path(__file__).parent / "scenes"
STEPS = 120
DT = F(1) / F(60)
STATIC_MASS = F(999999999999)
COLUMNS = ("none", "aabb", "obb", "sap+obb", "collisions")


@dataclass
class Body:
    kind: str
    position: np.ndarray
    rotation: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray
    acceleration: np.ndarray
    mass: np.float32
    elasticity: np.float32
    static: bool
    radius: np.float32
    length: np.float32
    width: np.float32

    @property
    def axis(self) -> np.ndarray:
        return self.rotation[:, 2]

    def end(self, sign: int) -> np.ndarray:
        return self.position + F(sign) * F(0.5) * self.length * self.axis

    def corners(self) -> list[np.ndarray]:
        along, across = self.rotation[:, 0] * self.length * F(0.5), self.rotation[:, 2] * self.width * F(0.5)
        return [self.position + F(a) * along + F(b) * across for a in (1, -1) for b in (1, -1)]

    def inverse_inertia(self) -> np.ndarray:
        if self.kind == "sphere":
            moments = np.full(3, F(0.4) * self.mass * self.radius**2, F)
        else:
            long = self.length + F(4) * self.radius / F(3)
            side = self.mass * (F(3) * self.radius**2 + long**2) / F(12)
            moments = np.array([side, side, self.mass * self.radius**2 / F(2)], F)
        return (self.rotation @ np.diag(F(1) / moments).astype(F) @ self.rotation.T).astype(F)


@dataclass
class Contact:
    point: np.ndarray
    normal: np.ndarray  # from the first body to the second
    depth: np.float32


def euler(x: float, y: float, z: float) -> np.ndarray:
    """Return Rz·Ry·Rx of angles in radians."""
    (cx, cy, cz), (sx, sy, sz) = np.cos([F(x), F(y), F(z)], dtype=F), np.sin([F(x), F(y), F(z)], dtype=F)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]], F)
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]], F)
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]], F)
    return (about_z @ about_y @ about_x).astype(F)


def read_scene(path: Path) -> list[Body]:
    bodies = []
    for element in ElementTree.parse(path).getroot().find("objects"):

        def triple(name: str, element: ElementTree.Element = element) -> np.ndarray:
            return np.array([F(part) for part in element.get(name, "0,0,0").split(",")], F)

        kind, degree = element.tag, F(np.pi) / F(180)
        default = "30" if kind == "tile" else "1"
        bodies.append(
            Body(
                kind=kind,
                position=triple("pos"),
                rotation=euler(*(triple("ang") * degree)),
                velocity=triple("vel"),
                spin=triple("angVel") * degree,
                acceleration=triple("acceleration"),
                mass=F(element.get("mass", "1")),
                elasticity=F(element.get("elasticityCoef", "1")),
                static=kind == "tile" or element.get("static", "false") == "true",
                radius=F(element.get("radius", "1")),
                length=F(element.get("length", default)),
                width=F(element.get("width", "30")),
            )
        )
    return bodies


# Bounds


def box(body: Body) -> tuple[np.ndarray, np.ndarray]:
    if body.kind == "tile":
        points, reach = body.corners(), F(0)
    else:
        points = [body.position] if body.kind == "sphere" else [body.end(1), body.end(-1)]
        reach = body.radius
    return np.min(points, axis=0) - reach, np.max(points, axis=0) + reach


def boxes_overlap(a: Body, b: Body) -> bool:
    (low_a, high_a), (low_b, high_b) = box(a), box(b)
    return bool((low_a <= high_b).all() and (low_b <= high_a).all())


def half_lengths(body: Body) -> np.ndarray:
    """Return those of the oriented box; the engine takes the whole sides of a tile."""
    r = body.radius
    if body.kind == "tile":
        return np.array([body.length, 1e-4, body.width], F)
    return np.array([r, r, r if body.kind == "sphere" else body.length / F(2) + r], F)


def oriented_boxes_overlap(a: Body, b: Body) -> bool:
    """Test the 15 axes of S. Gottschalk, M. C. Lin and D. Manocha, "OBBTree", 1996."""
    offset, own, other = b.position - a.position, half_lengths(a), half_lengths(b)
    axes = [*a.rotation.T, *b.rotation.T]
    axes += [np.cross(x, y).astype(F) for x in a.rotation.T for y in b.rotation.T]
    for axis in axes:
        reach = (own * np.abs(a.rotation.T @ axis)).sum() + (other * np.abs(b.rotation.T @ axis)).sum()
        if abs(axis @ offset) > reach:
            return False
    return True


# Exact tests


def balls(a: np.ndarray, r: np.float32, b: np.ndarray, s: np.float32) -> Contact | None:
    apart = b - a
    distance = F(np.sqrt(apart @ apart))
    if not distance < r + s:
        return None
    normal = apart / distance
    return Contact(a + normal * r, normal, r + s - distance)


def ball_and_cylinder(a: np.ndarray, r: np.float32, capsule: Body) -> Contact | None:
    along = (a - capsule.position) @ capsule.axis
    if not abs(along) < capsule.length / F(2):
        return None
    return balls(a, r, capsule.position + along * capsule.axis, capsule.radius)


def ball_and_capsule(a: np.ndarray, r: np.float32, capsule: Body) -> Contact | None:
    return (
        ball_and_cylinder(a, r, capsule)
        or balls(a, r, capsule.end(1), capsule.radius)
        or balls(a, r, capsule.end(-1), capsule.radius)
    )


def ball_and_tile(a: np.ndarray, r: np.float32, tile: Body) -> Contact | None:
    """Return a contact with the interior of the tile; the scenes keep clear of its edges."""
    local = tile.rotation.T @ (a - tile.position)
    inside = abs(local[0]) < tile.length / F(2) and abs(local[2]) < tile.width / F(2)
    height = abs(local[1])
    if height >= r:
        return None
    assert inside, "a scene of the oracle touches the edge of a tile"
    normal = tile.rotation[:, 1] * (F(-1) if local[1] > 0 else F(1))
    return Contact(a + normal * height, normal, r - height)


def capsules(a: Body, b: Body) -> Contact | None:
    u, v = a.axis, b.axis
    apart, reach = b.position - a.position, (a.length + b.length) / F(2) + a.radius + b.radius
    if apart @ apart > reach**2:
        return None
    assert ((u - v) ** 2).sum() > 1e-4 < ((u + v) ** 2).sum(), "a scene of the oracle has parallel capsules"
    across = np.cross(v, u).astype(F)
    across = across / F(np.sqrt(across @ across))
    s, t, w = np.linalg.solve(np.stack([u, -v, across], axis=1), b.position - a.position)
    if abs(w) > a.radius + b.radius:
        return None
    if abs(s) < a.length / F(2) and abs(t) < b.length / F(2):
        return balls(a.position + s * u, a.radius, b.position + t * v, b.radius)
    mine, other = a.end(1 if s > 0 else -1), b.end(1 if t > 0 else -1)
    found = ball_and_cylinder(other, b.radius, a)
    if found is not None:
        return Contact(found.point, -found.normal, found.depth)
    return ball_and_cylinder(mine, a.radius, b) or balls(mine, a.radius, other, b.radius)


def capsule_and_tile(capsule: Body, tile: Body) -> Contact | None:
    hits = [ball_and_tile(capsule.end(sign), capsule.radius, tile) for sign in (1, -1)]
    found = [hit for hit in hits if hit is not None]
    if len(found) < 2:
        return found[0] if found else None
    first, second = found
    return Contact((first.point + second.point) / F(2), first.normal, (first.depth + second.depth) / F(2))


ORDER = ("sphere", "capsule", "tile")


def contact(a: Body, b: Body) -> Contact | None:
    if ORDER.index(a.kind) > ORDER.index(b.kind):
        found = contact(b, a)
        return None if found is None else Contact(found.point, -found.normal, found.depth)
    match a.kind, b.kind:
        case "sphere", "sphere":
            return balls(a.position, a.radius, b.position, b.radius)
        case "sphere", "capsule":
            return ball_and_capsule(a.position, a.radius, b)
        case "sphere", "tile":
            return ball_and_tile(a.position, a.radius, b)
        case "capsule", "capsule":
            return capsules(a, b)
        case "capsule", "tile":
            return capsule_and_tile(a, b)
    return None


# Response and motion


def impulse(a: Body, b: Body, at: Contact) -> tuple[np.float32, np.ndarray, np.ndarray]:
    """Return the magnitude, which the engine takes as positive, and both arms × normal."""
    arms = at.point - a.position, at.point - b.position
    turns = [np.cross(arm, at.normal).astype(F) for arm in arms]
    velocities = [each.velocity + np.cross(each.spin, arm).astype(F) for each, arm in zip((a, b), arms, strict=True)]
    yielding = F(0)
    for each, arm, turn in zip((a, b), arms, turns, strict=True):
        if not each.static:
            yielding += F(1) / each.mass + np.cross(each.inverse_inertia() @ turn, arm).astype(F) @ at.normal
    restitution = (a.elasticity + b.elasticity) / F(2)
    approach = (velocities[1] - velocities[0]) @ at.normal
    return abs(-(F(1) + restitution) * approach / yielding), turns[0], turns[1]


def respond(bodies: list[Body], contacts: dict[tuple[int, int], Contact], before: dict[tuple[int, int], F]) -> None:
    """Queue all impulses, then apply them, weighted for each axis by the mass of the other body."""
    queue: list[tuple[int, np.ndarray, np.ndarray, np.float32, np.float32]] = []
    for (i, j), at in contacts.items():
        if (i, j) in before and not at.depth > before[i, j]:
            continue
        size, own, other = impulse(bodies[i], bodies[j], at)
        for row, partner, sign, turn in ((i, j, F(-1), own), (j, i, F(1), other)):
            if not bodies[row].static:
                mass = STATIC_MASS if bodies[partner].static else bodies[partner].mass
                queue.append((row, sign * cleared(at.normal), sign * cleared(turn), size, mass))
    linear, angular = np.zeros((len(bodies), 3), F), np.zeros((len(bodies), 3), F)
    for row, normal, turn, _, mass in queue:
        linear[row] += np.where(normal != 0, mass, F(0))
        angular[row] += np.where(turn != 0, mass, F(0))
    for row, normal, turn, size, mass in queue:
        body = bodies[row]
        share = [np.where(part != 0, mass / np.where(part != 0, weight[row], F(1)), F(0)) for part, weight in
                 ((normal, linear), (turn, angular))]  # fmt: skip
        body.velocity = limited(body.velocity + (size * normal * share[0] / body.mass).astype(F), F(50))
        body.spin = limited(body.spin + (body.inverse_inertia() @ (size * turn * share[1])).astype(F), F(10))


def cleared(vector: np.ndarray) -> np.ndarray:
    return np.where(np.abs(vector) < F(1e-4), F(0), vector).astype(F)


def limited(vector: np.ndarray, limit: np.float32) -> np.ndarray:
    size = F(np.sqrt(vector @ vector))
    return vector if size <= limit else (vector * (limit / size)).astype(F)


def move(body: Body) -> None:
    body.position = (body.position + body.velocity * DT).astype(F)
    if body.spin.any():
        body.rotation = (euler(*(body.spin * DT)) @ body.rotation).astype(F)
    body.velocity = limited((body.velocity + body.acceleration * DT).astype(F), F(50))


def simulate(path: Path, steps: int = STEPS) -> list[tuple[int, ...]]:
    """Return, for each step, the exact tests of each broad phase, and the collisions."""
    bodies = read_scene(path)
    pairs = [(i, j) for i, j in combinations(range(len(bodies)), 2) if not (bodies[i].static and bodies[j].static)]
    depths: dict[tuple[int, int], F] = {}
    rows = []
    for _ in range(steps):
        near = {pair for pair in pairs if boxes_overlap(*(bodies[row] for row in pair))}
        oriented = {pair for pair in pairs if oriented_boxes_overlap(*(bodies[row] for row in pair))}
        contacts = {pair: found for pair in pairs if (found := contact(*(bodies[row] for row in pair))) is not None}
        rows.append((len(pairs), len(near), len(oriented), len(near & oriented), len(contacts)))
        respond(bodies, contacts, depths)
        depths = {pair: at.depth for pair, at in contacts.items()}
        for body in bodies:
            move(body)
    return rows


if __name__ == "__main__":
    for scene in sorted(SCENES.glob("*.xml")):
        with scene.with_suffix(".csv").open("w", newline="") as handle:
            csv.writer(handle, lineterminator="\n").writerows((COLUMNS, *simulate(scene)))
