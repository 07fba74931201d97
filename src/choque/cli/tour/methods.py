"""Last stop: every method on one moving scene, checked against the oracle and timed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from choque.cli.tour._stop import Shown, Stop, Tell, drawing

if TYPE_CHECKING:
    from choque.bounds import Boxes
    from choque.cli._performance import Performance

COUNT, QUICK, FRAMES, CHECKED = 5_000, 700, 4, (0, 3)
SMALL = 2_500
"""How many of the boxes a method meets first, untimed, so that its kernels are compiled or loaded."""


def _frames(count: int) -> list[Boxes]:
    import choque

    return [choque.bounds.Boxes(*frame) for frame in choque.scene.generate("moving", count, frames=FRAMES).frames()]


def ready() -> None:
    """Compile every method, for the float type of the scene."""
    import choque
    from choque.cli._performance import perform

    some = _frames(SMALL)[:2]
    for name in choque.broad.names():
        perform(name, some, {})


def show(folder: Path, quick: bool, tell: Tell) -> Shown:
    """Let each method follow the boxes; its pairs must be those of the oracle, which tests all."""
    import choque
    from choque.cli._performance import perform
    from choque.testing.oracle import overlapping_pairs

    frames, names = _frames(QUICK if quick else COUNT), choque.broad.names()
    expected = {index: overlapping_pairs(frames[index].lower, frames[index].upper) for index in CHECKED}
    performances = []
    for done, name in enumerate(names):
        tell(done, len(names))
        performances.append(perform(name, frames, expected))
    performances.sort(key=lambda each: each.update + each.search)
    wrong = [each for each in performances if not each.is_right]
    picture = folder / "methods.png"
    _draw(picture, performances, len(frames[0]))
    verdicts = Counter(each.verdict.judgement for each in performances)
    counts = ", ".join(f"{count} {judgement}" for judgement, count in verdicts.most_common())
    notes = "".join(f" {each.method}: {each.verdict.note or each.verdict.judgement}." for each in wrong)
    return Shown(
        sentence=(
            f"{len(performances)} methods follow {len(frames[0]):,} moving boxes; against testing every pair in "
            f"NumPy, {counts}; the fastest here is {performances[0].method}.{notes}"
        ),
        picture=picture,
        try_next="choque methods",
        facts={
            each.method: {"milliseconds": 1e3 * (each.update + each.search), "verdict": each.verdict.judgement}
            for each in performances
        },
        is_right=not wrong,
    )


def _draw(path: Path, performances: list[Performance], count: int) -> None:
    from choque.lab.style import COLOURS

    shown = [each for each in performances if each.verdict.judgement != "failed"][::-1]
    names = [each.method for each in shown]
    updates, searches = ([1e3 * getattr(each, stage) for each in shown] for stage in ("update", "search"))
    with drawing(path, 8.4, 0.26 * len(shown) + 1.2) as (_, axes):
        totals = [update + search for update, search in zip(updates, searches, strict=True)]
        axes.barh(names, totals, color=[COLOURS[2] if each.is_right else COLOURS[1] for each in shown], height=0.65)
        for place, total in enumerate(totals):
            axes.annotate(f"{total:.3g} ms", (total, place), xytext=(4, 0), textcoords="offset points", va="center")
        axes.set(xscale="log", xlabel="milliseconds a frame: update and search", title=f"{count:,} moving boxes")
        axes.set_xlim(0.6 * min(totals), 3 * max(totals))
        axes.grid(visible=False, axis="y")


METHODS = Stop("Every method, checked", ready, show)
