"""What all threads of a process share, used by several at once: each gets the answer that one alone would get.

It holds with and without the global lock of the interpreter; the free-threaded build of Python is where it is tried.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

import choque
from choque._core import memory, threads
from choque._core.registry import Registry
from choque.bounds import Boxes

COUNT = 6


def at_once(work: Callable[[int], None]) -> None:
    """Call ``work(k)`` in several threads that begin together, and raise what one of them raised."""
    problems: list[BaseException] = []
    start = threading.Barrier(COUNT)

    def call(number: int) -> None:
        start.wait()
        try:
            work(number)
        except BaseException as problem:
            problems.append(problem)

    started = [threading.Thread(target=call, args=(number,)) for number in range(COUNT)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if problems:
        raise problems[0]


def test_names_are_found_and_imported() -> None:
    shared = Registry[object]("function", {"root": "math:sqrt", "square": "math:pow"}, group="choque.broad")
    found: list[object] = []
    at_once(lambda _: found.extend([shared.find("root"), shared.names()[-1], len(list(shared))]))
    assert len(set(found)) == 3


def test_tasks_of_several_callers_share_the_pool() -> None:
    def work(number: int) -> None:
        for width in (2, 5, 9) * 20:
            assert threads.run(lambda part: (number, part), width) == [(number, part) for part in range(width)]

    at_once(work)


def test_no_memory_is_given_to_two() -> None:
    def work(number: int) -> None:
        for turn in range(60):
            arrays = [memory.empty(memory.SMALLEST + 4096 * (turn % 5), np.uint8) for _ in range(3)]
            for place, array in enumerate(arrays):
                array[::1024] = 10 * number + place
            assert all((array[::1024] == 10 * number + place).all() for place, array in enumerate(arrays))

    at_once(work)
    memory.drop_unused(0.0)
    assert memory._kept_bytes == sum(size * len(blocks) for size, blocks in memory._kept.items())


def test_pairs_broad_phases_and_worlds() -> None:
    lower = np.random.default_rng(0).uniform(0, 30, (6000, 3))
    expected = choque.pairs(lower, lower + 1.0, threads=1)

    def world_hash() -> int:
        world = choque.World(gravity=(0, -9.81, 0))
        world.add_ground()
        world.add_boxes([[0, 0.5 + k, 0] for k in range(4)], size=1.0)
        for _ in range(10):
            world.step(1 / 60)
        return world.hash()

    state = world_hash()

    def work(number: int) -> None:
        for method in ("auto", "grid", "bvh"):
            assert np.array_equal(choque.pairs(lower, lower + 1.0, method=method, threads=1 + number % 3), expected)
        broad = choque.broad.create("bvh", Boxes(lower + 0.5, lower + 1.5))
        broad.update(Boxes(lower, lower + 1.0))
        assert np.array_equal(broad.pairs(), expected)
        assert world_hash() == state

    at_once(work)
