"""Areas against every area tested with every body, at rest, in motion, and while bodies come and go."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interest_oracles import arena, members, rows

from choque._core.threads import parallel_at_any_size
from choque.errors import InvalidInput
from choque.interest import Areas, _search  # patched: when a tree is taken

SHAPES = ("sphere", "box")


@st.composite
def crowds(draw: st.DrawFn) -> tuple[Any, Any, Any, Any]:
    """Up to 25 bodies on whole numbers, where everything is exact and touching is common."""
    count, dimension = draw(st.integers(0, 25)), draw(st.sampled_from((2, 3)))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    spread = draw(st.sampled_from((2, 10, 60)))
    position = random.integers(-spread, spread + 1, (count, dimension))
    radius = [None if random.random() < 0.2 else int(random.integers(0, 12)) for _ in range(count)]
    body_radius = random.integers(0, 4, count) if draw(st.booleans()) else np.zeros(count, int)
    return position, radius, body_radius, draw(st.sampled_from(SHAPES))


def as_numbers(radius: list[Any]) -> Any:
    return np.array([np.nan if value is None else value for value in radius], np.float64)


@given(crowds())
def test_members_are_those_that_touch(crowd: tuple[Any, Any, Any, Any]) -> None:
    """F-004-19, F-004-21, F-004-22, F-004-24."""
    position, radius, body_radius, shape = crowd
    areas = Areas(position, radius=radius, body_radius=body_radius, shape=shape)
    wanted = members(position, as_numbers(radius), body_radius, shape)
    assert rows(areas.pairs()) == wanted
    assert rows(areas.entered) == wanted
    assert len(areas.left) == 0
    starts, others = areas.all_members()
    for owner in areas.ids:
        own = [other for first, other in wanted if first == owner]
        assert areas.members(owner).tolist() == own
        assert others[starts[owner] : starts[owner + 1]].tolist() == own


@pytest.mark.parametrize("shape", SHAPES)
def test_touching_counts_and_a_hair_more_does_not(shape: Any) -> None:
    far = [3.0, 4.0, 0.0] if shape == "sphere" else [5.0, 1.0, -5.0]
    for stretch, is_member in ((1.0, True), (1 - 1e-12, True), (1 + 1e-12, False)):
        areas = Areas(
            np.array([[0.0, 0.0, 0.0], far]) * stretch, radius=[4.0, None], body_radius=[0.0, 1.0], shape=shape
        )
        assert areas.members(0).tolist() == ([1] if is_member else [])


def test_only_the_one_with_an_area_sees() -> None:
    """F-004-25: of a, b, c and d only a has an area; b touches it, c lies in it, d is outside."""
    radius = [3, None, None, None]
    for sizes in (radius, np.array(radius)):
        areas = Areas([[0, 0], [4, 0], [1, 1], [9, 9]], radius=sizes, body_radius=1)
        assert rows(areas.pairs()) == [(0, 1), (0, 2)]
        assert areas.owners.tolist() == [0]


def test_a_masked_radius_means_no_area() -> None:
    radius = np.ma.masked_array([3.0, -1.0, np.nan, 1.0], mask=[False, True, True, False])
    areas = Areas([[0, 0], [1, 0], [2, 0], [9, 0]], radius=radius)
    assert areas.owners.tolist() == [0, 3]
    assert rows(areas.pairs()) == [(0, 1), (0, 2)]


def test_seeing_is_directed() -> None:
    areas = Areas([[0.0, 0.0], [3.0, 0.0]], radius=[4.0, 1.0])
    assert areas.members(0).tolist() == [1]
    assert areas.members(1).tolist() == []


def test_a_body_is_a_point_unless_it_has_a_size() -> None:
    assert Areas([[0.0, 0.0], [3.0, 0.0]], radius=2.5).members(0).size == 0
    assert Areas([[0.0, 0.0], [3.0, 0.0]], radius=2.5, body_radius=0.5).members(0).tolist() == [1]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dimension", [2, 3])
def test_no_member_is_missed_in_motion_and_changes_add_up(shape: Any, dimension: int, thorough: bool) -> None:
    """F-004-27, F-004-39: the arena frame by frame, slow, then fast; lists serve while no body is too fast."""
    motion = arena(120, start="sparse", dimension=dimension, pulse=0.0)
    radius = motion.reach
    areas = Areas(motion.spheres(0)[0], radius=2 * radius, body_radius=radius, shape=shape)
    held = set(rows(areas.entered))
    frame_count = 500 if thorough else 30
    frames = [*range(1, frame_count), *range(frame_count, frame_count + 400, 40 if thorough else 80)]
    for frame in frames:
        position = motion.spheres(frame)[0]
        areas.update(position)
        entered, left = set(rows(areas.entered)), set(rows(areas.left))
        assert not entered & held
        assert left <= held
        held = (held - left) | entered
        assert held == set(members(position, 2 * radius, radius, shape))
        assert rows(areas.pairs()) == sorted(held)
        np.testing.assert_array_equal(areas.position, position)
    assert areas.counters.events < 0.6 * len(frames)


def test_lists_that_last_take_fewer_tests_than_new_ones() -> None:
    """F-004-39: the same members as from scratch at each frame, for fewer tests of areas against bodies."""
    random = np.random.default_rng(0)
    position, velocity = 4 * random.random((2000, 3)), random.uniform(-0.004, 0.004, (2000, 3))
    areas = Areas(position, radius=0.4)
    first = areas.counters.tests
    fresh_tests = 0
    for _ in range(39):
        position = position + velocity
        areas.update(position)
        fresh = Areas(position, radius=0.4)
        np.testing.assert_array_equal(areas.pairs(), fresh.pairs())
        fresh_tests += fresh.counters.tests
    assert areas.counters.events <= 6
    assert areas.counters.tests - first < 0.7 * fresh_tests
    assert fresh_tests < 0.2 * 39 * 2000 * 1999


def test_a_list_holds_all_bodies_within_the_slack_at_the_last_search() -> None:
    random = np.random.default_rng(0)
    position, velocity = 4 * random.random((300, 2)), random.uniform(-0.002, 0.002, (300, 2))
    areas = Areas(position, radius=0.4)
    assert areas.slack == 0
    searched = position
    for _ in range(12):
        position = position + velocity
        searches = areas.counters.events
        areas.update(position)
        searched = position if areas.counters.events > searches else searched
        away = np.linalg.norm(searched - searched[7], axis=1)
        within = np.flatnonzero((away <= 0.4 + areas.slack) & (np.arange(300) != 7))
        assert areas.listed(7).tolist() == within.tolist()
        assert set(areas.members(7).tolist()) <= set(within.tolist())
    assert areas.slack > 0


@st.composite
def scripts(draw: st.DrawFn) -> tuple[str, list[tuple[str, int]]]:
    kinds = st.sampled_from(("update", "nudge", "nudge", "move", "add", "remove", "resize", "adapt", "copy"))
    return draw(st.sampled_from(SHAPES)), draw(st.lists(st.tuples(kinds, st.integers(0, 1000)), max_size=20))


@given(scripts())
def test_replay_of_changes_while_owners_come_and_go(script: tuple[str, list[tuple[str, int]]]) -> None:
    """F-004-42: entered and left, replayed from nothing, are the members; and those of a fresh build."""
    shape, steps = script
    areas = Areas(np.arange(24).reshape(12, 2) % 7, radius=[6, None] * 6, body_radius=np.arange(12) % 3, shape=shape)  # type: ignore[arg-type]
    held = set(rows(areas.entered))
    for kind, seed in steps:
        follow(areas, kind, np.random.default_rng(seed))
        if kind == "copy":
            areas = pickle.loads(pickle.dumps(areas.copy()))
        else:
            held = (held - set(rows(areas.left))) | set(rows(areas.entered))
        wanted = members(areas.position, areas.radius, areas.body_radius, shape)
        named = sorted((int(areas.ids[a]), int(areas.ids[b])) for a, b in wanted)
        assert sorted(held) == named
        assert rows(areas.pairs()) == named
        assert [(int(i), int(j)) for i in areas.ids for j in areas.members(i)] == named


def follow(areas: Areas, kind: str, random: np.random.Generator) -> None:
    count = len(areas)
    some = random.permutation(areas.ids)[: random.integers(0, 4)]
    if kind == "update":
        areas.update(random.integers(0, 20, (count, 2)))
    elif kind == "nudge":
        areas.update(areas.position + random.integers(-1, 2, (count, 2)) * 0.125)
    elif kind == "move":
        areas.move(some, random.integers(0, 20, (len(some), 2)))
    elif kind == "add":
        more = int(random.integers(0, 4))
        radius = None if random.random() < 0.5 else random.integers(0, 9, more)
        new = areas.add(random.integers(0, 20, (more, 2)), radius=radius, body_radius=1)
        assert len(new) == more
        assert not set(new) & set(range(12))
    elif kind == "remove":
        areas.remove(some)
    elif kind == "resize":
        areas.resize(some, None if random.random() < 0.3 else random.integers(0, 9, len(some)))
    elif kind == "adapt":
        areas.adapt(int(random.integers(1, 6)), smallest=0.5, largest=8.0)


def test_an_id_is_never_used_again() -> None:
    areas = Areas(np.zeros((3, 2)), radius=1.0)
    areas.remove([1])
    assert areas.add([[0, 0]], radius=1.0).tolist() == [3]
    assert areas.members(3).tolist() == [0, 2]
    with pytest.raises(InvalidInput, match="No living body has the id 1"):
        areas.members(1)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_crowd_in_few_places_is_searched_in_a_tree(shape: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    position = random.normal(0, 1e-3, (600, 3)) + random.integers(0, 2, (600, 1)) * 1e4
    radius, size = random.uniform(0, 2e-3, 600), random.uniform(0, 1e-4, 600)
    by_choice = Areas(position, radius=radius, body_radius=size, shape=shape)
    assert rows(by_choice.pairs()) == members(position, radius, size, shape)
    for waste in (-1.0, np.inf):
        monkeypatch.setattr(_search, "MAX_WASTE", waste)
        np.testing.assert_array_equal(
            Areas(position, radius=radius, body_radius=size, shape=shape).pairs(), by_choice.pairs()
        )


def test_sizes_of_every_kind_at_once() -> None:
    random = np.random.default_rng(5)
    position = random.integers(-1000, 1000, (300, 3))
    radius = 2 ** random.integers(0, 12, 300)
    size = np.where(random.random(300) < 0.3, 0, 2 ** random.integers(0, 11, 300))
    for shape in SHAPES:
        areas = Areas(position, radius=radius, body_radius=size, shape=shape)  # type: ignore[arg-type]
        assert rows(areas.pairs()) == members(position, radius, size, shape)


def test_infinite_areas_and_bodies() -> None:
    areas = Areas([[0.0, 0.0], [1e200, 0.0], [5.0, 5.0]], radius=[np.inf, 1, 1], body_radius=[0, 0, np.inf])
    assert rows(areas.pairs()) == [(0, 1), (0, 2), (1, 2)]
    areas.update([[0.0, 0.0], [1.0, 0.0], [1e9, 5.0]])
    assert rows(areas.entered) == [(1, 0)]


@pytest.mark.parametrize("scale", [1e-120, 1e-30, 1.0, 1e30, 1e120])
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_no_touch_is_missed_at_any_scale(scale: float, shift: float) -> None:
    """A member of an exact relation on whole numbers stays one for any rounding of floats."""
    random = np.random.default_rng(7)
    position = random.integers(0, 9, (60, 3))
    wanted = set(members(position, 3, 1))
    moved = (position / 3.0 + shift) * scale
    assert wanted <= set(rows(Areas(moved, radius=1.0 * scale * (1 + 1e-12 * shift), body_radius=scale / 3).pairs()))


def test_a_step_too_small_to_be_squared_is_followed() -> None:
    areas = Areas([[0.0, 0.0], [2e-170, 0.0], [1.0, 1.0]], radius=[1e-170, 0.0, 0.5])
    areas.update([[0.0, 0.0], [1e-170, 0.0], [1.0, 1.0]])
    assert 1 in areas.members(0)


def test_the_same_for_any_number_of_threads() -> None:
    motion = arena(700, start="sparse")
    answers = []
    with parallel_at_any_size():
        for threads in (1, 2, 3):
            areas = Areas(motion.spheres(0)[0], radius=motion.reach, body_radius=motion.reach, threads=threads)
            answers_so_far = [areas.pairs()]
            for frame in (1, 2, 3, 40, 41):
                areas.update(motion.spheres(frame)[0])
                answers_so_far += [areas.entered, areas.left, areas.pairs()]
            areas.adapt(9)
            answers.append([*answers_so_far, areas.pairs(), areas.radius])
    for other in answers[1:]:
        for one, two in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("shape", SHAPES)
def test_owners_that_jump_anywhere_are_found_again(shape: Any) -> None:
    """F-004-39: every place is new in every frame, areas of any size are searched together, some hold very many."""
    random = np.random.default_rng(11)
    radius = np.where(random.random(260) < 0.1, 0.9, random.uniform(0.0, 0.3, 260))
    radius[::7] = np.nan
    areas = Areas(random.random((260, 3)), radius=np.ma.masked_invalid(radius), body_radius=0.01, shape=shape)
    held = set(rows(areas.entered))
    for _ in range(4):
        position = random.random((260, 3))
        areas.update(position)
        entered, left = set(rows(areas.entered)), set(rows(areas.left))
        assert rows(areas.entered) == sorted(entered - held)
        assert rows(areas.left) == sorted(left & held)
        held = (held - left) | entered
        assert rows(areas.pairs()) == sorted(held) == members(position, radius, 0.01, shape)
    assert max(len(areas.members(owner)) for owner in areas.owners) > 100


def test_the_number_of_tests_does_not_depend_on_that_of_threads() -> None:
    position = np.random.default_rng(2).random((2, 900, 3))
    tests = []
    with parallel_at_any_size():
        for threads in (1, 2, 5):
            areas = Areas(position[0], radius=0.1, threads=threads)
            areas.update(position[1])
            tests.append(areas.counters.tests)
    assert len(set(tests)) == 1


def test_moving_some_is_moving_all_with_the_others_still() -> None:
    position = np.random.default_rng(0).random((200, 2))
    some, all_of_them = Areas(position, radius=0.1), Areas(position, radius=0.1)
    position[[7, 150]] = [[0.5, 0.5], [0.51, 0.5]]
    some.move([150, 7], position[[150, 7]])
    all_of_them.update(position)
    for name in ("entered", "left"):
        np.testing.assert_array_equal(getattr(some, name), getattr(all_of_them, name))


def test_answers_cannot_be_written_to() -> None:
    areas = Areas(np.zeros((3, 2)), radius=1.0)
    for array in (areas.pairs(), areas.entered, areas.left, areas.ids, areas.position, areas.body_radius):
        assert not array.flags.writeable


def test_given_arrays_are_not_held() -> None:
    position = np.zeros((2, 2))
    areas = Areas(position, radius=1.0)
    position += 100.0
    assert areas.position.max() == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"radius": -1}, "radius.*negative"),
        ({"radius": np.nan}, "radius.*NaN"),
        ({"radius": [1, 2]}, "radius has the shape"),
        ({"body_radius": -1}, "body_radius.*negative"),
        ({"position": [[0, np.nan]]}, "position.*finite"),
        ({"position": [[0, np.inf]]}, "position.*finite"),
        ({"position": [0, 0]}, "position has the shape"),
        ({"position": [[0, 0, 0, 0]]}, "position has the shape"),
        ({"position": ["ab"]}, "position"),
        ({"radius": "far"}, "radius"),
        ({"shape": "cone"}, "no shape of an area called 'cone'"),
        ({"position": np.empty((0, 2)), "radius": -1}, "radius.*negative"),
    ],
)
def test_bad_areas_are_one_sentence(arguments: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as caught:
        Areas(**{"position": [[0, 0]], "radius": 1, **arguments})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("update", ([[0, 0]],), "1 positions were given for 2 bodies"),
        ("update", ([[0, 0, 0], [1, 1, 1]],), "3 axes"),
        ("update", ([[0, 0], [np.nan, 0]],), "Row 1 of position"),
        ("move", ([0], [[1, 1], [2, 2]]), "1 ids and 2 positions"),
        ("move", ([5], [[1, 1]]), "No living body has the id 5"),
        ("move", ([0, 0], [[1, 1], [2, 2]]), "named twice"),
        ("members", (9,), "No living body has the id 9"),
        ("members", (-1,), "No living body has the id -1"),
        ("members", ("first",), "owner is 'first'"),
        ("remove", ([3],), "No living body has the id 3"),
        ("resize", ([0], -2.0), "radius.*negative"),
        ("adapt", (0,), "target is 0"),
        ("adapt", (2.5,), "target is 2.5"),
        ("adapt", (True,), "target is True"),
        ("add", {"position": [[1, 1]], "radius": np.nan}, "radius.*NaN"),
        ("adapt", {"target": 3, "smallest": -1.0}, "smallest is -1.0"),
        ("adapt", {"target": 3, "smallest": np.nan}, "smallest is nan"),
        ("adapt", {"target": 3, "smallest": 2.0, "largest": 1.0}, "smallest is 2.0 and largest is 1.0"),
    ],
)
def test_bad_changes_are_one_sentence_and_change_nothing(name: str, arguments: Any, said: str) -> None:
    areas = Areas([[0, 0], [1, 0]], radius=1.0)
    before = areas.pairs().tolist(), areas.ids.tolist(), areas.position.tolist()
    with pytest.raises(InvalidInput, match=said) as caught:
        getattr(areas, name)(*arguments) if isinstance(arguments, tuple) else getattr(areas, name)(**arguments)
    assert "\n" not in str(caught.value)
    assert (areas.pairs().tolist(), areas.ids.tolist(), areas.position.tolist()) == before


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("tree", [False, True])
def test_changes_of_single_bodies_equal_every_area_against_every_body(
    shape: Any, tree: bool, monkeypatch: Any, thorough: bool
) -> None:
    """Whole numbers: everything is exact, and touching is common."""
    monkeypatch.setattr("choque.interest._areas.MIN_PATCHED", 0)
    monkeypatch.setattr("choque.interest._areas.MIN_LOOSE", 24)
    if tree:
        monkeypatch.setattr(_search, "_is_crowded", lambda *_: True)
    for seed in range(60 if thorough else 8):
        random = np.random.default_rng(seed)
        dimension, count = 2 + seed % 2, 60
        where = random.integers(-12, 13, (count, dimension)).astype(float)
        reach = [None if random.random() < 0.2 else float(random.integers(0, 5)) for _ in range(count)]
        size = random.integers(0, 3, count).astype(float)
        areas = Areas(where, radius=reach, body_radius=size, shape=shape)
        state = {k: [where[k], np.nan if reach[k] is None else reach[k], size[k]] for k in range(count)}
        before = set(rows(areas.pairs()))
        for step in range(40):
            chosen = random.permutation(sorted(state))[: int(random.integers(1, 3))]
            kind = ("move", "jump", "resize", "add", "remove", "update")[
                int(random.integers(0, 6 if step % 9 == 8 else 5))
            ]
            if kind in ("move", "jump"):
                for body in chosen:
                    jump = random.integers(-12, 13, dimension) if kind == "jump" else state[body][0]
                    state[body][0] = jump + random.integers(-1, 2, dimension).astype(float)
                areas.move(chosen, [state[body][0] for body in chosen])
            elif kind == "resize":
                wide = float(random.integers(0, 9))
                areas.resize(chosen, wide)
                for body in chosen:
                    state[body][1] = wide
            elif kind == "add":
                place, wide = random.integers(-12, 13, (1, dimension)).astype(float), float(random.integers(0, 5))
                (new,) = areas.add(place, radius=wide, body_radius=1.0)
                state[int(new)] = [place[0], wide, 1.0]
            elif kind == "remove":
                areas.remove(chosen)
                for body in chosen:
                    del state[body]
            else:
                for body in state:
                    state[body][0] = state[body][0] + random.integers(-1, 2, dimension)
                areas.update([state[body][0] for body in sorted(state)])
            ids = np.array(sorted(state))
            columns = [np.array([state[body][k] for body in ids]) for k in range(3)]
            now = {(int(ids[a]), int(ids[b])) for a, b in members(*columns, shape)}
            assert rows(areas.entered) == sorted(now - before), (seed, step, kind)
            assert rows(areas.left) == sorted(before - now), (seed, step, kind)
            owner = int(random.choice(ids))
            assert areas.members(owner).tolist() == sorted(b for a, b in now if a == owner)
            np.testing.assert_array_equal(areas.position, columns[0])
            if step % 7 == 6:
                assert rows(areas.pairs()) == sorted(now)
            before = now


def test_single_changes_among_many_test_only_what_is_near() -> None:
    random = np.random.default_rng(0)
    areas = Areas(random.uniform(0, 200, (20_000, 2)), radius=2.0, body_radius=0.5)
    shown = areas.position
    first = shown[0].copy()
    searches, tests = areas.counters.events, areas.counters.tests
    for k in range(20):
        areas.move([k], [[100 + k, 100]])
        areas.move([k], [[100 + k, 100.1]])
    new = areas.add([[50, 50]], radius=2.0, body_radius=0.5)
    areas.resize(new, 3.0)
    areas.remove([3, 40])
    assert areas.counters.events == searches
    assert areas.counters.tests - tests < 43 * 2 * 500
    assert shown[0].tolist() == first.tolist()  # what was given before does not change
    again = Areas(areas.position, radius=np.ma.masked_invalid(areas.radius), body_radius=areas.body_radius)
    assert rows(areas.pairs()) == rows(areas.ids[again.pairs()])
    assert areas.counters.events == searches + 1
