"""``choque scenes``: the scenes that can be made by name and seed."""

from __future__ import annotations

import json

import typer

from choque.cli._options import AsJson


def scenes(as_json: AsJson = False) -> None:
    """List the scenes that can be made, with their parameters.

    'choque bake' makes one and 'choque bench' measures on it.

    Try:
      choque scenes
    """
    import choque

    summaries = {name: choque.scene.describe(name) for name in choque.scene.names()}
    parameters = {name: choque.scene.parameters(name) for name in choque.scene.names()}
    if as_json:
        listed = [{"name": name, "summary": summaries[name], "parameters": parameters[name]} for name in parameters]
        typer.echo(json.dumps(listed))
        return

    from rich.text import Text

    from choque.cli._terminal import console, plain_table

    table = plain_table("scene", "what it is", "parameters")
    for name, defaults in parameters.items():
        settings = "\n".join(f"{key}={value}" for key, value in defaults.items())
        table.add_row(Text(name, style="bold"), Text(summaries[name]), Text(settings))
        table.add_section()
    console().print(table)
