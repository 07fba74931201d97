"""Test objects by name, and objects with any even number of extreme vertices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choque.errors import ChoqueError, InvalidInput
from choque.lab import phantoms
from choque.theses.evm.objects import even_count_block
from choque.volumes import Volume
from choque.volumes.reading import is_phantom


def test_every_phantom_is_one_thing_of_its_size() -> None:
    for name in phantoms.names():
        made = phantoms.make(name, 27)
        assert not made.is_empty
        assert (np.array(made.model.bounds[1]) <= 27).all()
    assert len(phantoms.make("vertebra", 40).components()) == 1
    assert len(phantoms.make("screw", 40).components()) == 1


def test_the_sponge_is_mengers() -> None:
    for depth in (1, 2, 3):
        assert phantoms.make("menger", 3**depth).voxel_count == 20**depth


def test_a_gyroid_keeps_its_channels_apart() -> None:
    assert not phantoms.make("gyroid", 40).collides(phantoms.make("gyroid-channel", 40))


def test_every_even_number_of_vertices_is_reached(thorough: bool) -> None:
    """F-003-37."""
    for count in range(12, 6001, 2 if thorough else 202):
        assert len(even_count_block(count, seed=count).model) == count
    assert len(even_count_block(8).model) == 8
    for count in (0, 2, 10, 13):
        with pytest.raises(ChoqueError, match="even number from 12"):
            even_count_block(count)


def test_seeds_decide() -> None:
    """F-003-37."""
    assert phantoms.make("random", 9, seed=4) == phantoms.make("random", 9, seed=4)
    assert phantoms.make("random", 9, seed=4) != phantoms.make("random", 9, seed=5)
    for probability in (0.0, 1.0):
        assert phantoms.make("random", 5, probability=probability).voxel_count == 125 * probability


def test_bad_phantoms_are_one_sentence() -> None:
    with pytest.raises(ChoqueError, match="ball"):
        phantoms.make("bal")
    with pytest.raises(ChoqueError, match="at least 1"):
        phantoms.make("ball", 0)
    with pytest.raises(ChoqueError, match="more than 2³⁴"):
        phantoms.make("ball", 1_000_000)
    with pytest.raises(ChoqueError, match="between 0 and 1"):
        phantoms.make("random", 3, probability=2)


def test_a_word_names_a_phantom_unless_it_names_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Volume.read("ball:8") == phantoms.make("ball", 8)
    assert is_phantom("ball")
    with pytest.raises(InvalidInput, match="ball:64"):
        Volume.read("ball:small")
    with pytest.raises(InvalidInput, match="takes no options"):
        Volume.read("ball:8", above=3)
    (tmp_path / "ball:8").write_text("a file of that name goes first")
    assert not is_phantom("ball:8")
