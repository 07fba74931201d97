"""``choque scenes``: list the named scenes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from choque.cli._completion import complete_scenes
from choque.cli._json import AsJson, print_json

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class _Listed:
    """A scene in the list; ``sort`` is boxes, bodies or built-in."""

    name: str
    sort: str
    summary: str
    parameters: dict[str, object] = field(default_factory=dict)


_HEADINGS = {
    "built-in": "bodies, ready made: choque run bowling",
    "bodies": "bodies, as many as you say: choque run pile:500",
    "boxes": "boxes, as many as you say: choque bench uniform:10000",
}
_COMMANDS = {
    "built-in": "choque run {name}",
    "bodies": "choque run {name}:{number}",
    "boxes": "choque bake {name}:10000 boxes.npy",
}


def scenes(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A scene, to print its parameters; default: list all.",
            show_default=False,
            autocompletion=complete_scenes,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the named scenes, or the parameters of one.

    'choque run' simulates scenes of bodies, 'choque view' shows them; 'choque bake' writes scenes of boxes to files,
    and 'choque bench' measures on them.

    Try:
      choque scenes
      choque scenes pile
      choque scenes --json
    """
    from choque.errors import UnknownName

    listed = _listed()
    if name is not None:
        names = [each.name for each in listed]
        listed = [each for each in listed if each.name == name]
        if not listed:
            raise UnknownName("scene", name, names, "choque scenes")
    if as_json:
        print_json(listed)
    elif name is not None:
        _print_one(listed[0])
    else:
        from choque.cli._terminal import console

        for sort, heading in _HEADINGS.items():
            console().print(_table(heading, [each for each in listed if each.sort == sort]))
        typer.echo("'choque scenes NAME' prints the parameters of a scene.")


def _listed() -> list[_Listed]:
    from choque import scene
    from choque.scene.body_scene import GENERATORS

    made = {name: {"n": GENERATORS.usual_count(name), **scene.parameters(name)} for name in scene.names("bodies")}
    return [
        *(_Listed(name, "boxes", scene.describe(name), scene.parameters(name)) for name in scene.names()),
        *(_Listed(name, "bodies", scene.describe(name), parameters) for name, parameters in made.items()),
        *(_Listed(name, "built-in", scene.describe(name)) for name in scene.names("built-in")),
    ]


def _table(heading: str, listed: list[_Listed]) -> Table:
    from rich.text import Text

    from choque.cli._terminal import plain_table

    table = plain_table("scene", heading)
    for each in listed:
        table.add_row(Text(each.name, style="bold"), Text(each.summary))
    return table


def _print_one(scene: _Listed) -> None:
    from choque.cli._terminal import console

    own = {key: value for key, value in scene.parameters.items() if key != "n"}
    command = _COMMANDS[scene.sort].format(name=scene.name, number=scene.parameters.get("n"))
    lines = [f"{scene.name}: {scene.summary}", f"Try: {command}"]
    lines += [f"  --option {key}={value}" for key, value in own.items()]
    console().print("\n".join(lines), markup=False, soft_wrap=True)
