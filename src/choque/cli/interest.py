"""``choque interest``: runs in the arena of the thesis on areas of interest, from a configuration file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from choque.cli._json import AsJson, print_json

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Lines of key = value; see 'interest config'.", show_default=False),
]


def interest() -> None:
    """Measure how fast moving bodies find their neighbours.

    Each body has an area around it, and keeps a list of the others in it. A file of settings says how many bodies
    there are, how they move, and by which method the lists are kept; the arena is that of a thesis on shared worlds.
    In Python, `choque.interest.Areas` does this for your own bodies, and 'choque view crowd:2000' shows it.

    Try:
      choque interest run
      choque interest config run.txt
      choque interest run --config run.txt --log steps.csv
    """


def run(
    config: ConfigFile = None,
    log: Annotated[
        Path | None, typer.Option("--log", metavar="FILE", help="Write a row for each step as CSV.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a configuration; print pairs and milliseconds a step.

    Without a file the defaults are used.

    Try:
      choque interest run
      choque interest run --config run.txt --log steps.csv
    """
    from choque._core.progress import shown
    from choque.files.atomic import writable_target
    from choque.theses.interest.config import InterestConfig, read_config
    from choque.theses.interest.trials import COLUMNS, run_config

    chosen = InterestConfig() if config is None else read_config(config)
    if log is not None:
        writable_target(log)
    with shown() as report:
        found = run_config(chosen, progress=report)
    if log is not None:
        found.write(log)
    if as_json:
        means = {name: found.column(name).mean() for name in COLUMNS if name != "step"}
        print_json({"config": chosen, "milliseconds": found.mean_milliseconds, "means": means})
        return
    typer.echo(
        f"{chosen.objects:,} bodies, {chosen.scenario} at the start, followed for {chosen.steps:,} steps by the method "
        f"{chosen.configuration}.\nA step takes {found.mean_milliseconds:.3f} ms to find "
        f"{found.mean_pairs:,.1f} pairs that may collide, and {found.column('narrow_ms').mean():.3f} ms to test them "
        f"({chosen.narrow}): {found.column('collisions').mean():,.1f} collide."
    )


def config(
    output: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Write a configuration with every key at its default, for editing.

    A file that exists is kept: it may have been edited.

    Try:
      choque interest config run.txt
    """
    from choque.errors import InvalidInput
    from choque.theses.interest.config import InterestConfig, write_config

    if output.exists():
        raise InvalidInput(f"The file {output} exists and is kept; give another name, or remove it first.")
    defaults = InterestConfig()
    write_config(output, defaults)
    if as_json:
        print_json({"output": output, "config": defaults})
    else:
        typer.echo(f"{output}: every key at its default")


VERBS: dict[str, Callable[..., None]] = {"run": run, "config": config}
