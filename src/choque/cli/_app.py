"""The command itself: its verbs in the order of its help, and how it fails.

A verb is a function in a file of its own, with its options as annotated parameters; what it needs it imports when it
runs. Its docstring is its help, and the lines under ``Try:`` are shown as they stand.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from inspect import getdoc
from typing import Annotated, Any, cast

import typer

from choque import __version__
from choque.cli import interest, kinetic, lab, volume
from choque.cli.bake import bake
from choque.cli.bench import bench
from choque.cli.demo import demo
from choque.cli.doctor import doctor
from choque.cli.explain import explain
from choque.cli.methods import methods
from choque.cli.pairs import pairs
from choque.cli.picture import picture
from choque.cli.replay import replay
from choque.cli.run import run
from choque.cli.scenes import scenes
from choque.cli.test_scenes import test_scenes
from choque.cli.video import video
from choque.cli.view import view
from choque.errors import ChoqueError

VERBS: tuple[Callable[..., None], ...] = (
    pairs,
    explain,
    methods,
    scenes,
    bake,
    bench,
    run,
    replay,
    test_scenes,
    view,
    picture,
    video,
    doctor,
    demo,
)

FAMILIES: dict[str, tuple[Callable[..., None], dict[str, Callable[..., None]]]] = {
    "kinetic": (kinetic.kinetic, kinetic.VERBS),
    "volume": (volume.volume, volume.VERBS),
    "interest": (interest.interest, interest.VERBS),
    "lab": (lab.lab, lab.VERBS),
}
"""Verbs with verbs of their own: ``choque lab run``."""

BAD_INPUT, INTERRUPTED = 2, 130

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What the parser raises on unknown verbs, unknown options and bad values; typer exports no name for it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, or 2 after one line on stderr that says what is wrong.

    Parameters
    ----------
    arguments
        What follows ``choque``; None for those of the process. No arguments ask for help.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    command = typer.main.get_command(build())
    try:
        code = command.main(args=given or ["--help"], prog_name="choque", standalone_mode=False)
        sys.stdout.flush()
    except UsageError as problem:
        return _complain(_usage_sentence(cast("typer.BadParameter", problem)), BAD_INPUT)
    except ChoqueError as problem:
        return _complain(str(problem), BAD_INPUT)
    except MemoryError:
        return _complain("There is not enough memory for this; try fewer boxes or another method.", BAD_INPUT)
    except BrokenPipeError:
        # Whoever read the output has gone; what is still buffered must not fail once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:
        return _complain("Interrupted.", INTERRUPTED)
    return code if isinstance(code, int) else 0


def build() -> typer.Typer:
    """The command with all its verbs."""
    # Plain help, because that of rich takes longer to load than all the rest.
    app = typer.Typer(name="choque", rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(help=_help(choque))(choque)
    for verb in VERBS:
        app.command(help=_help(verb))(verb)
    for name, (family, verbs) in FAMILIES.items():
        branch = typer.Typer(rich_markup_mode=None)
        branch.callback(help=_help(family))(family)
        for verb_name, verb in verbs.items():
            branch.command(verb_name, help=_help(verb))(verb)
        app.add_typer(branch, name=name)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"choque {__version__}")
        raise typer.Exit


def choque(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Find, follow and answer collisions.

    Try:
      choque pairs boxes.npy          every overlapping pair of the boxes in a file
      choque run bowling --record     simulate a scene of bodies and keep it
      choque bench uniform mixed      which method is fastest on which scene, here
      choque VERB --help              what a verb does, with an example
    """


def _help(verb: Callable[..., None]) -> str:
    # The mark keeps the parser from joining the lines that follow it.
    return (getdoc(verb) or "").replace("Try:\n", "\b\nTry:\n")


def _complain(sentence: str, code: int) -> int:
    typer.echo(f"choque: {' '.join(sentence.split())}", err=True)
    return code


def _usage_sentence(problem: typer.BadParameter) -> str:
    context: Any = problem.ctx
    where = context.command_path if context is not None else "choque"
    message = problem.format_message().strip()
    return f"{message}{'' if message.endswith(('.', '?')) else '.'} See '{where} --help'."
