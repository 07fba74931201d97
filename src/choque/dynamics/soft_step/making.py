"""How the row of a manifold is made from what is kept of it, four rows at a time, on vectors of four: see `rows`.

Gaps are differences of positions, which may be large: they are found in float64, all else in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from choque._core.lane_code import I64, Array, Arrays, Code, Int, Pointer, operation
from choque.dynamics.soft_step import rows as spot
from choque.dynamics.soft_step.bodies import LIGHTNESS, REACH
from choque.dynamics.soft_step.four import AT_ONCE, SCALE, V, W
from choque.dynamics.soft_step.rows import ManifoldCode

NORMAL_ARMS = 27
"""Numbers that are kept for a manifold: its normal, and for each point the arms from the centres of both bodies."""

POSE, TURN_A, TURN_B = 24, 6, 15  # and for the pose it was found in; the places of both rotations among them
FEATURES, COUNT, MARKS = 0, 4, 5  # places in a row of its marks: four features, and the number of points; its width


class _Maker(ManifoldCode):
    """Writes the code that makes the rows of manifolds from what is kept of them."""

    def load(self, array: Pointer, rows: list[Any], width: int, at: int) -> Any:
        """Load four numbers of a row of each manifold, in float64."""
        short, code = ir.VectorType(array.element, 4), self.code
        return self.joined(code.load(array, code.plus(code.times(row, width), at), short) for row in rows)

    def matrix(self, array: Pointer, rows: list[Any], width: int, at: int) -> list[Any]:
        """Load the three rows of a matrix; the fourth lanes are something else. Nothing behind it is read."""
        lines = [self.load(array, rows, width, at + place) for place in (0, 3, 5)]
        return [*lines[:2], self.order(lines[2], lines[2], [1, 2, 3, 3])]

    def lanes(self, vector: Any) -> list[Any]:
        """Return the first three lanes, each in all lanes."""
        return [self.lane(vector, axis) for axis in range(3)]

    def through(self, matrix: list[Any], vector: Any) -> Any:
        """Return a matrix times a vector of three."""
        return self.sums(*(self.mul(line, vector) for line in matrix))

    def dot(self, one: Any, other: Any) -> Any:
        """Return the product of vectors, in all lanes."""
        return self.total(self.mul(one, other))

    def sum_of(self, ones: list[Any], others: list[Any]) -> Any:
        """Return the sum of three products."""
        return self.add(*(self.mul(one, other) for one, other in zip(ones, others, strict=True)))

    def crossed(self, ones: list[Any], others: list[Any]) -> list[Any]:
        """Return cross products of which x, y and z are vectors of their own."""
        return [
            self.sub(self.mul(ones[j], others[k]), self.mul(ones[k], others[j])) for j, k in ((1, 2), (2, 0), (0, 1))
        ]

    def vector(self, x: Any, y: Any, z: Any) -> Any:
        """Return a vector of three numbers that are in all lanes each."""
        return self.order(self.order(x, y, [0, 4, 0, 4]), self.order(z, self.zero, [0, 4, 0, 4]), [0, 1, 4, 5])

    def root(self, value: Any) -> Any:
        """Return the square root."""
        return self.code.call(f"llvm.sqrt.v{self.kind.count}f32", self.kind, [value])


def _make(
    code: Code, speed: Any, rows: Any, bodies: list[Pointer], kept: list[Pointer], live: Any, t: Any, last: Any
) -> None:
    """Write the code of `make_rows`; the first row is made again in place of those that are not there."""
    (pose, frame, ball, pull), (of_pairs, home, marks, found, arms) = bodies, kept
    builder, wanted = code.builder, [code.plus(t, place) for place in range(AT_ONCE)]
    ts = [builder.select(builder.icmp_signed("<", row, last), row, t) for row in wanted]
    pairs = [code.load(live, row) for row in ts]
    both = [
        [builder.sext(code.load(of_pairs, code.plus(code.times(pair, 2), side)), I64) for pair in pairs]
        for side in (0, 1)
    ]
    pairs = [builder.sext(code.load(home, pair), I64) for pair in pairs]  # where the manifolds are kept
    four = _Maker(code, speed, rows, *zip(ts, *both, strict=True))
    add, sub, mul, div, select = four.add, four.sub, four.mul, builder.fdiv, builder.select
    number = ir.Constant(four.kind, [0.0, 1.0, 2.0, 3.0] * AT_ONCE)
    points = ir.Constant(ir.VectorType(rows.element, AT_ONCE), ir.Undefined)
    for place, pair in enumerate(pairs):
        count = builder.uitofp(code.load(marks, code.plus(code.times(pair, MARKS), COUNT)), rows.element)
        points = builder.insert_element(points, count, I64(place))
    is_point = four.more(code.shuffle(points, points, [lane // 4 for lane in range(4 * AT_ONCE)]), number)
    # The gaps.
    wide = four.three(four.load(arms, pairs, NORMAL_ARMS, 0))
    far_a, far_b = ([four.load(arms, pairs, NORMAL_ARMS, at + 4 * axis) for axis in range(3)] for at in (3, 15))
    seen = []
    for body, place in zip(both, (TURN_A, TURN_B), strict=True):
        own = four.three(four.sum_of(four.matrix(pose, body, 12, 3), four.lanes(wide)))
        seen.append(four.lanes(four.through(four.matrix(found, pairs, POSE, place), own)))
    offset = sub(four.load(pose, both[1], 12, 0), four.load(pose, both[0], 12, 0))
    gap = four.narrow(add(four.dot(wide, offset), sub(four.sum_of(seen[1], far_b), four.sum_of(seen[0], far_a))))
    gap = four.put(select(is_point, gap, four.zero), spot.GAP, 4)
    # The speeds at the points.
    normal, (arm_a, arm_b) = four.narrow(wide), ([four.narrow(each) for each in arm] for arm in (far_a, far_b))
    along = four.lanes(normal)
    brief = [four.narrow(four.load(ball, body, 8, REACH)) for body in both]
    light = [four.lane(each, LIGHTNESS - REACH) for each in brief]
    weights = [select(four.more(each, four.zero), four.one, four.zero) for each in light]
    mass, margin = add(*(mul(each, each) for each in light)), add(*(four.lane(each, 0) for each in brief))
    frames = [[four.narrow(line) for line in four.matrix(frame, body, 9, 0)] for body in both]
    effects = []
    torques = four.crossed(along, arm_a), four.crossed(arm_b, along)
    for place, lines, torque in zip((spot.JA, spot.JB), frames, torques, strict=True):
        columns = [four.sum_of(four.lanes(line), torque) for line in lines]
        effects.append([four.put(column, place + 4 * axis, 4) for axis, column in enumerate(columns)])
    meeting = four.dot(normal, four.between(four.velocities))
    for effect, spin in zip(effects, four.spins, strict=True):
        meeting = add(meeting, four.sum_of(effect, four.lanes(four.narrow(spin))))
    four.put(select(is_point, meeting, four.zero), spot.APPROACH, 4)
    four.put(four.dot(normal, four.between([four.load(pull, body, 4, 0) for body in both])), spot.PULL)
    # Masses, and how an impulse at one point changes the speeds at the others.
    for point in range(4):
        change = mass
        for weight, effect in zip(weights, effects, strict=True):
            at_point = effect if point == 3 else [four.lane(each, point) for each in effect]
            change = add(change, mul(weight, four.sum_of(effect, at_point)))
        if point < 3:
            later = four.more(number, ir.Constant(four.kind, [float(point)] * four.kind.count))
            four.put(select(four.builder.and_(is_point, later), change, four.zero), spot.CROSS + 4 * point, 4)
    four.put(select(is_point, div(four.one, change), four.zero), spot.MASS, 4)
    # The middle of the points: those that hardly touch count less.
    least, two = (ir.Constant(four.kind, [value] * four.kind.count) for value in (1e-6, 2.0))
    share = four.most(sub(two, div(gap, margin)), least)
    share = select(is_point, select(four.more(share, four.one), four.one, share), four.zero)
    whole = div(four.one, four.total(share))
    middle_a, middle_b = ([mul(four.dot(share, each), whole) for each in arm] for arm in (arm_a, arm_b))
    levers = [sub(each, middle) for each, middle in zip(arm_a, middle_a, strict=True)]
    four.put(select(is_point, four.root(four.sum_of(levers, levers)), four.zero), spot.LEVER, 4)
    # Friction along two tangents, and twist.
    x, y, z = along
    minus = [sub(four.zero, each) for each in (x, y)]
    tangent = select(
        four.more(mul(y, y), mul(x, x)), four.vector(four.zero, z, minus[1]), four.vector(z, four.zero, minus[0])
    )
    tangent = div(tangent, four.root(four.dot(tangent, tangent)))
    tangents = tangent, four.cross(normal, tangent)
    middles = four.vector(*middle_a), four.vector(*middle_b)
    for at, vector in zip((spot.NORMAL, spot.T1, spot.T2), (normal, *tangents), strict=True):
        four.put(vector, at, 4)
    matrix = [mass, four.zero, mass, four.zero]
    for side, places in enumerate(((spot.FA1, spot.FA2, spot.TA), (spot.FB1, spot.FB2, spot.TB))):
        about = [four.cross(middles[1], each) if side else four.cross(each, middles[0]) for each in tangents]
        about.append(normal if side else sub(four.zero, normal))
        turns = [four.put(four.through(frames[side], each), at, 4) for each, at in zip(about, places, strict=True)]
        for at, (one, other) in enumerate(((0, 0), (0, 1), (1, 1), (2, 2))):
            matrix[at] = add(matrix[at], mul(weights[side], four.dot(turns[one], turns[other])))
    k11, k12, k22, twist = matrix
    far = ir.VectorType(speed.element, four.kind.count)  # the product of two masses may be too small for float32
    k11, k12, k22 = (builder.fpext(each, far) for each in (k11, k12, k22))
    whole = sub(mul(k11, k22), mul(k12, k12))
    for place, value in enumerate((k22, builder.fneg(k12), k11)):
        four.put(four.narrow(div(value, whole)), spot.INVERSE + place)
    four.put(div(four.one, twist), spot.TWIST_MASS)


@operation(_make)
def make_rows(speed: Array, rows: Array, bodies: Arrays, kept: Arrays, live: Array, t: Int, last: Int) -> None:
    """Make `AT_ONCE` rows from ``t`` on, those before ``last``, from the manifolds ``live``: all but what acts so far.

    Normals and arms stay as they were found; only the gaps follow the bodies: if normals turned along with a body, tall
    stacks would buckle. ``bodies`` are the columns pose, frame, ball and pull of `SolverBodies`; ``kept`` are pairs,
    home, marks, pose and arms of `Kept`.
    """
    pairs, home, marks, found, arms = kept
    for row in range(t, min(t + AT_ONCE, last)):
        pair = live[row]
        (a, b), at = pairs[pair], home[pair]
        _make_row(rows[row], arms[at], found[at], (speed, *bodies), a, b, marks[at, COUNT])


# Plain Python


def _make_row(row: Any, arms: Any, found: Any, bodies: Any, a: int, b: int, count: int) -> None:
    speed, pose, frame, ball, pull = bodies
    normal, own = arms[:3], arms[3:].reshape(2, 3, 4)
    row[spot.GAP : spot.GAP + 4] = row[spot.APPROACH : spot.APPROACH + 4] = row[spot.MASS : spot.MASS + 4] = row[
        spot.LEVER : spot.LEVER + 4
    ] = 0.0
    row[spot.CROSS : spot.CROSS + 12] = row[spot.JA : spot.JA + 12] = row[spot.JB : spot.JB + 12] = 0.0
    light = ball[a, LIGHTNESS], ball[b, LIGHTNESS]
    both, weights, signs = (a, b), (float(light[0] > 0), float(light[1] > 0)), (-1.0, 1.0)
    turns = [pose[body, 3:].reshape(3, 3) for body in both]
    were = [found[TURN_A:TURN_B].reshape(3, 3), found[TURN_B:].reshape(3, 3)]
    seen = [then @ now.T @ normal for then, now in zip(were, turns, strict=True)]
    mass, margin = light[0] ** 2 + light[1] ** 2, ball[a, REACH] + ball[b, REACH]
    frames = [frame[body].reshape(3, 3) for body in both]
    gap = normal @ (pose[b, :3] - pose[a, :3]) + (seen[1] @ own[1] - seen[0] @ own[0])[:count]
    torques = [sign * np.cross(arm[:, :count].T, normal).T for sign, arm in zip(signs, own, strict=True)]
    effects = [lines @ torque for lines, torque in zip(frames, torques, strict=True)]
    speeds = [speed[body, V : V + 3] * speed[body, SCALE] for body in both]
    meeting = normal @ (speeds[1] - speeds[0]) + sum(
        speed[body, W : W + 3] @ effect for body, effect in zip(both, effects, strict=True)
    )
    change = mass + sum(weight * effect.T @ effect for weight, effect in zip(weights, effects, strict=True))
    row[spot.GAP : spot.GAP + count], row[spot.APPROACH : spot.APPROACH + count] = gap, meeting
    row[spot.PULL] = normal @ (pull[b, :3] * speed[b, SCALE] - pull[a, :3] * speed[a, SCALE])
    row[spot.MASS : spot.MASS + count] = 1 / np.diag(change)
    for place, effect in zip((spot.JA, spot.JB), effects, strict=True):
        for axis in range(3):
            row[place + 4 * axis : place + 4 * axis + count] = effect[axis]
    for point in range(3):
        row[spot.CROSS + 5 * point + 1 : spot.CROSS + 4 * point + count] = (
            change[point, point + 1 :] if point < count else 0.0
        )
    share = np.clip(2 - gap / margin, 1e-6, 1)
    middles = [arm[:, :count] @ share / share.sum() for arm in own]
    row[spot.LEVER : spot.LEVER + count] = np.linalg.norm(own[0][:, :count] - middles[0][:, None], axis=0)
    x, y, z = normal
    tangent = np.array([0, z, -y] if abs(x) < abs(y) else [z, 0, -x])
    tangent /= np.linalg.norm(tangent)
    axes = [tangent, np.cross(normal, tangent)]
    matrix = np.diag([mass, mass, 0.0])
    for at, vector in zip((spot.NORMAL, spot.T1, spot.T2), (normal, *axes), strict=True):
        row[at : at + 4] = *vector, 0.0
    for side, places in enumerate(((spot.FA1, spot.FA2, spot.TA), (spot.FB1, spot.FB2, spot.TB))):
        torque = [*(np.cross(middles[side], axis) for axis in axes), normal]
        made = signs[side] * np.array([frames[side] @ each for each in torque])
        for at, vector in zip(places, made, strict=True):
            row[at : at + 4] = *vector, 0.0
        matrix += weights[side] * made @ made.T
    inverse = np.linalg.inv(matrix[:2, :2])
    row[spot.INVERSE : spot.INVERSE + 3], row[spot.TWIST_MASS] = (
        (inverse[0, 0], inverse[0, 1], inverse[1, 1]),
        1 / matrix[2, 2],
    )
