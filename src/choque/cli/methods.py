"""``choque methods``: the names for ``--method``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from choque.cli._json import AsJson, print_json

ADVICE = """Take 'auto', the default: it chooses a method by a sample of the boxes ('choque explain FILE' says which).
If you know your scene: 'grid' for similar sizes and even spread; 'bvh' for clusters, mixed sizes, few movers, rays and
nearest boxes; 'sap-direct' for long or flat scenes; 'sap-incremental' for slow, coherent motion; 'sap-kdop' for convex
bodies, especially long ones; 'brute' for a few hundred boxes. The others are kept for comparison; the documentation and
--json have their guarantees too.
"""

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


def methods(as_json: AsJson = False) -> None:
    """List the broad-phase methods, and which one to take.

    Try:
      choque methods
      choque methods --json
    """
    import choque

    found = [describe(name) for name in choque.broad.names()]
    if as_json:
        print_json(found)
        return

    import typer
    from rich.text import Text

    from choque.cli._terminal import console, plain_table

    typer.echo(ADVICE)
    advised, others = (
        plain_table("method", "what it does and guarantees"),
        plain_table("for comparison", "what it does"),
    )
    for each in found:
        is_advised = each.name in ADVISED
        words = Text(each.summary)
        if each.error is not None:
            words.append(f"cannot be used: {each.error}", style="red")
        if each.guarantees and is_advised:
            words.append(f"\nGuarantees: {each.guarantees}", style="dim")
        if each.options:
            words.append(("\n" if is_advised else " ") + f"Options: {', '.join(each.options)}", style="cyan")
        table = advised if is_advised else others
        table.add_row(Text(each.name, style="bold"), words, end_section=is_advised)
    console().print(advised, others)


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
