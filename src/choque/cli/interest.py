"""``choque interest``: areas of interest in their arena, as a configuration file says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Lines of key = value; see 'interest config'.", show_default=False),
]


def interest() -> None:
    """Run areas of interest, and their rivals, in the arena.

    Try:
      choque interest config run.txt
      choque interest run --config run.txt --log steps.csv
    """


def run(
    config: ConfigFile = None,
    log: Annotated[
        Path | None, typer.Option("--log", metavar="FILE", help="Write a row for each step as CSV.", show_default=False)
    ] = None,
) -> None:
    """Run a configuration and tell the mean of candidate pairs and of milliseconds a step; without one, the defaults.

    Try:
      choque interest run --config run.txt --log steps.csv
    """
    from choque.cli._terminal import progress
    from choque.lab.interest_config import InterestConfig, read_config
    from choque.lab.interest_run import run_config

    chosen = InterestConfig() if config is None else read_config(config)
    with progress() as tell:
        found = run_config(chosen, lambda done, total: tell(done, total, "steps"))
    if log is not None:
        found.write(log)
    typer.echo(
        f"{chosen.configuration}, {chosen.objects:,} objects, {chosen.scenario}, {chosen.steps:,} steps: "
        f"{found.mean_pairs:,.1f} candidate pairs and {found.mean_milliseconds:.3f} ms a step, "
        f"{found.column('collisions').mean():,.1f} of them colliding ({chosen.narrow}) "
        f"at {found.column('narrow_ms').mean():.3f} ms."
    )


def config(
    output: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to write the configuration.", show_default=False)
    ],
) -> None:
    """Write a configuration with every key at its default, to be edited.

    Try:
      choque interest config run.txt
    """
    from choque.lab.interest_config import InterestConfig, write_config

    write_config(InterestConfig(), output)


VERBS: dict[str, Callable[..., None]] = {"run": run, "config": config}
