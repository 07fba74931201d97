"""Compiled kernels on disk are used as long as nothing has changed that they are compiled from, and no longer."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from choque._core import freshness as _freshness
from choque._core.freshness import sources_of
from choque._core.kernel import announcement

FILES = {
    "__init__.py": "",
    "constants.py": "SHIFT = 10.0\n",
    "inner.py": "from choque._core.kernel import helper\n\n@helper\ndef twice(x):\n    return 2.0 * x\n",
    "middle.py": (
        "from choque._core.kernel import kernel\nfrom planted_kernels.inner import (\n    twice,\n)\n\n"
        "@kernel\ndef four_times(x):\n    return twice(twice(x))\n"
    ),
    "outer.py": (
        "from choque._core.kernel import kernel\nfrom planted_kernels import middle\n"
        "from planted_kernels.constants import SHIFT as OFFSET\n\n"
        "@kernel\ndef moved(x):\n    return middle.four_times(x) + OFFSET\n"
    ),
}


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[float, int]]:
    """Write a package with some files changed, and call its kernel: the answer, and how many it compiled."""
    folder = tmp_path / "planted_kernels"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))

    def answer(**changes: str) -> tuple[float, int]:
        for name, text in {**FILES, **{f"{stem}.py": text for stem, text in changes.items()}}.items():
            (folder / name).write_text(text)
        for name in [name for name in sys.modules if name.startswith("planted_kernels")]:
            monkeypatch.delitem(sys.modules, name)
        for cached in (_freshness._imports, _freshness._content):
            cached.cache_clear()
        importlib.invalidate_caches()
        monkeypatch.setattr(sys, "dont_write_bytecode", True)  # files of the same second and size would not be read
        before = announcement.count
        found = importlib.import_module("planted_kernels.outer").moved(1.0)
        return found, announcement.count - before

    return answer


def test_a_kernel_follows_all_that_it_is_compiled_from(planted: Callable[..., tuple[float, int]]) -> None:
    first, compiled = planted()
    assert first == 14.0
    assert compiled > 0
    assert planted() == (14.0, 0)  # loaded
    found, compiled = planted(inner=FILES["inner.py"].replace("2.0", "3.0"))
    assert (found, compiled > 0) == (19.0, True)
    found, compiled = planted(constants="SHIFT = 20.0\n")
    assert (found, compiled > 0) == (24.0, True)


def test_a_kernel_is_compiled_again_when_a_class_of_its_arguments_has_moved(
    planted: Callable[..., tuple[float, int]],
) -> None:
    """The index of kernels on disk names the class, and the class is gone."""
    classes = "from typing import NamedTuple\n\nclass Box(NamedTuple):\n    width: float\n"
    kernel = (
        "from choque._core.kernel import kernel\nfrom planted_kernels.{home} import Box\n\n"
        "@kernel\ndef measured(box):\n    return box.width\n\ndef moved(x):\n    return measured(Box(x))\n"
    )
    assert planted(classes=classes, outer=kernel.format(home="classes"))[0] == 1.0
    assert planted(classes=classes, outer=kernel.format(home="classes")) == (1.0, 0)
    found, compiled = planted(classes="", elsewhere=classes, outer=kernel.format(home="elsewhere"))
    assert (found, compiled > 0) == (1.0, True)


def test_the_sources_of_a_kernel_are_those_of_its_parts() -> None:
    from choque.narrow.convex.probe import _probe

    names = {Path(path).name for path in sources_of(getattr(_probe, "py_func", _probe))}
    assert {"probe.py", "gjk.py", "epa.py", "vector.py"} <= names
    assert "errors.py" not in names
