"""Pictures of moving polygons: what is drawn is what is there, and what cannot be drawn is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from choque.errors import InvalidInput
from choque.theses.kinetic import scenes

pytest.importorskip("matplotlib")
from choque.studio.picture import kinetic as pictures

PNG, GIF = b"\x89PNG", b"GIF8"


def test_stills_diagrams_and_animations_are_written_whole(tmp_path: Path) -> None:
    model = scenes.make("three-objects")
    pictures.draw_still(tmp_path / "still.png", model, 1.0)
    pictures.draw_events(tmp_path / "events.png", model)
    pictures.draw_space_time(tmp_path / "diagram.svg", model, axis=1)
    pictures.animate(tmp_path / "run.gif", model, frame_count=3)
    assert (tmp_path / "still.png").read_bytes().startswith(PNG)
    assert (tmp_path / "events.png").read_bytes().startswith(PNG)
    assert b"<svg" in (tmp_path / "diagram.svg").read_bytes()
    assert (tmp_path / "run.gif").read_bytes().startswith(GIF)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["diagram.svg", "events.png", "run.gif", "still.png"]


def test_a_film_is_written_by_the_ffmpeg_of_the_extra(tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg")
    pictures.animate(tmp_path / "run.mp4", scenes.make("three-objects"), frame_count=3)
    assert (tmp_path / "run.mp4").read_bytes()[4:8] == b"ftyp"
    assert [path.name for path in tmp_path.iterdir()] == ["run.mp4"]


def test_frame_k_shows_the_positions_of_its_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown: list[tuple[float, list[list[float]], list[list[int]]]] = []

    def note(_: Any, model: Any, time: float, sweep: Any) -> None:
        shown.append((time, sweep.boxes()[0].tolist(), sweep.pairs().tolist()))

    monkeypatch.setattr(pictures, "paint", note)
    model = scenes.make("three-objects")
    pictures.animate(tmp_path / "run.gif", model, frame_count=11)
    assert [time for time, _, _ in shown] == list(range(11))
    for time, lower, pairs in shown:
        np.testing.assert_allclose(lower, model.boxes()[0] + model.velocity * time)
        assert pairs == {0: [[0, 2]], 1: [[0, 1], [0, 2]]}.get(int(time), [[1, 2]] if 2 <= time <= 5 else [])


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda folder, model: pictures.draw_still(folder / "still.bmp", model), ".bmp"),
        (lambda folder, model: pictures.animate(folder / "run.avi", model), ".avi"),
        (lambda folder, model: pictures.animate(folder / "run.gif", model, frame_count=0), "0 frames"),
        (lambda folder, model: pictures.draw_space_time(folder / "d.png", model, axis=2), "axis"),
        (lambda folder, _: pictures.draw_space_time(folder / "d.png", scenes.make("random-shapes", n=200)), "200"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call: Any, named: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=named):
        call(tmp_path, scenes.make("three-objects"))
    assert list(tmp_path.iterdir()) == []
