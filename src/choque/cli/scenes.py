"""``choque scenes``: list the named scenes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
    "boxes": "scenes of boxes, for 'choque bake' and 'choque bench'",
    "bodies": "generated scenes of bodies, for 'choque run' and scene files",
    "built-in": "built-in scenes of bodies, for 'choque run'",
}


def scenes(as_json: AsJson = False) -> None:
    """List the named scenes, with their parameters.

    'choque bake' writes scenes of boxes and 'choque bench' measures on them; 'choque run' simulates scenes of bodies.

    Try:
      choque scenes
      choque scenes --json
    """
    listed = _listed()
    if as_json:
        print_json(listed)
        return

    from choque.cli._terminal import console

    for sort, heading in _HEADINGS.items():
        console().print(_table(heading, [each for each in listed if each.sort == sort]))


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

    headings = ("scene", heading, "parameters") if any(each.parameters for each in listed) else ("scene", heading)
    table = plain_table(*headings)
    for each in listed:
        settings = ", ".join(f"{key}={value}" for key, value in each.parameters.items())
        table.add_row(
            Text(each.name, style="bold"), Text(each.summary), *([Text(settings)] if len(headings) > 2 else [])
        )
    return table
