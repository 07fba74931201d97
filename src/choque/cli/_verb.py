"""A verb as its help shows it: ``choque pairs [OPTIONS] FILE``, without the types of Python that typer would add."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class VerbCommand(TyperCommand):
    """A verb whose help names its arguments by the words that stand for them."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """What follows the name of the verb in its usage."""
        return [self.options_metavar or "", *(argument_word(each) for each in _arguments(self))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, and then the options."""
        arguments = [(argument_word(each), each.help or "") for each in _arguments(self)]
        options = [
            record
            for each in self.get_params(ctx)
            if each.param_type_name == "option" and (record := each.get_help_record(ctx)) is not None
        ]
        for heading, records in (("Arguments", arguments), ("Options", options)):
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def argument_word(argument: Any) -> str:
    """The word that stands for an argument: ``FILE``, ``[SCENE...]``."""
    word: str = argument.metavar or argument.name.upper()
    if argument.nargs == -1 and "..." not in word:
        word += "..."
    return word if argument.required else f"[{word}]"


def _arguments(command: TyperCommand) -> list[Any]:
    return [each for each in command.params if each.param_type_name == "argument"]
