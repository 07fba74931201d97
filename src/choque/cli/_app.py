"""The command line: its verbs, the groups of its help, and its exit codes.

A verb is a function in its own file, with options as annotated parameters; it imports what it needs when it runs. Its
docstring is its help, and the lines under ``Try:`` are printed unchanged.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import getdoc
from io import TextIOWrapper
from types import FrameType
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from choque import __version__
from choque.cli import interest, kinetic, lab, mesh, volume
from choque.cli._options import spelled_out
from choque.cli.bake import bake
from choque.cli.bench import bench
from choque.cli.clash import clash
from choque.cli.demo import demo
from choque.cli.doctor import doctor
from choque.cli.explain import explain
from choque.cli.join import join
from choque.cli.methods import methods
from choque.cli.neighbors import neighbors
from choque.cli.page import page
from choque.cli.pairs import pairs
from choque.cli.picture import picture
from choque.cli.replay import replay
from choque.cli.run import run
from choque.cli.scenes import scenes
from choque.cli.suppress import suppress
from choque.cli.test_scenes import test_scenes
from choque.cli.video import video
from choque.cli.view import view
from choque.errors import ChoqueError

Verb = Callable[..., None]

GROUPS: dict[str, tuple[Verb, ...]] = {
    "Start here": (demo, doctor, scenes, methods),
    "Boxes": (pairs, join, suppress, explain, bake, bench),
    "Worlds of bodies": (run, replay, test_scenes),
    "Meshes": (mesh.mesh, clash),
    "Motion, solids, areas, atoms": (kinetic.kinetic, volume.volume, interest.interest, neighbors),
    "Pictures": (view, picture, video, page),
    "Studies": (lab.lab,),
}
"""The verbs, in the order of the help."""

FAMILIES: dict[Verb, dict[str, Verb]] = {
    kinetic.kinetic: kinetic.VERBS,
    volume.volume: volume.VERBS,
    mesh.mesh: mesh.VERBS,
    interest.interest: interest.VERBS,
    lab.lab: lab.VERBS,
}
"""Verbs that have verbs of their own: ``choque lab run``."""

BAD_INPUT, INTERRUPTED, TERMINATED = 2, 128 + signal.SIGINT, 128 + signal.SIGTERM

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What the parser raises on unknown verbs and options and on bad values; typer exports no name for it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, or 2 after one line on stderr that describes the error.

    Parameters
    ----------
    arguments
        What follows ``choque``; None for the arguments of the process. Without arguments the help is printed.
    """
    given = [spelled_out(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    if given in [[verb_name(family)] for family in FAMILIES]:
        given.append("--help")
    command = typer.main.get_command(build())
    _take_every_character()
    try:
        with _plain_notes(), _ending_in_order():
            code = command.main(args=given or ["--help"], prog_name="choque", standalone_mode=False)
        sys.stdout.flush()
    except UsageError as problem:
        return _complain(_usage_sentence(cast("typer.BadParameter", problem)), BAD_INPUT)
    except ChoqueError as problem:
        return _complain(str(problem), BAD_INPUT)
    except MemoryError:
        return _complain(
            "There is not enough memory for this; give less data, such as fewer boxes or larger voxels.", BAD_INPUT
        )
    except BrokenPipeError:  # the reader of the pipe has closed it
        _drop_output()
        return 1
    except OSError as problem:
        if problem.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
        _drop_output()
        return _complain(f"The output cannot be written: {os.strerror(problem.errno).lower()}.", BAD_INPUT)
    except typer.Abort as ended:
        if isinstance(ended.__cause__, EOFError):  # the parser takes any EOFError for Ctrl-D at a prompt
            raise ended.__cause__ from None
        code = INTERRUPTED
    except KeyboardInterrupt:
        code = INTERRUPTED
    except SystemExit as ended:
        if ended.code != TERMINATED:
            raise
        return _complain("Terminated.", TERMINATED)
    if code == INTERRUPTED:
        return _complain("Interrupted.", INTERRUPTED)
    return code if isinstance(code, int) else 0


class Grouped(TyperGroup):
    """The command; its help lists the verbs by `GROUPS`."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write one section for each group, with aligned columns."""
        width = max(len(name) for name in self.commands)
        for heading, verbs in GROUPS.items():
            names = [verb_name(verb) for verb in verbs]
            with formatter.section(heading):
                formatter.write_dl(
                    [(name.ljust(width), self.commands[name].get_short_help_str(formatter.width)) for name in names]
                )


class VerbCommand(TyperCommand):
    """A verb whose help shows arguments by their words, ``choque pairs [OPTIONS] FILE``, without Python's types."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return what follows the name of the verb in its usage."""
        return [self.options_metavar or "", *(argument_word(each) for each in _arguments(self))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options, those of a panel under a heading of their own."""
        arguments = [(argument_word(each), each.help or "") for each in _arguments(self)]
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": arguments, "Options": []}
        for each in self.get_params(ctx):
            if each.param_type_name == "option" and (record := each.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(each, "rich_help_panel", None) or "Options", []).append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def argument_word(argument: Any) -> str:
    """Return the word for an argument: ``FILE``, ``[SCENE...]``."""
    word: str = argument.metavar or argument.name.upper()
    if argument.nargs == -1 and "..." not in word:
        word += "..."
    return word if argument.required else f"[{word}]"


def _arguments(command: TyperCommand) -> list[Any]:
    return [each for each in command.params if each.param_type_name == "argument"]


def build() -> typer.Typer:
    """Return the command with all its verbs."""
    # Plain help: the one of rich takes longer to load than everything else.
    app = typer.Typer(
        name="choque",
        cls=Grouped,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},  # of all verbs
    )
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
    """Return the name of a verb in the shell."""
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
    """Detect, track and resolve collisions.

    Try:
      choque demo                     everything Choque does, in a minute
      choque pairs boxes.npy          every overlapping pair of boxes in a file
      choque run bowling --record     simulate a scene of bodies and record it
      choque VERB --help              what a verb does, with examples

    Tab completes names after 'choque --install-completion' (bash, zsh, fish).
    """


def _help(verb: Verb) -> str:
    # The mark \\b keeps the parser from joining the following lines.
    return (getdoc(verb) or "").replace("Try:\n", "\b\nTry:\n")


def _take_every_character() -> None:
    """Give the command an output where the shell closed it, and print ``?`` for what its encoding does not have."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open until the process ends
    elif isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")


def _drop_output() -> None:
    """Send what is left in the buffer of stdout nowhere, so that it does not fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(sentence: str, code: int) -> int:
    from choque.cli._terminal import plain

    typer.echo(f"choque: {plain(' '.join(sentence.split()))}", err=True)
    return code


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM end the block by an exception, as Ctrl-C does, so that unfinished files are removed.

    Neither is raised amid an import or a call of LLVM, where it would be swallowed and printed with a traceback: it is
    raised as soon as those are over, or when the signal comes a second time.
    """
    asked = 0

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        is_second, asked = number == asked, asked if number == alarm else number
        if alarm is not None and not is_second and _is_deaf(frame):
            signal.setitimer(signal.ITIMER_REAL, 0.02)
        elif asked == signal.SIGTERM:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a second one ends the process, whatever it waits for
            raise SystemExit(TERMINATED)
        elif asked == signal.SIGINT:
            asked = 0
            raise KeyboardInterrupt

    alarm = getattr(signal, "SIGALRM", None)
    caught = [signal.SIGTERM] + ([] if alarm is None else [alarm])
    is_ours = threading.current_thread() is threading.main_thread() and all(
        signal.getsignal(each) == signal.SIG_DFL for each in caught
    )
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:  # ignored in the background of some shells
        caught.append(signal.SIGINT)
    before = {each: signal.signal(each, end) for each in caught} if is_ours else {}
    try:
        yield
    finally:
        if before and alarm is not None:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        for each, handler in before.items():
            signal.signal(each, handler)


def _is_deaf(frame: FrameType | None) -> bool:
    """Return whether an exception in a frame could be swallowed: in an import, or in what LLVM calls."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib") or "/llvmlite/binding/" in file:
            return True
        frame = frame.f_back
    return False


@contextmanager
def _plain_notes() -> Iterator[None]:
    """Print notes about devices as plain sentences, without the file and line of a warning."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_plainly(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if category.__name__ == "DeviceNote":
                _complain(str(message), 0)
            else:
                show(message, category, *place, **more)

        warnings.showwarning = show_plainly
        yield


def _usage_sentence(problem: typer.BadParameter) -> str:
    context: Any = problem.ctx
    where = context.command_path if context is not None else "choque"
    message = problem.format_message().strip()
    return f"{message}{'' if message.endswith(('.', '?')) else '.'} See '{where} --help'."
