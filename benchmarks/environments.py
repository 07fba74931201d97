"""Two environments of Choque beside each other, for `before_after.py` and `same_answers.py`.

An environment is named by a folder or a program:

* a checkout of Choque (a folder with ``src/choque``), run by the Python of this process;
* a Python program of an environment in which Choque is installed;
* ``PYTHON@CHECKOUT``, for a checkout that is run by another Python.

Each environment has its own folder of compiled kernels, so that neither loads what the other compiled.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import tomllib
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORKER = "--worker"
"""The argument that makes a script serve tasks instead of comparing environments."""

DEFAULT_FOLDER = Path(tempfile.gettempdir()) / "choque-environments"


class TaskFailed(Exception):
    """A task raised in its environment; the text is its traceback."""


@dataclass(frozen=True)
class Environment:
    """A Python program and the variables that make it import one version of Choque."""

    name: str
    python: str
    variables: Mapping[str, str]

    @classmethod
    def find(cls, name: str, word: str, folder: Path, threads: int) -> Environment:
        """Return the environment that ``word`` names; its kernels and metadata are kept in ``folder``."""
        python, _, checkout = word.rpartition("@")
        if not python and not (Path(checkout) / "src" / "choque").is_dir():
            python, checkout = checkout, ""
        if python and not Path(python).is_file():
            raise SystemExit(f"{word!r} is neither a checkout with src/choque nor a Python program.")
        place = folder / hashlib.sha1(word.encode()).hexdigest()[:12]
        variables = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "CHOQUE_"))}
        variables |= {
            "NUMBA_CACHE_DIR": str(place / "kernels"),
            "CHOQUE_THREADS": str(threads),
            "PYTHONHASHSEED": "0",
            "COLUMNS": "200",
            "NO_COLOR": "1",
        }
        variables.pop("PYTHONPATH", None)
        if checkout:
            root = Path(checkout).resolve()
            variables["PYTHONPATH"] = os.pathsep.join([str(_metadata(root, place)), str(root / "src")])
        return cls(name, python or sys.executable, variables)

    def run(self, *arguments: str, **changed: str) -> subprocess.CompletedProcess[str]:
        """Run this environment's Python to its end, with ``changed`` variables."""
        return subprocess.run(
            [self.python, *arguments], env={**self.variables, **changed}, capture_output=True, text=True, check=False
        )

    def version(self) -> str:
        """Return the folder that Choque is imported from and the versions of Python, NumPy and Numba."""
        program = (
            "import choque, numba, numpy, platform, pathlib; print(pathlib.Path(choque.__file__).parent, "
            "'Python', platform.python_version(), 'NumPy', numpy.__version__, 'Numba', numba.__version__)"
        )
        ended = self.run("-c", program)
        if ended.returncode:
            raise SystemExit(f"The environment {self.name!r} cannot import Choque:\n{ended.stderr}")
        return ended.stdout.strip()


def _metadata(checkout: Path, place: Path) -> Path:
    """Write the metadata of an installed package, which lists the entry points of ``checkout``."""
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = place / "metadata" / f"choque-{project['version']}.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: choque\nVersion: {project['version']}\n")
    groups = {**project.get("entry-points", {}), "console_scripts": project.get("scripts", {})}
    lines = [
        line
        for group, points in groups.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder.parent


class Worker:
    """A process of an environment that runs the tasks of ``script`` one by one and waits in between."""

    def __init__(self, environment: Environment, script: str) -> None:
        self.environment = environment
        self._script = script
        self._process: subprocess.Popen[str] | None = None

    def call(self, task: str, **arguments: Any) -> Any:
        """Run a task and return its result; a process that died before is started again."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"task": task, "arguments": arguments}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            code = process.wait()
            self._process = None
            raise TaskFailed(f"the process of {self.environment.name!r} ended with code {code}")
        answer = json.loads(line)
        if "error" in answer:
            raise TaskFailed(answer["error"])
        return answer["result"]

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
            self._process = None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [self.environment.python, self._script, WORKER],
                env=dict(self.environment.variables),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self._process


def serve(tasks: Mapping[str, Callable[..., Any]]) -> None:
    """Run the tasks that arrive on standard input; what they print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"result": tasks[request["task"]](**request["arguments"])}
        except Exception:
            answer = {"error": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
