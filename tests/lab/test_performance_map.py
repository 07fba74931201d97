"""Maps of the fastest method: regions, scores and pictures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from choque.errors import InvalidInput
from choque.lab import Factor, Metric, Result, Study
from choque.lab.performance_map import PerformanceMap, draw_map, held_out, performance_map
from choque.lab.records import Records


def study() -> Study:
    return Study(
        name="s",
        title="",
        about="",
        factors=(Factor("scene", ("a", "b")), Factor("n", (1,)), Factor("method", ("x",)), Factor("seed", (0,))),
        metrics=(Metric("total", "s", ""),),
        regions=("n", "density"),
        selector="auto",
    )


def result(times: Any, seeds: tuple[int, ...] = (0,)) -> Result:
    """Samples and comparisons of three methods at twelve places; ``times(n, density)`` in seconds.

    In processes of their own methods are slowed by anything; in a turn of one process all of them alike.
    """
    rows: list[dict[str, Any]] = []
    turns: list[dict[str, Any]] = []
    for seed in seeds:
        for scene, density in (("a", 1.0), ("b", 100.0)):
            for n in (10, 100, 1_000, 10_000, 100_000, 1_000_000):
                for method, seconds in times(n, density).items():
                    cell = {
                        "cell": f"{scene} {n} {method} {seed}",
                        "scene": scene,
                        "n": n,
                        "method": method,
                        "seed": seed,
                    }
                    rows.append(
                        {**cell, "verdict": "exact", "note": "", "density": density, "repetition": 0, "total": seconds}
                    )
                    turns += [{**cell, "turn": turn, "total": seconds * (1 + turn)} for turn in range(5)]
    return Result(study(), None, {}, Records(rows), Records(turns))  # type: ignore[arg-type]


def grid_if_thin(n: int, density: float) -> dict[str, float]:
    grid, tree = (1.0, 2.0) if density < 10 else (3.0, 1.5)
    return {"grid": grid * n, "tree": tree * n, "auto": 1.2 * n}


def test_the_map_knows_the_fastest_of_each_region_and_of_places_near_it() -> None:
    table = performance_map(result(grid_if_thin))
    assert len(table.places) == 12
    assert {place.best for place in table.places if place.coordinates["density"] == 1.0} == {"grid"}
    assert table.choose({"n": 777, "density": 1.5}) == "grid"
    assert table.choose({"n": 777, "density": 60.0}) == "tree"
    rows = json.loads(table.to_json())["places"]
    assert rows[0]["best"] == "grid"
    assert rows[0]["seconds"]["tree"] == pytest.approx(20.0)


@pytest.mark.parametrize("seeds", [(0,), (0, 1, 2)])
def test_scores_say_how_often_a_choice_is_not_within_fifteen_per_cent(seeds: tuple[int, ...]) -> None:
    scores = {score.chooser: score for score in held_out(result(grid_if_thin, seeds))}
    auto, table = scores["auto, as installed"], scores["a table of the other cells"]
    assert (auto.places, table.places) == (12 * len(seeds), 12)
    assert auto.misses == 6 * len(seeds)
    assert auto.worst == pytest.approx(0.2)
    assert auto.mean == pytest.approx(0.0)
    assert auto.where.startswith("a,")
    assert (table.misses, table.worst) == (0, 0)


def test_wrong_answers_are_no_choice() -> None:
    run = result(grid_if_thin)
    for row in run.samples:
        if row["method"] == "grid":
            row["verdict"] = "wrong"
    assert performance_map(run).places == []
    with pytest.raises(InvalidInput, match="empty"):
        PerformanceMap(("n",), []).choose({"n": 1})


def test_the_map_is_drawn_with_the_name_of_the_fastest_in_every_field() -> None:
    figure = draw_map(result(grid_if_thin), rows="scene")
    words = [text.get_text() for text in figure.axes[0].texts]
    assert words.count("grid") == words.count("tree") == 6
    assert "2.00x before tree" in words


def test_the_maps_of_the_studies_lie_where_the_selectors_look() -> None:
    from choque.broad import auto
    from choque.lab import studies
    from choque.theses.kinetic import selector as kinetic_selector

    for name, selector in (("comparison", auto), ("kinetic", kinetic_selector)):
        study = studies.find(name)
        assert tuple(study.regions) == selector.COORDINATES
        assert study.region_weights() == selector.WEIGHTS
