"""``choque replay``: what a recording holds, whether it repeats, and the original's format from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._options import AsJson, Threads

if TYPE_CHECKING:
    from choque.record import Recording, SceneDat


def replay(
    recording: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="A recording, a scene.dat, or a folder with one.", show_default=False),
    ],
    verify: Annotated[
        bool, typer.Option("--verify", help="Simulate it again and name the first frame that differs.")
    ] = False,
    scene_dat: Annotated[
        Path | None, typer.Option("--scene-dat", metavar="FILE", help="Write it as the original does.")
    ] = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a recording holds, and whether it repeats.

    Try:
      choque replay output/bowling--2024-05-01--12-00-00
      choque replay recording.choque --verify
      choque replay recording.choque --scene-dat scene.dat
    """
    from choque.cli._terminal import progress
    from choque.errors import InvalidInput
    from choque.record import Recording, open_frames, write_scene_dat
    from choque.record import verify as simulate_again

    frames = open_frames(recording)
    told = _about(frames)
    if verify:
        if not isinstance(frames, Recording):
            raise InvalidInput(f"{frames.path} is a scene.dat, which holds poses alone; it cannot be simulated again.")
        with progress() as tell:
            found = simulate_again(frames, threads=threads, tell=lambda done, total: tell(done, total, frames.name))
        told |= {"verified": found.is_equal, "first_difference": found.first_difference, "verdict": str(found)}
    if scene_dat is not None:
        with progress() as tell:
            write_scene_dat(scene_dat, frames, tell=lambda done, total: tell(done, total, str(scene_dat)))
        told["written"] = str(scene_dat)
    if as_json:
        typer.echo(json.dumps(told))
    else:
        _print(told)
    if told.get("verified") is False:
        raise typer.Exit(1)


def _about(frames: Recording | SceneDat) -> dict[str, Any]:
    """What can be told of a recording."""
    from choque.record import Recording

    told: dict[str, Any] = {
        "scene": frames.name,
        "file": str(frames.path),
        "bytes": frames.path.stat().st_size,
        "frames": frames.frame_count,
        "frames_per_second": frames.frames_per_second,
        "bodies": len(frames.cast(0)) if frames.frame_count else 0,
    }
    if not isinstance(frames, Recording):
        return {"format": "scene.dat", **told}
    about = {name: frames.header.get(name) for name in ("seed", "world", "versions", "recorded")}
    hashes = frames.hashes()
    last = f"{int(hashes[-1]):016x}" if len(hashes) else None
    return {"format": "choque", **told, "complete": frames.complete, **about, "last_hash": last}


def _print(told: dict[str, Any]) -> None:
    from choque.cli._terminal import size

    seconds = told["frames"] / told["frames_per_second"]
    typer.echo(
        f"{told['file']}: {told['scene']}, {told['bodies']:,} bodies, {told['frames']:,} frames at "
        f"{told['frames_per_second']:g} a second ({seconds:.3g} s), {size(told['bytes'])}."
    )
    if told["format"] == "choque":
        world, versions = told["world"] or {}, told["versions"] or {}
        rules = ", ".join(f"{name} {world[name]}" for name in ("broad", "narrow", "response", "dtype") if name in world)
        typer.echo(f"Made with {rules}; seed {told['seed']}; Choque {versions.get('choque')}, {told['recorded']}.")
        typer.echo(f"Hash of the last state: {told['last_hash']}.")
        if not told["complete"]:
            typer.echo("It was not finished: its end is missing, and these are the frames that were written whole.")
    if "verdict" in told:
        typer.echo(told["verdict"])
    if "written" in told:
        typer.echo(f"Written to {told['written']}.")
