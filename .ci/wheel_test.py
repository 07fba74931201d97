"""Build a wheel and an sdist, look into both, install each into an empty environment, and try it there.

``python .ci/wheel_test.py [FOLDER]``: the packages go to FOLDER, ``output/dist`` unless given.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"

SMOKE = """
import importlib.metadata, numpy, choque
assert "site-packages" in choque.__file__
assert importlib.metadata.version("choque") == choque.__version__
lower = numpy.random.default_rng(0).uniform(0, 10, (500, 3))
found = {name: choque.pairs(lower, lower + 0.5, method=name).tolist() for name in ("auto", "brute", "grid", "interest")}
assert all(pairs == found["brute"] for pairs in found.values()) and found["brute"]
sweep = choque.kinetic.Sweep([[0, 0], [5, 0]], [[1, 1], [6, 1]], velocity=[[1, 0], [-1, 0]])
assert [event.time for event in sweep.advance(until=10.0)] == [2.0, 3.0]
world = choque.scene.read("bowling").world()
assert world.step().bodies
ball = choque.Volume.read("ball:16")
assert ball.collides(ball)
print(len(found["brute"]), "pairs, choque", choque.__version__)
"""


def data_files() -> set[str]:
    """What the package holds beside its modules, as it must lie in the wheel."""
    kept = (path for path in (SOURCE / "choque").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(SOURCE)) for path in kept if path.suffix not in (".pyc", ".nbi", ".nbc")}


def check_contents(wheel: Path, sdist: Path) -> None:
    """Everything in ``src`` is in the wheel and in the sdist: tables, templates, scenes, ``py.typed``; no cache is."""
    expected = data_files()
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    missing = sorted(expected - in_wheel) + sorted(f"src/{name}" for name in expected if f"src/{name}" not in in_sdist)
    stray = [name for name in in_wheel | in_sdist if name.endswith((".nbi", ".nbc", ".pyc"))]
    top = {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "pyproject.toml"} - in_sdist
    if missing or stray or top:
        raise SystemExit(f"missing: {missing + sorted(top)}; stray: {stray[:5]}")
    kinds = sorted({Path(name).suffix or Path(name).name for name in expected})
    print(f"{wheel.name} and {sdist.name} hold {len(expected)} files of the package: {' '.join(kinds)}")


def try_it(package: Path) -> None:
    """Install into an environment that has nothing else, and use it from a folder that is not the repository."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        bin_folder = Path(folder, "Scripts" if sys.platform == "win32" else "bin")
        run(bin_folder / "python", "-m", "pip", "install", "--quiet", package, cwd=folder)
        run(bin_folder / "python", "-W", "error", "-c", SMOKE, cwd=folder)
        run(bin_folder / "choque", "--version", cwd=folder)
        run(bin_folder / "choque", "pairs", "--help", cwd=folder, quiet=True)
        print(f"{package.name} installs and works in an empty environment")


def run(*command: object, cwd: str | Path, quiet: bool = False) -> None:
    """Run a command, or end with its exit code."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, check=False, capture_output=quiet)
    if done.returncode:
        raise SystemExit(done.returncode)


def main() -> None:
    """Build, look, install, try."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "output" / "dist").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("choque-*"):
        old.unlink()
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=ROOT, quiet=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    check_contents(wheel, sdist)
    try_it(wheel)
    try_it(sdist)


if __name__ == "__main__":
    main()
