"""Make the films of scenes on the page of scene files: ``python docs/images/films.py [NAME…]``, in minutes.

Each is what ``choque video WORD film.webp --seconds 3 --speed 2 --size 384x216`` makes; ``--shot 1.6`` is added for
scenes in which nothing moves.
"""

from __future__ import annotations

import sys
from pathlib import Path

from choque.studio.drawing import draw_film
from choque.studio.film import Look
from choque.studio.request import FilmRequest

WORDS = (
    *("pyramid:210", "pyramids:400", "stack:20", "stack:20 ratio=100", "arch", "house-of-cards", "dominoes:24"),
    *("roll-and-slide", "cradle", "top", "conveyor:12", "hopper:200", "washer:200", "rubble:400", "terrain:150"),
)
STANDING, SHOT = ("pyramid", "pyramids", "stack", "arch", "house-of-cards"), 1.6
"""Scenes in which nothing moves, and when in their films a ball is shot at the bodies [s]."""

SECONDS, SPEED, SIZE = 3.0, 2.0, (384, 216)


def file_of(word: str) -> str:
    """Return the name of the film of a scene."""
    name, *options = word.split()
    return "_".join(("film", name.partition(":")[0].replace("-", "_"), *options)).replace("=", "_") + ".webp"


def main() -> None:
    """Make the films of the scenes that are named, or of all."""
    for word in WORDS:
        name, *options = word.split()
        if sys.argv[1:] and name.partition(":")[0] not in sys.argv[1:]:
            continue
        parameters = {key: float(value) for key, value in (option.split("=") for option in options)}
        shot = SHOT if name.partition(":")[0] in STANDING else None
        look = Look(size=SIZE)
        request = FilmRequest(look=look, parameters=parameters, seconds=SECONDS, speed=SPEED, shot=shot)
        target = Path(__file__).parent / file_of(word)
        print(draw_film(target, [name], request=request), "in", target.name, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
