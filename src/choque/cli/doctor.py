"""``choque doctor``: what is installed, compiled and missing, and whether it works on this machine."""

from __future__ import annotations

import re
import shutil
from typing import Annotated, Any

import typer

from choque.cli._json import AsJson, print_json
from choque.errors import ChoqueError

REFERENCE_BOXES, REFERENCE_PAIRS = 10_000, 11_811
"""Size of the public reference scene, and its number of pairs."""

FOR_DEVELOPERS = {"test", "lint", "docs"}
"""Extras for work on Choque itself."""

BRINGS = {
    "gpu": "the sweep on a CUDA device",
    "images": "labelled image stacks",
    "lab": "pictures, tables and reports",
    "mesh": "more formats of meshes, and checks of them",
    "peers": "other libraries to compare with",
    "scale": "boxes larger than memory, studies on many machines",
    "video": "films and pictures of worlds",
    "view": "the studio in the browser",
    "volumes": "medical scans: NIfTI, NRRD, TIFF, DICOM",
}
"""What an extra adds."""

PACKAGES = (
    *("_core", "bounds", "boxes", "broad", "narrow", "dynamics", "world", "record"),
    *("kinetic", "volumes", "meshes", "neighbors", "interest"),
)
"""Packages whose kernels are counted."""

ADVICE = "Set NUMBA_CACHE_DIR to a folder that can be written and has space."
"""What to do where kernels cannot be kept."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox")


def doctor(
    warm_up: Annotated[bool, typer.Option("--warm-up", help="Compile every kernel now; takes a few minutes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check the installation.

    Prints versions, extras, compiled kernels and the result of a test scene.

    The exit code is 1 if the test fails.

    Try:
      choque doctor
      choque doctor --warm-up
    """
    from choque.lab import machine

    report: dict[str, Any] = {"machine": machine.describe(["typer", "rich"]), "extras": extras()}
    report["surroundings"] = surroundings()
    report["repaired"] = repair_kernels()
    if warm_up:
        report["warm-up"] = compile_all()
    report["check"] = self_check()
    report["kernels"] = kernels()
    if as_json:
        print_json(report)
    else:
        _show(report)
    if not report["check"]["right"] or report.get("warm-up", {}).get("failed"):
        raise typer.Exit(1)


def extras() -> dict[str, dict[str, Any]]:
    """Return the libraries of each extra: versions of the installed ones, and how to install the others."""
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


def kernels() -> dict[str, Any]:
    """Count the kernels of each package and those that are compiled already.

    The folder is that of Numba's cache, None where kernels cannot be kept, for a reason, or are not compiled.
    """
    from choque._core.kernel_cache import troubles
    from choque.cli._compiling import cache_folder, kernels_of, outlook, why_unwritable

    folder = cache_folder(kernels_of("choque.broad"))
    found = {name: outlook(f"choque.{name}") for name in PACKAGES}
    packages = {name: {"compiled": each.compiled, "kernels": each.kernels} for name, each in found.items()}
    seconds = round(sum(each.seconds for each in found.values()), 1)
    reason = troubles.unkept if folder is None else why_unwritable(folder)
    place = {"folder": None if folder is None else str(folder), "writable": folder is not None and not reason}
    return {**place, "reason": reason, "packages": packages, "seconds": seconds}


def repair_kernels() -> dict[str, Any]:
    """Remove damaged files of compiled kernels; return the folders and the number of files of each."""
    from choque.cli._compiling import kernels_of, repair

    folders: dict[str, int] = {}
    for name in PACKAGES:
        for path in repair(kernels_of(f"choque.{name}")):
            folders[str(path.parent)] = folders.get(str(path.parent), 0) + 1
    return folders


def self_check() -> dict[str, Any]:
    """Compare the number of pairs of the reference scene with the known one."""
    import choque

    found = len(choque.pairs(*choque.scene.generate("reference", REFERENCE_BOXES).frame(0)))
    return {"pairs": found, "expected": REFERENCE_PAIRS, "right": found == REFERENCE_PAIRS}


def compile_all() -> dict[str, Any]:
    """Compile every kernel, with a progress bar; return the seconds, and what failed."""
    from time import perf_counter

    from choque._core.progress import shown
    from choque.cli._compiling import compiling_beside
    from choque.cli._warm_up import BACKWARDS, warm_up

    begin = perf_counter()
    with shown() as report, compiling_beside(BACKWARDS):
        failed = warm_up(report)
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
    lines += [
        ("", f"removed {count} damaged files from {folder}; their kernels are compiled again when they are used")
        for folder, count in report["repaired"].items()
    ]
    if "warm-up" in report:
        lines += [("", f"all were compiled or loaded in {report['warm-up']['seconds']} s")]
        lines += [("", f"failed: {about}: {reason}") for about, reason in report["warm-up"]["failed"].items()]
    verdict = "correct" if check["right"] else f"WRONG, expected {check['expected']:,}"
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
    counts = kernels["packages"].values()
    done, total = (sum(count[key] for count in counts) for key in ("compiled", "kernels"))
    if not total:
        return "not compiled: NUMBA_DISABLE_JIT is set"
    if kernels["folder"] is None:
        return f"each run compiles again: {kernels['reason']}. {ADVICE}"
    cold = ", ".join(name for name, count in kernels["packages"].items() if count["compiled"] < count["kernels"])
    sooner = "" if warmed_up else ", or now by 'choque doctor --warm-up' (some minutes)"
    left = f"; the others, in {cold}, are compiled when first used{sooner}" if cold else ""
    unkept = f". The others cannot be kept in {kernels['folder']}: {kernels['reason']}. {ADVICE}"
    place = "" if kernels["writable"] else unkept
    return f"{done} of {total} are compiled{left}{place}"


def surroundings() -> dict[str, dict[str, Any]]:
    """Return whether there are a CUDA device, ffmpeg and a browser, each with a description."""
    return {"cards": _cards(), "ffmpeg": _ffmpeg(), "browser": _browser()}


def _thing(found: object, words: str) -> dict[str, Any]:
    return {"found": bool(found), "words": words}


def _cards() -> dict[str, Any]:
    from choque.gpu.devices import CUDA, device_names, load_warp

    try:
        load_warp()
    except ChoqueError:
        return _thing(False, "Warp is not installed; everything runs on the CPU")
    cards = [name for name in device_names() if name.startswith(f"{CUDA}:")]
    if cards:
        return _thing(True, f"Warp with {', '.join(cards)}")
    return _thing(False, "Warp without a CUDA device; the CPU is used")


def _ffmpeg() -> dict[str, Any]:
    try:
        import imageio_ffmpeg

        return _thing(True, str(imageio_ffmpeg.get_ffmpeg_exe()))
    except (ImportError, RuntimeError):
        own = shutil.which("ffmpeg")
    return _thing(own, own or "not found; pip install 'choque[video]' brings one")


def _browser() -> dict[str, Any]:
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    return _thing(found, found or "none found; open the studio from another machine with --host")
