"""The narrow phase: order, grouping, tallies, threads, layouts, and what it refuses (F-001-21, F-001-38)."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from narrow_oracle import shapes_of
from scipy.spatial.transform import Rotation

from choque.errors import InvalidInput, UnknownName
from choque.narrow import Contacts, NarrowPhase, Shapes
from choque.narrow.shapes import CAPSULE, KIND_NAMES, PLANE, SPHERE, TILE

FIELDS = ("pairs", "point", "normal", "depth")


def crowd(count: int, seed: int = 0, dtype: Any = np.float64, kinds: Any = (SPHERE, CAPSULE, TILE, PLANE)) -> Shapes:
    """Bodies of all kinds, mixed, in a small cube."""
    generator = np.random.default_rng(seed)
    kind = generator.choice(kinds, count)
    size = generator.uniform(0.2, 1.5, (count, 3))
    rotation = Rotation.random(count, random_state=seed).as_matrix()
    return shapes_of(kind, generator.uniform(-2, 2, (count, 3)), rotation, size, dtype)


def all_pairs(count: int) -> Any:
    return np.array(list(combinations(range(count), 2)), np.int32).reshape(-1, 2)


def same(first: Contacts, second: Contacts) -> bool:
    return all(np.array_equal(getattr(first, field), getattr(second, field)) for field in FIELDS)


def test_contacts_are_those_of_each_pair_alone_in_the_order_of_the_pairs() -> None:
    """Grouping by kinds changes nothing but the time."""
    shapes = crowd(40)
    pairs = all_pairs(40)
    found = NarrowPhase().find(shapes, pairs)
    alone = [NarrowPhase().find(shapes, pairs[place : place + 1]) for place in range(len(pairs))]
    hits = [one for one in alone if len(one)]
    for field in FIELDS:
        assert np.array_equal(getattr(found, field), np.concatenate([getattr(one, field) for one in hits]))
    assert 50 < len(found) < len(pairs)


@given(st.integers(0, 12), st.integers(0, 10_000))
def test_normals_follow_the_rows_and_not_the_kinds(count: int, seed: int) -> None:
    """Turning the order of the rows round turns every normal round (F-001-22)."""
    shapes = crowd(count, seed)
    back = shapes_of(*(column[::-1] for column in (shapes.kind, shapes.position, shapes.rotation, shapes.size)))
    ours = NarrowPhase().find(shapes, all_pairs(count))
    theirs = NarrowPhase().find(back, all_pairs(count))
    order = np.lexsort((count - 1 - theirs.pairs[:, 0], count - 1 - theirs.pairs[:, 1]))
    assert np.array_equal(ours.pairs, count - 1 - theirs.pairs[order][:, ::-1])
    assert np.allclose(ours.normal, -theirs.normal[order], atol=1e-9)
    assert np.allclose(ours.depth, theirs.depth[order], atol=1e-9)


def test_the_tally_adds_up() -> None:
    """Tests and contacts by pair of kinds add up to all of them (F-001-38); tiles pass through tiles (F-001-21)."""
    shapes, pairs = crowd(60, seed=2), all_pairs(60)
    phase = NarrowPhase()
    assert phase.tally == {}
    found = phase.find(shapes, pairs)
    tally = phase.tally
    assert sum(each.tests for each in tally.values()) == len(pairs)
    assert sum(each.contacts for each in tally.values()) == len(found)
    assert all(each.seconds >= 0 for each in tally.values())
    kinds = np.sort(shapes.kind[found.pairs], axis=1)
    for name, each in tally.items():
        first, second = (KIND_NAMES.index(part) for part in name.split("-"))
        assert each.contacts == np.count_nonzero((kinds == (first, second)).all(axis=1))
    assert {"tile-tile", "tile-plane", "plane-plane"} <= tally.keys()
    assert tally["tile-tile"].contacts == tally["tile-plane"].contacts == 0
    phase.find(shapes, pairs[:0])
    assert phase.tally == {}


@pytest.mark.parametrize("narrow", ["exact", "fingsics"])
def test_any_number_of_threads(narrow: str) -> None:
    shapes, pairs = crowd(150, seed=3, kinds=(SPHERE, CAPSULE, TILE)), all_pairs(150)
    one, three = NarrowPhase(narrow, threads=1), NarrowPhase(narrow, threads=3)
    assert same(one.find(shapes, pairs), three.find(shapes, pairs))
    counts = [{name: each[:2] for name, each in phase.tally.items()} for phase in (one, three)]
    assert counts[0] == counts[1]


def test_the_answer_does_not_depend_on_what_was_asked_before() -> None:
    phase = NarrowPhase()
    for count, seed, dtype in ((50, 4, np.float64), (5, 5, np.float32), (0, 6, np.float64), (30, 7, np.float64)):
        shapes, pairs = crowd(count, seed, dtype), all_pairs(count)
        found = phase.find(shapes, pairs)
        assert same(found, NarrowPhase().find(shapes, pairs))
        assert found.depth.dtype == found.point.dtype == found.normal.dtype == dtype
    for other in (copy.copy(phase), copy.deepcopy(phase), pickle.loads(pickle.dumps(phase))):
        assert same(other.find(shapes, pairs), found)


def test_earlier_contacts_stay_as_they_were() -> None:
    phase = NarrowPhase()
    found = phase.find(crowd(20, 8), all_pairs(20))
    kept = copy.deepcopy(found)
    phase.find(crowd(20, 9), all_pairs(20))
    assert same(found, kept)


def test_any_layout() -> None:
    """Strided, read-only, wider or mixed arrays give what contiguous ones give."""
    shapes, pairs = crowd(30, 10), all_pairs(30)
    wanted = NarrowPhase().find(shapes, pairs)
    strided = replace(
        shapes,
        kind=np.repeat(shapes.kind, 2)[::2].astype(np.int64),
        position=np.asfortranarray(shapes.position),
        size=np.repeat(shapes.size, 2, axis=0)[::2],
    )
    strided.position.flags.writeable = False
    assert same(NarrowPhase().find(strided, pairs.astype(np.int64)), wanted)
    narrow = replace(shapes, size=shapes.size.astype(np.float32))
    assert NarrowPhase().find(narrow, pairs).depth.dtype == np.float64


def test_numbers_that_are_not_finite_take_no_part() -> None:
    shapes = crowd(12, 11)
    shapes.position[3] = np.nan
    shapes.position[5, 1] = np.inf
    found = NarrowPhase().find(shapes, all_pairs(12))
    assert not np.isin(found.pairs, 3).any()
    assert np.isfinite(found.depth[~np.isin(found.pairs, 5).any(axis=1)]).all()


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        ([[0, 5]], r"Pair 0 is \(0, 5\).*0 to 4"),
        ([[-1, 2]], "from 0 to 4|Pair 0"),
        ([[0, 1], [2, 1]], r"Pair 1 is \(2, 1\).*smaller first"),
        ([[0, 1], [2, 2]], r"Pair 1 is \(2, 2\)"),
        ([[0, 2], [0, 1]], r"Pair 1, \(0, 1\), follows \(0, 2\); pairs must be sorted"),
        ([[0, 2], [0, 2]], "sorted"),
        ([[0, 2], [1, 2], [0, 4]], "Pair 2"),
    ],
)
def test_pairs_that_are_refused(pairs: Any, problem: str) -> None:
    shapes, phase = crowd(5, 12), NarrowPhase()
    phase.find(shapes, all_pairs(5))
    before = phase.tally
    with pytest.raises(InvalidInput, match=problem):
        phase.find(shapes, np.array(pairs, np.int32))
    assert phase.tally == before


def test_shapes_that_are_refused() -> None:
    shapes, pairs, phase = crowd(5, 13), all_pairs(5), NarrowPhase()
    strange = shapes.kind.copy()
    strange[3] = 7
    for kind in (strange, strange.astype(np.int64), shapes.kind.astype(float)):
        with pytest.raises(InvalidInput, match="kinds are whole numbers from 0 to 5: sphere"):
            phase.find(replace(shapes, kind=kind), pairs)
    with pytest.raises(InvalidInput, match=r"sizes \(4, 3\)"):
        phase.find(replace(shapes, size=shapes.size[:4]), pairs)
    with pytest.raises(InvalidInput, match="complex128"):
        phase.find(replace(shapes, size=shapes.size.astype(complex)), pairs)
    with pytest.raises(InvalidInput, match="pairs has the shape"):
        phase.find(shapes, np.zeros((2, 3), np.int32))
    with pytest.raises(InvalidInput, match="Shape 1 is convex, but there are no hulls"):
        phase.find(replace(shapes, kind=np.array([0, 3, 0, 0, 0], np.int8)), pairs)
    with pytest.raises(InvalidInput, match="4294967296"):
        phase.find(shapes, np.array([[0, 2**32]]))


def test_options_that_are_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'exact'"):
        NarrowPhase("exakt")
    with pytest.raises(InvalidInput, match="threads is 0"):
        NarrowPhase(threads=0)


def test_importing_the_package_imports_no_kernels() -> None:
    """Names of shapes cost no compiler; `choque.narrow` lists what it offers."""
    code = "import sys, choque.narrow as n; n.Shapes, n.Kind; print('numba' in sys.modules, 'NarrowPhase' in dir(n))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_plain_python() -> None:
    """The kernels run and agree without being compiled."""
    code = """
import os, sys, pickle
os.environ["NUMBA_DISABLE_JIT"] = "1"
from choque.narrow import NarrowPhase
shapes, pairs = pickle.load(sys.stdin.buffer)
sys.stdout.buffer.write(pickle.dumps(NarrowPhase().find(shapes, pairs)))
"""
    for dtype in (np.float64, np.float32):
        shapes, pairs = crowd(24, 14, dtype), all_pairs(24)
        command = [sys.executable, "-W", "error", "-c", code]
        done = subprocess.run(command, input=pickle.dumps((shapes, pairs)), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        plain, compiled = pickle.loads(done.stdout), NarrowPhase().find(shapes, pairs)
        assert np.array_equal(plain.pairs, compiled.pairs)
        for field in FIELDS[1:]:
            assert np.allclose(getattr(plain, field), getattr(compiled, field), atol=1e-5)
