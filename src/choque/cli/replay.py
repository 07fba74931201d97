"""``choque replay``: describe a recording, verify it, or convert it to the format of Fingsics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._options import Threads
from choque.cli._recordings import RecordingPath, opened
from choque.cli._terminal import counted

if TYPE_CHECKING:
    from choque.record.frames import FrameFile


def replay(
    recording: RecordingPath,
    verify: Annotated[
        bool, typer.Option("--verify", help="Simulate it again and find the first frame that differs.")
    ] = False,
    scene_dat: Annotated[
        Path | None, typer.Option("--scene-dat", metavar="FILE", help="Convert it to the format of Fingsics.")
    ] = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Describe a recording, and verify or convert it.

    The exit code is 1 if the verification fails, and 2 if the end of the recording is missing; the other frames are
    used.

    Try:
      choque replay output/bowling--2024-05-01--12-00-00
      choque replay recording.choque --verify
      choque replay recording.choque --scene-dat scene.dat
    """
    with opened(recording) as frames:
        facts = _about(frames)
        if verify:
            facts |= _verified(frames, threads)
        if scene_dat is not None:
            _write(scene_dat, frames)
            facts["written"] = str(scene_dat)
        if as_json:
            print_json(facts)
        else:
            _print(facts)
    if facts.get("verified") is False:
        raise typer.Exit(1)


def _verified(frames: FrameFile, threads: int | None) -> dict[str, Any]:
    """Return the result of simulating it again."""
    from choque._core.progress import shown
    from choque.errors import InvalidInput
    from choque.record import Recording, verify

    if not isinstance(frames, Recording):
        raise InvalidInput(f"{frames.path} is a scene.dat, which holds poses only; it cannot be simulated again.")
    with shown() as tell:
        found = verify(frames, threads=threads, progress=tell)
    return {"verified": found.is_equal, "first_difference": found.first_difference, "verdict": str(found)}


def _write(path: Path, frames: FrameFile) -> None:
    from choque._core.progress import shown
    from choque.theses.fingsics.scene_dat import write_scene_dat

    with shown() as tell:
        write_scene_dat(path, frames, progress=tell)


def _about(frames: FrameFile) -> dict[str, Any]:
    """Return the description of a recording."""
    from choque.record import Recording

    facts: dict[str, Any] = {
        "scene": frames.name,
        "file": str(frames.path),
        "bytes": frames.path.stat().st_size,
        "frames": frames.frame_count,
        "frames_per_second": frames.frames_per_second,
        "bodies": len(frames.bodies(0)) if frames.frame_count else 0,
    }
    if not isinstance(frames, Recording):
        return {"format": "scene.dat", **facts}
    about = {name: frames.header.get(name) for name in ("seed", "world", "versions", "recorded")}
    hashes = frames.hashes()
    last = f"{int(hashes[-1]):016x}" if len(hashes) else None
    return {"format": "choque", **facts, "complete": frames.complete, **about, "last_hash": last}


def _print(facts: dict[str, Any]) -> None:
    from choque.cli._terminal import plain, size

    facts = plain(facts)
    seconds = facts["frames"] / facts["frames_per_second"]
    typer.echo(
        f"{facts['file']}: {facts['scene']}, {counted(facts['bodies'], 'body', 'bodies')}, "
        f"{counted(facts['frames'], 'frame')} at {facts['frames_per_second']:g} a second ({seconds:.3g} s), "
        f"{size(facts['bytes'])}."
    )
    if facts["format"] == "choque":
        world, versions = facts["world"] or {}, facts["versions"] or {}
        rules = ", ".join(f"{name} {world[name]}" for name in ("broad", "narrow", "response", "dtype") if name in world)
        seed = "" if facts["seed"] is None else f"; seed {facts['seed']}"
        typer.echo(f"Made with {rules}{seed}; Choque {versions.get('choque')}, {facts['recorded']}.")
        typer.echo(f"Hash of the last state: {facts['last_hash']}.")
    if "verdict" in facts:
        typer.echo(facts["verdict"])
    if "written" in facts:
        typer.echo(f"Written to {facts['written']}.")
