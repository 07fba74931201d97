"""The command itself: its verbs in the groups of its help, and how it fails.

A verb is a function in a file of its own, with its options as annotated parameters; what it needs it imports when it
runs. Its docstring is its help, and the lines under ``Try:`` are shown as they stand.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import getdoc
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from choque import __version__
from choque.cli import interest, kinetic, lab, volume
from choque.cli._verb import VerbCommand
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

Verb = Callable[..., None]

GROUPS: dict[str, tuple[Verb, ...]] = {
    "Start here": (demo, doctor, scenes, methods),
    "Boxes": (pairs, explain, bake, bench),
    "Worlds of bodies": (run, replay, test_scenes),
    "Motion, solids, areas": (kinetic.kinetic, volume.volume, interest.interest),
    "Pictures": (view, picture, video),
    "Studies": (lab.lab,),
}
"""The verbs as the help lists them."""

FAMILIES: dict[Verb, dict[str, Verb]] = {
    kinetic.kinetic: kinetic.VERBS,
    volume.volume: volume.VERBS,
    interest.interest: interest.VERBS,
    lab.lab: lab.VERBS,
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
        with _plain_notes():
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


class Grouped(TyperGroup):
    """The command, whose help lists its verbs in `GROUPS`."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write one section a group, all in the same two columns."""
        width = max(len(name) for name in self.commands)
        for heading, verbs in GROUPS.items():
            names = [verb_name(verb) for verb in verbs]
            with formatter.section(heading):
                formatter.write_dl(
                    [(name.ljust(width), self.commands[name].get_short_help_str(formatter.width)) for name in names]
                )


def build() -> typer.Typer:
    """The command with all its verbs."""
    # Plain help, because that of rich takes longer to load than all the rest.
    app = typer.Typer(name="choque", cls=Grouped, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(help=_help(choque))(choque)
    for verb in (verb for verbs in GROUPS.values() for verb in verbs):
        if verb in FAMILIES:
            branch = typer.Typer(rich_markup_mode=None)
            branch.callback(help=_help(verb))(verb)
            for name, member in FAMILIES[verb].items():
                branch.command(name, cls=VerbCommand, help=_help(member))(member)
            app.add_typer(branch, name=verb_name(verb))
        else:
            app.command(verb_name(verb), cls=VerbCommand, help=_help(verb))(verb)
    return app


def verb_name(verb: Verb) -> str:
    """What a verb is called in the shell."""
    return verb.__name__.replace("_", "-")


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
      choque demo                     a tour of everything, in a minute
      choque pairs boxes.npy          every overlapping pair of boxes in a file
      choque run bowling --record     simulate a scene of bodies and keep it
      choque VERB --help              what a verb does, with an example

    Tab completes names after 'choque --install-completion' (bash, zsh, fish).
    """


def _help(verb: Verb) -> str:
    # The mark keeps the parser from joining the lines that follow it.
    return (getdoc(verb) or "").replace("Try:\n", "\b\nTry:\n")


def _complain(sentence: str, code: int) -> int:
    typer.echo(f"choque: {' '.join(sentence.split())}", err=True)
    return code


@contextmanager
def _plain_notes() -> Iterator[None]:
    """Show that another device serves as the sentence that it is, without the file and line of a warning."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def tell(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if category.__name__ == "DeviceNote":
                _complain(str(message), 0)
            else:
                show(message, category, *place, **more)

        warnings.showwarning = tell
        yield


def _usage_sentence(problem: typer.BadParameter) -> str:
    context: Any = problem.ctx
    where = context.command_path if context is not None else "choque"
    message = problem.format_message().strip()
    return f"{message}{'' if message.endswith(('.', '?')) else '.'} See '{where} --help'."
