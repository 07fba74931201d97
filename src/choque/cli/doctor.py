"""``choque doctor``: what is installed, what is compiled, what is missing, and whether it works here."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from choque.cli._json import AsJson, print_json

REFERENCE_BOXES, REFERENCE_PAIRS = 10_000, 11_811
"""The public reference scene and its pairs."""

FOR_DEVELOPERS = {"test", "lint", "docs"}
"""Extras that users of the library have no need of."""

BRINGS = {
    "gpu": "the sweep on a CUDA card",
    "images": "labelled image stacks",
    "lab": "pictures, tables and reports",
    "mesh": "checks and repairs of meshes",
    "peers": "other libraries to compare with",
    "scale": "studies on many machines",
    "video": "films and pictures of worlds",
    "view": "the studio in the browser",
    "volumes": "medical scans: NIfTI, NRRD, TIFF, DICOM",
}
"""What an extra is for."""


def doctor(
    warm_up: Annotated[bool, typer.Option("--warm-up", help="Compile every kernel now, for a few minutes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what is installed, what is missing and whether it works.

    The exit code is 1 if it does not.

    Try:
      choque doctor
      choque doctor --warm-up
    """
    from choque.cli._kernels import census
    from choque.cli._surroundings import surroundings
    from choque.lab import machine

    report: dict[str, Any] = {"machine": machine.describe(["typer", "rich"]), "extras": extras()}
    report["surroundings"] = surroundings()
    if warm_up:
        report["warm-up"] = compile_all()
    report["check"] = self_check()
    report["kernels"] = census()
    if as_json:
        print_json(report)
    else:
        _show(report)
    if not report["check"]["right"] or report.get("warm-up", {}).get("failed"):
        raise typer.Exit(1)


def extras() -> dict[str, dict[str, Any]]:
    """What each extra brings: what of it is installed, in which version, and how to get the rest."""
    from importlib.metadata import PackageNotFoundError, requires

    from choque.lab.machine import versions

    try:
        requirements = requires("choque") or []
    except PackageNotFoundError:  # run from the source tree
        requirements = []
    brought: dict[str, list[str]] = {}
    for requirement in requirements:
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", requirement)
        if name and extra and extra[1] not in FOR_DEVELOPERS:
            brought.setdefault(extra[1], []).append(name[0])
    found = {}
    for extra_name, libraries in sorted(brought.items()):
        installed = versions(libraries)
        missing = [library for library in libraries if library not in installed]
        command = f"pip install 'choque[{extra_name}]'" if missing else None
        about = {"brings": BRINGS.get(extra_name, ""), "installed": installed, "missing": missing}
        found[extra_name] = {**about, "command": command}
    return found


def self_check() -> dict[str, Any]:
    """Whether the reference scene has the pairs that it must have."""
    import choque

    found = len(choque.pairs(*choque.scene.generate("reference", REFERENCE_BOXES).frame(0)))
    return {"pairs": found, "expected": REFERENCE_PAIRS, "right": found == REFERENCE_PAIRS}


def compile_all() -> dict[str, Any]:
    """Compile every kernel, with a bar; how long it took, and what failed."""
    from time import perf_counter

    from choque.cli._terminal import progress
    from choque.cli._warm_up import warm_up

    begin = perf_counter()
    with progress() as tell:
        failed = warm_up(tell)
    return {"seconds": round(perf_counter() - begin, 1), "failed": failed}


def _show(report: dict[str, Any]) -> None:
    from choque.cli._terminal import console, plain_table

    machine, check = report["machine"], report["check"]
    lines = [("machine", ", ".join(str(machine[key]) for key in ("processor", "system", "architecture")))]
    lines += [
        ("", f"{machine['cores']} cores, {machine['threads available']} threads used, {machine['memory [GiB]']} GiB")
    ]
    named = ("choque", "python", "numpy", "numba", "typer", "rich")
    lines += [("versions", ", ".join(f"{key} {machine[key]}" for key in named if key in machine))]
    lines += [(name, thing["words"]) for name, thing in report["surroundings"].items()]
    lines += [("kernels", _kernel_words(report["kernels"], warmed_up="warm-up" in report))]
    if "warm-up" in report:
        lines += [("", f"what every room needs was compiled or loaded in {report['warm-up']['seconds']} s")]
        lines += [("", f"failed: {about}: {reason}") for about, reason in report["warm-up"]["failed"].items()]
    verdict = "as it must be" if check["right"] else f"WRONG, it must be {check['expected']:,}"
    lines += [("check", f"{check['pairs']:,} pairs in the reference scene, {verdict}")]
    for word, text in lines:
        typer.echo(f"{word:<12}{text}")
    table = plain_table("extra", "brings", "installed", "missing")
    for name, extra in report["extras"].items():
        have = ", ".join(f"{library} {version}" for library, version in extra["installed"].items()) or "nothing"
        lacks = f"{', '.join(extra['missing'])}: {extra['command']}" if extra["missing"] else "nothing"
        table.add_row(name, extra["brings"], have, lacks.replace("[", r"\["))
    console().print(table)


def _kernel_words(kernels: dict[str, Any], *, warmed_up: bool) -> str:
    if kernels["folder"] is None:
        return "not compiled: NUMBA_DISABLE_JIT is set"
    rooms = kernels["rooms"].values()
    done, total = (sum(room[key] for room in rooms) for key in ("compiled", "kernels"))
    cold = ", ".join(name for name, room in kernels["rooms"].items() if room["compiled"] < room["kernels"])
    sooner = "" if warmed_up else ", or now by 'choque doctor --warm-up'"
    left = f"; the others, in {cold}, when they are first used{sooner}" if cold else ""
    place = "" if kernels["writable"] else f"; {kernels['folder']} cannot be written, so each run compiles again"
    return f"{done} of {total} are compiled{left}{place}"
