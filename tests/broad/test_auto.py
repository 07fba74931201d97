"""What auto chooses, and that it says why."""

from __future__ import annotations

import json

import numpy as np
import pytest

import choque
from choque.bounds import Boxes
from choque.broad import BroadPhase
from choque.broad import auto as table_of_auto
from choque.broad.auto import CONSULT_EVERY, MAX_MOVED_SHARE, Auto, Choice
from choque.errors import UnreadableFile
from choque.testing import oracle


def choice_of(broad: BroadPhase) -> Choice:
    assert isinstance(broad.index, Auto)
    return broad.index.choice


def spread(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    lower = np.random.default_rng(seed).uniform(0, count ** (1 / 3) * 1.4, (count, 3))
    return lower, lower + 1.0


def mixed(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Boxes of sizes that differ, for which the table is read."""
    lower, upper = spread(count)
    upper[::2] -= 0.95
    return lower, upper


@pytest.fixture(autouse=True)
def forget():
    """A table is read once in a process; here every test has its own."""
    table_of_auto.present_table.cache_clear()
    yield
    table_of_auto.present_table.cache_clear()


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table of one place, by which the method named takes one second anywhere, and all others ``others`` seconds."""

    def use(fastest: str, others: float = 2.0) -> None:
        seconds = {method: 1.0 if method == fastest else others for method in table_of_auto.CANDIDATES}
        where = dict.fromkeys(table_of_auto.COORDINATES, 1.0)
        path = tmp_path / f"{fastest}-{others}.json"
        places = [{"coordinates": where, "seconds": seconds}]
        path.write_text(json.dumps({"coordinates": table_of_auto.COORDINATES, "places": places}))
        monkeypatch.setenv(table_of_auto.VARIABLE, str(path))
        table_of_auto.present_table.cache_clear()

    return use


def test_few_boxes_are_tested_one_by_one() -> None:
    choice = choque.explain(*spread(50))
    assert choice.method == "brute"
    assert "50 boxes" in choice.reason
    assert choice.box_count == 50
    assert choice.dimension == 3


def test_every_candidate_is_a_method() -> None:
    assert set(table_of_auto.CANDIDATES) <= set(choque.broad.names())


def test_the_shipped_table_knows_every_candidate_at_rest_and_in_motion() -> None:
    data = json.loads(table_of_auto.SHIPPED.read_text())
    assert tuple(data["coordinates"]) == table_of_auto.COORDINATES
    for moving in (0.0, 1.0):
        places = [place for place in data["places"] if place["coordinates"]["moving"] == moving]
        assert len(places) >= 20
        wanted = set(table_of_auto.CANDIDATES) - (set() if moving else {"sap-incremental"})  # which keeps what changes
        assert set().union(*(place["seconds"] for place in places)) >= wanted


def test_the_shipped_table_knows_what_everybody_knows() -> None:
    """A grid for many boxes of one size; none where sizes differ a thousandfold, or boxes crowd together."""
    assert choque.explain(*spread(20_000)).method == "grid"
    lower, _ = spread(20_000)
    edges = np.exp(np.random.default_rng(1).uniform(0, np.log(1000), (20_000, 1))) / 100
    assert choque.explain(lower, lower + edges).method in ("bvh", "sap-direct")
    crowd = np.random.default_rng(0).normal(0, 1, (20_000, 3)) * 30
    crowd[::2] += 1e6
    assert choque.explain(crowd, crowd + 1).method in ("bvh", "sap-direct")


@pytest.mark.parametrize("method", table_of_auto.CANDIDATES)
def test_the_table_decides(table, method: str) -> None:
    table(method)
    lower, upper = spread(900)
    auto = choque.broad.create("auto", Boxes(lower, upper))
    assert choice_of(auto).method == method
    assert f"{method} is expected to be the fastest, 2x as fast as" in choice_of(auto).reason
    assert str(choice_of(auto)).startswith(f"{method}: ")
    assert choice_of(auto).tests_per_box is not None
    np.testing.assert_array_equal(auto.pairs(), oracle.overlapping_pairs(lower, upper))


def test_few_movers_are_followed_by_a_tree_and_all_movers_as_the_table_says(table) -> None:
    table("grid")
    lower, upper = spread(4000)
    method = choque.broad.create("auto", Boxes(lower, upper))
    assert choice_of(method).method == "grid"
    some = np.arange(int(MAX_MOVED_SHARE * 4000) - 1)
    lower[some] += 0.3
    upper[some] += 0.3
    method.update(Boxes(lower, upper))
    assert choice_of(method).method == "bvh"
    assert "moved" in choice_of(method).reason
    np.testing.assert_array_equal(method.pairs(), oracle.overlapping_pairs(lower, upper))
    lower, upper = lower + 0.1, upper + 0.1
    method.update(Boxes(lower, upper))
    assert choice_of(method).method == "grid"
    np.testing.assert_array_equal(method.pairs(), oracle.overlapping_pairs(lower, upper))


@pytest.mark.parametrize("method", table_of_auto.CANDIDATES)
def test_the_method_chosen_follows_motion_and_remembers_one_step(table, method: str) -> None:
    table(method)
    random = np.random.default_rng(3)
    lower, upper = spread(800)
    auto = choque.broad.create("auto", Boxes(lower, upper))
    before = oracle.overlapping_pairs(lower, upper)
    for _ in range(CONSULT_EVERY + 2):
        shift = random.normal(0, 0.3, lower.shape)
        lower, upper = lower + shift, upper + shift
        auto.update(Boxes(lower, upper))
        now = oracle.overlapping_pairs(lower, upper)
        began = {tuple(pair) for pair in now.tolist()} - {tuple(pair) for pair in before.tolist()}
        assert {tuple(pair) for pair in auto.began.tolist()} == began
        np.testing.assert_array_equal(auto.pairs(), now)
        before = now


@pytest.mark.parametrize(("others", "follower"), [(1.05, "grid"), (1.5, "bvh")])
def test_the_method_chosen_stays_where_another_is_hardly_better(table, others: float, follower: str) -> None:
    lower, upper = spread(900)
    table("grid")
    auto = choque.broad.create("auto", Boxes(lower, upper))
    table("bvh", others)
    auto.update(Boxes(lower + 1, upper + 1))
    assert choice_of(auto).method == follower


def test_a_kept_order_is_given_up_at_once_when_motion_turns_wild(tmp_path, monkeypatch) -> None:
    """The worst case of an incremental sweep is quadratic: it must not last until the next look."""
    gentle, wild = (
        {
            "coordinates": {**dict.fromkeys(table_of_auto.COORDINATES, 1.0), "n": 900, "passed": passed},
            "seconds": {name: 1.0 if name == fastest else 3.0 for name in table_of_auto.CANDIDATES},
        }
        for fastest, passed in (("sap-incremental", 0.1), ("grid", 1_000.0))
    )
    path = tmp_path / "table.json"
    path.write_text(json.dumps({"coordinates": table_of_auto.COORDINATES, "places": [gentle, wild]}))
    monkeypatch.setenv(table_of_auto.VARIABLE, str(path))
    random = np.random.default_rng(0)
    lower, upper = spread(900)
    auto = choque.broad.create("auto", Boxes(lower, upper))
    chosen = []
    for reach in (0.001, 0.001, 9.0):
        shift = random.normal(0, reach, lower.shape)
        lower, upper = lower + shift, upper + shift
        auto.update(Boxes(lower, upper))
        chosen.append(choice_of(auto).method)
        np.testing.assert_array_equal(auto.pairs(), oracle.overlapping_pairs(lower, upper))
    assert chosen == ["sap-incremental", "sap-incremental", "grid"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not a performance map"),
        ("[]", "not a performance map"),
        ('{"coordinates": ["n"], "places": []}', "holds no places"),
        ('{"coordinates": ["n"], "places": [{"coordinates": {"n": 1}, "seconds": {"grid": 1}}]}', "auto needs n, grid"),
        (
            '{"coordinates": ["n"], "places": [{"coordinates": {"n": 1}, "seconds": {"grid": -1}}]}',
            "not a performance map",
        ),
    ],
)
def test_a_bad_table_is_named_in_a_sentence(tmp_path, monkeypatch, text: str, words: str) -> None:
    path = tmp_path / "table.json"
    path.write_text(text)
    monkeypatch.setenv(table_of_auto.VARIABLE, str(path))
    with pytest.raises(UnreadableFile, match=words) as caught:
        choque.explain(*mixed(900))
    assert str(path) in str(caught.value)


def test_a_missing_table_is_named_in_a_sentence(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(table_of_auto.VARIABLE, str(tmp_path / "gone.json"))
    with pytest.raises(UnreadableFile, match="cannot be read"):
        choque.explain(*mixed(900))


def test_the_shortest_way_agrees_with_the_long_one() -> None:
    for count in (0, 1, 2, 255, 256, 257):
        lower, upper = spread(count, count)
        for closed in (True, False):
            short = choque.pairs(np.rint(lower), np.rint(upper), closed=closed)
            long = choque.pairs(np.rint(lower), np.rint(upper), closed=closed, method="grid")
            np.testing.assert_array_equal(short, long)
            assert short.dtype == np.int32
            assert short.flags.writeable


@pytest.mark.parametrize("count", [256, 257, 258, 1_024, 1_025, 4_095, 4_097, 16_000, 16_001])
def test_few_boxes_take_a_short_way_to_the_same_answer(count: int) -> None:
    random = np.random.default_rng(count)
    lower = random.uniform(0, (2 * count) ** (1 / 3), (count, 3))
    lower[:9] = lower[9]
    for kind in (np.float32, np.float64):
        boxes = lower.astype(kind), (lower + 1).astype(kind)
        long = choque.pairs(*boxes, method="bvh")
        np.testing.assert_array_equal(choque.pairs(*boxes), long)
    assert choque.explain(*boxes).method == ("brute" if count <= 256 else "grid")


def test_boxes_of_many_sizes_or_partners_take_the_long_way() -> None:
    random = np.random.default_rng(0)
    lower, edge = random.uniform(0, 20, (900, 3)), np.exp(random.uniform(0, 7, (900, 1)))
    for upper in (lower + edge, lower + 15, np.where(lower < 0.1, np.inf, lower + 1)):
        np.testing.assert_array_equal(choque.pairs(lower, upper), choque.pairs(lower, upper, method="brute"))
        assert "at once" not in choque.explain(lower, upper).reason
