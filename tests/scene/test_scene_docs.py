"""F-001-54: every key, attribute and name of a scene is documented."""

from __future__ import annotations

from pathlib import Path

import pytest

from choque import scene
from choque.scene.body_scene import WORLD_SETTINGS
from choque.scene.formats import toml_reader as choque_toml
from choque.theses.fingsics import config as config_txt
from choque.theses.fingsics import xml_scenes as fingsics_xml

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "scenes.md"


@pytest.fixture(scope="module")
def page() -> str:
    if not PAGE.is_file():
        pytest.skip("the documents are not part of this copy of the source")
    return PAGE.read_text("utf-8")


WORDS = {
    "config.txt": [*config_txt.READERS],
    "XML": [*fingsics_xml.ATTRIBUTES, "rad", "pitch", "yaw"],
    "TOML": [
        *choque_toml._SCENE,
        *choque_toml._GENERATOR,
        *(key for keys in (*choque_toml.SIZES, *choque_toml.ATTRIBUTES, choque_toml.MESH_KEYS) for key in keys),
        *WORLD_SETTINGS,
        *("kind", "position", "height", "material", "ids", "broad_options"),
    ],
    "generators": [*scene.names("bodies"), *(key for name in scene.names("bodies") for key in scene.parameters(name))],
    "built in": scene.names("built-in"),
}


@pytest.mark.parametrize("sort", WORDS)
def test_every_word_is_explained(sort: str, page: str) -> None:
    missing = [word for word in WORDS[sort] if f"`{word}`" not in page]
    assert missing == []
    assert len(WORDS[sort]) > 10


def test_the_examples_work(page: str, tmp_path: Path) -> None:
    example = page.partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "example.toml").write_text(example, encoding="utf-8")
    made = scene.find_bodies(tmp_path / "example.toml")
    assert made.counts() == {"sphere": 203, "tile": 7}
