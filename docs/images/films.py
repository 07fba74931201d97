"""Make the films of scenes on the page of scene files: ``python docs/images/films.py [NAME…]``, in minutes.

Each is what ``choque video WORD film.webp --seconds 3 --speed 2 --size 384x216`` makes; ``--shot 1.2`` is added for
scenes in which nothing moves, and ``--no-fit`` for those whose own camera shows the whole course.
"""

from __future__ import annotations

import sys
from pathlib import Path

from choque.studio.drawing import draw_film
from choque.studio.film import Look
from choque.studio.request import FilmRequest

FILMS = {
    "pyramid": "pyramid:210",
    "pyramid_5050": "pyramid:5050",
    "pyramids": "pyramids:440",
    "stack": "stack:20",
    "stack_ratio_100": "stack:20 ratio=100",
    "arch": "arch",
    "house_of_cards": "house-of-cards",
    "dominoes": "dominoes:24",
    "roll_and_slide": "roll-and-slide",
    "cradle": "cradle",
    "top": "top",
    "conveyor": "conveyor:12",
    "hopper": "hopper:200",
    "washer": "washer:200",
    "rubble": "rubble:5000",
    "terrain": "terrain:150",
}
"""The word of the scene of each film."""

STANDING, SHOT = ("pyramid", "pyramids", "stack", "arch", "house-of-cards"), 1.2
"""Scenes in which nothing moves, and when in their films a ball is shot at the bodies [s]."""

OWN_CAMERA = ("roll-and-slide",)
"""Scenes that are filmed by their own camera: one that fits the bodies begins too near to show the slope."""

SECONDS, SPEED, SIZE = 3.0, 2.0, (384, 216)


def main() -> None:
    """Make the films that are named, or all."""
    for name in sys.argv[1:] or FILMS:
        word, *options = FILMS[name].split()
        scene = word.partition(":")[0]
        parameters = {key: float(value) for key, value in (option.split("=") for option in options)}
        shot = SHOT if scene in STANDING else None
        look = Look(size=SIZE, fit=scene not in OWN_CAMERA)
        request = FilmRequest(look=look, parameters=parameters, seconds=SECONDS, speed=SPEED, shot=shot)
        target = Path(__file__).parent / f"film_{name}.webp"
        print(draw_film(target, [word], request=request), "in", target.name, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
