"""``choque methods``: what can be asked for by ``--method``."""

from __future__ import annotations

from dataclasses import dataclass

from choque.cli._json import AsJson, print_json


@dataclass(frozen=True)
class Description:
    """What the docstring of a method says about it."""

    name: str
    summary: str
    guarantees: str
    options: list[str]
    error: str | None = None
    """Why it cannot be used, if so."""


def methods(as_json: AsJson = False) -> None:
    """List the methods, with what each guarantees.

    Try:
      choque methods
      choque methods --json
    """
    import choque

    found = [describe(name) for name in choque.broad.names()]
    if as_json:
        print_json(found)
        return

    from rich.text import Text

    from choque.cli._terminal import console, plain_table

    table = plain_table("method", "what it does and guarantees")
    for each in found:
        words = Text(each.summary)
        if each.error is not None:
            words.append(f"cannot be used: {each.error}", style="red")
        if each.guarantees:
            words.append(f"\nGuarantees: {each.guarantees}", style="dim")
        if each.options:
            words.append(f"\nOptions: {', '.join(each.options)}", style="cyan")
        table.add_row(Text(each.name, style="bold"), words)
        table.add_section()
    console().print(table)


def describe(name: str) -> Description:
    """Read the summary, the guarantees and the options of a method; one that cannot be imported says why."""
    import inspect

    import choque

    try:
        method = choque.broad.find(name)
    except (ImportError, choque.errors.ChoqueError) as problem:
        return Description(name, "", "", [], " ".join(str(problem).split()))
    summary, _, rest = (inspect.getdoc(method) or "").replace("`", "").partition("\n\n")
    guarantees = rest.partition("Guarantees:")[2].partition("\n\n")[0]
    return Description(
        name=name,
        summary=" ".join(summary.split()),
        guarantees=" ".join(guarantees.split()),
        options=method.options(),
    )
