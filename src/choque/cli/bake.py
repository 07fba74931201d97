"""``choque bake``: generate a scene of boxes and write it to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from choque.cli._completion import complete_box_scenes
from choque.cli._json import AsJson, print_json
from choque.cli._options import Settings, read_settings, whole_number
from choque.cli._terminal import counted


def bake(
    word: Annotated[
        str,
        typer.Argument(
            metavar="SCENE",
            help="A scene of boxes with their number, as uniform:10000; see 'choque scenes'.",
            show_default=False,
            autocompletion=complete_box_scenes,
        ),
    ],
    output: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The file: .aabbs or .npz; a single frame also .npy, .csv or .parquet.",
            show_default=False,
        ),
    ],
    frames: Annotated[int, typer.Option("--frames", metavar="K", help="Number of frames.")] = 1,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the scene.")] = 0,
    dimension: Annotated[int, typer.Option("--dimension", metavar="D", help="2 or 3.")] = 3,
    dtype: Annotated[str, typer.Option("--dtype", metavar="TYPE", help="float32 or float64.")] = "float32",
    option: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Generate a scene of boxes and write it to a file.

    Try:
      choque bake uniform:100000 boxes.aabbs
      choque bake mixed:1e4 boxes.npy --option ratio=100 --seed 7
      choque bake moving:10000 moving.npz --frames 60
    """
    import choque
    from choque._core.progress import shown
    from choque.files.atomic import check_output
    from choque.files.boxes import FRAME_FORMATS

    check_output(output)
    taken = ("n", "seed", "dimension", "frames", "dtype", "name")
    parameters = read_settings(option, reserved=taken)
    name, _, number = word.partition(":")
    n = whole_number(number or 10_000)
    scene = choque.scene.generate(name, n, seed=seed, dimension=dimension, frames=frames, dtype=dtype, **parameters)
    with shown(f"Writing {output} …"):
        if frames == 1 and output.suffix.lower() not in FRAME_FORMATS:
            choque.files.write_boxes(output, *scene.frame(0))
        else:
            choque.scene.write(output, scene)
    if as_json:
        about = {"boxes": scene.box_count, "dimension": scene.dimension, "frames": frames, "dtype": dtype}
        print_json({"output": output, "scene": name, **about, "seed": seed, "parameters": parameters})
        return
    what = f"{counted(scene.box_count, 'box', 'boxes')} in {scene.dimension}D, {counted(frames, 'frame')}"
    typer.echo(f"{output}: {name}, {what}, seed {seed}")
