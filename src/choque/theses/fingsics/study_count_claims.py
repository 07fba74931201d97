"""What the Fingsics thesis counted: collisions, and the exact tests that each broad phase leaves."""

from __future__ import annotations

from collections.abc import Sequence

from choque.lab.claims import Finding, found, not_testable
from choque.lab.result import Result
from choque.lab.verdict import RIGHT
from choque.theses.fingsics.study_cells import FILTERED, SAP, mean
from choque.theses.fingsics.study_design import LEGACY_COUNT, MIXED, STUDY
from choque.theses.fingsics.study_printed import CHECKS, COLLISIONS, NAMES, RECOVERED, TEST_SUMS, THESIS


@STUDY.claim(
    "same-collisions", source=f"{THESIS}, section 4", printed="Whatever the broad phase, the collisions are the same."
)
def same_collisions(result: Result) -> Finding:
    """Contacts of every step, and the state at the end, of all cells by exact rules that were finished."""
    cells = result.cells.where(lambda row: row["mode"] in ("live", "recorded") and "contacts" in row)
    wrong = cells.where(lambda row: row["verdict"] not in RIGHT)
    if not len(cells):
        return not_testable("no run was finished")
    words = f"{len(cells) - len(wrong)} of {len(cells)} runs with the contacts and the end of all-pairs tests"
    return found(not len(wrong), words, "by exact rules; oriented boxes of the original lose a few contacts")


@STUDY.claim("oracle", source=RECOVERED, printed="Tests and collisions of 299 steps of each test scene, row by row.")
def oracle(result: Result) -> Finding:
    """The original's own test scenes, by its own rules."""
    cells = result.cells.where(lambda row: row["scene"] in TEST_SUMS)
    if not len(cells):
        return not_testable("the original's scenes are not here; set CHOQUE_FINGSICS to their folder")
    wrong = [f"{row['scene']}: {row['note']}" for row in cells if row["verdict"] != "exact"]
    sums = ", ".join(f"{row['scene']} {row['tests']:,.0f}/{row['contacts']:,.0f}" for row in cells.sorted("n"))
    return found(
        not wrong, f"{len(cells) - len(wrong)} of {len(cells)} scenes equal in every row", "; ".join(wrong) or sums
    )


@STUDY.claim("figure-5.3", source=f"{THESIS}, figure 5.3", printed="Exact tests left, and collisions, of 599 steps.")
def printed_totals(result: Result) -> Finding:
    """The totals of the original's mixed boxes by its own rules, within 1 %."""
    return _totals(result, [name for name in CHECKS if name.startswith("prod")])


@STUDY.claim(
    "aspect-checks",
    source=f"{THESIS}, section 5.4",
    printed="Exact tests: 66,828 and 66,828 at 1:1; 419,274 and 135,933 at 4:1.",
)
def aspect_totals(result: Result) -> Finding:
    """The totals of the original's capsule boxes by its own rules, within 1 %."""
    return _totals(result, [name for name in CHECKS if name.startswith("capsule")])


def _totals(result: Result, scenes: Sequence[str]) -> Finding:
    off: dict[str, float] = {}
    for scene in scenes:
        for method, printed in CHECKS[scene].items():
            for row in result.cells.where(scene=scene, method=method).where(lambda row: "contacts" in row):
                off[f"{scene} {NAMES[method]}"] = abs(float(row["tests"] or 0) / printed - 1)
                if scene in COLLISIONS:
                    off[f"{scene} {NAMES[method]} collisions"] = abs(
                        float(row["contacts"] or 0) / COLLISIONS[scene] - 1
                    )
    if not off:
        return not_testable("the original's scenes are not here; set CHOQUE_FINGSICS to their folder")
    worst = max(off, key=off.__getitem__)
    words = f"{sum(value == 0 for value in off.values())} of {len(off)} totals equal"
    note = f"furthest off by {off[worst]:.2%}: {worst}" if off[worst] else ""
    return found(off[worst] <= 0.01, words, note)


@STUDY.claim(
    "checks-left",
    source=f"{THESIS}, figure 5.3",
    printed="Exact tests: NONE > AABB = SAP > OBB > SAP+OBB > collisions.",
)
def checks_left(result: Result) -> Finding:
    """On a generated scene by the original's rules, where oriented boxes are not preceded by boxes."""
    where = {"scene": MIXED, "mode": "legacy", "n": LEGACY_COUNT}
    counts = [mean(result, "tests", method=method, **where) for method in ("all", "brute", SAP, "brute-obb", FILTERED)]
    contacts = mean(result, "contacts", method=FILTERED, **where)
    if None in counts or contacts is None:
        return not_testable(f"needs the five methods by the original's rules at n {LEGACY_COUNT}")
    none, boxes, sweep, oriented, both = (count or 0.0 for count in counts)
    holds = none > boxes and abs(boxes / sweep - 1) < 1e-3 and sweep > oriented > both > contacts
    words = " > ".join(f"{count:,.0f}" for count in (none, boxes, oriented, both, contacts))
    return found(holds, words, f"NONE, AABB, OBB, SAP+OBB, collisions at n {LEGACY_COUNT}; SAP {sweep:,.0f}")
