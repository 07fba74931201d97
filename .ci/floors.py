"""Install the oldest versions of the dependencies that ``pyproject.toml`` allows, and use Choque with them.

``python .ci/floors.py [EXTRA...]``: the core, and the extras given; those of `EXTRAS` unless any is. Each version is
the floor itself. What worked is written to ``.ci/floors.txt``, which a test compares with ``pyproject.toml``: a floor
that was never installed cannot stay there.

``python .ci/floors.py --smoke``: the core alone, boxes and bodies, for continuous integration. Where the old versions
cannot be installed, it says so and passes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

TRIED = ROOT / ".ci" / "floors.txt"

EXTRAS = ("lab", "mesh", "images", "volumes")
"""Extras whose floors are tried together, without the large ones: devices, films, the studio and other libraries."""

SMOKE = """
import warnings, numpy, choque
warnings.simplefilter("error")
generator = numpy.random.default_rng(0)
lower = generator.uniform(0, 10, (600, 3))
upper = lower + generator.uniform(0, 1, (600, 3))
touching = (lower[:, None] <= upper[None]).all(2) & (lower[None] <= upper[:, None]).all(2)
expected = numpy.argwhere(numpy.triu(touching, 1)).tolist()
assert choque.pairs(lower, upper).tolist() == expected
assert len(choque.join(lower, upper, lower, upper)) == 2 * len(expected) + len(lower)
assert choque.boxes.suppress([[0, 0, 2, 2], [0, 0, 2, 1.9]], [0.9, 0.8], iou=0.5).tolist() == [0]
world = choque.World(gravity=(0, -9.81, 0))
world.add_boxes(position=[[0, 0.5 + k, 0] for k in range(3)], size=1.0)
world.add_ground()
for _ in range(100):
    world.step(1 / 60)
assert abs(world.bodies.position[:3, 1] - [0.5, 1.5, 2.5]).max() < 0.01
print(len(expected), "pairs, numpy", numpy.__version__)
"""

EVERY_PACKAGE = """
import warnings, numpy, choque
warnings.simplefilter("error")
lower = numpy.random.default_rng(0).uniform(0, 10, (600, 3))
expected = choque.pairs(lower, lower + 1, method="brute").tolist()
for name in choque.broad.names():
    if name != "all" and not name.startswith("fingsics"):
        found = choque.pairs(lower, lower + 1, method=name).tolist()
        assert found == expected or name == "brute-obb", name
sweep = choque.kinetic.Sweep([[0, 0], [5, 0]], [[1, 1], [6, 1]], velocity=[[1, 0], [-1, 0]])
assert [event.time for event in sweep.advance(until=10.0)] == [2.0, 3.0]
assert choque.scene.read("bowling").world().step().bodies
ball = choque.Volume.from_voxels(((numpy.indices((16, 16, 16)) - 7.5) ** 2).sum(0) < 56)
assert ball.collides(ball)
areas = choque.interest.Areas(lower, radius=1.0)
areas.update(lower)
assert len(choque.neighbors(lower, 0.5, cell=10.0)[0])
surface = choque.Mesh(ball)
assert choque.meshes.collide(surface, surface, numpy.eye(4)[None]).all()
print(len(expected), "pairs by every method, numpy", numpy.__version__)
"""

FILES = """
import choque, numpy
ball = choque.Volume.read("ball:8")
for name in ("ball.nii.gz", "ball.nrrd", "ball.tif"):
    ball.write(name)
    assert choque.Volume.read(name).volume == ball.volume, name
choque.files.write_boxes("boxes.parquet", numpy.zeros((3, 2)), numpy.ones((3, 2)))
assert len(choque.files.read_boxes("boxes.parquet")[0]) == 3
"""

COMMANDS = (
    "methods --json",
    "scenes",
    "bake uniform:100 boxes.npy",
    "pairs boxes.npy --json",
    "pairs boxes.npy --method brute --half-open",
    "run bowling --frames 5 --json",
    "kinetic run three-objects --json",
    "volume info ball",
    "interest --help",
    "lab list",
    "doctor",
)
"""Commands that need the core alone; options misread by an old parser show here."""

LAB_COMMANDS = (
    "lab run comparison --quick --methods brute,grid --factor n=100 --factor scene=uniform --output run",
    "lab report run",
    "lab compare run run",
    "kinetic synthetic-stack stack.tif --frames 3 --size 64 --objects 4",
    "kinetic from-labels stack.tif",
)
"""Commands of the extras."""


def floors(requirements: list[str]) -> list[str]:
    """Return the oldest version that each requirement allows, as pip reads it."""
    found = []
    for requirement in requirements:
        match = re.fullmatch(r"([\w.-]+(?:\[[\w,]+\])?)>=([\w.]+)(?:,<[\w.]+)?", requirement)
        if match is None:
            raise SystemExit(f"{requirement!r} has no floor; write it as name>=version.")
        found.append(f"{match[1]}=={match[2]}")
    return found


def main() -> None:
    """Install, then try."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = floors(project["dependencies"])
    if sys.argv[1:] == ["--smoke"]:
        smoke(core)
        return
    extras = sys.argv[1:] or EXTRAS
    more = floors(sorted({each for extra in extras for each in project["optional-dependencies"][extra]}))
    with tempfile.TemporaryDirectory(prefix="choque-floors-") as folder:
        venv.create(folder, with_pip=True)
        programs = Path(folder, "Scripts" if sys.platform == "win32" else "bin")
        print("installing", *core, flush=True)
        run(programs / "python", "-m", "pip", "install", "--quiet", *core, folder=folder)
        run(programs / "python", "-m", "pip", "install", "--quiet", "--no-deps", ROOT, folder=folder)
        run(programs / "python", "-m", "pip", "check", folder=folder)
        for script in (SMOKE, EVERY_PACKAGE):
            run(programs / "python", "-c", script, folder=folder)
        for command in COMMANDS:
            run(programs / "choque", *command.split(), folder=folder, quiet=True)
        print(f"{len(COMMANDS)} commands of the core work with its floors", flush=True)
        print("installing", *more, flush=True)
        run(programs / "python", "-m", "pip", "install", "--quiet", *core, *more, folder=folder)
        if set(EXTRAS) <= set(extras):
            run(programs / "python", "-c", FILES, folder=folder)
            for command in LAB_COMMANDS:
                run(programs / "choque", *command.split(), folder=folder, quiet=True)
            print(f"{len(LAB_COMMANDS)} commands of the extras work with their floors", flush=True)
            TRIED.write_text("\n".join([*core, *more]) + "\n", encoding="utf-8")


def smoke(core: list[str]) -> None:
    """Run the script with the core's floors, from the sources; kernels are compiled into a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="choque-floors-") as folder:
        python = Path(folder, "Scripts" if sys.platform == "win32" else "bin") / "python"
        by_uv = [Path(sys.executable).with_name("uv"), "pip", "install", "--quiet", "--python", python, *core]
        by_pip = [python, "-m", "pip", "install", "--quiet", *core]
        if not (installs(by_uv, folder, with_pip=False) or installs(by_pip, folder, with_pip=True)):
            print("not tried: cannot install", *core)
            return
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": folder, "NUMBA_OPT": "1"}
        environment["CHOQUE_COMPILERS"] = "1"  # the other core has the tests to run
        raise SystemExit(subprocess.run([python, "-c", SMOKE], cwd=folder, check=False, env=environment).returncode)


def installs(command: list[object], folder: str, with_pip: bool) -> bool:
    """Make an environment, and return whether ``command`` installs into it."""
    venv.create(folder, with_pip=with_pip)
    with suppress(OSError):  # no uv here
        return subprocess.run(list(map(str, command)), cwd=folder, check=False, capture_output=True).returncode == 0
    return False


def run(*command: object, folder: str, quiet: bool = False) -> None:
    """Run a command in ``folder``; end with its exit code and words if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, check=False, capture_output=quiet, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed ({done.returncode}):\n{done.stderr or ''}")


if __name__ == "__main__":
    main()
