"""``choque methods``: the names for ``--method``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

import typer

from choque.cli._completion import complete_methods
from choque.cli._json import AsJson, print_json

ADVICE = (
    "Take 'auto', the default: it chooses a method by a sample of the boxes ('choque explain FILE' says which).\n"
    "If you know your scene: 'grid' for similar sizes and even spread; 'bvh' for clusters, mixed sizes, few movers, "
    "rays and nearest boxes; 'sap-direct' for long or flat scenes; 'sap-incremental' for slow, coherent motion; "
    "'sap-kdop' for convex bodies, especially long ones; 'brute' for a few hundred boxes. The others are kept for "
    "comparison.\n"
    "'choque methods NAME' prints what a method guarantees, and its options."
)
"""What is printed before the list, in lines as long as the terminal is wide."""

ADVISED = re.findall(r"'([a-z-]+)'", ADVICE)
"""The methods that it names."""


@dataclass(frozen=True)
class Description:
    """Description of a method, from its docstring."""

    name: str
    summary: str
    guarantees: str
    options: list[str]
    error: str | None = None
    """Why it cannot be used, None if it can."""


def methods(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A method, to print its guarantees and options; default: list all.",
            show_default=False,
            autocompletion=complete_methods,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the broad-phase methods, and which one to take.

    Try:
      choque methods
      choque methods bvh
      choque methods --json
    """
    import choque

    if name is not None:
        choque.broad.find(name)  # or say which there are
    found = [describe(each) for each in (choque.broad.names() if name is None else [name])]
    if as_json:
        print_json(found)
    elif name is None:
        _list(found)
    else:
        _print_one(*found)


def _list(found: list[Description]) -> None:
    from rich.text import Text

    from choque.cli._terminal import console, plain_table

    advised, others = plain_table("method", "what it does"), plain_table("for comparison", "what it does")
    for each in sorted(found, key=lambda each: ADVISED.index(each.name) if each.name in ADVISED else len(ADVISED)):
        words = Text(each.summary)
        if each.error is not None:
            words.append(f"cannot be used: {each.error}", style="red")
        (advised if each.name in ADVISED else others).add_row(Text(each.name, style="bold"), words)
    console().print(ADVICE, advised, others, markup=False)


def _print_one(method: Description) -> None:
    from choque.cli._terminal import console

    lines = [f"{method.name}: {method.summary}", f"Guarantees: {method.guarantees}"]
    if method.options:
        lines.append(f"Options (--option NAME=VALUE): {', '.join(method.options)}")
    console().print("\n".join(lines), markup=False)


def describe(name: str) -> Description:
    """Return the summary, the guarantees and the options of a method, or why it cannot be imported."""
    import inspect

    import choque

    try:
        method = choque.broad.find(name)
    except (ImportError, choque.errors.ChoqueError) as problem:
        return Description(name, "", "", [], " ".join(str(problem).split()))
    summary, _, rest = (inspect.getdoc(method) or "").replace("`", "").partition("\n\n")
    guarantees = rest.partition("Guarantees:")[2].partition("\n\n")[0]
    return Description(
        name=name, summary=" ".join(summary.split()), guarantees=" ".join(guarantees.split()), options=method.options()
    )
