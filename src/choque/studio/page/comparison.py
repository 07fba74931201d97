"""A second method beside the first: both times, and a warning in red if their pairs ever differ."""

from __future__ import annotations

from html import escape

from choque.studio.page.recent import Recent
from choque.world import Comparison, Cost

RED, GREEN = "#ff5c5c", "#7bd88f"


class SecondMethod:
    """Keeps what comparisons showed since a second method was chosen."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget what was."""
        self._seconds = (Recent(), Recent())
        self._latest: Comparison | None = None
        self.first_difference: Comparison | None = None
        """The first frame in which the pairs differed."""
        self.first_wrong: Comparison | None = None
        """The first frame in which the contacts differed."""

    def note(self, comparison: Comparison) -> None:
        """Add one frame."""
        self._latest = comparison
        for recent, seconds in zip(self._seconds, comparison.seconds, strict=True):
            recent.note(seconds)
        if comparison.pairs_differ and self.first_difference is None:
            self.first_difference = comparison
        if comparison.contacts_differ and self.first_wrong is None:
            self.first_wrong = comparison

    def html(self, same_bounds: bool) -> str:
        """Both methods side by side, and whether they agree."""
        latest = self._latest
        if latest is None:
            return "<div>Play, or step: both are given the same bodies.</div>"
        rows = "".join(
            f"<tr><td>{escape(latest.methods[k])}</td><td>{latest.seconds[k] * 1e3:.2f}</td>"
            f"<td>{recent.usual * 1e3:.2f}</td><td>{latest.pairs[k]:,}</td><td>{latest.contacts[k]:,}</td></tr>"
            for k, recent in enumerate(self._seconds)
        )
        table = (
            '<table style="width:100%;text-align:left"><tr><th>method</th><th>ms</th><th>usual</th>'
            f"<th>pairs</th><th>contacts</th></tr>{rows}</table>"
        )
        return table + self._verdict(same_bounds)

    def _verdict(self, same_bounds: bool) -> str:
        wrong, different = self.first_wrong, self.first_difference
        if wrong is not None:
            return _line(RED, f"Contacts differ since frame {wrong.frame}. One of the methods is wrong.")
        if different is None:
            return _line(GREEN, "The same pairs in every frame.")
        alone = f"{len(different.only_first):,} of the first alone, {len(different.only_second):,} of the second"
        why = "" if same_bounds else " They are given different bounds, so they may; contacts are the same."
        return _line(RED, f"Pairs differ since frame {different.frame}: {alone}.{why}")


def cost_html(cost: Cost, steps: int) -> str:
    """The cost model by its letters, and whether a filter of tighter bounds pays."""
    letters = cost.letters()
    rows = (
        ("C, building and sweeping", f"{letters['C'] * 1e3 / max(steps, 1):.3f} ms"),
        ("b, tests of tighter bounds", f"{letters['b'] / max(steps, 1):,.0f}"),
        ("B, one of them", f"{letters['B'] * 1e9:,.0f} ns"),
        ("o, exact tests", f"{letters['o'] / max(steps, 1):,.0f}"),
        ("O, one of them", f"{letters['O'] * 1e9:,.0f} ns"),
    )
    table = "".join(f"<tr><td>{name}</td><td style='text-align:right'>{value}</td></tr>" for name, value in rows)
    if cost.filter_pays is None:
        verdict = "<div>There is no filter of tighter bounds to judge; sap-obb has one.</div>"
    else:
        sign, word = (">", "pays") if cost.filter_pays else ("≤", "does not pay")
        color = GREEN if cost.filter_pays else RED
        verdict = _line(color, f"O/B = {cost.ratio:.2f} {sign} {cost.threshold:.2f} = o₁/(o₁ − o₂): the filter {word}.")
    return f"<div>T = C + b·B + o·O, mean of {steps:,} steps:</div><table style='width:100%'>{table}</table>" + verdict


def _line(color: str, words: str) -> str:
    return f'<div style="color:{color};font-weight:bold">{escape(words)}</div>'
