"""Words that mean scenes of bodies: files first, then built-in scenes and generators."""

from __future__ import annotations

from pathlib import Path

import pytest

from choque import scene
from choque.errors import InvalidInput, UnreadableFile
from choque.scene.files import is_generator
from choque.scene.generators import DEFAULT_COUNT


def test_a_word_is_a_generator_a_built_in_scene_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(scene.find_bodies("gas:7", seed=3, n=9).bodies.take(~scene.find_bodies("gas:7").bodies.static)) == 7
    assert scene.find_bodies("gas").parameters["n"] == DEFAULT_COUNT
    assert scene.read("stack").parameters["n"] == 10  # the number of a scene that is best seen with few
    assert scene.find_bodies("gas", n=5).parameters["n"] == 5
    assert scene.find_bodies("gas:7", seed=3).seed == 3
    for word in ("bowling", "bowling.toml", "bowling.xml"):
        assert len(scene.find_bodies(word)) == len(scene.find_bodies("bowling"))
    scene.write(tmp_path / "bowling.toml", scene.find_bodies("gas:3"))
    assert len(scene.find_bodies("bowling.toml")) == len(scene.find_bodies("gas:3"))
    assert is_generator("gas:7")
    assert len(scene.read("gas:7")) == len(scene.find_bodies("gas:7"))
    (tmp_path / "gas:7").write_text("a file of that name goes first")
    assert not is_generator("gas:7")


@pytest.mark.parametrize(
    ("word", "parameters", "sentence"),
    [
        ("gas:many", {}, "mixed-box:1000"),
        ("bowling", {"seed": 0}, "seed was given with 'bowling', which is not a generator"),
        ("bowling", {"n": 3, "gap": 2.0}, "n, gap was given"),
        ("gas:4", {"gap": 2.0}, "has no parameter 'gap'"),
    ],
)
def test_what_no_word_can_mean_is_a_sentence(word: str, parameters: dict[str, float], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        scene.find_bodies(word, **parameters)  # type: ignore[arg-type]
    with pytest.raises(UnreadableFile, match="Did you mean 'bowling'"):
        scene.find_bodies("bowlin")


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("mixedbox:100", "Did you mean 'mixed-box:100'"),
        ("mixed-bx", "Did you mean 'mixed-box:1000'"),
        ("mixed-box-10", "Did you mean 'mixed-box-100'"),
        ("qqqq", r"name\. The nearest of \d+ are \S+(, \S+){4}; 'choque scenes' lists all"),
        ("bowlng", "Did you mean 'bowling'\\? The nearest .* 'choque scenes' lists all"),
    ],
)
def test_generators_may_be_meant_too(word: str, sentence: str) -> None:
    with pytest.raises(UnreadableFile, match=sentence):
        scene.find_bodies(word)
