"""The one way in which verbs print for programs: a single JSON value, alone on stdout."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def print_json(record: Any) -> None:
    """Print ``record`` as strict JSON; what JSON does not know, such as NaN, becomes null."""
    typer.echo(json.dumps(plain(record), allow_nan=False))


def plain(value: Any) -> Any:
    """The value in terms of what JSON knows: dataclasses by field, arrays as lists, paths and anything else as text."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):  # an array or a number of NumPy
        return plain(value.tolist())
    return str(value)
