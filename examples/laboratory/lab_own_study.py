"""
Your own study
==============

A study is one file that declares what varies, what is measured and what is claimed. Each
combination is measured in its own process, in random order, and checked. This file is such
a study, and runs itself.
"""

import tempfile

import numpy as np

import choque
from choque.lab import Factor, Metric, Plan, Study, Trial, Verdict
from choque.lab.claims import found, not_testable
from choque.lab.stopwatch import Stopwatch

STUDY = Study(
    name="sorting",
    title="Does a nearly sorted array sort faster?",
    about="Numbers in order but for a share of them, sorted by two of NumPy's algorithms.",
    factors=(
        Factor("n", (20_000, 200_000)),
        Factor("method", ("stable", "quicksort")),
        Factor("seed", (0,)),
    ),
    metrics=(Metric("sort", "s", "seconds to sort"),),
    plan=Plan(minimum=7, maximum=7, precision=None, budget=1.0),
)


# %%
# A trial is prepared, run as often as the plan says, and checked.
class Sorting(Trial):
    def __init__(self, n: int, method: str, seed: int) -> None:
        self.method = method
        self.numbers = np.arange(n, dtype=float)
        random = np.random.default_rng(seed)
        self.numbers[random.integers(0, n, n // 100)] = random.random(n // 100)

    def run(self, watch: Stopwatch) -> None:
        self.sorted = np.sort(self.numbers, kind=self.method)
        watch.lap("sort")

    def check(self) -> Verdict:
        return Verdict("exact" if (np.diff(self.sorted) >= 0).all() else "wrong")


@STUDY.trial
def prepare(parameters, _):
    return Sorting(**parameters)


@STUDY.claim(
    "stable",
    source="NumPy's documentation",
    printed="stable sorts use the order that is there",
)
def stable(result):
    ratio = result.ratio("quicksort", "stable", n=200_000)
    if ratio.lower <= 1 <= ratio.upper:
        return not_testable(f"too close to tell: {ratio}")
    return found(ratio.lower > 1, ratio)


# %%
# The folder of a run has the raw samples, tables, figures, and one page to share. Two cells
# at once are faster, and disturb the times a little; those below are of the machine that
# made this page.
if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        result = choque.lab.run(__file__, output=f"{folder}/sorting", side_by_side=2)
        print(sorted(path.name for path in result.folder.iterdir()))
    for row in result.ranking:
        print(
            f"{row['n']:>7}  {row['method']:<9}  "
            f"{row['verdict']}  {row['ratio']:.2f} times the best"
        )
    for claim in result.claims:
        print(f"{claim.printed}: {claim.verdict}, {claim.measured or claim.note}")

# %%
# Every sample is at hand. A figure that the study declares is in the report as well.
if __name__ == "__main__":
    import matplotlib.pyplot as plt

    from choque.lab.style import SETTINGS, marks

    plt.rcParams.update(SETTINGS)
    figure, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
    for name, mark in marks(("stable", "quicksort")).items():
        rows = result.samples.where(method=name)
        look = {**mark.options(), "linestyle": "none"}
        axes.loglog(rows.numbers("n"), rows.numbers("sort"), label=name, **look)
    axes.set(xlabel="numbers", ylabel="seconds", title="Every sample of the study")
    axes.set_xticks((20_000, 200_000), ("20,000", "200,000"))
    axes.minorticks_off()
    axes.legend()
    plt.show()
