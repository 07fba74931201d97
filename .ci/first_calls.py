"""Record which kernels common first calls need, into ``src/choque/_core/first_calls.json``.

    python .ci/first_calls.py
    python .ci/first_calls.py 'choque explain, float32, 3D' 'choque suppress'

Without titles all calls are recorded, with titles those, and any that are new. Each call is made in a process of its
own, which notes every kernel that it looks for on disk, with the size of its code in kB. To be run when the arguments
of kernels have changed: what is out of date costs users time at their first call.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "src/choque/_core/first_calls.json"

BOXES = "lower = np.random.default_rng(0).random(({}, {}), np.{}); upper = lower + lower.dtype.type(0.03)"

GROUND = "world = choque.World(gravity=(0, -9.81, 0)); world.add_ground()"

PYRAMIDS = "corners = np.eye(4)[:, 1:]; mesh = choque.Mesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])"

COMMAND = """
import contextlib, tempfile
from choque.cli import main
with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(sys.stderr):
    if "lower" in globals():
        columns = np.hstack([lower, upper, lower[:, :1]])
        np.save("boxes.npy", columns[:, :-1])
        np.savetxt("found.csv", columns, delimiter=",", header="x1,y1,x2,y2,score", comments="")
    main("{}".split())
"""

STUDIO = """
from choque.studio.page.entries import find_view
from choque.studio.page.studio import open_studio
with open_studio(find_view(["{}"])) as studio:
    for _ in range(3):
        studio.ask(lambda: studio.view.step(), timeout=600)
"""

CALLS: dict[str, tuple[str, ...]] = {
    "pairs, float32, 3D": ("_pairs:pairs", BOXES.format(10_000, 3, "float32"), "choque.pairs(lower, upper)"),
    "pairs, float64, 3D": ("_pairs:pairs", BOXES.format(10_000, 3, "float64"), "choque.pairs(lower, upper)"),
    "pairs, float32, 2D": ("_pairs:pairs", BOXES.format(10_000, 2, "float32"), "choque.pairs(lower, upper)"),
    "pairs, float64, 2D": ("_pairs:pairs", BOXES.format(10_000, 2, "float64"), "choque.pairs(lower, upper)"),
    "pairs of few, float64, 3D": ("_pairs:pairs", BOXES.format(500, 3, "float64"), "choque.pairs(lower, upper)"),
    "choque pairs, float32, 3D": (
        "cli.pairs:pairs",
        BOXES.format(10_000, 3, "float32"),
        COMMAND.format("pairs boxes.npy"),
    ),
    "choque pairs, float64, 3D": (
        "cli.pairs:pairs",
        BOXES.format(10_000, 3, "float64"),
        COMMAND.format("pairs boxes.npy"),
    ),
    "choque pairs, float32, 2D": (
        "cli.pairs:pairs",
        BOXES.format(10_000, 2, "float32"),
        COMMAND.format("pairs boxes.npy"),
    ),
    "choque pairs, float64, 2D": (
        "cli.pairs:pairs",
        BOXES.format(10_000, 2, "float64"),
        COMMAND.format("pairs boxes.npy"),
    ),
    "choque explain, float32, 3D": (
        "cli.explain:explain",
        BOXES.format(10_000, 3, "float32"),
        COMMAND.format("explain boxes.npy"),
    ),
    "choque explain, float64, 3D": (
        "cli.explain:explain",
        BOXES.format(10_000, 3, "float64"),
        COMMAND.format("explain boxes.npy"),
    ),
    "join, float32, 3D": ("_join:join", BOXES.format(10_000, 3, "float32"), "choque.join(lower, upper, lower, upper)"),
    "join, float64, 3D": ("_join:join", BOXES.format(10_000, 3, "float64"), "choque.join(lower, upper, lower, upper)"),
    "join, float64, 2D": ("_join:join", BOXES.format(10_000, 2, "float64"), "choque.join(lower, upper, lower, upper)"),
    "suppress, float64": (
        "boxes._suppress:suppress",
        BOXES.format(2_000, 2, "float64"),
        "choque.boxes.suppress(np.hstack([lower, upper]), lower[:, 0].copy(), iou=0.5)",
    ),
    "suppress, float32": (
        "boxes._suppress:suppress",
        BOXES.format(2_000, 2, "float32"),
        "choque.boxes.suppress(np.hstack([lower, upper]), lower[:, 0].copy(), iou=0.5)",
    ),
    "choque suppress": (
        "cli.suppress:suppress",
        BOXES.format(2_000, 2, "float64"),
        COMMAND.format("suppress found.csv --score score"),
    ),
    "neighbors, 3D": (
        "neighbors._find:find",
        "choque.neighbors(np.random.default_rng(0).random((10_000, 3)), cutoff=0.05)",
    ),
    "choque run": ("cli.run:run_once", COMMAND.format("run bowling --frames 300")),
    "choque picture": ("cli.picture:picture", COMMAND.format("picture bowling bowling.png --frame 60 --size 320x180")),
    "choque video": ("cli.video:video", COMMAND.format("video bowling bowling.webp --seconds 0.5 --size 320x180")),
    "choque picture, boxes": ("cli.picture:picture", COMMAND.format("picture pyramid:10 out.png --frame 2")),
    "choque video, boxes": ("cli.video:video", COMMAND.format("video pyramid:10 out.gif --seconds 0.1 --size 64x36")),
    "choque page": ("cli.page:page", COMMAND.format("page bowling bowling.html --seconds 0.5")),
    "the studio": ("studio.page.server:Studio.run", STUDIO.format("bowling")),
    "the studio, boxes": ("studio.page.server:Studio.run", STUDIO.format("pyramid:10")),
    "World.step, soft-step, boxes": (
        "world._world:World.step",
        GROUND,
        "world.add_boxes([[0, 0.5, 0], [0, 1.5, 0]]); world.step()",
    ),
    "World.step, soft-step, spheres": (
        "world._world:World.step",
        GROUND,
        "world.add_spheres([[0, 0.5, 0], [0, 1.5, 0]], 0.5); world.step()",
    ),
    "World.step, impulse, spheres": (
        "world._world:World.step",
        "world = choque.World(response='impulse'); world.add_spheres([[0, 0, 0], [1.5, 0, 0]], 1.0); world.step()",
    ),
    "Sweep, 2D": (
        "kinetic._sweep:Sweep.__init__",
        "sweep = choque.kinetic.Sweep([[0, 0], [5, 0]], [[1, 1], [6, 1]], velocity=[[1, 0], [-1, 0]])",
        "list(sweep.advance(until=10.0))",
    ),
    "Volume.collides": ("volumes._volume:Volume.collides", "ball = choque.Volume.read('ball:32'); ball.collides(ball)"),
    "choque volume collide": ("cli.volume:collide", COMMAND.format("volume collide ball:32 ball:32")),
    "choque volume info": ("cli.volume:info", COMMAND.format("volume info ball:32")),
    "choque interest run": ("cli.interest:run", COMMAND.format("interest run")),
    "Areas, 2D": (
        "interest._areas:Areas.__init__",
        "choque.interest.Areas(np.random.default_rng(0).random((1000, 2)), radius=0.1)",
    ),
    "meshes.collide": (
        "meshes._queries:collide",
        PYRAMIDS,
        "choque.meshes.collide(mesh, mesh, np.eye(4)[None].repeat(3, axis=0))",
    ),
}
"""Calls with the function that they wait in, below ``choque``."""

RECORD = """
import json, sys
import numpy as np
import choque
from choque._core.compile_beside import encoded
from choque._core.kernel_cache import KernelCache
found, load = [], KernelCache.load_overload
def note(self, sig, context):
    function, result = self._py_func, load(self, sig, context)
    name = self.files.names().get(self._key(sig, context.codegen()))
    size = 0 if name is None else (self.files.folder / name).stat().st_size // 1000
    found.append([f"{function.__module__}:{function.__qualname__}", [encoded(each) for each in sig], size])
    return result
KernelCache.load_overload = note
exec(sys.argv[1])
print(json.dumps(found))
"""


def record(title: str) -> list[Any]:
    """Return the function and the kernels of a call, in the order of their use."""
    function, *code = CALLS[title]
    environment = {**os.environ, "CHOQUE_COMPILERS": "1"}
    command = [sys.executable, "-c", RECORD, "\n".join(code)]
    for _ in range(2):  # kernels that are compiled at first are loaded without those that they call at last
        output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [f"choque.{function}", json.loads(output)]


def main() -> None:
    """Record the calls that are named, or every one; a line for each kernel."""
    entries = []
    known = json.loads(FILE.read_text("utf-8")) if len(sys.argv) > 1 else {}
    for title in CALLS:
        function, kernels = record(title) if title in sys.argv[1:] or title not in known else known[title]
        lines = ",\n".join(json.dumps(each) for each in kernels)
        entries.append(f"{json.dumps(title)}: [{json.dumps(function)}, [\n{lines}\n]]")
    FILE.write_text("{\n" + ",\n".join(entries) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
