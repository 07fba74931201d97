"""Methods and peers on scenes, side by side: what ``choque bench`` shows.

A quick view, in one process, of what the study ``comparison`` measures in many: the same contenders, trials, clock and
oracle. Every answer is checked; only right ones are ranked, by the ratio to the fastest of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import choque
from choque._core.types import Pairs, Progress
from choque.errors import InvalidInput, UnknownName
from choque.lab import machine
from choque.lab import peers as libraries
from choque.lab.box_trial import judged
from choque.lab.contender import FACADE, Contender, Facade, Method
from choque.lab.measure import Frame, Measurement, Spread, measure
from choque.lab.table import Row, Table
from choque.lab.verdict import RANKED, RIGHT, Verdict

BRUTE_UP_TO = 20_000
"""Up to this many boxes the oracle is brute force; above, where that takes minutes, it is the façade."""


def bench(
    scenes: Sequence[str] = ("uniform",),
    counts: Sequence[int] = (1_000, 10_000),
    methods: Sequence[str] | None = None,
    peers: Sequence[str] = (),
    *,
    dimension: int = 3,
    frames: int = 1,
    seed: int = 0,
    threads: int | None = None,
    repetitions: int = 5,
    budget: float = 10.0,
    progress: Progress | None = None,
) -> Table:
    """Measure contenders on scenes, check every answer and rank the right ones.

    Parameters
    ----------
    scenes, counts, dimension, frames, seed
        What `choque.scene.generate` is asked for, once for each scene and each count of boxes.
    methods
        Names of `choque.broad`, or ``"choque.pairs"`` for the façade; None for `default_methods`.
    peers
        Names of `choque.lab.peers`; those that cannot take the dimension are left out.
    threads
        For each contender that can be told; None for all.
    repetitions
        Rounds in which the contenders take turns.
    budget
        Seconds for each contender on each scene; one that would need more is cut off and marked.
    progress
        Called after every run.
    """
    chosen = default_methods() if methods is None else list(methods)
    contenders = [*(_method(name, threads) for name in chosen), *_peers(peers, dimension, threads)]
    if not contenders:
        raise InvalidInput("There is nothing to compare; name at least one method, or a peer that takes the dimension.")
    for count in counts:
        if count < 2:
            raise InvalidInput(f"A scene of {count} boxes was asked for; give at least 2.")
    distributions = dict.fromkeys(libraries.get(name).distribution for name in peers)
    table = Table(machine=machine.describe(distributions))
    settings = list(product(scenes, counts))
    for number, (scene, count) in enumerate(settings):
        baked = choque.scene.generate(scene, count, seed=seed, dimension=dimension, frames=frames)
        boxes = [baked.frame(index) for index in range(frames)]
        told = None if progress is None else _part(progress, number, len(settings), f"{scene}, {count:,} boxes")
        measured = measure(contenders, boxes, rounds=repetitions, budget=budget, progress=told)
        table.rows += rows_of(measured, scene, boxes)
    return table


def _part(progress: Progress, number: int, parts: int, where: str) -> Progress:
    """What tells of one of several parts that are equally long."""
    return lambda done, steps, about: progress(number * steps + done, parts * steps, f"{where}: {about}")


def default_methods() -> list[str]:
    """Name the façade and every registered method but ``all``, which tests nothing and keeps every pair."""
    return [FACADE, *(name for name in choque.broad.names() if name != "all")]


def oracle(frame: Frame) -> Pairs:
    """Find the pairs to believe: by brute force where it is affordable, by the façade above."""
    lower, upper = frame
    return choque.pairs(lower, upper, method="brute" if len(lower) <= BRUTE_UP_TO else "auto")


def rows_of(measured: Sequence[Measurement], scene: str, frames: Sequence[Frame]) -> list[Row]:
    """Make the rows of one scene: every answer judged, every right one set in ratio to the fastest."""
    expected = oracle(frames[-1])
    verdicts = [(each, _judge(each, expected, frames[-1])) for each in measured]
    right = [each for each, verdict in verdicts if verdict.judgement in RIGHT and each.samples]
    best = min((Spread.of([sample.total for sample in each.samples]).median for each in right), default=None)
    return [_row(each, verdict, scene, frames, best) for each, verdict in verdicts]


def _judge(measured: Measurement, expected: Pairs, frame: Frame) -> Verdict:
    if measured.status != "measured" or measured.answer is None:
        return Verdict("failed" if measured.status == "measured" else measured.status, measured.note)
    return judged(measured.contender, measured.answer, expected, frame)


def _row(measured: Measurement, verdict: Verdict, scene: str, frames: Sequence[Frame], best: float | None) -> Row:
    contender, samples = measured.contender, measured.samples
    total = Spread.of([sample.total for sample in samples]) if samples else None
    updates = [sample.update for sample in samples if sample.update is not None]
    is_ranked = total is not None and best is not None and verdict.judgement in RANKED
    return Row(
        scene=scene,
        dimension=frames[0][0].shape[1],
        count=len(frames[0][0]),
        frames=len(frames),
        contender=contender.name,
        kind=contender.kind,
        threads=contender.threads,
        pair_count=None if measured.answer is None else len(measured.answer),
        create=_median([sample.create for sample in samples]),
        update=_median(updates),
        pairs=_median([sample.pairs for sample in samples]),
        total=total.median if total else None,
        total_minimum=total.minimum if total else None,
        total_lower_quartile=total.lower_quartile if total else None,
        total_upper_quartile=total.upper_quartile if total else None,
        read=measured.read if contender.kind == "peer" else None,
        rounds=len(samples),
        ratio=total.median / best if is_ranked and total and best else None,
        tests=_whole(measured.counters.get("tests")),
        peak_bytes=_whole(measured.counters.get("peak_bytes")),
        verdict=verdict.judgement,
        note=verdict.note,
    )


def _median(values: Sequence[float]) -> float | None:
    return Spread.of(values).median if values else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _method(name: str, threads: int | None) -> Contender:
    known = [FACADE, *choque.broad.names()]
    if name not in known:
        raise UnknownName("method", name, known)
    return Facade(threads) if name == FACADE else Method(name, threads)


def _peers(names: Sequence[str], dimension: int, threads: int | None) -> list[Contender]:
    found = [libraries.get(name, threads) for name in names]
    return [peer for peer in found if dimension in peer.dimensions]
