"""``choque doctor``: what is installed, what is missing, and whether it works here."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import typer

from choque.cli._options import AsJson

REFERENCE_BOXES, REFERENCE_PAIRS = 10_000, 11_811
"""The public reference scene and its pairs."""

FOR_DEVELOPERS = {"test", "lint", "docs"}
"""Extras that users of the library have no need of."""


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
    from choque.lab import machine

    report: dict[str, Any] = {"machine": machine.describe(["typer", "rich"]), "extras": extras()}
    if warm_up:
        report["warm-up"] = compile_all()
    report["kernels"] = kernel_cache()
    report["check"] = self_check()
    if as_json:
        typer.echo(json.dumps(report))
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
        found[extra_name] = {"installed": installed, "missing": missing, "command": command}
    return found


def kernel_cache() -> dict[str, Any]:
    """Where compiled kernels are kept, and whether new ones can be; no folder if compiling is switched off."""
    import os
    from pathlib import Path

    from choque.broad import _filter

    statistics = getattr(_filter.keep_allowed, "stats", None)
    if statistics is None:
        return {"folder": None, "writable": False}
    folder = Path(statistics.cache_path)
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    return {"folder": str(folder), "writable": os.access(nearest, os.W_OK)}


def self_check() -> dict[str, Any]:
    """Whether the reference scene has the pairs that it must have."""
    import choque

    found = len(choque.pairs(*choque.scene.generate("reference", REFERENCE_BOXES).frame(0)))
    return {"pairs": found, "expected": REFERENCE_PAIRS, "right": found == REFERENCE_PAIRS}


def compile_all() -> dict[str, Any]:
    """Compile every kernel, with a bar; how long it took, and what failed."""
    from time import perf_counter

    from choque.cli._terminal import progress
    from choque.lab.warm_up import warm_up

    begin = perf_counter()
    with progress() as tell:
        failed = warm_up(progress=lambda done, total, about: tell(done, total, f"compiling {about}"))
    return {"seconds": round(perf_counter() - begin, 1), "failed": failed}


def _show(report: dict[str, Any]) -> None:
    machine = report["machine"]
    lines = [("machine", ", ".join(str(machine[key]) for key in ("processor", "system", "architecture")))]
    lines += [
        ("", f"{machine['cores']} cores, {machine['threads available']} threads used, {machine['memory [GiB]']} GiB")
    ]
    named = ("choque", "python", "numpy", "numba", "typer", "rich")
    lines += [("versions", ", ".join(f"{key} {machine[key]}" for key in named if key in machine))]
    for name, extra in report["extras"].items():
        have = ", ".join(f"{library} {version}" for library, version in extra["installed"].items()) or "nothing"
        lines += [(f"{name}", have)]
        if extra["missing"]:
            lines += [("", f"missing: {', '.join(extra['missing'])}; get them with: {extra['command']}")]
    lines += [("kernels", _cache_words(report["kernels"]))]
    if "warm-up" in report:
        lines += [("", f"all compiled in {report['warm-up']['seconds']} s")]
        lines += [("", f"failed: {about}: {reason}") for about, reason in report["warm-up"]["failed"].items()]
    check = report["check"]
    verdict = "as it must be" if check["right"] else f"WRONG, it must be {check['expected']:,}"
    lines += [("check", f"{check['pairs']:,} pairs in the reference scene, {verdict}")]
    for word, text in lines:
        typer.echo(f"{word:<10}{text}")


def _cache_words(cache: dict[str, Any]) -> str:
    if cache["folder"] is None:
        return "not compiled: NUMBA_DISABLE_JIT is set"
    return f"kept in {cache['folder']}" + ("" if cache["writable"] else ", which cannot be written")
