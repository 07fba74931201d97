"""Scenes of the Fingsics engine: every attribute and default, what is tolerated, and what is refused where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from choque import scene
from choque.errors import InvalidInput, UnreadableFile
from choque.scene import BodyScene, Camera
from choque.scene.columns import boxes

SHARED = {
    "pos": ("position", "1,2.5,-3", [1, 2.5, -3], [0, 0, 0]),
    "vel": ("velocity", "4,5,6", [4, 5, 6], [0, 0, 0]),
    "acceleration": ("acceleration", "0,-9.8,0", [0, -9.8, 0], [0, 0, 0]),
    "ang": ("angles", "90,0,45", [90, 0, 45], [0, 0, 0]),
    "angVel": ("spin", "10,20,30", [10, 20, 30], [0, 0, 0]),
    "mass": ("mass", "7.5", 7.5, 1),
    "elasticityCoef": ("restitution", "0.25", 0.25, 1),
    "draw": ("drawn", "false", False, True),
    "color": ("color", "1,2,255", [1, 2, 255], [200, 200, 200]),
}
STATIC = {"static": ("static", "true", True, False)}
ATTRIBUTES = {
    "sphere": {**SHARED, **STATIC, "radius": (0, "2.5", 2.5, 1)},
    "capsule": {
        **SHARED,
        **STATIC,
        "radius": (0, "0.5", 0.5, 1),
        "length": (1, "4", 4, 1),
        "rocket": ("rocket", "true", True, False),
    },
    "tile": {**SHARED, "length": (0, "8", 8, 30), "width": (1, "6", 6, 30)},
}


def load(path: Path, objects: str, before: str = "", camera: str = "") -> BodyScene:
    path.write_text(f"{before}<config>{camera}<objects>{objects}</objects></config>", encoding="utf-8")
    return scene.find_bodies(path)


def value(bodies: scene.BodyColumns, column: str | int) -> object:
    return (bodies.size[0, column] if isinstance(column, int) else getattr(bodies, column)[0]).tolist()


@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_every_attribute_and_every_default(kind: str, tmp_path: Path) -> None:
    """F-001-01 and F-001-02: properties read back; each attribute is left out once and has the table's value."""
    table = ATTRIBUTES[kind]
    for missing in [None, *table]:
        words = " ".join(f'{name}="{text}"' for name, (_, text, _, _) in table.items() if name != missing)
        bodies = load(tmp_path / "a.xml", f"<{kind} {words}/>").bodies
        for name, (column, _, given, default) in table.items():
            assert value(bodies, column) == (default if name == missing else given), (kind, name, missing)


def test_kinds_and_their_order(tmp_path: Path) -> None:
    made = load(tmp_path / "mix.xml", "<tile/><sphere/><capsule/><sphere/><capsule rocket='true'/>")
    assert made.name == "mix"
    assert made.bodies.kind.tolist() == [2, 0, 1, 0, 1]
    assert made.bodies.rocket.tolist() == [False] * 4 + [True]
    assert made.counts() == {"sphere": 2, "capsule": 2, "tile": 1}


def test_the_camera_is_optional_and_the_first_counts(tmp_path: Path) -> None:
    """F-001-03."""
    assert load(tmp_path / "a.xml", "").camera == Camera(40, -25, 0)
    assert load(tmp_path / "a.xml", "", camera='<camera rad="63" pitch="-47" yaw="5"/>').camera == Camera(63, -47, 5)
    assert load(tmp_path / "a.xml", "", camera='<camera rad="50"/>"<camera rad="9"/>').camera == Camera(50)


def test_what_is_tolerated(tmp_path: Path) -> None:
    """F-001-03: a byte-order mark, stray text, unknown elements, comments, and bodies in the wrong place."""
    before = '\ufeff<?xml version="1.0" encoding="utf-8"?><!-- Two balls. --><!-- not this -->'
    objects = 'a<cube size="3"><sphere/></cube>b<sphere pos=" 1 , 2,3 "/>&amp;<!-- c --><sphere static="TRUE"/>'
    made = load(tmp_path / "a.xml", objects, before, camera='<sphere/>"')
    assert made.counts() == {"sphere": 2}
    assert made.bodies.position[0].tolist() == [1, 2, 3]
    assert made.bodies.static.tolist() == [False, True]
    assert made.summary == "Two balls."
    assert made.notes == ()


def test_utf_16(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<?xml version='1.0' encoding='utf-16'?><config><objects/></config>", "utf-16")
    assert len(scene.find_bodies(tmp_path / "a.xml")) == 0


def test_tiles_are_static_and_it_is_noted(tmp_path: Path) -> None:
    made = load(tmp_path / "a.xml", "\n<tile/>\n<tile static='false'/>\n<tile static='true'/>")
    assert made.bodies.static.all()
    assert len(made.notes) == 1
    assert made.notes[0].startswith("Line 2: a tile is always static")
    assert "(2 times)" in made.notes[0]


def test_unknown_attributes_are_noted(tmp_path: Path) -> None:
    made = load(tmp_path / "a.xml", "<sphere raduis='3'/>\n<sphere rocket='true'/>", camera="<camera radius='3'/>")
    assert made.bodies.size[:, 0].tolist() == [1, 1]
    assert [note.partition(",")[0] for note in made.notes] == [
        "Line 1: a camera has no attribute radius (rad may be meant)",
        "Line 1: a sphere has no attribute raduis (radius may be meant)",
        "Line 2: a sphere has no attribute rocket",
    ]


@pytest.mark.parametrize(
    ("objects", "line", "words"),
    [
        ("<sphere pos='1,2'/>", 2, "the pos of this sphere is '1,2'; it must be three numbers separated by commas"),
        ("\n<sphere vel='1,2,3,4'/>", 3, "vel"),
        ("<sphere vel='1,two,3'/>", 2, "three numbers"),
        ("<sphere vel=''/>", 2, "three numbers"),
        ("<sphere pos='1_0,0,0'/>", 2, "three numbers"),
        ("<sphere pos='nan,0,0'/>", 2, "the pos of this sphere is nan,0,0"),
        ("<sphere pos='1e308,-1e308,0'/>", 2, "three numbers from -1e+12 to 1e+12"),
        ("<sphere vel='0,inf,0'/>", 2, "the vel of this sphere is 0,inf,0"),
        ("<sphere angVel='0,0,1e999'/>", 2, "angVel"),
        ("<sphere color='256,0,0'/>", 2, "the color of this sphere is '256,0,0'; it must be three whole numbers"),
        ("<sphere color='-1,0,0'/>", 2, "0 to 255"),
        ("<sphere color='1.5,0,0'/>", 2, "0 to 255"),
        ("<sphere color='nan,0,0'/>", 2, "0 to 255"),
        ("<sphere color='inf,0,0'/>", 2, "0 to 255"),
        ("<sphere/>\n\n<sphere radius='-1'/>", 4, "the radius of this sphere is -1; it must be a number from 1e-12"),
        ("<sphere radius='0'/>", 2, "radius"),
        ("<sphere radius='big'/>", 2, "the radius of this sphere is 'big'; it must be a number"),
        ("<capsule radius='-0.5'/>", 2, "the radius of this capsule"),
        ("<capsule length='-2'/>", 2, "the length of this capsule is -2; it must be 0, or a number"),
        ("<tile length='-2'/>", 2, "the length of this tile"),
        ("<tile width='0'/>", 2, "the width of this tile"),
        ("<sphere mass='-3'/>", 2, "the mass of this sphere is -3"),
        ("<sphere mass='0'/>", 2, "mass"),
        ("<sphere mass='1e300'/>", 2, "mass"),
        ("<sphere elasticityCoef='1.5'/>", 2, "the elasticityCoef of this sphere is 1.5; it must be a number from 0"),
        ("<sphere elasticityCoef='-0.1'/>", 2, "elasticityCoef"),
        ("<sphere static='maybe'/>", 2, "the static of this sphere is 'maybe'; it must be true or false"),
        ("\n<sphere", 3, "not well-formed"),
        ("<sphere></capsule>", 2, "not well-formed XML: mismatched tag"),
        ("<sphere radius='1' radius='2'/>", 2, "not well-formed XML: duplicate attribute"),
        ("&entity;", 2, "not well-formed XML: undefined entity"),
    ],
)
def test_errors_name_the_line(objects: str, line: int, words: str, tmp_path: Path) -> None:
    """F-001-04: each is one sentence with file and line."""
    with pytest.raises(UnreadableFile) as caught:
        load(tmp_path / "a.xml", "\n" + objects)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'a.xml'}, line {line}: ")
    assert words in message
    assert message.endswith(".")
    assert "\n" not in message


def test_the_camera_is_checked(tmp_path: Path) -> None:
    for text, words in (("rad='0'", "radius of the camera"), ("yaw='nan'", "yaw"), ("pitch='x'", "a number")):
        with pytest.raises(UnreadableFile, match=f"line 1: .*{words}"):
            load(tmp_path / "a.xml", "", camera=f"<camera {text}/>")


@pytest.mark.parametrize(
    "declaration",
    [
        "<!DOCTYPE config>",
        '<!DOCTYPE config SYSTEM "file:///etc/passwd">',
        '<!DOCTYPE config [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE config [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
    ],
)
def test_document_types_are_refused(declaration: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="line 2: the file declares a document type"):
        load(tmp_path / "a.xml", "<sphere/>", before=f"<?xml version='1.0'?>\n{declaration}\n")


def test_other_documents_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    for content, words in (
        (b"<svg><g/></svg>", "line 1: the document is a <svg>"),
        (b"<config><object/></config>", "there is no <objects>"),
        (b"", "is empty"),
        (b"hello", "line 1: this is not well-formed XML"),
        (b"\x00\x01\x02\x03", "not well-formed"),
        (
            b"<?xml version='1.0' encoding='klingon'?><config/>",
            "line 1: this is not text in an encoding that is known: unknown encoding: klingon",
        ),
        (b"<config><objects>\xff</objects></config>", "not well-formed"),
    ):
        path.write_bytes(content)
        with pytest.raises(UnreadableFile, match=words):
            scene.read(path)
    with pytest.raises(UnreadableFile, match="There is no file"):
        scene.read(tmp_path / "none.xml")
    (tmp_path / "folder.xml").mkdir()
    with pytest.raises(UnreadableFile, match="is a folder"):
        scene.read(tmp_path / "folder.xml")


@pytest.mark.parametrize("name", ["mixed-box", "pile", "pins", "rockets"])
def test_round_trips(name: str, tmp_path: Path, assert_same: Callable[[BodyScene, BodyScene], None]) -> None:
    made = scene.bodies(name, 60, seed=2)
    scene.write(tmp_path / f"{name}.xml", made)
    read = scene.find_bodies(tmp_path / f"{name}.xml")
    assert_same(made, read)
    assert (read.name, read.summary) == (name, made.summary)
    scene.write(tmp_path / "again.xml", read)
    assert (tmp_path / "again.xml").read_bytes() == (tmp_path / f"{name}.xml").read_bytes()


def test_what_xml_cannot_hold(tmp_path: Path) -> None:
    made = BodyScene("boxes", boxes([[0, 0, 0]]))
    with pytest.raises(InvalidInput, match=r"Body 0 is a box.*save the scene as \.toml"):
        scene.write(tmp_path / "a.xml", made)
    assert not list(tmp_path.iterdir())


def test_a_summary_that_would_end_its_comment(tmp_path: Path) -> None:
    made = BodyScene("a", scene.BodyColumns.none(), summary="one --> two <!-- three ---")
    scene.write(tmp_path / "a.xml", made)
    assert scene.find_bodies(tmp_path / "a.xml").summary == "one -> two <!- three"


COUNTS = {
    "bowling": (1, 15, 3),
    "bulldozer": (1, 24, 1),
    "capsule-box-1-1": (0, 5000, 6),
    "capsule-box-4-1": (0, 5000, 6),
    "many-balls": (10, 0, 5),
    "missile": (0, 23, 0),
    "objects-resting": (1, 8, 1),
    "one-of-each": (1, 1, 2),
    "prod-31": (11, 20, 6),
    "prod-100": (42, 58, 6),
    "prod-316": (164, 152, 6),
    "rockets": (1, 98, 0),
}


@pytest.mark.parametrize("name", COUNTS)
def test_scenes_of_the_original(
    name: str, fingsics: Path, tmp_path: Path, assert_same: Callable[[BodyScene, BodyScene], None]
) -> None:
    """F-001-03: its files load as they are, stray quotes and byte-order marks included, and survive a round trip."""
    made = scene.find_bodies(fingsics / "scenes" / f"{name}.xml")
    found = np.bincount(made.bodies.kind, minlength=3)[:3]
    assert tuple(found) == COUNTS[name]
    assert made.notes == ()
    assert made.camera == {"rockets": Camera(63, -47), "one-of-each": Camera(50)}.get(
        name, Camera(50 if name.startswith(("prod", "capsule")) else 40)
    )
    scene.write(tmp_path / "copy.xml", made)
    assert_same(made, scene.find_bodies(tmp_path / "copy.xml"))
    assert made.bodies.rocket.sum() == (98 if name == "rockets" else 0)


def test_values_of_the_original(fingsics: Path) -> None:
    bowling = scene.find_bodies(fingsics / "scenes" / "bowling.xml").bodies
    assert bowling.position[3].tolist() == [0, 0.8, 0.2]
    assert bowling.velocity[3].tolist() == [19, 0, 0]
    assert bowling.size[3].tolist() == [0.8, 0, 0]
    assert bowling.size[4:, :2].tolist() == [[0.5, 1.7]] * 15
    assert bowling.acceleration[3:].tolist() == [[0, -9.8, 0]] * 16
    assert bowling.static.tolist() == [True] * 3 + [False] * 16


def test_attributes_without_a_blank_between_them_are_read_and_noted(tmp_path: Path) -> None:
    spheres = """<sphere pos="1,2,3"radius="2"mass='5'/>\n<sphere radius="1"vel="0,0,1"/>"""
    text = f"<config><objects>\n{spheres}</objects></config>"
    (tmp_path / "older.xml").write_text(text)
    made = scene.read(tmp_path / "older.xml")
    assert made.bodies.position.tolist() == [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]
    assert (made.bodies.size[:, 0].tolist(), made.bodies.mass[0]) == ([2.0, 1.0], 5.0)
    assert made.notes == ("Line 2: there is no blank between two attributes (3 times).",)
    (tmp_path / "broken.xml").write_text(text.replace("</objects>", "<"))
    with pytest.raises(UnreadableFile, match="line 3: this is not well-formed"):
        scene.read(tmp_path / "broken.xml")
