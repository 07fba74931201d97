"""``choque run``: simulate a scene of bodies, with a recording, a log or a film if requested."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._completion import complete_body_scenes, complete_broad_phases
from choque.cli._json import AsJson
from choque.cli._options import Device, Threads, read_settings

if TYPE_CHECKING:
    from choque.cli._world_run import Plan
    from choque.theses.fingsics.config import Config

FRAMES = 600
OUTPUT, BENCHMARKS = Path("output"), Path("benchmarks")
MAX_DEFINITION = 200
"""Parts of a circle in the finest drawing of round bodies."""


def run(
    scene: Annotated[
        str | None,
        typer.Argument(
            metavar="SCENE",
            help="An .xml or .toml file, a built-in scene, or a generator: mixed-box:1000.",
            show_default=False,
            autocompletion=complete_body_scenes,
        ),
    ] = None,
    frames: Annotated[
        int | None, typer.Option("--frames", metavar="N", help=f"Number of steps; {FRAMES} by default.")
    ] = None,
    stop_at: Annotated[
        int | None, typer.Option("--stop-at", metavar="N", help="Frame to stop at, as in Fingsics: N - 1 steps.")
    ] = None,
    broad: Annotated[
        str | None,
        typer.Option(
            "--broad",
            metavar="NAME",
            help="See 'choque methods'; also NONE, AABB, OBB, SAP, SAPOBB.",
            autocompletion=complete_broad_phases,
        ),
    ] = None,
    bounds: Annotated[
        str | None, typer.Option("--bounds", metavar="KIND", help="box, oriented, sphere, 18-dop …")
    ] = None,
    response: Annotated[
        str | None,
        typer.Option("--response", metavar="NAME", help="soft-step, impulse, shape-matching, or fingsics-impulse."),
    ] = None,
    legacy: Annotated[bool, typer.Option("--legacy", help="Use the rules of the Fingsics engine, in float32.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Write recording.choque.")] = False,
    log: Annotated[bool, typer.Option("--log", help="Write log.csv, one row per step.")] = False,
    video: Annotated[bool, typer.Option("--video", help="Record, and make scene.mp4 at the end.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FOLDER", help="Output folder; a new one in 'output' by default.")
    ] = None,
    benchmark: Annotated[
        int | None, typer.Option("--benchmark", metavar="N", help="Run it N times and write times and a summary.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="A config.txt of Fingsics; options take precedence."),
    ] = None,
    fps: Annotated[
        int | None, typer.Option("--fps", metavar="N", help="Steps per second; those of the scene by default.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="S", help="Seed of a generator.")] = None,
    threads: Threads = None,
    device: Device = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="An option of a generator; may be repeated."),
    ] = None,
    cost: Annotated[
        bool, typer.Option("--cost", help="Print the cost model of the Fingsics thesis, T = C + bB + oO.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Simulate a scene of bodies.

    Files are written on request only, into a new folder named after the scene and the time. Fingsics is the engine of a
    thesis on rigid bodies; its scenes (.xml), configurations and rules can be used here.

    Try:
      choque run bowling --frames 600
      choque run mixed-box:10000 --broad sap-obb --record
      choque run scene.xml --legacy --broad SAP --log --stop-at 300
      choque run mixed-box:1000 --benchmark 5
      choque run --config config.txt
    """
    import choque
    from choque.cli._world_run import Plan, run_benchmark, run_once
    from choque.errors import InvalidInput
    from choque.theses.fingsics.config import METHOD_ALIASES

    if (scene is None) == (config is None):
        raise InvalidInput("Give a scene to run, or a configuration with --config, and not both.")
    given: dict[str, Any] = {"broad": METHOD_ALIASES.get(broad or "", broad), "bounds": bounds, "response": response}
    given |= {"threads": threads, "device": device}
    world = {name: value for name, value in given.items() if value is not None}
    if config is not None:
        from choque.theses.fingsics.config import load_config

        if seed is not None or option:
            raise InvalidInput("--seed and --option are for generators; a configuration names a file.")
        settings = load_config(config)
        steps = _steps(frames, stop_at, None)
        if steps is not None:
            settings = replace(settings, stop_at_frame=steps + 1)
        if settings.run_mode in ("REPLAY", "TEST"):
            return _other_mode(settings, config.parent, as_json)
        plan = _plan_of(settings, config, world, output)
        if benchmark is None and settings.run_mode == "BENCHMARK":
            benchmark = settings.num_runs_for_benchmark
    else:
        found = choque.scene.find_bodies(str(scene), **{"seed": seed, **read_settings(option)})
        plan = Plan(found, found.dt, _steps(frames, stop_at, FRAMES), world, OUTPUT, output)
    film = {} if video and plan.film is None else plan.film
    plan = replace(plan, record=plan.record or record or video, log=plan.log or log, film=film)
    plan = replace(plan, legacy=legacy, cost=cost)
    if fps is not None:
        plan = replace(plan, dt=1 / _whole("--fps", fps))
    if benchmark is not None:
        plan = replace(plan, output=plan.output.with_name(str(BENCHMARKS)))
        return run_benchmark(plan, _whole("--benchmark", benchmark), as_json)
    return run_once(plan, as_json)


def _other_mode(settings: Config, folder: Path, as_json: bool) -> None:
    """Run the modes of a configuration that replay or test."""
    if settings.run_mode == "REPLAY":
        from choque.cli.replay import replay

        return replay(folder / OUTPUT / settings.scene_replay_folder_name, as_json=as_json)
    from choque.cli.test_scenes import test_scenes

    return test_scenes(folder, as_json=as_json)


def _scene_path(settings: Config, config: Path) -> Path:
    """Return the file of the scene of a configuration; errors name the configuration."""
    from choque.errors import InvalidInput, UnreadableFile
    from choque.scene import names

    try:
        settings.require_consistent()
        path = settings.scene_path(config.parent)
    except InvalidInput as problem:
        raise InvalidInput(f"{config}: {problem}") from None
    if not path.is_file() and path.stem not in names("built-in"):
        raise UnreadableFile(
            f"{config}: SCENE_FILE_NAME is {settings.scene_file_name!r}; there is no such .xml or .toml file in "
            f"{config.parent / 'scenes'} or beside the configuration, and no built-in scene of that name."
        )
    return path


def _whole(name: str, value: int) -> int:
    from choque.errors import InvalidInput

    if value < 1:
        raise InvalidInput(f"{name} is {value}; it must be at least 1.")
    return value


def _steps(frames: int | None, stop_at: int | None, otherwise: int | None) -> int | None:
    from choque.errors import InvalidInput

    if frames is not None and stop_at is not None:
        raise InvalidInput("Give --frames, the number of steps, or --stop-at, one more than it, and not both.")
    if frames is not None and frames < 1:
        raise InvalidInput(f"--frames is {frames}; it must be at least 1.")
    if stop_at is not None and stop_at < 2:
        raise InvalidInput(f"--stop-at is {stop_at}; it must be at least 2, which is one step.")
    return frames if frames is not None else stop_at - 1 if stop_at is not None else otherwise


def _plan_of(settings: Config, config: Path, world: dict[str, Any], output: Path | None) -> Plan:
    """Return the plan of a configuration; options of the command take precedence."""
    import choque
    from choque.cli._world_run import Plan

    folder = config.parent
    scene = choque.scene.find_bodies(_scene_path(settings, config))
    film = None
    if settings.record_video and settings.run_mode == "DEFAULT":
        size = (settings.windowed_width // 2 * 2, settings.windowed_height // 2 * 2)
        film = {"size": size, "axes": settings.draw_axes, "definition": min(settings.object_definition, MAX_DEFINITION)}
    keeps = settings.run_mode == "DEFAULT"
    return Plan(
        scene,
        1 / settings.fps_cap,
        None if settings.stop_at_frame == -1 else max(settings.stop_at_frame - 1, 1),
        {"broad": settings.method, **world},
        folder / OUTPUT,
        output,
        record=keeps and (settings.record_scene or film is not None),
        log=keeps and settings.log,
        scene_dat=keeps and settings.record_scene,
        film=film,
    )
