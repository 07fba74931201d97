"""Scenes to disk and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choque import files, scene
from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.scene.files import FORMATS, SceneFormat


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("suffix", [".aabbs", ".npz"])
def test_every_frame_survives(suffix: str, dtype: str, dimension: int, tmp_path: Path) -> None:
    made = scene.generate("brownian", 40, dimension=dimension, frames=7, cycle=3, dtype=dtype)
    scene.write(tmp_path / f"a{suffix}", made)
    read = scene.read(tmp_path / f"a{suffix}")
    assert (read.name, read.seed, read.parameters) == ("brownian", None, {})
    assert (read.box_count, read.dimension, read.frame_count) == (40, dimension, 7)
    assert read.dtype == ("float32" if suffix == ".aabbs" else dtype)
    for index in (6, 0, 3):
        for before, after in zip(made.frame(index), read.frame(index), strict=True):
            np.testing.assert_array_equal(after, before.astype(read.dtype))
    np.testing.assert_array_equal(read.moved(3), np.arange(40))
    scene.write(tmp_path / f"b{suffix}", read)
    assert len(list(scene.read(tmp_path / f"b{suffix}").frames())) == 7


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet", ".npz", ".aabbs"])
def test_a_file_of_boxes_is_a_scene_of_one_frame(suffix: str, tmp_path: Path) -> None:
    lower, upper = scene.generate("uniform", 20).frame()
    files.write_boxes(tmp_path / f"crowd{suffix}", lower, upper)
    read = scene.read(tmp_path / f"crowd{suffix}")
    assert (read.name, read.frame_count) == ("crowd", 1)
    np.testing.assert_array_equal(read.frame()[1], upper)


def test_a_format_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FORMATS, "_registered", {})

    def counted(path: Path) -> scene.BoxScene:
        return scene.generate("uniform", int(path.read_text()))

    FORMATS.register("count", SceneFormat(counted))
    (tmp_path / "a.count").write_text("12")
    assert scene.read(tmp_path / "a.count").box_count == 12


def test_refusals(tmp_path: Path) -> None:
    made = scene.generate("uniform", 5)
    with pytest.raises(UnknownName, match=r"\.aabbs, \.npz"):
        scene.write(tmp_path / "a.csv", made)
    with pytest.raises(InvalidInput, match="no folder"):
        scene.write(tmp_path / "none" / "a.npz", made)
    with pytest.raises(InvalidInput, match="give the path first"):
        scene.write(made, tmp_path / "a.npz")  # type: ignore[arg-type]
    with pytest.raises(UnreadableFile, match="There is no file"):
        scene.read(tmp_path / "a.xyz")
    (tmp_path / "a.xyz").write_text("1 2 3")
    with pytest.raises(UnreadableFile, match=r"scenes are read from files that end in \.aabbs"):
        scene.read(tmp_path / "a.xyz")
    assert [path.name for path in tmp_path.iterdir()] == ["a.xyz"]
