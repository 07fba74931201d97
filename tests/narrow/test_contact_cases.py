"""Contacts worked out by hand: one case for each region, side and degenerate position (F-001-16 to F-001-22)."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from narrow_oracle import shapes_of
from scipy.spatial.transform import Rotation

from choque.narrow import Contacts, NarrowPhase
from choque.narrow.shapes import CAPSULE, PLANE, SPHERE, TILE

STRAIGHT = np.eye(3)
ALONG_X = Rotation.from_euler("y", 90, degrees=True).as_matrix().round()
"""Turns a capsule's axis from z to x."""
UPRIGHT = Rotation.from_euler("x", -90, degrees=True).as_matrix().round()
"""Turns a capsule's axis from z to y."""


Body = tuple[int, Any, Any, Any]


def sphere(center: Any, radius: float) -> Body:
    return SPHERE, center, STRAIGHT, (radius, 0, 0)


def capsule(center: Any, radius: float, length: float, rotation: Any = STRAIGHT) -> Body:
    return CAPSULE, center, rotation, (radius, length, 0)


def tile(center: Any, length: float, width: float, rotation: Any = STRAIGHT) -> Body:
    return TILE, center, rotation, (length, width, 0)


def ground(height: float = 0.0, rotation: Any = STRAIGHT) -> Body:
    return PLANE, (0, height, 0), rotation, (0, 0, 0)


def meet(first: Body, second: Body, narrow: str = "exact") -> Contacts:
    shapes = shapes_of(*(list(column) for column in zip(first, second, strict=True)))
    return NarrowPhase(narrow).find(shapes, np.array([[0, 1]], np.int32))


def check(first: Body, second: Body, point: Any, normal: Any, depth: float) -> None:
    """The contact of the two is this one, and in the other order its normal is turned round (F-001-22)."""
    for found, sign in ((meet(first, second), 1), (meet(second, first), -1)):
        assert len(found) == 1
        assert np.allclose(found.point[0], point, atol=1e-12)
        assert np.allclose(found.normal[0], sign * np.asarray(normal, float), atol=1e-12)
        assert found.depth[0] == pytest.approx(depth, abs=1e-12)


class TestSphereSphere:
    """F-001-16."""

    def test_unequal_radii(self) -> None:
        check(sphere((0, 0, 0), 3), sphere((0, 4, 0), 2), (0, 2.5, 0), (0, 1, 0), 1)

    def test_one_inside_the_other(self) -> None:
        check(sphere((0, 0, 0), 5), sphere((1, 0, 0), 1), (2.5, 0, 0), (1, 0, 0), 5)

    def test_touching_is_none(self) -> None:
        assert len(meet(sphere((0, 0, 0), 3), sphere((3, 4, 0), 2))) == 0

    def test_concentric_second_goes_up(self) -> None:
        found = meet(sphere((1, 2, 3), 2), sphere((1, 2, 3), 1))
        assert found.normal.tolist() == [[0, 1, 0]]
        assert found.depth.tolist() == [3]
        assert found.point.tolist() == [[1, 2.5, 3]]

    def test_of_no_size(self) -> None:
        assert len(meet(sphere((0, 0, 0), 0), sphere((0, 0, 0), 0))) == 0


class TestSphereCapsule:
    """F-001-17."""

    @pytest.mark.parametrize("side", [1, -1])
    def test_beside_the_cylinder(self, side: int) -> None:
        check(sphere((0, 1.5 * side, 1), 1), capsule((0, 0, 0), 1, 4), (0, 0.75 * side, 1), (0, -side, 0), 0.5)

    @pytest.mark.parametrize("end", [1, -1])
    def test_at_either_end(self, end: int) -> None:
        check(sphere((0, 0, 3.5 * end), 1), capsule((0, 0, 0), 1, 4), (0, 0, 2.75 * end), (0, 0, -end), 0.5)

    @pytest.mark.parametrize("end", [1, -1])
    def test_askew_at_either_end(self, end: int) -> None:
        slope = np.array([0, 0.6, 0.8 * end])
        check(
            sphere((0, 0, 2 * end) + 1.5 * slope, 1),
            capsule((0, 0, 0), 1, 4),
            (0, 0, 2 * end) + 0.75 * slope,
            -slope,
            0.5,
        )

    def test_centre_on_the_axis(self) -> None:
        check(sphere((0, 0, 1), 0.5), capsule((0, 0, 0), 1, 4), (-0.25, 0, 1), (1, 0, 0), 1.5)

    def test_centre_almost_on_the_axis(self) -> None:
        found = meet(sphere((1e-17, 1e-18, 0.3), 0.5), capsule((0, 0, 0), 1, 4))
        assert np.allclose(found.normal, [[-1, 0, 0]])

    def test_of_no_length(self) -> None:
        check(sphere((0, 0, 0), 1), capsule((1.5, 0, 0), 1, 0), (0.75, 0, 0), (1, 0, 0), 0.5)


class TestCapsuleCapsule:
    """F-001-18."""

    def test_parallel_in_the_middle_of_the_shared_stretch(self) -> None:
        check(capsule((0, 0, 0), 1, 4), capsule((1.5, 0, 3), 1, 6), (0.75, 0, 1), (1, 0, 0), 0.5)

    def test_opposite_directions(self) -> None:
        turned = np.diag([1.0, -1.0, -1.0])
        check(capsule((0, 0, 0), 1, 4), capsule((1.5, 0, 3), 1, 6, turned), (0.75, 0, 1), (1, 0, 0), 0.5)

    def test_parallel_and_past_the_end(self) -> None:
        check(capsule((0, 0, 0), 1, 4), capsule((0.6, 0, 4.8), 1, 4), (0.3, 0, 2.4), (0.6, 0, 0.8), 1)

    def test_collinear_and_apart(self) -> None:
        check(capsule((0, 0, 0), 1, 4), capsule((0, 0, 5.5), 1, 4), (0, 0, 2.75), (0, 0, 1), 0.5)

    def test_collinear_and_overlapping_parts_sideways(self) -> None:
        found = meet(capsule((0, 0, 0), 1, 4), capsule((0, 0, 3), 0.5, 4))
        assert found.normal.tolist() == [[1, 0, 0]]
        assert found.depth.tolist() == [1.5]
        assert found.point.tolist() == [[0.25, 0, 1.5]]

    def test_the_same_place(self) -> None:
        found = meet(capsule((0, 0, 0), 1, 4), capsule((0, 0, 0), 1, 4))
        assert found.normal.tolist() == [[1, 0, 0]]
        assert found.depth.tolist() == [2]

    def test_crossing(self) -> None:
        check(capsule((0, 0, 0), 1, 4), capsule((1, 1.5, 1), 1, 4, ALONG_X), (0, 0.75, 1), (0, 1, 0), 0.5)

    def test_axes_that_meet_part_along_their_perpendicular(self) -> None:
        check(capsule((0, 0, 0), 1, 4), capsule((1, 0, 1), 0.5, 4, ALONG_X), (0, 0.25, 1), (0, 1, 0), 1.5)

    def test_end_against_the_side(self) -> None:
        check(capsule((0, 0, 0), 1, 4), capsule((3.5, 0, 1), 1, 4, ALONG_X), (0.75, 0, 1), (1, 0, 0), 0.5)

    def test_a_capsule_of_no_length_is_a_sphere(self) -> None:
        check(capsule((0, 0, 0), 1, 0, ALONG_X), capsule((0, 1.5, 0), 1, 4), (0, 0.75, 0), (0, 1, 0), 0.5)

    def test_the_closest_ends_are_not_those_that_the_lines_suggest(self) -> None:
        """A defect of the Fingsics engine: it chooses ends by the signs of the closest points of the infinite axes."""
        tilt = Rotation.from_euler("x", 10, degrees=True).as_matrix()
        first, second = capsule((0, 0, 0), 0.5, 2), capsule((0, 0.6, 2.5), 0.5, 2, tilt)
        assert meet(first, second).depth == pytest.approx(0.07050844, abs=1e-8)
        assert len(meet(first, second, narrow="fingsics")) == 0

    def test_touching_is_none(self) -> None:
        assert len(meet(capsule((0, 0, 0), 1, 4), capsule((2, 0, 1), 1, 4))) == 0


class TestSphereTile:
    """F-001-19: the interior, four edges and four corners, from above and from below."""

    @pytest.mark.parametrize(("along", "across", "face"), list(product((-1, 0, 1), (-1, 0, 1), (1, -1))))
    def test_region(self, along: int, across: int, face: int) -> None:
        out = np.array([2.0 * along, 1.0 * face, 2.0 * across])
        distance = float(np.linalg.norm(out))
        edge = np.array([3.0 * along, 0.0, 2.0 * across])
        inward = -out / distance
        check(sphere(edge + out, distance + 0.5), tile((0, 0, 0), 6, 4), edge + 0.25 * inward, inward, 0.5)
        assert len(meet(sphere(edge + out, distance), tile((0, 0, 0), 6, 4))) == 0

    def test_centre_on_the_tile_counts_as_above(self) -> None:
        check(sphere((1, 0, 1), 2), tile((0, 0, 0), 6, 4), (1, -1, 1), (0, -1, 0), 2)

    def test_turned_and_moved(self) -> None:
        wall = Rotation.from_euler("z", 90, degrees=True).as_matrix().round()  # its normal is −x
        check(sphere((4, 7, 7), 1.5), tile((5, 6, 7), 6, 4, wall), (5.25, 7, 7), (1, 0, 0), 0.5)

    def test_of_no_size(self) -> None:
        check(sphere((0, 1, 0), 2), tile((0, 0, 0), 0, 0), (0, -0.5, 0), (0, -1, 0), 1)


class TestCapsuleTile:
    """F-001-20."""

    def test_lying_flat_touches_in_the_middle(self) -> None:
        check(capsule((0, 0.5, 0), 1, 4), tile((0, 0, 0), 8, 8), (0, -0.25, 0), (0, -1, 0), 0.5)

    def test_lying_half_over_the_edge(self) -> None:
        check(capsule((0, 0.5, 4), 1, 4), tile((0, 0, 0), 8, 8), (0, -0.25, 3), (0, -1, 0), 0.5)

    def test_lying_across_a_narrow_tile(self) -> None:
        check(capsule((0, -0.5, 1), 1, 40), tile((0, 0, 0), 8, 2), (0, 0.25, 0), (0, 1, 0), 0.5)

    @pytest.mark.parametrize("face", [1, -1])
    def test_standing_on_an_end(self, face: int) -> None:
        check(
            capsule((1, 2.5 * face, 1), 1, 4, UPRIGHT), tile((0, 0, 0), 8, 8), (1, -0.25 * face, 1), (0, -face, 0), 0.5
        )

    def test_beside_an_edge(self) -> None:
        check(capsule((4.5, 1, 0), 1, 6, UPRIGHT), tile((0, 0, 0), 8, 8), (3.75, 0, 0), (-1, 0, 0), 0.5)

    def test_beside_a_corner(self) -> None:
        out = np.array([0.3, 0, 0.4])
        check(
            capsule(np.array([4, 1, 4]) + out, 1, 6, UPRIGHT),
            tile((0, 0, 0), 8, 8),
            (4, 0, 4) - 0.5 * out,
            -2 * out,
            0.5,
        )

    def test_piercing_the_interior(self) -> None:
        """Ends and edges are clear, which the Fingsics engine misses; the capsule leaves on the side of its centre."""
        check(capsule((0, 1, 0), 0.5, 6, UPRIGHT), tile((0, 0, 0), 40, 40), (0, -1.25, 0), (0, -1, 0), 2.5)

    def test_piercing_near_an_edge(self) -> None:
        check(capsule((3.75, 1, 0), 0.5, 60, UPRIGHT), tile((0, 0, 0), 8, 80), (3.625, 0, 0), (-1, 0, 0), 0.75)

    def test_in_the_plane_of_the_tile(self) -> None:
        check(capsule((0, 0, 1), 1, 4), tile((0, 0, 0), 8, 8), (0, -0.5, 1), (0, -1, 0), 1)

    def test_touching_is_none(self) -> None:
        assert len(meet(capsule((0, 1, 0), 1, 4), tile((0, 0, 0), 8, 8))) == 0


class TestGround:
    def test_sphere(self) -> None:
        check(sphere((3, 1.5, 4), 2), ground(), (3, -0.25, 4), (0, -1, 0), 0.5)

    def test_sphere_deep_below(self) -> None:
        check(sphere((0, -10, 0), 2), ground(), (0, -6, 0), (0, -1, 0), 12)

    def test_capsule_on_its_lower_end(self) -> None:
        tilt = Rotation.from_euler("x", 30, degrees=True).as_matrix()  # the end at +z is lower
        low = tilt @ (0, 0, 2)
        check(capsule((0, 1 - low[1], 0), 1.5, 4, tilt), ground(), (0, -0.25, low[2]), (0, -1, 0), 0.5)

    def test_capsule_lying_flat(self) -> None:
        check(capsule((5, 0.5, 1), 1, 4, ALONG_X), ground(), (5, -0.25, 1), (0, -1, 0), 0.5)

    def test_a_slope(self) -> None:
        tilt = Rotation.from_euler("z", 90, degrees=True).as_matrix().round()  # the half-space x ≥ 0
        check(sphere((-1, 0, 0), 2), ground(0, tilt), (0.5, 0, 0), (1, 0, 0), 1)

    def test_touching_is_none(self) -> None:
        assert len(meet(sphere((0, 2, 0), 2), ground())) == 0
        assert len(meet(capsule((0, 1, 0), 1, 4), ground())) == 0
