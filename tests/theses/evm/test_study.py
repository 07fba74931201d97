"""The study of the model: every way to hold a volume answers as the masks do, and its claims can be judged."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from choque.errors import UnknownName
from choque.lab.fit import fit_power
from choque.lab.records import Records
from choque.lab.stopwatch import Stopwatch
from choque.lab.studies import find
from choque.lab.trial import CutOff
from choque.theses.evm import trial as trials
from choque.theses.evm.holders import PEERS, is_installed
from choque.theses.evm.study import EXPERIMENTS, SIZES, blend, less_waste, tables, wasted_space
from choque.theses.evm.sweep import SweepCounters, combine, sweep_collides
from choque.theses.evm.trial import VolumeTrial, make_instance, random_volume
from choque.volumes import ExtremeVertices, Lattice, Volume

SMALL = {
    "spheres-x": 2,
    "spheres-y": 2,
    "blocks-overlap": 60,
    "blocks-interlocked": 60,
    "blocks-separated": 60,
    "spheres-z": 3,
}
CELLS = [(scene, method) for scenes, methods in EXPERIMENTS.items() for scene in scenes[:3] for method in methods]


@pytest.mark.parametrize(("scene", "method"), CELLS)
def test_every_way_to_hold_a_volume_is_right(scene: str, method: str) -> None:
    """F-003-38."""
    if not is_installed(method):
        pytest.skip(f"{PEERS[method]} is not installed")
    trial = VolumeTrial(method, make_instance(scene, SMALL.get(scene, 9), 0, 12))
    trial.warm_up(60.0)
    watch = Stopwatch()
    trial.run(watch)
    assert set(watch.stop().stages) == {"create", "query"}
    verdict = trial.check().judgement
    assert verdict == "exact" or (verdict == "other question" and method in ("boxes", "triangles", "fcl"))
    assert trial.counters()["bytes"] > 0
    assert trial.facts()["query_5"] <= trial.facts()["query_95"]


def test_placements_are_of_their_kind() -> None:
    """F-003-38."""
    overlapping = VolumeTrial("dense", make_instance("blocks-overlap", 100, 1, 20))
    interlocked = VolumeTrial("boxes", make_instance("blocks-interlocked", 100, 1, 20))
    separated = VolumeTrial("boxes", make_instance("blocks-separated", 100, 1, 20))
    for trial, wanted in ((overlapping, True), (interlocked, True), (separated, False)):
        trial.run(Stopwatch())
        assert set(trial.answers) == {wanted}
    assert interlocked.check().judgement == "other question"
    assert 100 <= overlapping.facts()["vertices"] < 180


@pytest.mark.parametrize("count", [60, 500, 3000])
def test_random_volumes_are_no_dust(count: int) -> None:
    """F-003-38: drawn by a probability, with about the wanted number of vertices, and not isolated voxels."""
    random = np.random.default_rng(0)
    for _ in range(8):
        model = ExtremeVertices.from_mask(random_volume(count, random))
        assert count <= len(model) < 1.5 * count + 60
        assert Volume(model, Lattice()).component_count(connectivity=26) < len(model) / 8


def test_the_design_has_the_levels_of_the_thesis() -> None:
    """F-003-38, F-003-40."""
    study = find("evm")
    assert [factor.name for factor in study.factors] == ["scene", "n", "method", "seed", "placements"]
    blocks, spheres, phantoms = (full for full, _ in SIZES.values())
    assert blocks == tuple(range(500, 6001, 500))
    assert spheres == tuple(range(1, 21))
    assert phantoms == (32, 64, 128, 256, 512, 1024)
    assert study.exclude is not None
    assert study.exclude({"scene": "ball", "n": 6000, "method": "kept"})
    assert study.exclude({"scene": "ball", "n": 64, "method": "triangles"})
    assert not study.exclude({"scene": "spheres-z", "n": 20, "method": "triangles"})


def test_a_planted_law_is_found_and_blended() -> None:
    """F-003-39."""
    x = np.arange(500.0, 6001.0, 500.0)
    collides, apart = fit_power(x, 0.837 * x**0.724), fit_power(x, 0.322 * x**0.854)
    assert collides.coefficients == pytest.approx((0.837, 0.724))
    assert collides.r2 == pytest.approx(1.0)
    assert blend(collides, apart, 0.25)(1000.0) == pytest.approx(0.25 * collides(1000.0) + 0.75 * apart(1000.0))


def test_the_waste_of_a_bounding_volume_is_the_printed_one() -> None:
    """F-003-41."""
    assert less_waste(None).verdict == "confirmed"  # type: ignore[arg-type]
    thin, safe = wasted_space(), wasted_space(conservative=True)
    assert list(thin) == list(range(1, 21))
    assert [thin[n] for n in (1, 2, 3, 4)] == [97.00, 93.82, 86.23, 83.21]
    assert all(safe[n] >= thin[n] for n in thin)


def test_the_first_two_experiments_have_the_columns_of_the_thesis() -> None:
    """F-003-38: intersection and collision, apart and overlapping, by layout, with the gain."""
    seconds = {"sorted-intersection": 4e-6, "sorted": 1e-6, "trie-intersection": 8e-6, "trie": 4e-6}
    scenes = ("blocks-overlap", "blocks-interlocked")
    cells = [
        {"method": method, "scene": scene, "n": n, "seed": seed, "verdict": "exact", "median": (seed + 1) * n * each}
        for method, each in seconds.items()
        for scene in scenes
        for n in (500, 1000)
        for seed in range(3)
        if (method, scene, n) != ("trie", "blocks-interlocked", 1000)
    ]
    first, second = tables(SimpleNamespace(cells=Records(cells)))  # type: ignore[arg-type]
    names = [f"{layout} {column}" for layout in ("sorted", "trie") for column in ("In", "Iy", "Cn", "Cy", "gain %")]
    assert list(first) == ["vertices", *names]
    assert [first[name] for name in names] == pytest.approx([4000, 4000, 1000, 1000, 75, 8000, 8000, 4000, 4000, 50])
    assert second["trie Cn"] is None
    assert second["trie gain %"] == pytest.approx(50)


def test_unknown_names_are_one_sentence() -> None:
    with pytest.raises(UnknownName, match="ball"):
        make_instance("balls", 9, 0, 1)
    with pytest.raises(UnknownName, match="kept"):
        VolumeTrial("keep", make_instance("ball", 9, 0, 1))


@pytest.mark.parametrize(("per_unit", "vertices", "faces"), [(1, 56, 96), (2, 56, 96), (3, 192, 368), (4, 248, 456)])
def test_the_third_experiment_has_its_columns(per_unit: int, vertices: int, faces: int) -> None:
    """F-003-40, F-003-31: voxels and surface of the mesh beside vertices and questions; the box holds every vertex."""
    trial = VolumeTrial("sorted", make_instance("spheres-z", per_unit, 0, 50))
    trial.warm_up(60.0)
    trial.run(Stopwatch())
    facts = trial.facts()
    assert (facts["surface_vertices"], facts["surface_faces"]) == (vertices, faces)
    assert min(float(facts["voxelise"]), float(facts["surface"]), float(facts["query_50"])) > 0
    boxes = VolumeTrial("boxes", trial.instance)
    lower, upper = boxes.holder.make(trial.instance.one)
    points = ExtremeVertices.from_mask(trial.instance.one).points
    assert ((points >= lower) & (points <= upper)).all()
    assert (points.min(axis=0).tolist(), points.max(axis=0).tolist()) == (list(lower), list(upper))


def test_the_sweep_does_a_fraction_of_the_work_and_the_layouts_agree() -> None:
    """F-003-42, without a clock: brinks and planes visited; the claims of the study have the clock."""
    saved = []
    for seed in range(6):
        instance = make_instance("blocks-overlap", 1000, seed, 5)
        one, two = ExtremeVertices.from_mask(instance.one), ExtremeVertices.from_mask(instance.two)
        for shift in instance.shifts:
            sweep, whole = SweepCounters(), SweepCounters()
            assert sweep_collides(one, two.moved(shift), counters=sweep)
            combine(one, two.moved(shift), "intersection", counters=whole)
            saved.append(sweep.brinks / whole.brinks)
    assert np.median(saved) < 1 / 3
    claims = {claim.id for claim, _ in find("evm").claims}
    wanted = {"collision-beats-intersection-sorted", "collision-beats-intersection-trie", "sorted-beats-trie"}
    assert wanted | {"tie-when-apart", "power-law", "faster-than-triangles", "slower-than-boxes"} <= claims


def test_making_the_objects_is_counted_once_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects of 512³ take a second to make and microseconds to ask: a turn of many questions is not cut off."""
    trial = VolumeTrial("sorted", make_instance("blocks-overlap", 60, 0, 1_000))
    now, make = 0.0, trial.holder.make

    def slowly(*given: Any) -> Any:
        nonlocal now
        now += 1.0
        return make(*given)

    def passing() -> float:
        nonlocal now
        now += 1e-6
        return now

    monkeypatch.setattr(trial.holder, "make", slowly)
    trial.clock = passing
    trial.warm_up(3.0)
    assert now == pytest.approx(2.0, abs=0.1)  # a turn that takes long is not made twice
    with pytest.raises(CutOff, match=r"about 2 s a turn; 1 s are allowed"):
        trial.warm_up(1.0)


def test_cells_of_one_instance_share_their_masks_answers_and_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their oracle takes longer than they do."""
    monkeypatch.setattr(trials, "LARGE", 8)
    asked: list[int] = []
    truths = VolumeTrial._truths

    def counted(self: VolumeTrial, shifts: Any) -> list[bool]:
        asked.append(len(shifts))
        return truths(self, shifts)

    monkeypatch.setattr(VolumeTrial, "_truths", counted)
    alone = VolumeTrial("sorted", make_instance("gyroid", 9, 0, 12))
    found = [VolumeTrial(method, make_instance("gyroid", 9, 0, 12, tmp_path)) for method in ("sorted", "runs")]
    for trial in (alone, *found):
        trial.run(Stopwatch())
        assert trial.check().judgement == "exact"
        np.testing.assert_array_equal(trial.instance.one, alone.instance.one)
        assert trial.instance.shifts == alone.instance.shifts
        assert {name: trial.facts()[name] for name in ("vertices", "planes", "voxels")} == alone._counts()
    assert asked == [12, 12]  # alone, and the first of the two
    found[1].answers[3] ^= True
    assert found[1].check().judgement == "wrong"
