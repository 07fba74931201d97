"""Scene files of all sorts of nonsense: a scene or a sentence, never anything else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from choque import scene
from choque.errors import ChoqueError
from choque.scene import BodyColumns, BodyScene
from choque.scene.files import BUILT_IN
from choque.theses.fingsics.config import load_config

in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

XML = [path.read_text("utf-8") for path in sorted(BUILT_IN.glob("*.xml"))]
TOML = [path.read_text("utf-8") for path in sorted(BUILT_IN.glob("*.toml")) if path.stat().st_size < 1500]
CONFIG = "SCENE_FILE_NAME=a\nFPS_CAP=60\nLOG=true # x\nBROAD_PHASE=SAP\nRUN_MODE=TEST\nSTOP_AT_FRAME=-1\n"

NUMBERS = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**30), 10**30).map(str),
    st.sampled_from(["", "1e999", "0x10", "1_0", "١", "--1", "NaN", "1,5", "-0"]),
)
NAMES = ("pos", "vel", "acceleration", "ang", "angVel", "mass", "elasticityCoef", "static", "draw", "color", "radius")
TRIPLETS = st.lists(NUMBERS, min_size=1, max_size=4).map(",".join)
ATTRIBUTE = st.tuples(
    st.sampled_from((*NAMES, "length", "width", "rocket", "rad", "x")),
    st.one_of(NUMBERS, TRIPLETS, st.sampled_from(["true", "false", "1", "maybe"])),
)
ELEMENT = st.tuples(st.sampled_from(("sphere", "capsule", "tile", "camera", "cube")), st.lists(ATTRIBUTE, max_size=4))


def survives(path: Path, content: str | bytes) -> BodyScene | None:
    """Read a file: whatever is wrong is said in one line that names the file."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    try:
        return scene.find_bodies(path)
    except ChoqueError as problem:
        sentence = str(problem)
    assert str(path) in sentence
    assert sentence.endswith((".", "?"))
    return None


def mutated(texts: list[str]) -> st.SearchStrategy[str]:
    """Valid files with a piece cut out, doubled or replaced."""

    def change(text: str, first: int, length: int, other: str) -> str:
        first %= len(text)
        return text[:first] + other + text[first + length :]

    noise = st.one_of(
        st.text(max_size=6), NUMBERS, st.sampled_from(['"', "<", ">", "[", "]", "\n", "=", "&", "\x00", "{"])
    )
    return st.builds(change, st.sampled_from(texts), st.integers(0, 5000), st.integers(0, 40), noise)


@in_one_folder
@given(st.lists(ELEMENT, max_size=4))
def test_elements_with_any_attributes(tmp_path: Path, elements: list[tuple[str, list[tuple[str, str]]]]) -> None:
    written = [
        f"<{kind} " + " ".join(f'{name}="{text}"' for name, text in dict(attributes).items()) + "/>"
        for kind, attributes in elements
    ]
    made = survives(tmp_path / "a.xml", f"<config><objects>{''.join(written)}</objects></config>")
    if made is not None:
        assert len(made) == sum(kind in ("sphere", "capsule", "tile") for kind, _ in elements)


@in_one_folder
@given(st.one_of(st.text(max_size=60), mutated(XML)))
def test_any_xml(tmp_path: Path, text: str) -> None:
    survives(tmp_path / "a.xml", text)


@in_one_folder
@given(st.binary(max_size=60))
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    survives(tmp_path / "a.xml", content)
    survives(tmp_path / "a.toml", content)


@in_one_folder
@given(st.one_of(st.text(max_size=60), st.text(max_size=30).map("choque = 1\n{}".format), mutated(TOML)))
def test_any_toml(tmp_path: Path, text: str) -> None:
    survives(tmp_path / "a.toml", text)


VALUE = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=3),
    ),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(
    (
        "position",
        "radius",
        "length",
        "width",
        "size",
        "mass",
        "color",
        "static",
        "velocity",
        "ids",
        "material",
        "seed",
        "n",
    )
)


@in_one_folder
@given(
    st.sampled_from(
        ('kind = "sphere"', 'kind = "capsule"', 'kind = "tile"', 'kind = "box"', 'kind = "ground"', 'generator = "gas"')
    ),
    st.dictionaries(KEYS, VALUE, max_size=3),
)
def test_entries_with_any_values(tmp_path: Path, first: str, entries: dict[str, object]) -> None:
    lines = [f"{key} = {json.dumps(value)}" for key, value in entries.items()]
    survives(tmp_path / "a.toml", "\n".join(["choque = 1", "[[bodies]]", first, *lines]))


@in_one_folder
@given(st.one_of(st.text(max_size=60), mutated([CONFIG])))
def test_any_configuration(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.txt"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    sentence = str(path)
    try:
        load_config(path)
    except ChoqueError as problem:
        sentence = str(problem)
    assert str(path) in sentence


@st.composite
def some_bodies(draw: st.DrawFn) -> BodyColumns:
    count = draw(st.integers(0, 5))
    kind = [draw(st.integers(0, 2)) for _ in range(count)]
    number = st.floats(-1e12, 1e12)
    vectors = st.lists(st.tuples(number, number, number), min_size=count, max_size=count)
    positive = st.floats(1e-12, 1e12)
    flags = st.lists(st.booleans(), min_size=count, max_size=count)
    size = [(draw(positive), draw(positive) if each else 0.0, 0.0) for each in kind]
    rows = {name: draw(vectors) for name in ("velocity", "acceleration", "angles", "spin")} if count else {}
    return BodyColumns.filled(
        kind,
        draw(vectors) if count else BodyColumns.none().position,
        size if count else BodyColumns.none().size,
        **rows,
        mass=[draw(positive) for _ in kind],
        restitution=[draw(st.floats(0, 1)) for _ in kind],
        static=draw(flags),
        drawn=draw(flags),
        rocket=[each == 1 and draw(st.booleans()) for each in kind],
        color=[(draw(st.integers(0, 255)), 0, 255) for _ in kind] if count else (0, 0, 0),
    )


@in_one_folder
@given(some_bodies(), st.sampled_from([".xml", ".toml"]))
def test_what_is_written_is_read(
    tmp_path: Path, assert_same: Callable[[BodyScene, BodyScene], None], bodies: BodyColumns, suffix: str
) -> None:
    made = BodyScene("a", bodies, scene.Camera(3.5, 0.1, -7))
    path = tmp_path / f"a{suffix}"
    scene.write(path, made)
    read = scene.find_bodies(path)
    assert_same(made, read)
    again = tmp_path / f"b{suffix}"
    scene.write(again, read)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("suffix", [".xml", ".toml"])
def test_every_beginning_of_a_file(tmp_path: Path, suffix: str) -> None:
    """A file that was cut off anywhere is a shorter scene or an error."""
    text = (XML if suffix == ".xml" else TOML)[-1]
    for length in range(0, len(text), 7):
        survives(tmp_path / f"a{suffix}", text[:length])
