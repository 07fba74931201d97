"""Options shared by several verbs: a dataclass parameter becomes one option for each field."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def spread(verb: Callable[..., None]) -> Callable[..., None]:
    """Replace the one dataclass parameter of ``verb`` by options, one for each field.

    The fields are annotated as options and have defaults; the verb receives them as an instance of the dataclass.
    """
    hints = get_type_hints(verb, include_extras=True)
    signature = inspect.signature(verb)
    (bundle,) = (name for name in signature.parameters if is_dataclass(hints[name]))
    kind = hints[bundle]
    field_hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in fields(kind)]
    options = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field_hints[field.name]
        )
        for field in fields(kind)
    ]

    @wraps(verb)
    def call(**given: Any) -> None:
        together = kind(**{name: given.pop(name) for name in names if name in given})
        verb(**{bundle: together}, **given)

    others = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[each.name])
        for each in signature.parameters.values()
        if each.name != bundle
    ]
    first = [each for each in others if each.default is inspect.Parameter.empty]
    last = [each for each in others if each.default is not inspect.Parameter.empty]
    parameters = [*first, *options, *last]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": None}
    return call
