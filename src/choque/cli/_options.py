"""Options that several verbs share, alone and in groups, the parsing of their values, and new folders of runs."""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import wraps
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from choque.cli._completion import complete_methods
from choque.errors import InvalidInput

if TYPE_CHECKING:
    from choque.bounds import Boxes
    from choque.scene import Camera

BoxesFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Boxes: .npy, .npz, .csv, .parquet or .aabbs.", show_default=False)
]
Method = Annotated[
    str, typer.Option("--method", metavar="NAME", help="See 'choque methods'.", autocompletion=complete_methods)
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        "--methods",
        metavar="NAME,…",
        help="Methods; default: all.",
        show_default=False,
        autocompletion=complete_methods,
    ),
]
Frame = Annotated[int, typer.Option("--frame", metavar="K", help="Frame of a moving scene, from 0.")]
HalfOpen = Annotated[bool, typer.Option("--half-open", help="Boxes that only touch do not overlap.")]
Threads = Annotated[int | None, typer.Option("--threads", metavar="N", help="Number of threads; default: all.")]
Device = Annotated[
    str | None, typer.Option("--device", metavar="NAME", help="cuda or cuda:N; without such a device the CPU is used.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="Option of the method or scene; can be repeated."),
]


def checked_boxes(file: Path, lower: Any, upper: Any) -> Boxes:
    """Return the boxes that were read from a file, or say which file holds the row that is wrong."""
    from choque.bounds import Boxes

    try:
        return Boxes(lower, upper)
    except InvalidInput as problem:
        raise InvalidInput(f"{file}: {problem}") from problem


def whole_number(text: str | int) -> int:
    """Return a number of things as people write it: 1000, 1e3, 1_000."""
    try:
        number = float(text)
    except ValueError:
        number = 0.5
    if not number.is_integer():  # neither are infinity and NaN
        raise typer.BadParameter(f"{text!r} is not a whole number, such as 1000 or 1e3.")
    return int(number)


SHORT = re.compile(r"(?P<name>[a-z][\w-]*:)(?P<number>\d[\d_]*(\.\d+)?(e\d)?)(?P<unit>[kM]?)")
UNITS = {"": 1, "k": 1_000, "M": 1_000_000}


def spelled_out(word: str) -> str:
    """Return a word of the command with its number in digits: ``pile:1k`` and ``pile:1e3`` as ``pile:1000``."""
    found = SHORT.fullmatch(word)
    number = float(found["number"]) * UNITS[found["unit"]] if found else 0.5
    return f"{found['name']}{number:.0f}" if found and number.is_integer() else word


def read_settings(given: Sequence[str] | None, reserved: Iterable[str] = ()) -> dict[str, Any]:
    """Parse ``key=value`` words: a value is JSON if possible (numbers, true, [0, 1]), otherwise text.

    ``reserved`` keys are refused: they are not options of a method or scene.
    """
    settings: dict[str, Any] = {}
    for word in given or ():
        key, sign, text = word.partition("=")
        key = key.strip().replace("-", "_")
        if not sign or not key.isidentifier():
            raise InvalidInput(f"--option was given {word!r}; write it as key=value, such as --option overlaps=5.")
        if key in settings:
            raise InvalidInput(f"--option was given {key!r} twice; give it once.")
        if key in reserved:
            raise InvalidInput(
                f"--option was given {word!r}; {key!r} is not an option of the method or scene, see --help."
            )
        settings[key] = _value(text.strip())
    return settings


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def listed(words: Sequence[str] | None) -> list[str]:
    """Split names joined by commas, without duplicates."""
    return list(dict.fromkeys(name.strip() for word in words or () for name in word.split(",") if name.strip()))


def read_size(text: str) -> tuple[int, int]:
    """Parse width and height in pixels, such as ``1280x720``."""
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise InvalidInput(f"--size is {text!r}; write it as 1280x720.")
    return int(width), int(height)


def read_camera(text: str | None) -> Camera | None:
    """Parse distance, pitch and yaw, such as ``40,-25,0``; None for the camera of the scene."""
    from choque.scene import Camera

    if text is None:
        return None
    try:
        radius, pitch, yaw = (float(word) for word in text.split(","))
    except ValueError as problem:
        raise InvalidInput(f"--camera is {text!r}; write distance, pitch and yaw as in 40,-25,0.") from problem
    return Camera(radius, pitch, yaw)


def run_folder(given: Path | None, parent: Path, scene: str) -> Path:
    """Return the folder of a run: the ``given`` one if it is new or empty, else a new one in it, or in ``parent``."""
    if given is None:
        return new_folder(parent, scene)
    try:
        given.mkdir(parents=True, exist_ok=True)
        used = any(given.iterdir())
    except (OSError, ValueError) as problem:
        raise _refusal(given, problem) from problem
    return new_folder(given, scene) if used else given


def new_folder(parent: str | os.PathLike[str], scene: str, moment: datetime | None = None) -> Path:
    """Make the folder ``<scene>--<date>--<time>`` in ``parent``, which is created if it is missing.

    A second run in the same second gets the suffix ``--2``, a third ``--3``: no run writes into the folder of another,
    even if both start at the same time.
    """
    stamp = (moment or datetime.now()).strftime("%Y-%m-%d--%H-%M-%S")
    base = f"{plain_name(scene)}--{stamp}"
    try:
        Path(parent).mkdir(parents=True, exist_ok=True)
        for number in count(1):
            folder = Path(parent) / (base if number == 1 else f"{base}--{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
    except (OSError, ValueError) as problem:
        raise _refusal(parent, problem) from problem
    raise AssertionError("count never ends")


def _refusal(place: str | os.PathLike[str], problem: Exception) -> InvalidInput:
    reason = (getattr(problem, "strerror", None) or str(problem)).lower()
    return InvalidInput(f"No folder can be made in {place}: {reason}. Give another with --output.")


def plain_name(scene: str) -> str:
    """Return the name of a scene with letters, digits, dots, dashes and underscores only."""
    return re.sub(r"[^\w.-]+", "-", scene).strip(".-") or "scene"


# Options in groups


def spread(verb: Callable[..., None]) -> Callable[..., None]:
    """Replace each dataclass parameter of ``verb`` by options, one for each field, in its place.

    The fields are annotated as options and have defaults; the verb receives them as an instance of the dataclass.
    """
    hints = get_type_hints(verb, include_extras=True)
    groups: dict[str, tuple[Any, list[str]]] = {}
    parameters = []
    for each in inspect.signature(verb).parameters.values():
        kind = hints[each.name]
        if is_dataclass(kind):
            groups[each.name] = kind, [field.name for field in fields(kind)]
            inner = get_type_hints(kind, include_extras=True)
            parameters += [_option(field.name, field.default, inner[field.name]) for field in fields(kind)]
        else:
            parameters.append(_option(each.name, each.default, kind))

    @wraps(verb)
    def call(**given: Any) -> None:
        together = {
            group: kind(**{name: given.pop(name) for name in names if name in given})
            for group, (kind, names) in groups.items()
        }
        verb(**together, **given)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": None}
    return call


def _option(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
