"""A missing library is named before any work: nothing is measured, simulated, read or compiled whose result is lost."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from choque.errors import MissingExtra, check_installed, require
from choque.files.atomic import LIBRARIES

if TYPE_CHECKING:
    from conftest import Command

OPTIONAL = (
    "matplotlib", "pyarrow", "scipy", "jinja2", "imageio_ffmpeg", "viser", "nibabel", "nrrd", "tifffile",
    "pydicom", "skimage", "distributed", "trimesh", "warp",
)  # fmt: skip

WORK = (
    "choque.broad.create",
    "choque.files.read_boxes",
    "choque.World.step",
    "choque.lab.execution.Execution.complete",
    "choque.scene.generate",
    "choque.scene.find_bodies",
    "choque.Volume.read",
    "choque.theses.kinetic.labels.label_contacts",
    "choque.theses.kinetic.labels.synthetic_stack",
    "choque.theses.kinetic.create_simulation",
    "choque.studio.motion.entry.find_model",
)
"""What takes time."""

CASES = {
    "lab run comparison --quick --output run": "lab",
    "lab run comparison --quick --output run --cluster tcp://host:8786": "lab",
    "picture boxes.npy out.png": "lab",
    "picture --study kinetic three-objects out.png": "lab",
    "video bowling out.mp4": "video",
    "video --study kinetic three-objects out.gif": "lab",
    "view bowling --no-browser": "view",
    "pairs boxes.npy --output pairs.parquet": "lab",
    "bake uniform:100 boxes.parquet": "lab",
    "volume convert ball:16 ball.nii.gz": "volumes",
    "volume convert ball:16 ball.nrrd": "volumes",
    "volume boolean and ball:16 ball:16 both.tif": "volumes",
    "kinetic run three-objects --picture scene.png": "lab",
    "kinetic run three-objects --space-time scene.png": "lab",
    "kinetic from-labels stack.tif --outlines outlines.npz": "images",
    "kinetic synthetic-stack stack.tif": "images",
    "demo": "lab",
}


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation of the core alone, in an empty folder, in which no work may begin."""
    monkeypatch.chdir(tmp_path)
    np.save("boxes.npy", np.zeros((3, 4)))
    for name in WORK:
        module, _, attribute = name.rpartition(".")
        monkeypatch.setattr(f"{module}.{attribute}", lambda *_, name=name, **__: pytest.fail(f"{name} was called"))
    for name in OPTIONAL:
        for loaded in [each for each in sys.modules if each.partition(".")[0] == name]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("words", CASES)
def test_a_missing_library_is_named_before_any_work(words: str, command: Command) -> None:
    before = set(Path.cwd().iterdir())
    line = command.fails(*words.split())
    assert re.search(rf"The library '\w+' is needed to .*Install it with: pip install 'choque\[{CASES[words]}\]'", line)
    assert set(Path.cwd().iterdir()) == before, "nothing is written"


def test_what_is_found_is_not_imported() -> None:
    check_installed("antigravity", extra="lab", purpose="to fly")
    assert "antigravity" not in sys.modules


def test_both_ways_to_ask_give_one_sentence() -> None:
    for ask in (check_installed, require):
        with pytest.raises(MissingExtra, match=r"'no_such_library' is needed to test .*pip install 'choque\[lab\]'"):
            ask("no_such_library", extra="lab", purpose="to test")


def test_the_extras_of_files_bring_their_libraries() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    distributions = {"nrrd": "pynrrd"}
    for module, extra, _ in LIBRARIES.values():
        assert any(each.startswith(distributions.get(module, module)) for each in extras[extra])
