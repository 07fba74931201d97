"""``choque bench``: the methods, and other libraries, compared on scenes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from choque.cli._completion import complete_box_scenes
from choque.cli._json import AsJson, print_json
from choque.cli._options import Methods, Threads, listed, whole_number


def bench(
    scene: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCENE",
            help="See 'choque scenes'; uniform unless given. With a number, as uniform:10000, --n is not used.",
            show_default=False,
            autocompletion=complete_box_scenes,
        ),
    ] = None,
    n: Annotated[
        str, typer.Option("--n", metavar="N,…", help="How many boxes; several joined by commas.")
    ] = "1000,10000",
    method: Methods = None,
    peers: Annotated[bool, typer.Option("--peers", help="Add every other library that is installed.")] = False,
    dimension: Annotated[int, typer.Option("--dimension", metavar="D", help="2 or 3.")] = 3,
    frames: Annotated[int, typer.Option("--frames", metavar="K", help="More than 1 measures updates.")] = 1,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="The same seed makes the same scene.")] = 0,
    threads: Threads = None,
    repetitions: Annotated[int, typer.Option("--repetitions", metavar="R", help="Rounds to take turns in.")] = 5,
    budget: Annotated[
        float, typer.Option("--budget", metavar="SECONDS", help="For each candidate on each scene, at most.")
    ] = 10.0,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the table as CSV.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the methods on scenes; every answer is checked.

    The exit code is 1 if an answer was wrong.

    Try:
      choque bench
      choque bench uniform:10000
      choque bench uniform mixed --n 1000,100000 --method auto,bvh
      choque bench moving --frames 10 --peers --threads 1 --csv figures.csv
    """
    from choque._core.progress import shown
    from choque._core.threads import resolve_count
    from choque.cli._terminal import console
    from choque.files.atomic import writable_target
    from choque.lab.bench import bench as compare
    from choque.lab.peers import installed
    from choque.lab.table import render

    # What cannot be is refused before anything is measured.
    resolve_count(threads, 0)
    if csv is not None:
        writable_target(csv)
    others = installed() if peers else []
    if peers and not others:
        typer.echo("choque: No other library is installed; get them with: pip install 'choque[peers]'.", err=True)
    words = [word.partition(":") for word in listed(scene) or ["uniform"]]
    counts = ",".join(dict.fromkeys(number for _, _, number in words if number))
    with shown() as tell:
        table = compare(
            list(dict.fromkeys(name for name, _, _ in words)),
            _counts(counts or n),
            listed(method) or None,
            others,
            dimension=dimension,
            frames=frames,
            seed=seed,
            threads=threads,
            repetitions=repetitions,
            budget=budget,
            progress=tell,
        )
    if as_json:
        print_json({"machine": table.machine, "rows": table.rows})
    else:
        terminal = console()
        terminal.print(render(table, terminal.width))
    if csv is not None:
        table.to_csv(csv)
    if not table.is_right:
        raise typer.Exit(1)


def _counts(text: str) -> list[int]:
    from choque.errors import InvalidInput

    words = listed([text])
    if not words or any(word.startswith("-") for word in words):
        raise InvalidInput(f"--n was given {text!r}; give whole numbers joined by commas, such as 1000,1e4.")
    return [whole_number(word) for word in words]
