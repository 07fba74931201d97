"""Which scene of bodies a word means: the same words in Python, in the studio and on the command line."""

from __future__ import annotations

from pathlib import Path

from choque.errors import InvalidInput
from choque.scene.body_registry import bodies, body_names
from choque.scene.body_scene import BodyScene
from choque.scene.loading import load_bodies

GENERATED = 1_000
"""How many bodies a generator makes where no number follows its name."""


def find_bodies(word: str, *, n: int | None = None, seed: int | None = None, **parameters: object) -> BodyScene:
    """The scene that ``word`` names: a file, a built-in scene, or a generator with or without ``:n``.

    Parameters
    ----------
    word
        Such as ``"pile.toml"``, ``"bowling"`` or ``"mixed-box:1000"``. A file of that name goes first.
    n, seed, parameters
        Of a generator, as in `bodies`; whatever is not one takes none. A number in the word goes before ``n``.
    """
    name, colon, number = word.partition(":")
    if is_generator(word):
        if colon and not number.isdecimal():
            raise InvalidInput(f"The scene is {word!r}; write the number of bodies as in mixed-box:1000.")
        count = int(number) if colon else GENERATED if n is None else n
        return bodies(name, count, 0 if seed is None else seed, **parameters)
    given = [key for key, value in {"n": n, "seed": seed, **parameters}.items() if value is not None]
    if given:
        raise InvalidInput(
            f"{', '.join(given)} was given with {word!r}, which is no generator; these are {', '.join(body_names())}."
        )
    return load_bodies(word)


def is_generator(word: str) -> bool:
    """Tell whether a word is the name of a generator, with or without ``:n``, and of no file."""
    return word.partition(":")[0] in body_names() and not Path(word).exists()
