"""Build a wheel with compiled kernels for this system and Python, and try it in empty environments.

    python .ci/kernels_wheel.py [--folder output/dist] [--no-try]

The kernels are those that ``choque doctor --warm-up`` compiles, for the family of processors that
`choque._core.shipped_kernels` names. The wheel carries the platform tag of the installed Numba, since its kernels run
where that Numba runs. With another Numba, Python or processor it works as a pure wheel does, and compiles.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

COLLECT = """
import sys
from pathlib import Path
from choque._core import kernel_cache, shipped_kernels
shipped_kernels.FOLDER = Path(sys.argv[1])
kernel_cache.collecting = True
from choque.cli._warm_up import warm_up
failed = warm_up(lambda done, total, about: print(f"  {done} of {total}: {about}", flush=True))
sys.exit(f"failed: {failed}" if failed else 0)
"""

FIRST_ANSWER = """
import time
begin = time.perf_counter()
import json, numpy, choque
from choque._core.kernel import announcement
lower = numpy.random.default_rng(0).random((10_000, 3), dtype=numpy.float32)
found = choque.pairs(lower, lower + numpy.float32(0.03))
seconds = time.perf_counter() - begin
brute = choque.pairs(lower, lower + numpy.float32(0.03), method="brute")
many = numpy.random.default_rng(0).random((200_000, 3))
choque.pairs(many, many + 0.001)
for kind in ("add_boxes", "add_spheres"):
    world = choque.World(gravity=(0, -9.81, 0))
    getattr(world, kind)([[0, 0.5, 0], [0, 1.5, 0]])
    world.add_ground()
    world.step(1 / 60)
print(json.dumps({"seconds": seconds, "compiled": announcement.count, "same": bool((found == brute).all())}))
"""


def collect(unpacked: Path) -> None:
    """Compile every kernel of an unpacked wheel for the family, in a process with an empty cache."""
    sys.path.insert(0, str(ROOT / "src"))
    from choque._core.shipped_kernels import FAMILIES

    family = FAMILIES.get(platform.machine())
    if family is None:
        raise SystemExit(f"No family of processors is known for {platform.machine()}; known are {', '.join(FAMILIES)}.")
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            **os.environ,
            "NUMBA_CPU_NAME": family.name,
            "NUMBA_CPU_FEATURES": family.features,
            "NUMBA_CACHE_DIR": cache,
            "CHOQUE_COMPILERS": "1",  # what another process compiles is not collected
            "PYTHONPATH": str(unpacked),  # the files and entry points that are shipped
        }
        environment.pop("NUMBA_OPT", None)
        subprocess.run(
            [sys.executable, "-c", COLLECT, str(unpacked / "choque" / "_kernels")], env=environment, check=True
        )


def build(folder: Path) -> Path:
    """Return a wheel with the kernels, in ``folder``."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        subprocess.run(
            [sys.executable, "-m", "build", "--wheel", "--outdir", work / "pure", ROOT],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (pure,) = (work / "pure").glob("*.whl")
        subprocess.run(
            [sys.executable, "-m", "wheel", "unpack", "--dest", work, pure], check=True, stdout=subprocess.DEVNULL
        )
        (unpacked,) = work.glob("choque-*")
        collect(unpacked)
        subprocess.run(
            [sys.executable, "-m", "wheel", "pack", "--dest-dir", work, unpacked], check=True, stdout=subprocess.DEVNULL
        )
        (packed,) = work.glob("*.whl")
        python, abi, system = tag_of_numba()
        tags = ["--python-tag", python, "--abi-tag", abi, "--platform-tag", system, "--remove"]
        subprocess.run([sys.executable, "-m", "wheel", "tags", *tags, packed], check=True, stdout=subprocess.DEVNULL)
        (tagged,) = work.glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(tagged, folder / tagged.name))


def tag_of_numba() -> tuple[str, str, str]:
    """Return the Python, ABI and platform tags of the installed Numba."""
    lines = (metadata.distribution("numba").read_text("WHEEL") or "").splitlines()
    tags = [line.removeprefix("Tag: ") for line in lines if line.startswith("Tag: ")]
    python, abi, _ = tags[0].split("-")
    return python, abi, ".".join(tag.split("-")[2] for tag in tags)


def try_wheel(wheel: Path) -> None:
    """Install the wheel into an empty environment; a first answer there compiles nothing, and all guards hold."""
    with tempfile.TemporaryDirectory() as name:
        venv.create(name, with_pip=True)
        python = Path(name, "Scripts" if sys.platform == "win32" else "bin", "python")
        numba = f"numba=={metadata.version('numba')}"
        subprocess.run([python, "-m", "pip", "install", "--quiet", wheel, numba], check=True)
        answers = {
            "as installed": first_answer(python, name, {}),
            "a foreign processor": first_answer(python, name, {"NUMBA_CPU_NAME": "generic"}),
            "a read-only cache": first_answer(python, name, {"NUMBA_CACHE_DIR": "/proc/nowhere"}),
        }
    for about, answer in answers.items():
        print(f"{about}: {answer['seconds']:.2f} s to the first answer, {answer['compiled']} kernels compiled")
    wrong = [about for about, answer in answers.items() if not answer["same"]]
    loads = answers["as installed"]["compiled"] == answers["a read-only cache"]["compiled"] == 0
    if wrong or not loads or not answers["a foreign processor"]["compiled"]:
        raise SystemExit(f"The wheel fails: wrong answers {wrong}, compiled {answers}.")


def first_answer(python: Path, folder: str, environment: dict[str, str]) -> dict[str, float]:
    """Return time and kernels compiled of a first call in a new process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        given = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON"))}
        given |= {"NUMBA_CACHE_DIR": cache, **environment}
        done = subprocess.run(
            [python, "-c", FIRST_ANSWER], cwd=folder, env=given, check=True, capture_output=True, text=True
        )
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def main() -> None:
    """Build the wheel, and try it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "output" / "dist", help="where the wheel is written")
    parser.add_argument("--no-try", action="store_true", help="do not install it")
    options = parser.parse_args()
    begin = time.monotonic()
    wheel = build(options.folder)
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB in {time.monotonic() - begin:.0f} s")
    if not options.no_try:
        try_wheel(wheel)


if __name__ == "__main__":
    main()
