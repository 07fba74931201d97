"""Work that is many by nature: worlds with different parameters, and volumes in many poses."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.progress import reporting
from choque._core.threads import ranges
from choque._core.types import I64, Progress
from choque.errors import InvalidInput
from choque.scale.executors import completed, find_workers

if TYPE_CHECKING:
    from choque.scene import BodyScene
    from choque.volumes import Volume
    from choque.world import World

BLOCKS_PER_WORKER = 8
"""Configurations of volumes are divided into this many tasks for each worker, so that none waits long for the last."""

Measure = Callable[["World"], Mapping[str, Any]]


def map_worlds(
    scene: str | os.PathLike[str] | BodyScene,
    parameters: Iterable[Mapping[str, Any]],
    *,
    steps: int = 60,
    dt: float = 1 / 60,
    measure: Measure | None = None,
    workers: int | None = None,
    client: Any = None,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
) -> dict[str, NDArray[Any]]:
    """Run a world for each set of parameters, and return one table of parameters and results.

    Parameters
    ----------
    scene
        What `choque.scene.find_bodies` takes: a file, a built-in scene, or a generator such as ``"mixed-box:1000"``; or
        a scene of bodies.
    parameters
        A mapping for each world: parameters of the generator (``n``, ``seed`` and its own) and of `choque.World`
        (``broad``, ``response``, ``gravity``, …). All have the same names.
    steps, dt
        The number of steps, and the length of each [s].
    measure
        Called with each world after its last step; returns results by name. It is sent to the workers: a function of a
        module, or any function if cloudpickle is installed, as it is with Dask.
    workers, client, executor, progress
        As in `choque.scale.pairs`.

    Returns
    -------
    dict of (m,) arrays
        A column for each parameter, then ``bodies``, ``pairs`` and ``impulses`` of all steps, ``energy`` and ``hash``
        of the last state, and what ``measure`` returned. The rows are in the order of ``parameters``, and the same
        for any number of workers.

    Examples
    --------
    >>> table = choque.scale.map_worlds("balls-in-box:50", [{"seed": 0}, {"seed": 1}], steps=5, workers=1)
    >>> table["seed"].tolist(), table["bodies"].shape
    ([0, 1], (2,))
    """
    rows = [dict(row) for row in parameters]
    steps, dt = check.whole_number(steps, "steps", 0), check.positive(dt, "dt")
    for number, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise InvalidInput(
                f"Row {number} of parameters has the names {', '.join(row) or 'none'}, row 0 has "
                f"{', '.join(rows[0]) or 'none'}; all rows must have the same."
            )
    results: dict[int, dict[str, Any]] = {}
    with find_workers(workers, client, executor) as found, reporting(progress) as report:
        threads = None if found.width == 1 else 1
        submit = found.executor.submit
        tasks = completed(
            found, range(len(rows)), lambda number: submit(run_world, scene, rows[number], steps, dt, threads, measure)
        )
        for number, result in tasks:
            results[number] = result
            report(len(results), len(rows), "worlds")
    table = [{**row, **results[number]} for number, row in enumerate(rows)]
    return {name: np.array([row[name] for row in table]) for name in (table[0] if table else ())}


def run_world(
    scene: str | os.PathLike[str] | BodyScene,
    parameters: Mapping[str, Any],
    steps: int,
    dt: float,
    threads: int | None,
    measure: Measure | None,
) -> dict[str, Any]:
    """Run one world and return its results; a task of `map_worlds`."""
    from choque.scene import find_bodies
    from choque.world import World

    known = inspect.signature(World).parameters
    options = {"threads": threads, **{name: value for name, value in parameters.items() if name in known}}
    others = {name: value for name, value in parameters.items() if name not in known}
    if isinstance(scene, str | os.PathLike):
        scene = find_bodies(scene, **others)
    elif others:
        raise InvalidInput(f"{next(iter(others))!r} is no parameter of a world; a scene that is made has no others.")
    world = scene.world(**options)
    pairs = impulses = 0
    for _ in range(steps):
        report = world.step(dt)
        pairs += report.pairs
        impulses += report.impulses
    results = {"bodies": len(world.bodies), "pairs": pairs, "impulses": impulses, "energy": world.energy()}
    return {**results, "hash": world.hash(), **({} if measure is None else measure(world))}


def collide(
    volumes: Sequence[Volume | str],
    position: ArrayLike,
    *,
    rotation: ArrayLike | None = None,
    closed: bool = False,
    workers: int | None = None,
    client: Any = None,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
) -> I64:
    """Find which volumes collide in each of many configurations.

    Parameters
    ----------
    volumes
        k volumes on one lattice, or names that `choque.volumes.Volume.read` takes, which every worker then reads.
    position
        (m, k, 3): where each volume is in each configuration, relative to where it was made [world]; rounded to
        whole voxels.
    rotation
        (m, k, 3, 3) matrices, or None: not turned. Each is about the middle of the volume, see `choque.volumes.Body`.
    closed
        True: volumes that touch collide. False: interiors must meet.
    workers, client, executor, progress
        As in `map_worlds`.

    Returns
    -------
    (c, 3) int64
        Configuration, first volume, second volume, the smaller first; sorted. The same for any number of workers.
    """
    count = len(volumes)
    places = np.ascontiguousarray(check.floats(position, "position"), np.float64)
    if places.ndim != 3 or places.shape[1:] != (count, 3):
        raise InvalidInput(f"position has the shape {places.shape}; with {count} volumes it must be (m, {count}, 3).")
    turns = None
    if rotation is not None:
        turns = np.ascontiguousarray(check.floats(rotation, "rotation"), np.float64)
        check.shape(turns, "rotation", (*places.shape, 3), "position")
    parts: dict[int, I64] = {}
    with find_workers(workers, client, executor) as found, reporting(progress) as report:
        blocks = ranges(len(places), BLOCKS_PER_WORKER * found.width) if len(places) else []
        submit = found.executor.submit

        def start(block: tuple[int, int]) -> Future[Any]:
            part = slice(*block)
            return submit(collide_block, volumes, places[part], None if turns is None else turns[part], closed)

        done = 0
        for block, pairs in completed(found, blocks, start):
            parts[block[0]] = pairs + np.array([block[0], 0, 0])
            done += block[1] - block[0]
            report(done, len(places), "configurations")
    return np.concatenate([np.empty((0, 3), np.int64), *(parts[first] for first in sorted(parts))])


def collide_block(
    volumes: Sequence[Volume | str], position: NDArray[Any], rotation: NDArray[Any] | None, closed: bool
) -> I64:
    """Find the collisions in some configurations; a task of `collide`."""
    from choque.volumes import Body, Scene, Volume

    bodies = [Body(Volume.read(each) if isinstance(each, str) else each) for each in volumes]
    scene = Scene([body.volume for body in bodies], closed=closed)
    found = [np.empty((0, 3), np.int64)]
    for number, places in enumerate(position):
        for place, body in enumerate(bodies):
            if rotation is not None:
                body.turn_to(rotation[number, place])
            body.move_to(places[place])
            scene.move(place, body.volume)
        pairs = scene.pairs()
        found.append(np.column_stack([np.full(len(pairs), number), pairs]))
    return np.concatenate(found).astype(np.int64)
