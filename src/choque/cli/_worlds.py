"""What the verbs that run worlds share: which scene a word means, and what a run looks like when it is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from choque.theses.fingsics.totals import Totals
    from choque.world import World


def method_name(given: str) -> str:
    """Read the name of a broad phase, ours or one of the original's, which are in capitals."""
    from choque.theses.fingsics.config import METHOD_ALIASES

    return METHOD_ALIASES.get(given, given)


def stages_table(totals: Totals) -> Table:
    """Mean milliseconds of each stage, and its share."""
    from choque.cli._terminal import plain_table

    table = plain_table("stage", "ms a step>", "share>")
    whole = totals.milliseconds() or 1.0
    for stage in totals.seconds:
        mean = totals.milliseconds(stage)
        table.add_row(stage, f"{mean:.4f}", f"{mean / whole:.0%}")
    table.add_row("step", f"{totals.milliseconds():.4f}", "")
    return table


def kinds_table(totals: Totals) -> Table:
    """Exact tests, contacts and time by pair of kinds."""
    from choque.cli._terminal import plain_table

    table = plain_table("pair of kinds", "tests>", "contacts>", "ns a test>")
    for kinds, total in sorted(totals.kinds.items()):
        each = 1e9 * total.seconds / total.tests if total.tests else 0.0
        table.add_row(kinds, f"{total.tests:,}", f"{total.contacts:,}", f"{each:,.0f}")
    table.add_row("all", f"{totals.tests:,}", f"{totals.contacts:,}", "")
    return table


def energy_sentence(before: float, after: float) -> str:
    """Say how the energy changed."""
    drift = (after - before) / abs(before) if before else float("nan")
    return f"Energy: {before:.6g} at the start, {after:.6g} at the end ({drift:+.2e} of it)."


def record_of(world: World, totals: Totals, energy: tuple[float, float]) -> dict[str, Any]:
    """What a run was, for programs."""
    cost = totals.cost
    return {
        "bodies": len(world),
        "frame": world.frame,
        "hash": f"{world.hash():016x}",
        "broad": world.settings.broad,
        "steps": totals.steps,
        "tests": totals.tests,
        "contacts": totals.contacts,
        "impulses": totals.impulses,
        "milliseconds": {
            **{stage: totals.milliseconds(stage) for stage in totals.seconds},
            "step": totals.milliseconds(),
        },
        "kinds": {
            kinds: {"tests": total.tests, "contacts": total.contacts, "seconds": total.seconds}
            for kinds, total in sorted(totals.kinds.items())
        },
        "cost": {**cost.letters(), "filter_pays": cost.filter_pays},
        "energy": {"start": energy[0], "end": energy[1]},
    }
