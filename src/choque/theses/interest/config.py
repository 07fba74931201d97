"""The configuration file of the arena: what the thesis on areas of interest lets a user choose, and what it leaves out.

A line is ``key = value``; what follows a ``#`` is a remark, and a key that is left out keeps its default::

    steps = 500
    objects = 1000
    method = GR        # FB, GR, BSP, SaP or AoIP
    cells = 4x4x4      # of GR; depth of BSP, axes of SaP and k of AoIP are chosen likewise
    scenario = sparse
    seed = 7
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from choque._core import check
from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.files.atomic import replacing
from choque.files.source import read_text

METHODS = ("FB", "GR", "BSP", "SaP", "AoIP")
CHOICES: Mapping[str, tuple[str, ...]] = {
    "method": METHODS,
    "scenario": ("dense", "sparse"),
    "speed_rule": ("raw", "normalised"),
    "area": ("sphere", "box"),
    "narrow": ("spheres", "polygons"),
}
LIMITS: Mapping[str, tuple[float, float]] = {
    "steps": (1, 10**7),
    "objects": (1, 10**7),
    "depth": (1, 24),
    "axes": (1, 3),
    "k": (1, 10**6),
    "seed": (0, 2**63 - 1),
    "edge": (1e-6, 1e6),
    "smallest_radius": (1e-6, 1e6),
    "largest_radius": (1e-6, 1e6),
    "speed": (1e-9, 1e6),
}
"""The least and the greatest value of each number."""


@dataclass(frozen=True)
class InterestConfig:
    """One run in the arena; lengths in metres, speeds in metres a step.

    The first seven are those of the thesis. It does not say the others, or fixes them: they have its values.
    """

    steps: int = 500
    objects: int = 100
    method: str = "AoIP"
    cells: tuple[int, int, int] = (2, 2, 2)
    depth: int = 3
    axes: int = 3
    k: float = 1.0
    seed: int = 0
    scenario: str = "dense"
    edge: float = 4.0
    smallest_radius: float = 0.04
    largest_radius: float = 0.4
    speed: float = 0.01
    speed_rule: str = "raw"
    area: str = "sphere"
    narrow: str = "spheres"

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            _check(name, value)
        if self.smallest_radius > self.largest_radius:
            raise InvalidInput(
                f"smallest_radius is {self.smallest_radius} and largest_radius {self.largest_radius}; "
                "the smallest must not be the larger."
            )
        if self.largest_radius > 0.2 * self.edge:
            raise InvalidInput(
                f"largest_radius is {self.largest_radius} in an arena of {self.edge}; it may be a fifth of the edge, "
                f"{0.2 * self.edge:g}."
            )

    @property
    def configuration(self) -> str:
        """The method and its number as the thesis writes them: ``GR4x4x4``, ``BSP3``, ``SaP2``, ``AoIP1``."""
        number = {
            "FB": "",
            "GR": "x".join(map(str, self.cells)),
            "BSP": str(self.depth),
            "SaP": str(self.axes),
            "AoIP": f"{self.k:g}",
        }
        return self.method + number[self.method]


def read_config(path: str | os.PathLike[str]) -> InterestConfig:
    """Read a configuration; the message about a bad line has its number."""
    file = Path(path)
    lines = read_text(file, "a configuration").splitlines()
    given: dict[str, Any] = {}
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].strip()
        if not words:
            continue
        try:
            key, value = _entry(words)
            if key in given:
                raise InvalidInput(f"{key} is given twice; give it once.")
            _check(key, value)
        except InvalidInput as problem:
            raise UnreadableFile(f"Line {number} of {file}: {problem}") from problem
        given[key] = value
    try:
        return InterestConfig(**given)
    except InvalidInput as problem:
        raise UnreadableFile(f"The configuration {file}: {problem}") from problem


def write_config(path: str | os.PathLike[str], config: InterestConfig) -> None:
    """Write every key; `read_config` gives the same configuration back."""
    values = dataclasses.asdict(config)
    lines = [f"{key} = {'x'.join(map(str, value)) if key == 'cells' else value}\n" for key, value in values.items()]
    with replacing(path) as handle:
        handle.write("".join(lines).encode())


def _entry(words: str) -> tuple[str, Any]:
    key, sign, text = (part.strip() for part in words.partition("="))
    if not sign or not key or not text:
        raise InvalidInput(f"{words!r} is not a setting; write key = value, such as steps = 500.")
    if key not in _READERS:
        raise UnknownName("key of a configuration", key, _READERS)
    try:
        return key, _READERS[key](text)
    except ValueError as problem:
        wanted = "cells for each axis, such as 4x4x4" if key == "cells" else "a number"
        whole = "a whole number" if _READERS[key] is int else wanted
        raise InvalidInput(f"{key} is {text!r}; it must be {whole}.") from problem


def _cells(text: str) -> tuple[int, ...]:
    return tuple(int(count) for count in text.lower().split("x"))


def _check(name: str, value: Any) -> None:
    """Raise `InvalidInput` unless ``value`` is allowed for the key ``name``."""
    if name in CHOICES:
        if value not in CHOICES[name]:
            raise UnknownName(f"{name} of a configuration", str(value), CHOICES[name])
    elif name == "cells":
        counts = value if isinstance(value, tuple | list) else ()
        if len(counts) != 3 or not all(isinstance(count, int) and 1 <= count <= 1024 for count in counts):
            raise InvalidInput(f"cells is {value}; it must be three whole numbers from 1 to 1024, such as 4x4x4.")
    else:
        least, greatest = LIMITS[name]
        kind = "a whole number" if _READERS[name] is int else "a number"
        if not check.is_number(value) or not least <= value <= greatest:
            raise InvalidInput(f"{name} is {value}; it must be {kind} from {least:,g} to {greatest:,g}.")
        if _READERS[name] is int and not isinstance(value, int):
            raise InvalidInput(f"{name} is {value}; it must be a whole number.")


_KINDS: Mapping[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str}
_READERS: Mapping[str, Callable[[str], Any]] = {
    field.name: _KINDS.get(str(field.type), _cells) for field in dataclasses.fields(InterestConfig)
}
