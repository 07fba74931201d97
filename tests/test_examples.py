"""Every script in ``examples/`` runs to its end, without a window and without a file left behind.

Scripts share a process: what a process imports and loads takes longer than most of them.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
GALLERY = sorted(FOLDER.glob("*/*.py"))
EXAMPLES = [*sorted(FOLDER.glob("*.py")), *GALLERY]


def test_there_are_examples_in_sections() -> None:
    assert len(GALLERY) >= 20
    for folder in {script.parent for script in GALLERY}:
        assert (folder / "GALLERY_HEADER.rst").exists(), f"{folder} has no title"


def test_they_run(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", __file__, *map(str, EXAMPLES)]
    environment = {**os.environ, "MPLBACKEND": "Agg", "CHOQUE_QUIET": "1"}
    environment.pop("DISPLAY", None)
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    stories = [json.loads(line) for line in done.stdout.splitlines()]
    assert [story["name"] for story in stories] == [script.name for script in EXAMPLES], done.stderr
    for story in stories:
        assert not story["trouble"], f"{story['name']}: {story['trouble']}"
        assert story["printed"].strip(), f"{story['name']} says nothing"
        assert not story["files"], f"{story['name']} left files behind"


@pytest.mark.parametrize("script", GALLERY, ids=lambda path: path.stem)
def test_it_is_a_page_of_the_gallery(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    title, line, *_ = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    assert line == "=" * len(title)
    assert text.count("\n# %%\n# ") >= 2, "a cell begins with a sentence of its own"
    assert not re.search(r"^# %% .", text, re.MULTILINE), "the gallery drops what stands beside a # %%"


def run_and_tell(script: Path) -> dict[str, object]:
    """Run one script as if alone, in a process that others have used."""
    printed, trouble = io.StringIO(), ""
    sys.argv = [str(script)]
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(script), run_name="__main__")
    except BaseException:
        trouble = traceback.format_exc()
    if "matplotlib" in sys.modules:
        import matplotlib.pyplot as plt

        plt.close("all")
        plt.rcdefaults()
    files = sorted(path.name for path in Path.cwd().iterdir())
    return {"name": script.name, "trouble": trouble, "printed": printed.getvalue(), "files": files}


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(json.dumps(run_and_tell(Path(argument))), flush=True)  # noqa: T201
