"""``choque kinetic``: motion as a function of time: scenes of the kinetic thesis, model files, contacts in images."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli import kinetic_labels
from choque.cli._completion import complete_kinetic_scenes
from choque.cli._json import AsJson, print_json
from choque.cli._options import Settings, read_settings

if TYPE_CHECKING:
    from choque.theses.kinetic import ContactSpan, Model
    from choque.theses.kinetic.base import Statistics

SceneName = Annotated[
    str,
    typer.Argument(
        metavar="SCENE",
        help="See 'choque kinetic scenes'; or a model file.",
        show_default=False,
        autocompletion=complete_kinetic_scenes,
    ),
]


def kinetic() -> None:
    """Follow moving polygons from event to event, without frames.

    Try:
      choque kinetic run three-objects --trace
      choque kinetic from-labels stack.tif
    """


def list_scenes(as_json: AsJson = False) -> None:
    """List the scenes of the kinetic thesis.

    Try:
      choque kinetic scenes
    """
    from choque.cli._terminal import console, plain_table
    from choque.theses.kinetic import scenes

    listed: list[dict[str, Any]] = [
        {"name": name, "summary": scenes.summary(name), "parameters": scenes.parameters(name)}
        for name in scenes.names()
    ]
    if as_json:
        print_json(listed)
        return
    table = plain_table("scene", "what it is", "parameters")
    for scene in listed:
        parameters = ", ".join(f"{key}={value}" for key, value in scene["parameters"].items())
        table.add_row(scene["name"], scene["summary"], parameters or "none")
    console().print(table)


def run(
    scene: SceneName,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="kinetic, direct, incremental, incremental-recompute, direct-thesis, or auto.",
        ),
    ] = "kinetic",
    trace: Annotated[bool, typer.Option("--trace", help="Print every exchange, or every frame.")] = False,
    statistics: Annotated[
        Path | None, typer.Option("--statistics", metavar="FILE", help="Write the statistics file.", show_default=False)
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", metavar="FILE", help="Write the model file.", show_default=False)
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            metavar="FILE",
            help="Draw the start: .png, .svg or .pdf; .gif or .mp4 for all of it.",
            show_default=False,
        ),
    ] = None,
    space_time: Annotated[
        Path | None,
        typer.Option("--space-time", metavar="FILE", help="Draw the end points of X over time.", show_default=False),
    ] = None,
    contacts: Annotated[bool, typer.Option("--contacts", help="Also print when the polygons touch.")] = False,
    option: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Print when boxes of moving polygons overlap.

    The scene is one of the thesis on kinetic sweep-and-prune, or a model file. Pairs that overlap from the start come
    first. Frame methods (direct, incremental) know pairs at their frames only.

    Try:
      choque kinetic run three-objects --trace
      choque kinetic run random-shapes --option n=1000 --option occupancy=0.05 --statistics run.txt
      choque kinetic run three-objects --picture scene.gif --contacts
      choque kinetic run three-objects --method direct-thesis --option sort=library
    """
    from choque._core.kernel import announcement
    from choque.cli._compiling import TIMED_AGAIN, working_time
    from choque.files.atomic import writable_target
    from choque.theses.kinetic import create_simulation

    chosen, settings = _model(scene, method, option)
    for path in (statistics, model, picture, space_time):
        if path is not None:
            writable_target(path)
    _check_pictures(picture, space_time)
    if model is not None:
        chosen.write(model)
    write_line = (lambda line: typer.echo(line, err=as_json)) if trace else None
    found = create_simulation(chosen, method, trace=write_line, **settings)
    _warm_up(found.method)
    compiled, begin = announcement.count, working_time()
    result = found.run()
    late = announcement.count - compiled
    if late and working_time() - begin <= TIMED_AGAIN:
        found.trace = None  # it was printed
        result, late = found.run(), 0
    touching = _contacts(chosen) if contacts else None
    if as_json:
        print_json(_record(chosen, result, touching))
    else:
        _print(chosen, result, touching or [], late, with_events=not trace)
    if statistics is not None:
        found.write_statistics(statistics)
    _draw(chosen, picture, space_time)


VERBS: dict[str, Callable[..., None]] = {
    "run": run,
    "scenes": list_scenes,
    "from-labels": kinetic_labels.from_labels,
    "synthetic-stack": kinetic_labels.synthetic_stack,
}


def _model(scene: str, method: str, option: list[str] | None) -> tuple[Model, dict[str, Any]]:
    """Return the model, and those options that belong to the method."""
    from choque.errors import InvalidInput
    from choque.theses.kinetic import Model, scenes
    from choque.theses.kinetic.simulation import option_names

    options = read_settings(option, reserved=("observers", "trace"))
    own = {name: options.pop(name) for name in option_names(method) & set(options)}
    if scenes.is_known(scene) or not Path(scene).exists():
        return scenes.make(scene, **options), own
    if options:
        raise InvalidInput(
            f"{scene} is a model file, which takes no --option {next(iter(options))}; give options of the method only."
        )
    return Model.read(scene), own


def _check_pictures(picture: Path | None, space_time: Path | None) -> None:
    """Refuse pictures that could not be written after the run."""
    from choque.errors import InvalidInput, check_installed

    kinds = {picture: (".png", ".svg", ".pdf", ".gif", ".mp4"), space_time: (".png", ".svg", ".pdf")}
    for path, suffixes in kinds.items():
        if path is None:
            continue
        check_installed("matplotlib", extra="lab", purpose="to draw pictures")
        if path.suffix.lower() not in suffixes:
            raise InvalidInput(f"The picture {path} must end in one of {', '.join(suffixes)}.")
        if path.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
            check_installed("imageio_ffmpeg", extra="video", purpose="to write an .mp4 (a .gif needs nothing)")


def _warm_up(method: str) -> None:
    """Load or compile the kernels of the method on a scene of a few frames, outside the time of the run."""
    from choque._core.progress import shown
    from choque.theses.kinetic import create_simulation, scenes

    with shown(f"Preparing {method} …"):
        create_simulation(scenes.make("concentric"), method).run()


def _contacts(model: Model) -> list[ContactSpan]:
    from choque.theses.kinetic import contacts

    return contacts(model.polygons, model.velocity, model.interval[1], start=model.interval[0])


def _record(model: Model, result: Statistics, touching: list[ContactSpan] | None) -> dict[str, Any]:
    record = {
        "method": result.method,
        "objects": len(model),
        "density": model.density,
        "interval": model.interval,
        "counts": result.counts,
        "seconds": result.total,
        "events": [{"time": time, "kind": kind, "pair": pair} for time, kind, pair in result.timeline()],
        "overlaps": [{"pair": pair, "began": began, "ended": ended} for pair, began, ended in result.spans()],
    }
    return record if touching is None else {**record, "contacts": touching}


def _print(
    model: Model, result: Statistics, touching: list[ContactSpan], compiled_late: int, *, with_events: bool
) -> None:
    from choque.cli._terminal import compiled_sentence
    from choque.lab.table import duration

    for time, kind, (a, b) in result.timeline() if with_events else ():
        typer.echo(f"{time:<22.15g} {kind} {a}-{b}")
    counts = ", ".join(f"{key} {value:,}" for key, value in result.counts.items())
    typer.echo(
        f"{result.method}: {len(model)} objects, density {model.density:.4g}, {counts}; {duration(result.total)}"
    )
    for found in touching:
        a, b = found.pair
        inside = "".join(f", one inside the other from {low:.12g} to {high:.12g}" for low, high in found.inside)
        typer.echo(f"polygons {a}-{b} in contact from {found.began:.12g} to {found.ended:.12g}{inside}")
    if compiled_late:
        typer.echo(compiled_sentence(compiled_late))


def _draw(model: Model, picture: Path | None, space_time: Path | None) -> None:
    from choque.studio.picture import kinetic as kinetic_pictures

    if picture is not None and picture.suffix.lower() in (".gif", ".mp4"):
        kinetic_pictures.animate(picture, model)
    elif picture is not None:
        kinetic_pictures.draw_still(picture, model)
    if space_time is not None:
        kinetic_pictures.draw_space_time(space_time, model)
