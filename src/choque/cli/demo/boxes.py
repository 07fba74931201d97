"""Every overlapping pair of a million boxes."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

from choque._core.types import Progress
from choque.cli.demo._section import Section, Shown

COUNT, QUICK = 1_000_000, 20_000
SMALL = (5_000, 100_000)
"""Numbers of boxes for which ``auto`` takes the methods that it takes for more."""


def prepare() -> None:
    """Compile the methods that ``auto`` takes for many boxes."""
    import choque

    for count in SMALL:
        choque.pairs(*choque.scene.generate("uniform", count).frame(0))


def show(folder: Path, quick: bool, progress: Progress) -> Shown:
    """Find all pairs, and check a sample of boxes by brute force."""
    import choque
    from choque.studio import draw_scene

    progress(0, 2, "computing")
    lower, upper = choque.scene.generate("uniform", QUICK if quick else COUNT).frame(0)
    choice = choque.explain(lower, upper)
    begin = perf_counter()
    pairs = choque.pairs(lower, upper)
    seconds = perf_counter() - begin
    progress(1, 2, "drawing")
    picture = folder / "boxes.png"
    draw_scene(picture, lower, upper, pairs, title=f"A cut through {len(lower):,} boxes")
    sample = range(0, len(lower), len(lower) // 50)
    met = sum(int(((lower <= upper[row]) & (upper >= lower[row])).all(axis=1).sum()) - 1 for row in sample)
    found = sum(int((pairs == row).sum()) for row in sample)
    check = "equals" if met == found else "DIFFERS from"
    return Shown(
        sentence=(
            f"{len(lower):,} boxes, all {len(pairs):,} overlapping pairs in {seconds:.2f} s by {choice.method}; for a "
            f"sample of {len(sample)} boxes the result {check} brute force."
        ),
        picture=picture,
        try_next="choque bench uniform mixed",
        facts={"boxes": len(lower), "pairs": len(pairs), "seconds": seconds, "method": choice.method},
        is_right=met == found,
    )


BOXES = Section("A million boxes", prepare, show)
