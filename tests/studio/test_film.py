"""Films and pictures of worlds; skipped where the extra ``video`` or a way to draw is missing."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choque import scene
from choque.errors import ChoqueError, InvalidInput
from choque.narrow import Contacts
from choque.record import BodyTable, Poses, Recorder, Recording
from choque.scene import Camera
from choque.studio.drawing import draw_film
from choque.studio.film import Look, captioned, draw_frame, film_frames, make_film, rate_of
from choque.studio.glow import Glow
from choque.studio.png import png_bytes
from choque.studio.request import FilmRequest
from choque.studio.stage.camera import TIGHTER, VIEW_ANGLE, Course, Follower, directions, framing
from choque.studio.stage.extents import axis_boxes, oriented_boxes, outline
from choque.studio.stage.quaternions import angle_and_axis, matrix_of, quaternions
from choque.world import World

ffmpeg = pytest.importorskip("imageio_ffmpeg")

SMALL = Look(size=(96, 64), smoothing=1, shadows=False)


def rotations(count: int, seed: int) -> np.ndarray:
    found = np.linalg.qr(np.random.default_rng(seed).normal(size=(count, 3, 3)))[0]
    return found * np.linalg.det(found)[:, np.newaxis, np.newaxis]


@pytest.fixture
def world() -> World:
    world = World()
    world.add_spheres([[-3, 1, 0]], 1.0, color=(220, 30, 30), velocity=(2, 0, 0))
    world.add_capsules([[3, 2, 0]], 0.6, 2.0, color=(30, 220, 30), angular_velocity=(0, 3, 0))
    world.add_capsules([[0, 2, -3]], 0.5, 2.0, rocket=True, color=(40, 40, 220))
    world.add_boxes([[0, 1, 3]], [1.0, 2.0, 1.5], color=(230, 200, 40))
    world.add_tiles([0, 0, 0], 12.0, 12.0)
    return world


@pytest.fixture
def recording(tmp_path: Path, world: World) -> Recording:
    with Recorder(tmp_path / "a.choque", world, camera=Camera(16.0, -25.0, 20.0)) as recorder:
        for _ in range(20):
            world.step()
            recorder.record()
    return Recording(tmp_path / "a.choque")


@pytest.mark.parametrize(("rate", "count"), [(25, 10), (30, 11), (60, 21), (120, 41)])
def test_a_film_has_its_frames_size_and_rate(recording: Recording, tmp_path: Path, rate: int, count: int) -> None:
    """F-001-40."""
    report: list[int] = []
    path = tmp_path / "a.mp4"
    made = make_film(
        path, recording, frames_per_second=rate, look=SMALL, progress=lambda done, total, _: report.append(total - done)
    )
    probe = next(ffmpeg.read_frames(str(path)))
    assert made == ffmpeg.count_frames_and_secs(str(path))[0] == count
    assert (probe["size"], round(probe["fps"])) == ((96, 64), rate)
    assert report == list(range(count))[::-1]
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_a_gif_is_a_gif(recording: Recording, tmp_path: Path) -> None:
    assert make_film(tmp_path / "a.gif", recording, look=SMALL) == 10
    assert (tmp_path / "a.gif").read_bytes()[:6] == b"GIF89a"


def test_a_webm_with_contacts_is_a_webm(recording: Recording, tmp_path: Path) -> None:
    assert make_film(tmp_path / "a.webm", recording, look=Look(**{**vars(SMALL), "contacts": True})) == 21
    assert (tmp_path / "a.webm").read_bytes()[:4] == bytes.fromhex("1a45dfa3")


def test_which_frames_a_film_shows(recording: Recording) -> None:
    assert film_frames(recording, 60) == list(range(21))
    assert film_frames(recording, 30) == list(range(0, 21, 2))
    assert film_frames(recording, 60, speed=0.5) == [k // 2 for k in range(41)]
    assert film_frames(recording, 60, speed=100.0) == [0, 20]
    recording._dt = 1 / 120  # a recording at 120 gives every second frame to a film at 60, as in the Fingsics engine
    assert film_frames(recording, rate_of(120.0, None, Path("a.mp4"))) == list(range(0, 21, 2))


def pixels(recording: Recording, tmp_path: Path, look: Look, index: int = 0) -> np.ndarray:
    draw_frame(tmp_path / "a.png", recording, index, look=look)
    content = (tmp_path / "a.png").read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    start = content.index(b"IDAT") + 4
    lines = np.frombuffer(zlib.decompress(content[start : content.index(b"IEND") - 8]), np.uint8)
    return lines.reshape(height, 1 + 3 * width)[:, 1:].reshape(height, width, 3).astype(int)


def test_bodies_are_drawn_in_their_colours(recording: Recording, tmp_path: Path) -> None:
    picture = pixels(recording, tmp_path, Look(size=(160, 120), smoothing=2, quiet=False))
    for channel in range(3):  # a red, a green and a blue body
        others = np.delete(picture, channel, axis=2).max(axis=2)
        assert (picture[..., channel] > 2 * others + 30).sum() > 20, channel
    assert ((picture[..., 0] > 110) & (picture[..., 1] > 90) & (picture[..., 2] < 70)).sum() > 20  # the box


def test_frames_boxes_axes_and_shadows_change_the_picture(recording: Recording, tmp_path: Path) -> None:
    """F-001-43 without its keys: boxes make a difference; so does everything else that can be turned on."""
    plain = pixels(recording, tmp_path, SMALL)
    magenta = pixels(recording, tmp_path, Look(**{**vars(SMALL), "boxes": True}))
    yellow = pixels(recording, tmp_path, Look(**{**vars(SMALL), "oriented_boxes": True}))
    assert ((magenta == (220, 0, 220)).all(axis=2)).sum() > 20
    assert ((yellow == (220, 220, 0)).all(axis=2)).sum() > 20
    for look, index in (
        (SMALL, 20),
        (Look(**{**vars(SMALL), "axes": True}), 0),
        (Look(**{**vars(SMALL), "shadows": True}), 0),
        (Look(**{**vars(SMALL), "fit": not SMALL.fit}), 0),
        (Look(**{**vars(SMALL), "quiet": False}), 0),
        (Look(**{**vars(SMALL), "pairs": True, "contacts": True}), 20),
    ):
        assert (pixels(recording, tmp_path, look, index) != plain).any()
    assert (pixels(recording, tmp_path, SMALL) == plain).all()
    later = Look(**{**vars(SMALL), "boxes": True, "since": 20 / recording.frames_per_second})
    assert (pixels(recording, tmp_path, later, 19) == pixels(recording, tmp_path, SMALL, 19)).all()
    assert ((pixels(recording, tmp_path, later, 20) == (220, 0, 220)).all(axis=2)).sum() > 20


def test_hidden_bodies_are_not_drawn(tmp_path: Path) -> None:
    """F-001-44: the draw flag."""
    pictures = []
    for count in (0, 1):
        world = World()
        world.add_spheres(np.zeros((count, 3)), 3.0, drawn=False)
        Recorder(tmp_path / f"{count}.choque", world).close()
        pictures.append(pixels(Recording(tmp_path / f"{count}.choque"), tmp_path, SMALL))
    assert (pictures[0] == pictures[1]).all()  # nothing but the ground and the sky


def test_where_all_collide_only_the_hardest_hit_glow() -> None:
    glow = Glow(np.zeros(400, np.bool_), 0.5)
    random = np.random.default_rng(0)
    place = random.uniform(0, 10, (400, 3))
    for frame in range(30):
        place = place + random.normal(size=(400, 3)) * 0.1  # every body changes its velocity in every frame
        glow.advance(frame / 60, place)
        assert glow.light.sum() <= 0.15 * 400 + 1
    assert glow.light.sum() > 10


class Made:
    """Balls at places (k, n, 3) on a floor, one frame for each of k."""

    name, frames_per_second, camera = "made", 25.0, Camera(20.0, -20.0, 30.0)

    def __init__(self, places: np.ndarray) -> None:
        world = World()
        world.add_spheres(places[0], 0.4)
        world.add_tiles([0, 0, 0], 12.0, 12.0)
        self._cast, self._places = BodyTable.of(world.bodies), places
        self._rest = world.bodies.position[-1:]
        self.frame_count = len(places)

    def bodies(self, _: int) -> BodyTable:
        return self._cast

    def frame(self, index: int) -> Poses:
        position = np.concatenate((self._places[index], self._rest)).astype("f4")
        return Poses(position, np.broadcast_to(np.eye(3, dtype="f4"), (len(position), 3, 3)))


def in_picture(place: tuple[Camera, tuple[float, float, float]], points: np.ndarray) -> np.ndarray:
    ahead, right, up = directions(place[0])
    away = points - (np.array(place[1]) - place[0].radius * ahead)
    high = np.abs(away @ up) / (away @ ahead) / np.tan(np.radians(VIEW_ANGLE / 2))
    wide = np.abs(away @ right) / (away @ ahead) / np.tan(np.radians(VIEW_ANGLE / 2)) * 90 / 160
    return np.maximum(high, wide) <= 1.0


def test_a_camera_moves_to_where_bodies_gather_and_away_from_where_they_spread() -> None:
    random, time = np.random.default_rng(0), np.linspace(0, 1, 41)[:, np.newaxis]
    ground = random.uniform(-5, 5, (30, 3)) * (1, 0, 1) + (0, 0.4, 0)
    fallen = np.repeat(ground[np.newaxis], 41, axis=0)
    fallen[..., 1] += 14.0 * np.maximum(1.0 - 3.0 * time**2, 0.0) * random.random(30)
    for places, order in ((fallen, 1), (fallen[::-1], -1)):
        course = Course(Made(places), Made.camera, (160, 90))
        seen = [course.at(share) for share in np.linspace(0, 1, 41)]
        radius = np.array([place[0].radius for place in seen])[::order]
        assert radius[-1] < TIGHTER * radius[0]
        assert (np.diff(radius) <= 1e-9).all()
        assert np.abs(np.diff(radius)).max() < 0.1 * radius[0]  # slowly
        assert np.mean([in_picture(place, at) for place, at in zip(seen, places, strict=True)]) > 0.97
    standing = Course(Made(np.repeat(ground[np.newaxis], 41, axis=0)), Made.camera, (160, 90))
    assert standing.at(0.0) == standing.at(0.4) == standing.at(1.0)


def test_bodies_that_fall_off_the_floor_do_not_pull_the_camera_away() -> None:
    places = np.zeros((41, 9, 3))
    places[:, :, 0], places[:, :, 1] = np.arange(9) - 4.0, 0.4
    still = Course(Made(places), Made.camera, (160, 90))
    lost = places.copy()
    lost[10:, 0, 1] -= np.arange(31) / 2
    fell = Course(Made(lost), Made.camera, (160, 90))
    for share in (0.0, 0.5, 1.0):
        assert fell.at(share)[0].radius == pytest.approx(still.at(share)[0].radius, rel=0.05)


def test_the_top_of_a_tower_stays_in_the_picture_when_its_foot_is_many_bodies() -> None:
    """Of many bodies, those farthest from the middle are left out if they were flung there, not if they stand there."""
    places = np.zeros((41, 60, 3))
    places[:, :50, 0], places[:, 50:, 1] = np.arange(50) % 10 - 4.5, 2.0 * np.arange(10)
    places[:, :50, 2] = np.arange(50) // 10 - 2.0
    places[20:, 0, 0] = -60.0
    course = Course(Made(places), Made.camera, (160, 90))
    for frame in range(41):
        assert in_picture(course.at(frame / 40), places[frame, 1:]).all()
    assert not in_picture(course.at(1.0), places[40, :1]).any()


def test_nothing_glows_before_a_film_is_lit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lit: list[float] = []
    monkeypatch.setattr(Glow, "advance", lambda _, time, __: lit.append(time))
    request = FilmRequest(look=SMALL, seconds=0.4, shot=0.2)
    draw_film(tmp_path / "a.gif", ["stack:3"], request=request)
    assert min(lit) == pytest.approx(0.2)
    lit.clear()
    draw_film(tmp_path / "b.gif", ["stack:3"], request=replace(request, shot=None))
    assert min(lit) == 0.0


@pytest.mark.parametrize("suffix", [".webp", ".gif", ".webm"])
def test_only_h264_needs_even_sizes(recording: Recording, tmp_path: Path, suffix: str) -> None:
    look = Look(**{**vars(SMALL), "size": (95, 63)})
    assert make_film(tmp_path / f"a{suffix}", recording, look=look, frames_per_second=25) == 10


def test_one_contact_is_not_several() -> None:
    image = np.full((90, 160, 3), 40, np.uint8)
    one, other = ({"bodies": each, "contacts": each} for each in ("1", "2"))
    words = "{bodies} bodies, {contacts} contacts"
    np.testing.assert_array_equal(captioned(image, words, one), captioned(image, "1 body, 1 contact", {}))
    np.testing.assert_array_equal(captioned(image, words, other), captioned(image, "2 bodies, 2 contacts", {}))


def test_a_caption_is_written_at_the_bottom_and_has_its_values() -> None:
    image = np.full((90, 160, 3), 40, np.uint8)
    seen = [captioned(image, words, {"time": "1.50 s"}) for words in ("t = {time}", "t = 1.50 s", "t = 2.50 s")]
    np.testing.assert_array_equal(seen[0], seen[1])
    assert (seen[0] != seen[2]).any()
    assert (seen[0][:60] == 40).all()
    assert (seen[0][60:] > 200).any()


def test_what_collides_glows_in_a_film_and_fades() -> None:
    glow = Glow(np.array([False, False, True]), 0.5)
    place = np.array([[0.0, 0, 0], [3.0, 0, 0], [9.0, 0, 0]])
    lights = []
    for frame in range(60):  # the first body meets the second in frame 20, and they exchange their velocities
        hit = min(frame, 20)
        place[:2, 0] = 0.1 * hit, 3.0 + 0.1 * (frame - hit)
        glow.advance(frame / 60, place)
        lights.append(glow.light.copy())
    assert not any(light.any() for light in lights[:21])
    assert (lights[21][:2] > 0.9).all()
    assert 0.0 < lights[59][0] < 0.25
    assert not glow.light[2]
    assert (glow.colors(np.full((3, 3), 100, np.uint8))[2] == 100).all()
    glow.advance(0.0, place)  # back to the beginning
    assert not glow.light.any()


def test_a_mesh_reaches_as_far_as_its_vertices() -> None:
    """A drum is round: the corners of the box around it would keep a camera too far away."""
    bodies = scene.find_bodies("washer:8").world().bodies
    rotation = np.repeat(rotations(1, 3), len(bodies), axis=0).astype(np.float32)
    points, reach = outline(BodyTable.of(bodies), Poses(bodies.position.astype(np.float32), rotation))
    drum = bodies.hulls[int(bodies.hull[-1])].points
    assert np.linalg.norm(points, axis=1).max() == pytest.approx(np.linalg.norm(drum, axis=1).max(), rel=1e-5)
    assert len(reach) == len(points)


@pytest.mark.parametrize("static", [0, 1])
def test_sparks_fly_off_a_static_body(static: int) -> None:
    """They would be seen on the other side of a thin curved wall."""
    glow = Glow(np.arange(2) == static, 0.5)
    up = np.array([[0.0, 1.0 if static == 0 else -1.0, 0.0]])
    one = {
        "separations": np.zeros((1, 1)),
        "features": np.zeros((1, 1), np.uint32),
        "point_count": np.ones(1, np.uint8),
    }
    touching = Contacts(pairs=np.array([[0, 1]], np.int32), normal=up, points=np.zeros((1, 1, 3)), **one)
    glow.advance(0.0, np.zeros((2, 3)))
    glow.light[:] = 1.0
    glow.touch(0.0, touching)
    outer = glow.sparks().ends[:, 1]
    assert (outer[:, 1] > 0.1).all()
    np.testing.assert_allclose(outer[:, [0, 2]].sum(axis=0), 0.0, atol=1e-6)


def test_a_following_camera_keeps_what_moves_in_the_picture(recording: Recording, tmp_path: Path) -> None:
    make_film(tmp_path / "a.mp4", recording, look=Look(**{**vars(SMALL), "follow": True}))
    cast, still = recording.bodies(0), recording.frame(0)
    follower = Follower(Camera(40.0, -20.0, 0.0), (160, 120))
    shift = np.zeros(3, np.float32)
    for frame in range(120):
        shift[0] = 0.2 * frame
        _, target = follower.place(frame / 60, cast, Poses(still.position + shift, still.rotation))
    assert target[0] > 0.2 * 119 - 0.2 * 60 * 1.0  # at most about a second behind


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_quaternions_rotate_as_their_matrices(seed: int) -> None:
    matrix = rotations(9, seed)
    w, x, y, z = quaternions(matrix).T.astype(float)
    vector = np.random.default_rng(seed).normal(size=(9, 3))
    axis = np.stack((x, y, z), axis=1)
    across = 2 * np.cross(axis, vector)
    turned = vector + w[:, np.newaxis] * across + np.cross(axis, across)
    assert turned == pytest.approx(np.einsum("nij,nj->ni", matrix, vector), abs=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_matrices_and_angles_are_those_of_their_quaternions(seed: int) -> None:
    (matrix,) = rotations(1, seed)
    assert matrix_of(quaternions(matrix[np.newaxis])[0]) == pytest.approx(matrix, abs=1e-6)
    angle, axis = angle_and_axis(matrix)
    assert 2 * np.cos(angle) + 1 == pytest.approx(np.trace(matrix), abs=1e-5)
    assert matrix @ axis == pytest.approx(axis, abs=1e-5)
    assert angle_and_axis(np.eye(3))[0] == 0.0


def test_boxes_contain_their_bodies(world: World) -> None:
    turned = rotations(len(world), 3)
    cast, poses = BodyTable.of(world.bodies), Poses(world.bodies.position.astype("f4"), turned.astype("f4"))
    lower, upper = axis_boxes(cast, poses).min(axis=1), axis_boxes(cast, poses).max(axis=1)
    ends = poses.position[1] + np.outer((-1.0, 1.0), poses.rotation[1, :, 2])
    assert lower[1] == pytest.approx((ends - 0.6).min(axis=0), abs=1e-5)
    assert upper[1] == pytest.approx((ends + 0.6).max(axis=0), abs=1e-5)
    corners = oriented_boxes(cast, poses)
    assert len(corners) == len(cast) - 1  # tiles have none, as in the Fingsics engine
    local = np.einsum("kj,ji->ki", corners[1] - poses.position[1], poses.rotation[1])
    assert np.abs(local).max(axis=0) == pytest.approx([0.6, 0.6, 1.6], abs=1e-5)


@pytest.mark.parametrize(("pitch", "yaw"), [(-25.0, 0.0), (-60.0, 130.0), (10.0, 45.0), (-90.0, 0.0)])
def test_fit_shows_everything_and_fills_the_picture(world: World, pitch: float, yaw: float) -> None:
    cast = BodyTable.of(world.bodies)
    poses = Poses(world.bodies.position.astype("f4"), world.bodies.rotation.astype("f4"))
    camera, target = framing(cast, poses, Camera(5.0, pitch, yaw), (160, 90))
    ahead, right, up = directions(camera)
    viewpoint = np.array(target) - camera.radius * ahead
    corners = axis_boxes(cast, poses).reshape(-1, 3) - viewpoint
    depth = corners @ ahead
    high = np.abs(corners @ up / depth).max() / np.tan(np.radians(VIEW_ANGLE / 2))
    wide = np.abs(corners @ right / depth).max() / np.tan(np.radians(VIEW_ANGLE / 2)) / (160 / 90)
    assert 0.6 < max(high, wide) <= 1.0


def test_the_camera_is_that_of_the_scene() -> None:
    ahead, right, up = directions(Camera(1.0, 0.0, 0.0))
    assert (ahead.tolist(), right.tolist(), up.tolist()) == ([0, 0, -1], [1, 0, 0], [0, 1, 0])
    assert directions(Camera(1.0, -90.0, 0.0))[0] == pytest.approx([0, -1, 0], abs=1e-12)
    assert directions(Camera(1.0, 0.0, 90.0))[0] == pytest.approx([-1, 0, 0], abs=1e-12)


@pytest.mark.parametrize(
    ("path", "options", "words"),
    [
        ("a.mp4", {"look": Look(size="x")}, "give width and height in pixels"),  # type: ignore[arg-type]
        ("a.avi", {}, "must end in .mp4 or .gif"),
        ("a.mp4", {"frames_per_second": 50}, "25, 30, 60 or 120"),
        ("a.mp4", {"speed": 0.0}, "above 0"),
        ("a.mp4", {"look": Look(size=(95, 64))}, "even numbers"),
        ("a.mp4", {"look": Look(size=(4, 4))}, "16 to 8192"),
        ("a.mp4", {"look": Look(smoothing=9)}, "1 to 4"),
        ("a.mp4", {"look": Look(definition=2)}, "3 to 200"),
        ("nowhere/a.mp4", {"look": SMALL}, "no folder"),
    ],
)
def test_invalid_films_are_refused(
    recording: Recording, tmp_path: Path, path: str, options: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        make_film(tmp_path / path, recording, **options)
    with pytest.raises(InvalidInput, match=r"must end in \.png"):
        draw_frame(tmp_path / "a.jpg", recording)


@pytest.mark.parametrize("draw", [make_film, draw_frame])
def test_drawing_something_else_than_a_recording_is_refused(draw: Callable[..., object], tmp_path: Path) -> None:
    path = tmp_path / ("a.mp4" if draw is make_film else "a.png")
    with pytest.raises(InvalidInput, match="What to draw is of type str; give a recording"):
        draw(path, "recording.choque")


def test_missing_ffmpeg_is_reported(recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise RuntimeError("No ffmpeg exe could be found.")

    monkeypatch.setattr(ffmpeg, "get_ffmpeg_exe", missing)
    with pytest.raises(ChoqueError, match="was not found"):
        make_film(tmp_path / "a.mp4", recording, look=SMALL)
    monkeypatch.undo()
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(tmp_path / "nothing"))
    with pytest.raises(ChoqueError, match="could not write the film"):
        make_film(tmp_path / "a.mp4", recording, look=SMALL)
    assert not (tmp_path / "a.mp4").exists()


def test_png() -> None:
    assert png_bytes(np.zeros((2, 3, 3), np.uint8)).startswith(b"\x89PNG")
