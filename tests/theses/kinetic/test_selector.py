"""Which method is recommended for a run, F-000-40; the study `kinetic` judges it on held-out cells."""

from __future__ import annotations

import json
import math

import pytest

from choque.errors import InvalidInput, UnknownName
from choque.theses.kinetic import create_simulation, recommend, scenes, selector


def test_the_shipped_table_is_a_map_of_the_study() -> None:
    data = json.loads(selector.SHIPPED.read_text())
    assert tuple(data["coordinates"]) == selector.COORDINATES
    assert {name for place in data["places"] for name in place["seconds"]} >= set(selector.METHODS)


def test_many_frames_a_second_ask_for_events_and_few_for_frames() -> None:
    """The headline of the study: no frame costs anything while nothing happens, unless hardly any frame is wanted."""
    assert recommend(1_000, 0.05, frames_per_second=1_000, duration=1.0).method == "kinetic"
    assert recommend(1_000, 0.05, frames_per_second=10, duration=1.0).method != "kinetic"


def test_a_place_of_the_table_gets_its_own_best() -> None:
    data = json.loads(selector.SHIPPED.read_text())
    misses = 0
    for place in data["places"]:
        where = place["coordinates"]
        found = recommend(int(where["n"]), where["density"], where["frames_per_second"], where["duration"])
        known = {name: place["seconds"][name] for name in selector.METHODS if name in place["seconds"]}
        misses += known.get(found.method, math.inf) > 1.1 * min(known.values())
    assert misses <= 0.1 * len(data["places"])


def test_auto_runs_the_recommended_simulation() -> None:
    model = scenes.make("random-shapes", n=30, seed=1)
    chosen = create_simulation(model, "auto")
    best = recommend(len(model), model.density, model.frames_per_second, model.duration)
    assert chosen.method == best.method
    with pytest.raises(UnknownName, match="auto"):
        create_simulation(model, "aut")


@pytest.mark.parametrize("name", ["count", "density", "frames_per_second", "duration"])
@pytest.mark.parametrize("value", [-1, math.nan, math.inf, "many", None])
def test_what_is_no_number_is_refused(name: str, value: object) -> None:
    given = {"count": 10, "density": 0.1, "frames_per_second": 10.0, "duration": 1.0, name: value}
    with pytest.raises(InvalidInput, match=name):
        recommend(**given)  # type: ignore[arg-type]
