"""``choque view``: the studio in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from choque.cli._options import Settings


def view(
    things: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="THING",
            help="A scene, a generator (mixed-box:1000), a recording or a file; default: a chooser.",
            show_default=False,
        ),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option("--study", metavar="NAME", help="Kind of THING, if unclear: kinetic, volumes or meshes."),
    ] = None,
    options: Settings = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="Port; default: the first free one from 8080.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
) -> None:
    """Open the studio in the browser.

    It shows worlds, recordings, boxes, crowds, neighbours, meshes, motion and volumes.
    The page is reachable from this machine only, unless --host is given; its address then has a token. Ctrl+C stops it.

    Try:
      choque view
      choque view bowling
      choque view mixed-box:10000 --option seed=3
      choque view crowd:2000
      choque view part.stl
      choque view output/bowling--2024-05-01--12-00-00
    """
    from choque._core.progress import shown
    from choque.cli._options import read_settings
    from choque.errors import UnreadableFile
    from choque.scene import names
    from choque.studio.page.http import is_loopback
    from choque.studio.page.server import Studio

    given = read_settings(options)
    for word in things or ():  # before viser is loaded, which takes longer
        if Path(word).suffix and not (Path(word).exists() or Path(word).stem in names("built-in")):
            raise UnreadableFile(f"There is no file {word}.")
    # The server starts first: the modules that show bodies take longer to load than everything else.
    with Studio(host, port) as studio:
        opened = None
        if things or study is not None:
            with shown(f"Opening {' '.join(things or [str(study)])} …"):
                from choque.studio.page.entries import find_view

                opened = find_view(things or [], study=study, parameters=given)
        typer.echo(f"The studio is at {studio.url}; Ctrl+C stops it.")
        if not is_loopback(host):
            typer.echo("Everyone with this address can see and control the page; keep its token to yourself.", err=True)
        studio.open(opened)
        if not no_browser:
            import webbrowser

            webbrowser.open(studio.url)
        try:
            studio.run()
        except KeyboardInterrupt:
            typer.echo("The studio has stopped.")
