"""Bodies come and go: what is given is what is there, ids last for ever, and what is refused changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from world_scenes import UPRIGHT, gas

from choque.errors import ChoqueError, InvalidInput, UnknownName
from choque.narrow.shapes import CAPSULE, PLANE, SPHERE, TILE
from choque.world import World


def test_properties_are_read_back() -> None:
    """F-001-01: a sphere, a capsule, a rocket and a tile with every property."""
    world = World()
    full: dict[str, Any] = {
        "mass": 3.0, "velocity": (1, 2, 3), "angular_velocity": (0.1, 0.2, 0.3), "acceleration": (0, -9.8, 0),
        "restitution": 0.5, "color": (1, 2, 3), "drawn": False, "rotation": UPRIGHT,
    }  # fmt: skip
    assert world.add_spheres([1, 2, 3], 0.5, **full).tolist() == [0]
    assert world.add_capsules([[4, 5, 6], [7, 8, 9]], 0.3, [2.0, 0.0], rocket=[False, True], **full).tolist() == [1, 2]
    assert world.add_tiles([0, 0, 0], 8, 4, **full).tolist() == [3]
    bodies = world.bodies
    assert bodies.kind.tolist() == [SPHERE, CAPSULE, CAPSULE, TILE]
    np.testing.assert_array_equal(bodies.position, [[1, 2, 3], [4, 5, 6], [7, 8, 9], [0, 0, 0]])
    np.testing.assert_array_equal(bodies.size, [[0.5, 0, 0], [0.3, 2, 0], [0.3, 0, 0], [8, 4, 0]])
    assert bodies.rocket.tolist() == [False, False, True, False]
    assert bodies.static.tolist() == [False, False, False, True]
    assert not bodies.drawn.any()
    for column, value in (("velocity", (1, 2, 3)), ("acceleration", (0, -9.8, 0)), ("color", (1, 2, 3))):
        np.testing.assert_array_equal(getattr(bodies, column), [value] * 4)
    np.testing.assert_array_equal(bodies.rotation, [UPRIGHT] * 4)
    np.testing.assert_array_equal(bodies.mass, [3] * 4)
    np.testing.assert_array_equal(bodies.inverse_mass, [1 / 3, 1 / 3, 1 / 3, 0])
    np.testing.assert_allclose(bodies.inertia[0], 0.4 * 3 * 0.25)
    np.testing.assert_array_equal(bodies.inverse_inertia[3], 0)
    np.testing.assert_allclose(bodies.inverse_inertia[:3] * bodies.inertia[:3], 1)


def test_defaults_are_those_of_the_table() -> None:
    """F-001-02: a body about which nothing is said."""
    world = World()
    world.add_spheres([0, 0, 0])
    world.add_capsules([0, 5, 0])
    world.add_tiles([0, -5, 0])
    bodies = world.bodies
    np.testing.assert_array_equal(bodies.size, [[1, 0, 0], [1, 1, 0], [30, 30, 0]])
    np.testing.assert_array_equal(bodies.mass, 1)
    np.testing.assert_array_equal(bodies.restitution, 0)
    np.testing.assert_array_equal(bodies.color, 200)
    np.testing.assert_array_equal(bodies.rotation, [np.eye(3)] * 3)
    assert not bodies.velocity.any()
    assert not bodies.static[:2].any()
    assert bodies.drawn.all()


def test_columns_keep_their_layout() -> None:
    for dtype in ("float32", "float64"):
        world = gas(20, dtype=dtype)
        world.remove([3, 5])
        for name, column in world.bodies.columns().items():
            assert column.flags.c_contiguous, name
            assert column.flags.writeable, name
            assert column.dtype.kind != "f" or column.dtype == dtype, name


def test_ids_last_and_are_not_used_again() -> None:
    world = World()
    first = world.add_spheres(np.arange(12.0).reshape(4, 3) * 10)
    world.remove([first[1], first[3]])
    assert world.bodies.ids.tolist() == [0, 2]
    assert world.add_spheres([0, 10.5, 20]).tolist() == [4]
    world.step()
    assert world.contacts().pairs.tolist() == [[0, 4]]
    assert world.pairs().tolist() == [[0, 4]]
    world.remove([0])
    assert world.contacts().pairs.tolist() == [[0, 4]], "the latest step is a matter of the past"
    world.step()
    assert world.contacts().pairs.tolist() == []


def test_a_removed_body_changes_nothing_for_those_apart_from_it() -> None:
    both, alone = World(), World()
    for world in (both, alone):
        world.add_spheres([[0, 0, 0], [1.5, 0, 0]], velocity=[[1, 0, 0], [-1, 0, 0]])
    both.remove(both.add_spheres([50, 0, 0]))
    for _ in range(30):
        both.step()
        alone.step()
    assert both.hash() == alone.hash()


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("add_spheres", {"position": [0, np.nan, 0]}, "position"),
    ("add_spheres", {"position": [0, 0]}, "position has the shape"),
    ("add_spheres", {"position": [[0, 0, 0], [1, 1]]}, "position"),
    ("add_spheres", {"position": "somewhere"}, "position"),
    ("add_spheres", {"position": [0, 0, 0], "radius": -1}, "radius is -1.0; it must be a number above 0"),
    ("add_spheres", {"position": [0, 0, 0], "radius": 0}, "radius"),
    ("add_spheres", {"position": [0, 0, 0], "radius": np.inf}, "radius"),
    ("add_spheres", {"position": [0, 0, 0], "radius": [1, 2]}, "radius has the shape"),
    ("add_spheres", {"position": [0, 0, 0], "mass": -3}, "mass is -3.0"),
    ("add_spheres", {"position": [0, 0, 0], "mass": 0}, "mass"),
    ("add_spheres", {"position": [0, 0, 0], "mass": np.nan}, "mass"),
    ("add_spheres", {"position": [0, 0, 0], "mass": 1j}, "mass"),
    ("add_spheres", {"position": [0, 0, 0], "mass": 1e-300, "radius": 1e-20}, "inertia"),
    ("add_spheres", {"position": [0, 0, 0], "velocity": [np.inf, 0, 0]}, "velocity"),
    ("add_spheres", {"position": [0, 0, 0], "velocity": [1, 2]}, "velocity has the shape"),
    ("add_spheres", {"position": [0, 0, 0], "angular_velocity": [np.nan, 0, 0]}, "angular_velocity"),
    ("add_spheres", {"position": [0, 0, 0], "acceleration": [[0, 0, 0]] * 2}, "acceleration"),
    ("add_spheres", {"position": [0, 0, 0], "restitution": 1.5}, "restitution"),
    ("add_spheres", {"position": [0, 0, 0], "restitution": -0.1}, "restitution"),
    ("add_spheres", {"position": [0, 0, 0], "restitution": np.nan}, "restitution is nan; it must be a finite number"),
    ("add_spheres", {"position": [0, 0, 0], "friction": np.nan}, "friction is nan; it must be a finite number"),
    ("add_boxes", {"position": [0, 0, 0], "rotation": np.diag([1, 1, 0])}, "Normalise it first"),
    ("add_spheres", {"position": [0, 0, 0], "rotation": np.ones((3, 3))}, "orthonormal"),
    ("add_spheres", {"position": [0, 0, 0], "rotation": -np.eye(3)}, "mirror"),
    ("add_spheres", {"position": [0, 0, 0], "rotation": np.eye(4)}, "rotation has the shape"),
    ("add_spheres", {"position": [0, 0, 0], "static": 1}, "static"),
    ("add_spheres", {"position": [0, 0, 0], "drawn": [True, False]}, "drawn"),
    ("add_spheres", {"position": [0, 0, 0], "color": (0, 0, 256)}, "color[2] is 256"),
    ("add_spheres", {"position": [0, 0, 0], "color": (0.5, 0, 0)}, "color"),
    ("add_spheres", {"position": [0, 0, 0], "weight": 3}, "no property of bodies called 'weight'"),
    ("add_capsules", {"position": [0, 0, 0], "length": -1}, "length"),
    ("add_capsules", {"position": [0, 0, 0], "radius": 0}, "radius"),
    ("add_capsules", {"position": [0, 0, 0], "rocket": "yes"}, "rocket"),
    ("add_tiles", {"position": [0, 0, 0], "width": 0}, "width"),
    ("add_tiles", {"position": [0, 0, 0], "length": np.nan}, "length"),
    ("add_ground", {"height": np.nan}, "height is nan"),
    ("remove", {"ids": [7]}, "No living body has the id 7"),
    ("remove", {"ids": [0, 0]}, "twice"),
    ("remove", {"ids": [0.5]}, "ids"),
    ("step", {"dt": 0}, "dt is 0"),
    ("step", {"dt": -1}, "dt"),
    ("step", {"dt": np.nan}, "dt"),
    ("step", {"dt": "fast"}, "dt"),
    ("switch", {"broad": "sapp-obb"}, "Did you mean 'sap-obb'"),
    ("switch", {"bounds": "boxes"}, "kind of bounds"),
    ("switch", {"narrow": "exactly"}, "exactly"),
    ("switch", {"response": "none"}, "response"),
    ("switch", {"broad": "grid", "cellz": 3}, "cellz"),
]


@pytest.mark.parametrize(("method", "arguments", "message"), BAD, ids=lambda value: str(value)[:40])
def test_what_is_refused_changes_nothing(method: str, arguments: dict[str, Any], message: str) -> None:
    world = World()
    world.add_spheres([[0, 0, 0], [3, 0, 0]], velocity=[1, 0, 0])
    world.step()
    before, settings, bodies = world.hash(), world.settings, world.bodies
    with pytest.raises(InvalidInput) as caught:
        getattr(world, method)(**arguments)
    assert message in str(caught.value)
    assert (world.hash(), world.settings, world.frame) == (before, settings, 1)
    assert world.bodies is bodies
    assert world.add_spheres([9, 9, 9]).tolist() == [2], "no id was used up"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"broad": "octtree"}, "Did you mean 'octree'"),
        ({"broad": 3}, "no broad-phase method called 3"),
        ({"bounds": "7-dop"}, "7-dop"),
        ({"narrow": "sloppy"}, "sloppy"),
        ({"response": "friction"}, "friction"),
        ({"dtype": "float16"}, "float16"),
        ({"dtype": np.int32}, "no float type called 'int32'"),
        ({"threads": 0}, "threads"),
        ({"max_speed": -1}, "max_speed"),
        ({"max_spin": np.nan}, "max_spin"),
        ({"broad": "grid", "shells": 3}, "shells"),
        ({"response_options": 8}, "response_options is 8"),
        ({"response_options": {8: "substeps"}}, "a dictionary such as"),
    ],
)
def test_a_world_of_unknown_rules_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        World(**options)
    if "response_options" in options:
        with pytest.raises(InvalidInput, match=message):
            World().switch(**options)
    assert issubclass(UnknownName, ChoqueError)


@pytest.mark.parametrize("velocity", [1e308, np.nan])
def test_a_body_whose_pose_is_not_finite_is_named(velocity: float) -> None:
    world = World()
    world.add_ground()
    world.add_spheres([[0, 1, 0], [1.9, 1, 0], [50, 1, 0]])
    world.bodies.velocity[3, 0] = velocity
    before = world.bodies.position.copy()
    with pytest.raises(InvalidInput, match="The body 3 is at"):
        world.step(100.0)
    assert world.frame == 0
    np.testing.assert_array_equal(world.bodies.position, before)


@pytest.mark.parametrize(("velocity", "dt"), [(1e200, 1 / 60), (1e300, 1 / 60), (1.0, 1e-20), (1.0, 1e20)])
def test_great_and_small_numbers_raise_no_warning(velocity: float, dt: float) -> None:
    world = World()
    world.add_spheres([[0, 0, 0], [9, 0, 0]], velocity=[[0, velocity, 0], [0, 0, 0]])
    world.add_boxes([[0, 5, 0]], static=True)
    world.step(dt)
    assert np.isfinite(world.bodies.position).all()


def test_a_step_whose_length_the_solver_cannot_hold_is_refused() -> None:
    world = World()
    world.add_spheres([0, 0, 0])
    with pytest.raises(InvalidInput, match="dt is 1e-300; it must be a number from 1e-30 to"):
        world.step(1e-300)
    assert world.frame == 0


def test_types_of_numpy_are_understood_by_name() -> None:
    for dtype in (np.float32, np.dtype(np.float32), "float32"):
        world = World(dtype=dtype)
        assert world.settings.dtype == "float32"
        world.add_spheres([0, 0, 0])
        assert world.bodies.position.dtype == np.float32


def test_values_that_are_not_finite_are_reported_once() -> None:
    with pytest.raises(InvalidInput, match=r"velocity is nan; it must be a finite number\."):
        World().add_spheres([0, 0, 0], velocity=[np.nan, 0, 0])


def test_float32_refuses_what_it_cannot_hold() -> None:
    with pytest.raises(InvalidInput, match="float32 cannot hold"):
        World(dtype="float32").add_spheres([1e39, 0, 0])


def test_ground_is_a_static_plane() -> None:
    world = World()
    world.add_ground(-2.0)
    assert world.bodies.kind.tolist() == [PLANE]
    assert world.bodies.static.all()
    np.testing.assert_array_equal(world.bodies.position, [[0, -2, 0]])


def test_rotations_that_are_nearly_right_are_made_right() -> None:
    world = World()
    world.add_capsules([0, 0, 0], rotation=np.round(UPRIGHT + 3e-5, 6))
    rotation = world.bodies.rotation[0]
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-15)


def test_speeds_are_limited_from_the_start() -> None:
    world = World(max_speed=50, max_spin=10)
    world.add_spheres([0, 0, 0], velocity=[300, 400, 0], angular_velocity=[0, 0, 3])
    np.testing.assert_allclose(world.bodies.velocity, [[30, 40, 0]])
    np.testing.assert_allclose(world.bodies.angular_velocity, [[0, 0, 3]])


@pytest.mark.parametrize("radius", [1e300, 1e160, 1e-300])
def test_an_inertia_beyond_the_floats_is_one_sentence_without_a_warning(radius: float) -> None:
    with pytest.raises(InvalidInput, match="inertia is outside"):
        World().add_spheres(position=[[0.0, 0.0, 0.0]], radius=[radius])
