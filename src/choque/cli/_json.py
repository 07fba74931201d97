"""Output for programs: one JSON value on stdout."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def print_json(record: Any) -> None:
    """Print ``record`` as strict JSON; NaN and infinity become null."""
    typer.echo(json.dumps(plain(record), allow_nan=False))


def plain(value: Any) -> Any:
    """Convert a value to types of JSON: dataclasses to objects, arrays to lists, paths and everything else to text."""
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
    if hasattr(value, "tolist"):  # NumPy
        return plain(value.tolist())
    return str(value)
