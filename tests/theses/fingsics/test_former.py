"""Settings that say ``legacy``, as files written before the rename do, still make the same world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine_oracle import SCENES

import choque
from choque.theses import fingsics
from choque.world import World
from choque.world.settings import current_settings


@pytest.mark.parametrize(
    ("written", "current"),
    [
        ({"narrow": "legacy", "response": "legacy", "integrator": "legacy"}, ("fingsics", "fingsics")),
        ({"narrow": "exact", "response": "legacy", "integrator": "exact"}, ("exact", "fingsics-impulse")),
        ({"narrow": "exact", "response": "legacy"}, ("exact", "fingsics-impulse")),
        ({"narrow": "exact", "response": "impulse", "integrator": "exact"}, ("exact", "impulse")),
    ],
)
def test_former_words_have_current_ones(written: dict[str, Any], current: tuple[str, str]) -> None:
    found = current_settings(written)
    assert (found["narrow"], found["response"]) == current
    assert "integrator" not in found


def test_a_world_saved_by_an_earlier_version_continues() -> None:
    """The file holds frame 20 of ``mixed-box`` with 60 bodies and the seed 3, by the engine's sweep."""
    read = World.read(SCENES / "former_world.npz")
    settings = read.settings
    assert (settings.broad, settings.bounds, settings.narrow) == ("fingsics-sap", "fingsics", "fingsics")
    made = fingsics.world(choque.scene.bodies("mixed-box", 60, seed=3), broad="sap-incremental")
    for _ in range(20):
        made.step(1 / 60)
    assert read.frame == made.frame == 20
    assert read.hash() == made.hash()
    for _ in range(20):
        assert read.step(1 / 60).pairs == made.step(1 / 60).pairs
    assert read.hash() == made.hash()


def test_a_scene_may_ask_for_the_engine_by_the_former_flag(tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    path.write_text('choque = 1\n[world]\nlegacy = true\nbroad = "sap-obb"\n[[bodies]]\nkind = "sphere"\n')
    world = choque.scene.find_bodies(path).world()
    assert world.settings == fingsics.world(broad="sap-obb").settings
    choque.scene.write(tmp_path / "again.toml", choque.scene.find_bodies(path))
    assert choque.scene.find_bodies(tmp_path / "again.toml").world().settings == world.settings
