"""Choque's own scene files: what they say, and what is refused on which line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from choque import scene
from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.scene import BodyScene, Camera
from choque.scene.columns import boxes, ground, join, spheres
from choque.scene.formats.toml_table import TomlLines

EVERYTHING = """\
choque = 1
name = "all of it"
summary = "Everything that a scene can say."
steps_per_second = 120
gravity = [0, -9.8, 0]

[camera]
radius = 12
pitch = -5.5
yaw = 90

[world]
broad = "grid"
narrow = "exact"
max_speed = 50
broad_options = { cell = 2.5 }

[materials.default]
restitution = 0.5

[materials.lead]
mass = 11
color = [90, 90, 100]

[[bodies]]
kind = "sphere"
material = "lead"
position = [[0, 1, 0], [0, 3, 0], [0, 5, 0]]
radius = [0.5, 0.25, 1]
mass = [1, 2, 3]
velocity = [1, 0, 0]

[[bodies]]
kind = "capsule"
position = [4, 1, 0]
length = 3
angles = [90, 0, 0]
spin = [0, 180, 0]
acceleration = [0, 0, 0]
rocket = true
static = true
drawn = false

[[bodies]]
kind = "tile"
width = 8

[[bodies]]
kind = "box"
position = [8, 0, 0]
size = [1, 2, 3]

[[bodies]]
kind = "ground"
height = -2.5

[[bodies]]
generator = "mixed-box"
n = 7
seed = 3
parameters = { speed = 0 }
offset = [0, 50, 0]
"""


def read(path: Path, text: str) -> BodyScene:
    path.write_text(text, encoding="utf-8")
    return scene.find_bodies(path)


@pytest.mark.parametrize(("response", "restitution"), [("", 0), ('response = "impulse"', 1)])
def test_restitution_is_that_of_the_response_where_none_is_given(
    response: str, restitution: float, tmp_path: Path
) -> None:
    text = f"choque = 1\n[world]\n{response}\n[materials.soft]\nrestitution = 0.25\n"
    made = read(
        tmp_path / "a.toml", text + '[[bodies]]\nkind = "box"\n[[bodies]]\nkind = "ground"\nmaterial = "soft"\n'
    )
    assert made.bodies.restitution.tolist() == [restitution, 0.25]


def test_everything_at_once(tmp_path: Path) -> None:
    made = read(tmp_path / "a.toml", EVERYTHING)
    bodies = made.bodies
    assert (made.name, made.summary) == ("all of it", "Everything that a scene can say.")
    assert (made.steps_per_second, made.dt, made.camera) == (120, 1 / 120, Camera(12, -5.5, 90))
    settings = {"broad": "grid", "narrow": "exact", "max_speed": 50.0, "cell": 2.5}
    assert made.settings == settings
    assert bodies.kind[:7].tolist() == [0, 0, 0, 1, 2, 3, 4]
    assert bodies.size[:7].tolist() == [
        [0.5, 0, 0],
        [0.25, 0, 0],
        [1, 0, 0],
        [1, 3, 0],
        [30, 8, 0],
        [1, 2, 3],
        [0, 0, 0],
    ]
    assert bodies.position[:7, 1].tolist() == [1, 3, 5, 1, 0, 0, -2.5]
    assert bodies.mass[:7].tolist() == [1, 2, 3, 1, 1, 1, 1]
    assert bodies.color[:4].tolist() == [[90, 90, 100]] * 3 + [[200] * 3]
    assert bodies.restitution[:7].tolist() == [0.5] * 7
    assert bodies.static[:7].tolist() == [False] * 3 + [True, True, False, True]
    assert bodies.drawn[:7].tolist() == [True] * 3 + [False] + [True] * 3
    assert bodies.rocket[:4].tolist() == [False, False, False, True]
    np.testing.assert_allclose(bodies.angular_velocity[3], [0, np.pi, 0])
    generated = scene.bodies("mixed-box", 7, seed=3, speed=0).bodies
    np.testing.assert_array_equal(bodies.position[7:], generated.moved((0, 50, 0)).position)
    # Gravity is for what is not static and has no acceleration of its own.
    falls = bodies.acceleration[:, 1] != 0
    assert falls.tolist() == [True] * 3 + [False, False, True, False] + [True] * 7 + [False] * 6


def test_the_least_scene(tmp_path: Path) -> None:
    made = read(tmp_path / "least.toml", "\ufeffchoque = 1")
    assert (made.name, len(made), made.steps_per_second, made.camera) == ("least", 0, 60, Camera())


def test_ids_say_who_is_who(tmp_path: Path) -> None:
    text = """choque = 1
[[bodies]]
kind = "sphere"
position = [[0, 0, 0], [3, 0, 0]]
[[bodies]]
kind = "capsule"
position = [[1, 0, 0], [4, 0, 0]]
ids = [1, 4]
[[bodies]]
kind = "tile"
position = [2, 0, 0]
ids = [2]
"""
    bodies = read(tmp_path / "a.toml", text).bodies
    assert bodies.position[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert bodies.kind.tolist() == [0, 1, 2, 0, 1]


SPHERE = 'choque = 1\n\n[[bodies]]\nkind = "sphere"\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("choque = 2", 1, "this is version 2 of the format; this Choque reads 1"),
        ("choque = '1'", 1, "choque is '1'; it must be a whole number"),
        ("choque = 1\nnane = 'x'", 2, "a scene has no key 'nane'. Did you mean 'name'?"),
        ("choque = 1\nname = 3", 2, "name is 3; it must be a text in quotes"),
        ("choque = 1\nsteps_per_second = 0", 2, "steps_per_second is 0"),
        ("choque = 1\nsteps_per_second = 60.0", 2, "a whole number"),
        ("choque = 1\nsteps_per_second = 10000000", 2, "from 1 to 1000000"),
        ("choque = 1\ngravity = 9.8", 2, "three numbers in brackets"),
        ("choque = 1\n[camera]\nradius = -1", 2, "radius of the camera is -1"),
        ("choque = 1\n[camera]\ndistance = 1", 3, "a camera has no key 'distance'"),
        ("choque = 1\ncamera.yaw = 'left'", 2, "yaw is 'left'"),
        ("choque = 1\ncamera = 4", 2, "camera is 4; it must be a table"),
        ("choque = 1\n[world]\nbroad = 'sap-incremetal'", 3, "Did you mean 'sap-incremental'?"),
        ("choque = 1\n[world]\nbrod = 'grid'", 3, "has no key 'brod'"),
        ("choque = 1\n[world]\nlegacy = 1", 3, "legacy is 1; it must be true or false"),
        ("choque = 1\n[world.broad_options]\ndtype = 'x'", 3, "it belongs under [world]"),
        ("choque = 1\n[materials.lead]\nmass = -1", 3, "the mass of this material is -1"),
        ("choque = 1\n[materials]\nlead = 3", 3, "lead is 3; it must be a table"),
        ("choque = 1\nbodies = 3", 2, "a list of tables, each under [[bodies]]"),
        ("choque = 1\nbodies = [\n{kind = 'ball'}]", 2, "kind is 'ball'; it must be one of sphere"),
        ("choque = 1\n\n[[bodies]]\nradius = 3", 3, "kind is None"),
        (SPHERE + "raduis = 1", 5, "a sphere has no key 'raduis'. Did you mean 'radius'?"),
        (SPHERE + "rocket = true", 5, "a sphere has no key 'rocket'"),
        (SPHERE + "position = [1, 2]", 5, "three numbers in brackets"),
        (SPHERE + "position = ['1', '2', '3']", 5, "three numbers in brackets"),
        (SPHERE + "position = [[1, 2, 3], [1, 2]]", 5, "a list of several, one for each body"),
        (SPHERE + "position = [nan, 0, 0]", 5, "the position of this sphere is nan,0,0"),
        (SPHERE + "position = [1e300, 1e300, 0]", 5, "three numbers from -1e+12 to 1e+12"),
        (SPHERE + f"position = [1{'0' * 400}, 0, 0]", 5, "three numbers in brackets"),
        (SPHERE + "position = [[0, 0, 0], [9, 0, 0]]\nradius = [1, 2, 3]", 6, "or a list of 2, one for each body"),
        (
            SPHERE + "position = [[0, 0, 0], [9, 0, 0]]\nradius = [1, -2]",
            6,
            "body 1 of these 2: the radius of this sphere",
        ),
        (SPHERE + "radius = true", 5, "radius is True; it must be a number"),
        (SPHERE + "mass = inf", 5, "the mass of this sphere is inf"),
        (SPHERE + "restitution = 2", 5, "restitution"),
        (SPHERE + "static = 'no'", 5, "static is 'no'; it must be true or false"),
        (SPHERE + "color = [0, 0, 256]", 5, "three whole numbers from 0 to 255"),
        (SPHERE + "color = [0, 0, 0.5]", 5, "three whole numbers from 0 to 255"),
        (SPHERE + "material = 'wood'", 5, "one of those under [materials]: default"),
        (SPHERE + "ids = [1]", 5, "an id is given twice, or is not below 1"),
        (SPHERE + "ids = [0, 1]", 5, "a list of 1 whole numbers"),
        ('choque = 1\n[[bodies]]\nkind = "tile"\nstatic = true', 4, "a tile has no key 'static'"),
        ('choque = 1\n[[bodies]]\nkind = "box"\nsize = [1, 2, 0]', 4, "the size of this box is 0"),
        ('choque = 1\n[[bodies]]\nkind = "ground"\nposition = [0, 0, 0]', 4, "a ground has no key 'position'"),
        ('choque = 1\n[[bodies]]\ngenerator = "mixed-bx"\nn = 3', 3, "Did you mean 'mixed-box'?"),
        ('choque = 1\n[[bodies]]\ngenerator = "pile"', 2, "n is missing"),
        ('choque = 1\n[[bodies]]\ngenerator = "pile"\nn = -1', 3, "n is -1"),
        ('choque = 1\n[[bodies]]\ngenerator = "pile"\nn = 1000000000000', 3, "from 0 to 10000000"),
        (
            'choque = 1\n[[bodies]]\ngenerator = "gas"\nn = 3\nparameters.fill = 3',
            5,
            "has no key 'fill'. Did you mean 'filling'",
        ),
        ('choque = 1\n[[bodies]]\ngenerator = "gas"\nn = 3\nparameters.filling = 3', 3, "filling is 3"),
        ('choque = 1\n[[bodies]]\ngenerator = "gas"\nn = 3\nradius = 3', 5, "a generator has no key 'radius'"),
        ("choque = 1\nname = 'x", 2, "this is not well-formed TOML"),
        ("choque = 1\n\nchoque = 1", 3, "not well-formed TOML: Cannot overwrite a value"),
        ("choque = 1\nx = [", 2, "not well-formed TOML"),
    ],
)
def test_errors_name_the_line(text: str, line: int, words: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read(tmp_path / "a.toml", text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'a.toml'}, line {line}: "), message
    assert words in message, message
    assert "\n" not in message
    assert "damaged" not in message


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    for content, words in (
        (b"", "is empty"),
        (b"[tool]\nname = 'x'\n", "the key choque is missing; a scene begins with choque = 1"),
        (b"\x89PNG\x00", "is not TOML, which is text: it looks like a PNG picture"),
        (b"#" * 5000 + b"\xff", "is not text in UTF-8"),
        (b"choque = 1\nx = " + b"[" * 100_000, "damaged|well-formed"),
    ):
        path.write_bytes(content)
        with pytest.raises(UnreadableFile, match=words):
            scene.read(path)


def test_lines_are_found() -> None:
    text = 'a = 1\ntext = """\nb = 2\n"""\n[t]\n"c" = 3\nrows = [\n  [1, 2],\n]\n[[l]]\nx=1\n[[l]]\nx=2\n[l.sub]\ny=3\n'
    lines = TomlLines(text)
    assert lines.line("a") == 1
    assert lines.line("b") is None
    assert lines.line("t", "c") == 6
    assert lines.line("t", "rows") == 7
    assert lines.line("t", "missing") == 5
    assert (lines.line("l", "0", "x"), lines.line("l", "1", "x"), lines.line("l", "1")) == (11, 13, 12)


SCENES: dict[str, Callable[[], BodyScene]] = {
    "alternating": lambda: scene.bodies("mixed-box", 90, seed=5),
    "runs": lambda: scene.bodies("pins", 20),
    "empty": lambda: BodyScene("empty", scene.BodyColumns.none()),
    "boxes": lambda: BodyScene(
        'odd "name"\t\u2028\x7f\\',
        join(ground(1.5), boxes([[0, 0, 0], [5, 0, 0]], [[1, 2, 3], [1, 1, 1]]), ground(), spheres([[0, 9, 0.1]], 0.1)),
        Camera(1.5, 2, 3),
        250,
        {"broad": "grid", "cell": 2.5, "levels": [1, 2], "legacy": False, "max_speed": None},
        "A\nsummary.",
    ),
}


@pytest.mark.parametrize("name", SCENES)
def test_round_trips(name: str, tmp_path: Path, assert_same: Callable[[BodyScene, BodyScene], None]) -> None:
    made = SCENES[name]()
    scene.write(tmp_path / "a.toml", made)
    read_back = scene.find_bodies(tmp_path / "a.toml")
    assert_same(made, read_back)
    assert (read_back.name, read_back.summary) == (made.name, made.summary)
    assert read_back.steps_per_second == made.steps_per_second
    assert read_back.settings == {key: value for key, value in made.settings.items() if value is not None}
    scene.write(tmp_path / "b.toml", read_back)
    assert (tmp_path / "b.toml").read_bytes() == (tmp_path / "a.toml").read_bytes()


def test_refusals_of_saving(tmp_path: Path) -> None:
    made = SCENES["runs"]()
    with pytest.raises(UnknownName, match=r"format for bodies called '.yaml'"):
        scene.write(tmp_path / "a.yaml", made)
    with pytest.raises(InvalidInput, match="A scene file cannot hold"):
        scene.write(tmp_path / "a.toml", replace(made, settings={"cell": object()}))
    with pytest.raises(InvalidInput, match="no folder"):
        scene.write(tmp_path / "none" / "a.toml", made)
    assert not list(tmp_path.iterdir())
    scene.write(tmp_path / "boxes.npz", scene.generate("uniform", 5))
    assert scene.files.read_boxes(tmp_path / "boxes.npz").box_count == 5


def test_all_columns_of_bodies_are_written_read_and_simulated(
    tmp_path: Path, assert_same: Callable[[BodyScene, BodyScene], None]
) -> None:
    further: dict[str, object] = {
        "linear_damping": [0, 1, 2],
        "angular_damping": 0.5,
        "bullet": [True, False, False],
        "group": [1, 2, 4],
    }
    further |= {"locked": [[1, 0, 0, 0, 0, 1], [0] * 6, [0] * 6], "mask": 2**32 - 2, "sensor": [False, True, False]}
    further |= {"friction": 0.1, "rolling": 0.2, "restitution": 0.3, "surface_velocity": (1, 2, 3)}
    solids = boxes(np.eye(3) * 5, [1, 2, 3], solid=[0, 2, 2], **further)
    made = BodyScene("all", join(solids, spheres(-np.eye(3) * 5, 1.0, **further)))
    scene.write(tmp_path / "all.toml", made)
    again = scene.read(tmp_path / "all.toml")
    assert isinstance(again, BodyScene)
    assert_same(again, made)
    bodies = again.world(response="soft-step").bodies
    for name in ("linear_damping", "bullet", "group", "locked", "mask", "sensor", "friction", "surface_velocity"):
        np.testing.assert_array_equal(getattr(bodies, name), getattr(made.bodies, name))
    assert len(bodies.hulls) == 2


@pytest.mark.parametrize("line", ["locked = [true]", "locked = 1", "group = -1", "mask = 0.5", "linear_damping = -1"])
def test_bad_columns_name_their_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(f'choque = 1\n[[bodies]]\nkind = "sphere"\n{line}\n')
    with pytest.raises(UnreadableFile, match="line"):
        scene.read(path)


@pytest.mark.parametrize("word", ["washer:6", "hopper:5", "terrain:3"])
def test_scenes_with_meshes_are_read_as_they_were_written(
    word: str, tmp_path: Path, assert_same: Callable[[BodyScene, BodyScene], None]
) -> None:
    made = scene.find_bodies(word)
    scene.write(tmp_path / "a.toml", made)
    back = scene.find_bodies(tmp_path / "a.toml")
    assert_same(made, back)
    assert back.settings == made.settings
    assert back.world().hash() == made.world().hash()
    with pytest.raises(InvalidInput, match="is a mesh, for which this XML has no element"):
        scene.write(tmp_path / "a.xml", replace(made, bodies=made.bodies.take([-1])))


def test_meshes_are_moved_and_joined_with_the_bodies_around_them(tmp_path: Path) -> None:
    text = 'choque = 1\n[[bodies]]\nkind = "sphere"\n[[bodies]]\ngenerator = "hopper"\nn = 2\noffset = [9, 0, 0]\n'
    world = read(tmp_path / "a.toml", text).world(response="soft-step")
    assert world.bodies.kind.tolist() == [0, 4, 0, 0, 5]
    assert world.bodies.position[-1].tolist() == [9, 0, 0]


@pytest.mark.parametrize(
    ("faces", "reason"),
    [
        ("[[0, 1, 3]]", "line 5.*face, number 0.*there are 3 vertices"),
        ("[[0, 1, 0.5]]", "line 6: faces is .*three whole numbers"),
        ("[[0, 1, inf]]", "line 6: faces is .*three whole numbers"),
        ("[[0, 1]]", "line 6: faces is .*three numbers in brackets"),
    ],
)
def test_faces_that_are_not_vertices_are_refused(faces: str, reason: str, tmp_path: Path) -> None:
    text = f'choque = 1\n\n[[bodies]]\nkind = "mesh"\nvertices = [[0, 0, 0], [1, 0, 0], [0, 0, 1]]\nfaces = {faces}\n'
    with pytest.raises(UnreadableFile, match=reason):
        read(tmp_path / "a.toml", text)
