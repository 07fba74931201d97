"""``choque view``: the studio in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from choque.cli._options import Settings


def view(
    things: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="THING",
            help="A scene, a generator (mixed-box:1000), a recording or a file; the chooser unless given.",
            show_default=False,
        ),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option("--study", metavar="NAME", help="What THING is of, if its name does not tell."),
    ] = None,
    options: Settings = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="Which port; the first free one from 8080 unless given.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
) -> None:
    """Watch worlds, recordings, motions and volumes in the browser.

    The page is served from this machine, to this machine alone unless --host says otherwise. Ctrl+C ends it.

    Try:
      choque view
      choque view bowling
      choque view mixed-box:10000 --option seed=3
      choque view output/bowling--2024-05-01--12-00-00
    """
    from choque.cli._options import read_settings
    from choque.studio.page.server import Studio

    given = read_settings(options)
    # The page is served before anything is read: what shows bodies takes longer to load than all the rest.
    with Studio(host, port) as studio:
        shown = None
        if things or study is not None:
            from choque.studio.page.entries import find_view

            shown = find_view(things or [], study=study, parameters=given)
        typer.echo(f"The studio is at {studio.url}; Ctrl+C ends it.")
        if host not in ("127.0.0.1", "localhost", "::1"):
            typer.echo("Whoever reaches this address can watch and steer it.", err=True)
        studio.open(shown)
        if not no_browser:
            import webbrowser

            webbrowser.open(studio.url)
        try:
            studio.run()
        except KeyboardInterrupt:
            typer.echo("The studio is closed.")
