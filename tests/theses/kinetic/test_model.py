"""The polygon factory, the model file, and the five scenes of the thesis."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from choque.bounds import Boxes
from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.narrow.polygons import contact
from choque.studio.page.entries import entry_of
from choque.theses.kinetic import Model, scenes, shapes
from choque.theses.kinetic.simulation import create_simulation

TEXT = """marco: ((-10.0, 10.0), (-10.0, 10.0))
timeInterval: 0.0-10.0
framesPerSecond: 100
-3.5 4.5
3 0.0 0.0 2.0 0.0 1.0 3.0
"""


@pytest.mark.parametrize("name", shapes.SHAPES)
def test_unit_shapes_lie_in_the_unit_circle_and_scale_to_the_given_area(name: str) -> None:
    assert (np.linalg.norm(shapes.shape(name), axis=1) <= 1 + 1e-12).all()
    for wanted in (1e-6, 0.3, 1e6):
        made = shapes.shape(name, size=wanted, turned=0.7, at=(3, -4))
        assert abs(shapes.area(made)) == pytest.approx(wanted, rel=1e-9)


def test_areas_in_closed_form() -> None:
    for count, area in ((3, 1.2990), (4, 2.0), (5, 2.3776), (6, 2.5981)):
        assert shapes.area(shapes.regular(count)) == pytest.approx(area, abs=5e-5)
        assert shapes.area(shapes.regular(count)) == pytest.approx(count / 2 * math.sin(2 * math.pi / count))
    for points in (4, 5, 6):
        assert shapes.area(shapes.star(points, 0.4)) == pytest.approx(points * 0.4 * math.sin(math.pi / points))
    assert shapes.area([[0, 0], [0, 2], [3, 0]]) == -3.0
    with pytest.raises(UnknownName, match="hexagon"):
        shapes.shape("hexagone")
    with pytest.raises(InvalidInput, match="2 points"):
        shapes.placed([[0, 0], [1, 1]])


def test_model_file_is_read_and_written_byte_for_byte(tmp_path: Path) -> None:
    model = Model.parse(TEXT)
    assert model.text() == TEXT
    assert (model.velocity.tolist(), model.interval, model.frames_per_second) == ([[-3.5, 4.5]], (0.0, 10.0), 100)
    for name in scenes.names():
        made = scenes.make(name)
        made.write(tmp_path / "model.txt")
        first = (tmp_path / "model.txt").read_bytes()
        again = Model.read(tmp_path / "model.txt")
        assert again == made
        again.write(tmp_path / "model.txt")
        assert (tmp_path / "model.txt").read_bytes() == first


def test_reader_is_lenient() -> None:
    loose = """# a remark
    FRAMESPERSECOND: 100

    timeinterval : (0, 10)      # inclusive
    Marco: -10 10 -10 10
    (-3.5, 4.5)
    3; 0 0, 2 0, 1 3
    """
    assert Model.parse(loose) == Model.parse(TEXT)
    assert Model.parse(TEXT.replace("0.0-10.0", "-5.0--1.5")).interval == (-5.0, -1.5)
    assert Model.parse(TEXT.replace("0.0-10.0", "1e-3-2E+1")).interval == (0.001, 20.0)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("-3.5 4.5", "-3.5 4.5 1", "Line 4 .* velocity has two"),
        ("-3.5 4.5", "-3.5 fast", "Line 4 .*'fast'"),
        ("3 0.0 0.0", "4 0.0 0.0", "Line 5 .* 8 coordinates, and there are 6"),
        ("3 0.0 0.0 2.0 0.0 1.0 3.0", "2 0.0 0.0 2.0 0.0", "Line 5 .* 2 vertices"),
        ("3 0.0 0.0 2.0 0.0 1.0 3.0\n", "", "Line 4 .* vertices is missing"),
        ("0.0-10.0", "0.0", "Line 2 .* timeInterval needs 2"),
        ("marco", "marca", "Line 1 .*'marca'"),
        ("framesPerSecond: 100\n", "", "no line 'framesPerSecond'"),
    ],
)
def test_malformed_line_is_named(old: str, new: str, named: str) -> None:
    with pytest.raises(UnreadableFile, match=named):
        Model.parse(TEXT.replace(old, new))


def test_missing_and_binary_files_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="There is no file"):
        Model.read(tmp_path / "none.txt")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UnreadableFile, match="which is text"):
        Model.read(tmp_path / "bytes")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"interval": (2.0, 1.0)}, "end before"),
        ({"frame": ((1.0, 0.0), (0.0, 1.0))}, "rectangle"),
        ({"frames_per_second": 0}, "frames_per_second"),
        ({"velocity": [[np.nan, 0.0]]}, "velocity"),
        ({"polygons": ([[0, 0], [1, 1]],)}, "Polygon 0 has 2 points"),
    ],
)
def test_bad_models_are_refused(change: dict[str, Any], named: str) -> None:
    good: dict[str, Any] = {"polygons": (shapes.regular(3),), "velocity": [[0.0, 0.0]]}
    with pytest.raises(InvalidInput, match=named):
        Model(**{**good, **change})


def test_boxes_of_a_resting_pair_overlap() -> None:
    outcomes = []
    for case in range(4):
        model = scenes.make("resting-pair", case=case)
        assert model.sweep().pairs().tolist() == [[0, 1]]
        outcomes.append(bool(contact(*model.polygons)))
    assert outcomes == [True, False, True, False]  # triangle and square: false; stars: true


def test_evenly_spread_has_no_pair_for_any_method() -> None:
    model = scenes.make("evenly-spread", side=8)
    for method in ("kinetic", "direct", "incremental"):
        statistics = create_simulation(model, method).run()
        assert not statistics.events
        assert all(not len(pairs) for _, pairs in statistics.frames)


def test_random_scene_is_the_same_for_a_seed_and_keeps_its_ranges() -> None:
    first, again = (scenes.make("random-shapes", n=60, occupancy=0.05, seed=7) for _ in range(2))
    assert first.text() == again.text() != scenes.make("random-shapes", n=60, occupancy=0.05, seed=8).text()
    assert first.density == pytest.approx(0.05)
    lower, upper = first.boxes()
    pace = np.linalg.norm(first.velocity, axis=1) / (upper - lower).min(axis=1)
    assert pace.min() >= 0.3
    assert pace.max() <= 3.5
    with pytest.raises(UnknownName, match="occupancy"):
        scenes.make("random-shapes", ocupancy=0.1)
    with pytest.raises(UnknownName, match="three-objects"):
        scenes.make("three-objets")


def test_primitives_of_the_thesis() -> None:
    """F-000-01: the length of edges, and the union and the intersection of boxes."""
    assert shapes.edge_lengths([[0, 0], [3, 0], [3, 4]]).tolist() == [3.0, 4.0, 5.0]
    assert shapes.edge_lengths(shapes.regular(6)) == pytest.approx(np.ones(6))
    two = Boxes([[0, 0], [2, -1]], [[3, 1], [5, 4]])
    assert [corner.tolist() for corner in shapes.box_union(two)] == [[0, -1], [5, 4]]
    common = shapes.box_intersection(two)
    assert common is not None
    assert [corner.tolist() for corner in common] == [[2, 0], [3, 1]]
    touching = shapes.box_intersection(Boxes([[0, 0], [1, 0]], [[1, 1], [2, 1]]))
    assert touching is not None
    assert touching[0][0] == touching[1][0] == 1
    assert shapes.box_intersection(Boxes([[0, 0], [2, 0]], [[1, 1], [3, 1]])) is None


@pytest.mark.parametrize(("alias", "name"), scenes.ALIASES.items())
def test_spanish_names_of_the_thesis_still_work(alias: str, name: str) -> None:
    assert name in scenes.names()
    assert alias not in scenes.names()
    assert scenes.make(alias) == scenes.make(name)
    assert scenes.make(alias).name == name
    assert entry_of([alias]) == "kinetic"
