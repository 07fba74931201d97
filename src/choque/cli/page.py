"""``choque page``: one self-contained page of anything the studio shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def page(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="THING... FILE",
            help="A scene, a generator with :n, a recording, boxes, or two volumes; then the .html to write.",
            show_default=False,
        ),
    ],
    seconds: Annotated[float, typer.Option("--seconds", metavar="S", help="Length of what moves.")] = 5.0,
    study: Annotated[
        str | None, typer.Option("--study", metavar="NAME", help="What THING is: kinetic, volumes, meshes.")
    ] = None,
) -> None:
    """Write a scene in 3D as one page to send by mail.

    It needs no server, no network and no Python.

    Try:
      choque page bowling bowling.html --seconds 3
      choque page recording.choque recording.html
      choque page vertebra-and-screw implant.html
    """
    from choque._core.progress import shown
    from choque.errors import InvalidInput
    from choque.studio.page.document import page as write_page
    from choque.studio.page.entries import find_view

    if len(words) < 2:
        raise InvalidInput("Give what to show and the .html file to write, in this order.")
    *things, output = words
    view = find_view(things, study=study)
    with shown() as report:
        path = write_page(view, path=output, seconds=seconds, progress=report)
    typer.echo(f"{path}: {view.title}, {Path(path).stat().st_size / 1e6:.1f} MB; open it in any browser.")
