"""What the studio draws, without a page: wireframes, structures, rays, colours, meshes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choque import broad, scene
from choque.bounds import Boxes, directions
from choque.record import BodyTable, Poses
from choque.studio import meshes
from choque.studio.page.backdrop import boxes_of, ellipses_of, hexagons_of
from choque.studio.page.bodies import BLOCK, COARSE, COLORINGS, Part, blocks_of, definition_for, parts_of
from choque.studio.page.findings import Findings
from choque.studio.page.overlays import OVERLAYS, Options, area_members, structure_of, sweep_axis_of
from choque.studio.page.stage import about_body, body_on_ray
from choque.studio.page.wires import box_wires, oriented_wires, slab_wires, sphere_wires
from choque.studio.palette import FREE, GLOW, STATIC
from choque.studio.stage.camera import around_moving, framing
from choque.studio.stage.extents import oriented_boxes
from choque.studio.stage.stage import LIGHT
from choque.studio.surroundings import Surroundings
from choque.world import World
from choque.world.detection import Detection
from choque.world.settings import Settings


@pytest.fixture(scope="module")
def world() -> World:
    """Spheres, capsules, boxes, tiles and a ground, some of which touch."""
    made = World("bvh")
    generator = np.random.default_rng(3)
    made.add_spheres(
        generator.uniform(-3, 3, (30, 3)), generator.uniform(0.3, 0.8, 30), velocity=generator.normal(size=(30, 3))
    )
    made.add_capsules(generator.uniform(-3, 3, (10, 3)), 0.4, 1.2)
    made.add_boxes(generator.uniform(-3, 3, (6, 3)), (0.8, 1.0, 1.4))
    made.add_tiles([[0, -4, 0]], 10.0, 12.0)
    made.add_ground(-6.0)
    return made


def findings_of(world: World, method: str = "bvh") -> Findings:
    return Findings(world.bodies, Detection(Settings(broad=method)))


def seen(segments: np.ndarray) -> set[tuple[float, ...]]:
    """Segments as a set, whichever end is first."""
    return {tuple(sorted(map(tuple, np.round(ends, 4).tolist()))) for ends in segments}


def test_the_slabs_along_the_axes_are_a_box() -> None:
    generator = np.random.default_rng(0)
    lower = generator.uniform(-5, 5, (20, 3))
    upper = lower + generator.uniform(0.5, 3, (20, 3))
    assert seen(slab_wires(lower, upper, directions(6))) == seen(box_wires(lower, upper))


@pytest.mark.parametrize("k", [14, 18, 26])
def test_the_edges_of_a_k_dop_are_those_of_its_hull(k: int) -> None:
    """Every corner that its half-spaces have in common is an end of an edge, and every end is such a corner."""
    spatial = pytest.importorskip("scipy.spatial", reason="scipy is not installed")
    along = directions(k).astype(float)
    points = np.random.default_rng(k).normal(size=(12, 3))
    lower, upper = (points @ along.T).min(axis=0), (points @ along.T).max(axis=0)
    planes = np.concatenate((np.column_stack((along, -upper)), np.column_stack((-along, lower))))
    corners = spatial.HalfspaceIntersection(planes, points.mean(axis=0)).intersections
    ends = slab_wires(lower[None], upper[None], directions(k)).reshape(-1, 3)
    apart = np.linalg.norm(ends[:, None] - corners[None], axis=2)
    assert apart.min(axis=1).max() < 1e-4
    assert apart.min(axis=0).max() < 1e-4


def test_an_oriented_box_without_rotation_is_a_box() -> None:
    center, half = np.array([[1.0, 2, 3]]), np.array([[0.5, 1, 2]])
    assert seen(oriented_wires(center, half, np.eye(3)[None])) == seen(box_wires(center - half, center + half))


def test_the_wireframe_of_a_sphere_lies_on_it() -> None:
    center, radius = np.array([[1.0, 2, 3], [-4, 0, 0]]), np.array([2.0, 0.5])
    ends = sphere_wires(center, radius).reshape(2, -1, 3)
    np.testing.assert_allclose(
        np.linalg.norm(ends - center[:, None], axis=2), np.repeat(radius[:, None], ends.shape[1], 1), rtol=1e-5
    )


@pytest.mark.parametrize("method", broad.names())
def test_every_structure_is_drawn_with_finite_lines(method: str) -> None:
    lower = np.random.default_rng(2).uniform(-20, 20, (300, 3))
    lines, colors = structure_of(method, Boxes(lower, lower + 0.5)).wires()
    assert np.isfinite(lines).all()
    assert colors.shape == lines.shape


@pytest.mark.parametrize("count", [60, 9_000])
def test_the_structure_of_auto_is_that_of_its_choice(count: int) -> None:
    lower = np.random.default_rng(2).uniform(-20, 20, (count, 3))
    boxes = Boxes(lower, lower + 0.5)
    found = structure_of("auto", boxes)
    choice = re.match(r"auto uses (\S+)\. ", found.note)
    assert choice is not None
    np.testing.assert_array_equal(found.lower, structure_of(choice[1], boxes).lower)


@pytest.mark.parametrize("method", ["bvh", "grid", "kd-tree", "octree", "bsp"])
def test_a_structure_covers_the_bodies(method: str) -> None:
    """Every body is in a block or leaf as a whole, or has its lower corner in a cell."""
    generator = np.random.default_rng(1)
    lower = generator.uniform(-20, 20, (600, 3))
    boxes = Boxes(lower, lower + generator.uniform(0.1, 2, (600, 3)))
    found = structure_of(method, boxes)
    assert len(found.lower)
    by_corner = method == "grid" or "uses grid" in found.note
    far = boxes.lower if by_corner else boxes.upper
    holds = (found.lower[None] <= boxes.lower[:, None] + 1e-6) & (far[:, None] <= found.upper[None] + 1e-6)
    assert holds.all(axis=2).any(axis=1).all()


def test_methods_without_cells_say_so() -> None:
    boxes = Boxes(np.zeros((2, 3)), np.ones((2, 3)))
    assert "neither cells nor a tree" in structure_of("sap-direct", boxes).note
    assert len(structure_of("brute", boxes).lower) == 0
    assert "does not sweep" in sweep_axis_of("grid", boxes)[1]


def test_the_sweep_axis_is_the_one_of_greatest_spread() -> None:
    generator = np.random.default_rng(2)
    lower = generator.uniform(-1, 1, (50, 3)) * [1, 2, 30]
    boxes = Boxes(lower, lower + 1)
    lines, note = sweep_axis_of("sap-direct", boxes)
    assert broad.create("sap-direct", boxes).structure().axis == 2
    assert "along z" in note
    intervals = lines[1:, :, 2]
    np.testing.assert_allclose(np.sort(intervals[:, 0]), np.sort(lower[:, 2]), rtol=1e-5)


def inside(world: World, row: int, points: np.ndarray) -> np.ndarray:
    """Whether points are in a body, from its definition."""
    bodies = world.bodies
    local = (points - bodies.position[row]) @ bodies.rotation[row]
    radius, length = bodies.size[row, 0], bodies.size[row, 1]
    if bodies.kind[row] == 0:
        return np.linalg.norm(local, axis=1) <= radius
    if bodies.kind[row] == 1:
        local[:, 2] -= np.clip(local[:, 2], -length / 2, length / 2)
        return np.linalg.norm(local, axis=1) <= radius
    if bodies.kind[row] == 2:
        return (np.abs(local) <= [radius / 2, 0.01, length / 2]).all(axis=1)
    hull = bodies.hulls[int(bodies.hull[row])].points * bodies.size[row]
    return (local >= hull.min(axis=0)).all(axis=1) & (local <= hull.max(axis=0)).all(axis=1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_a_ray_hits_the_first_body_along_it(world: World, seed: int) -> None:
    """Differential: points every hundredth of a unit, tested against the definitions of the solids."""
    generator = np.random.default_rng(seed)
    origin = generator.normal(size=3)
    origin *= 15 / np.linalg.norm(origin)
    direction = generator.uniform(-2.5, 2.5, 3) - origin
    direction /= np.linalg.norm(direction)
    points = origin + np.arange(0, 30, 0.01)[:, None] * direction
    firsts = {}
    for row in range(len(world) - 1):
        met = np.flatnonzero(inside(world, row, points))
        if len(met):
            firsts[row] = met[0]
    found = body_on_ray(world.bodies, origin, direction)
    if not firsts:
        # A graze may be shorter than a pace of the walk.
        assert found is None or not inside(world, found, points).any()
        return
    nearest = min(firsts.values())
    assert found is not None
    assert found not in firsts or firsts[found] <= nearest + 2


def test_a_ray_that_misses_everything_selects_nothing(world: World) -> None:
    assert body_on_ray(world.bodies, np.array([0, 50.0, 0]), np.array([0, 1.0, 0])) is None


def test_bodies_turn_from_cool_to_warm_on_contact(world: World) -> None:
    """F-004-36: the colour shows whether a body touches another, as found by brute force."""
    findings = findings_of(world)
    colors = COLORINGS["contact"][0](findings)
    touching = np.isin(np.arange(len(world)), findings_of(world, "all").detected.contacts.pairs)
    static = world.bodies.static
    assert 0 < np.count_nonzero(touching) < len(touching)
    assert (colors[touching & ~static] == GLOW).all()
    assert (colors[~touching & ~static] == FREE).all()
    assert (colors[static] == STATIC).all()
    assert GLOW[0] > GLOW[2], "warm means collision, everywhere in Choque"
    assert FREE[2] > FREE[0]


@pytest.mark.parametrize("name", list(COLORINGS))
def test_every_colouring_gives_a_colour_to_every_body(world: World, name: str) -> None:
    colors = COLORINGS[name][0](findings_of(world))
    assert colors.shape == (len(world), 3)
    assert colors.dtype == np.uint8


@pytest.mark.parametrize("method", ["bvh", "grid", "sap-direct"])
@pytest.mark.parametrize("name", list(OVERLAYS))
def test_every_overlay_draws_finite_lines(world: World, name: str, method: str) -> None:
    """F-001-43, F-002-39, F-004-36: grounds, which have no end, are left out."""
    drawing = OVERLAYS[name].draw(findings_of(world, method), Options())
    assert np.isfinite(drawing.lines).all()
    expected = {"structure": method != "sap-direct", "sweep": method == "sap-direct"}.get(name, True)
    assert bool(len(drawing.lines)) == expected


def test_keys_and_colours_of_overlays_are_unique() -> None:
    assert len({overlay.key for overlay in OVERLAYS.values()}) == len(OVERLAYS)
    assert len({overlay.color for overlay in OVERLAYS.values()}) == len(OVERLAYS)
    assert not {overlay.key for overlay in OVERLAYS.values()} & set("WASDQE")  # those of viser's camera


def test_pairs_and_members_of_a_selected_body(world: World) -> None:
    findings, options = findings_of(world), Options(area=3.0)
    row = int(np.argmax(findings.candidate_count[:30]))
    options.picked = row
    lines = OVERLAYS["pairs"].draw(findings, options).lines
    assert len(lines) == len(findings.partners(row)) > 0
    spheres = findings.bounds("sphere")
    away = np.linalg.norm(world.bodies.position - world.bodies.position[row], axis=1)
    expected = np.flatnonzero(findings.is_bounded & (away <= 3 * spheres.radius[row] + spheres.radius))
    np.testing.assert_array_equal(area_members(findings, options, row), expected[expected != row])
    report = about_body(findings, options, row)
    assert f"Body {world.bodies.ids[row]}" in report
    assert f"{len(findings.partners(row))}:" in report


@pytest.mark.parametrize(
    "mesh", [meshes.ball(8), meshes.capsule(2.0, 6), meshes.cube(), meshes.ball(COARSE), meshes.capsule(2.0, COARSE)]
)
def test_meshes_are_closed_and_face_outward(mesh: meshes.DrawnMesh) -> None:
    """Every edge is passed once in each direction, corners at the same place being one."""
    _, place = np.unique(np.round(mesh.points, 5), axis=0, return_inverse=True)
    corners = place.ravel()[mesh.triangles]
    edges = [(a, b) for t in corners.tolist() for a, b in zip(t, t[1:] + t[:1], strict=True)]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)
    p = mesh.points[mesh.triangles].astype(float)
    assert np.einsum("ti,ti->t", p[:, 0], np.cross(p[:, 1], p[:, 2])).sum() > 0


def test_every_drawn_body_is_in_parts_and_walls_are_separate() -> None:
    """F-002-39: few meshes, many instances; F-001-44: what is not drawn is left out."""
    bodies = scene.bodies("mixed-box", 200, seed=1).world().bodies
    cast = BodyTable.of(bodies)
    parts = list(parts_of(cast, 8))
    assert len(parts) <= 4
    rows = np.concatenate([part.rows for part in parts])
    np.testing.assert_array_equal(np.sort(rows), np.flatnonzero(cast.drawn))
    assert all(len(set(cast.static[part.rows].tolist())) == 1 for part in parts)


def test_rockets_look_different_and_collide_as_capsules() -> None:
    """F-001-45: the parts of a rocket fill its capsule; contacts are those of plain capsules."""
    found = {}
    for rocket in (False, True):
        world = World("brute")
        world.add_capsules([[0, 0, 0], [0.5, 0.2, 0]], 0.5, 2.0, rocket=rocket, velocity=[[1, 0, 0], [0, 0, 0]])
        parts = list(parts_of(BodyTable.of(world.bodies), 8))
        for _ in range(5):
            world.step()
        reach = max(float(np.abs(part.mesh.points[:, 2] * part.scale[0, 2]).max()) for part in parts)
        found[rocket] = (len(parts), world.hash(), len(world.contacts()), round(reach, 2))
    assert (found[False][0], found[True][0]) == (1, 5)
    assert found[False][1:3] == found[True][1:3]
    assert found[True][3] >= found[False][3] == 1.5


@pytest.mark.parametrize(("name", "sees_floor"), [("bounce", True), ("crossing-tiles", False)])
def test_the_camera_shows_the_floor_unless_it_is_far(name: str, sees_floor: bool) -> None:
    loaded = scene.find_bodies(name)
    bodies = loaded.world().bodies
    cast, poses = BodyTable.of(bodies), Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))
    found, _ = around_moving(cast, poses, loaded.camera, (1500, 1000))
    everything, _ = framing(cast, poses, loaded.camera, (1500, 1000))
    assert (found == everything) is sees_floor
    assert found.radius <= everything.radius


def test_walls_high_above_the_bodies_are_cut_off() -> None:
    loaded = scene.find_bodies("pile:20")
    bodies = loaded.world().bodies
    cast, poses = BodyTable.of(bodies), Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))
    before, _ = around_moving(cast, poses, loaded.camera, (1500, 1000))
    lain = np.where(cast.static[:, np.newaxis] | [True, False, True], poses.position, poses.position[:, 1:2].min())
    after, _ = around_moving(cast, Poses(lain, poses.rotation), loaded.camera, (1500, 1000))
    assert after.radius < 0.8 * before.radius


def test_more_bodies_are_drawn_more_coarsely() -> None:
    """F-001-44 (OBJECT_DEFINITION): vertices follow the number of bodies, down to 8 triangles for each of 100,000."""
    assert definition_for(100) > definition_for(10_000) > definition_for(100_000) == COARSE
    assert len(meshes.ball(COARSE).triangles) == 8
    assert len(meshes.capsule(2.0, COARSE).triangles) == 16
    assert len(meshes.ball(definition_for(100)).triangles) >= 256


def test_a_hundred_thousand_bodies_are_few_parts_in_blocks() -> None:
    """F-002-39: a mesh is one block up to `BLOCK` instances; no instance is lost or doubled beyond."""
    count = BLOCK + 7
    one = Part(np.arange(count), meshes.ball(2), np.ones((count, 3), np.float32))
    few = Part(np.arange(9), meshes.cube(), np.ones((9, 3), np.float32))
    blocks = list(blocks_of([few, one]))
    assert [len(block.rows) for block in blocks] == [9, BLOCK, 7]
    assert all(len(block.rows) == len(block.scale) for block in blocks)
    np.testing.assert_array_equal(np.concatenate([block.rows for block in blocks[1:]]), one.rows)


def test_the_shadow_of_a_ball_is_an_ellipse_where_the_light_falls() -> None:
    world = World("brute")
    world.add_spheres([[1, 5, 2], [30, 9, 0]], 0.5)
    world.add_tiles([[30, 4, 0]], 40.0, 40.0)
    world.add_ground()
    bodies = world.bodies
    cast, poses = BodyTable.of(bodies), Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))
    found = ellipses_of(cast, poses, Surroundings.of(cast, poses), np.arange(2))
    rise = LIGHT[1]
    np.testing.assert_allclose(found.half, [[0.5 / rise, 0.5], [0.5 / rise, 0.5]], rtol=1e-6)
    wanted = np.array([[1, 5, 2], [30, 9, 0]]) - np.array([[5.0], [5.0]]) / rise * LIGHT
    np.testing.assert_allclose(found.center[:, [0, 2]], wanted[:, [0, 2]], atol=1e-5)  # on the ground; on the tile
    assert found.center[0, 1] == pytest.approx(0.0, abs=0.2)
    assert found.center[1, 1] == pytest.approx(4.0, abs=0.2)
    level = LIGHT * (1, 0, 1) / np.hypot(LIGHT[0], LIGHT[2])
    assert np.abs(found.rotation[0, :, 0] @ level) == pytest.approx(1.0)
    np.testing.assert_allclose(np.linalg.det(found.rotation), 1.0, rtol=1e-6)


def test_the_shadow_of_a_box_has_its_corners_as_the_light_throws_them() -> None:
    world, random = World("brute"), np.random.default_rng(3)
    turned = np.linalg.qr(random.normal(size=(6, 3, 3)))[0]
    turned *= np.linalg.det(turned)[:, np.newaxis, np.newaxis]
    world.add_boxes(random.uniform(4.0, 9.0, (6, 3)), random.uniform(0.5, 3.0, (6, 3)), rotation=turned)
    world.add_spheres([[0, 5, 0]], 1.0)
    world.add_ground()
    bodies = world.bodies
    cast, poses = BodyTable.of(bodies), Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))
    rows = np.flatnonzero(boxes_of(cast))
    assert rows.tolist() == list(range(6))
    found = hexagons_of(cast, poses, Surroundings.of(cast, poses), rows)
    corners = oriented_boxes(cast, poses)[:6].astype(np.float64)
    thrown = (corners - corners[..., 1:2] / LIGHT[1] * LIGHT)[..., [0, 2]]
    for shadow, dots in zip(found[..., [0, 2]], thrown, strict=True):
        apart = np.linalg.norm(shadow[:, np.newaxis] - dots, axis=2)
        assert len(set(apart.argmin(axis=1).tolist())) == 6  # each corner is that of a different corner of the box
        assert apart.min(axis=1).max() < 0.3  # shadows lie a little above the ground
        sides = np.roll(shadow, -1, axis=0) - shadow
        away = dots[np.newaxis] - shadow[:, np.newaxis]
        turns = sides[:, np.newaxis, 0] * away[..., 1] - sides[:, np.newaxis, 1] * away[..., 0]
        assert (turns * np.sign(np.median(turns)) > -1.0).all()  # and all other corners are within
