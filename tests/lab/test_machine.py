"""The record of the machine: what it names and what it keeps private."""

from __future__ import annotations

import getpass
import json
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import choque
from choque.lab import machine


def test_the_record_names_machine_and_versions() -> None:
    record = machine.describe(["pytest", "no-such-package"])
    assert record["choque"] == choque.__version__
    assert record["numpy"] == np.__version__
    assert "pytest" in record
    assert "no-such-package" not in record
    assert isinstance(record["cores"], int)
    assert record["cores"] >= 1
    assert record["processor"]
    json.dumps(record)


def test_the_record_names_no_host_no_user_and_no_path() -> None:
    values = [str(value) for value in machine.describe().values()]
    for secret in (platform.node(), str(Path.home()), str(Path.cwd())):
        assert not secret or not any(secret in value for value in values)
    assert getpass.getuser() not in values


def test_the_label_is_fit_for_a_file_name() -> None:
    label = machine.label()
    assert label.endswith("-cores")
    assert label == label.lower()
    assert set(label) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_the_commit_is_ours_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"--show-prefix": "src/choque/lab/", "HEAD": "0123456789ab", "--untracked-files=no": " M a.py"}
    monkeypatch.setattr(machine, "_git", lambda *arguments: answers[arguments[-1]])
    assert machine.commit() == "0123456789ab+"
    answers["--untracked-files=no"] = ""
    assert machine.commit() == "0123456789ab"
    answers["--show-prefix"] = "lib/python3.11/site-packages/choque/lab/"
    assert machine.commit() is None


def test_resident_memory_grows_with_what_is_held() -> None:
    """In a process of its own: this one may have held gigabytes before."""
    code = (
        "import numpy as np; from choque.lab import machine; before = machine.peak_resident_bytes();"
        "held = np.ones(max(before, 50_000_000), np.uint8); print(before, machine.peak_resident_bytes())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    before, after = map(int, done.stdout.split())
    assert before == 0 or after > before


def test_a_system_that_tells_little_is_described_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr(Path, "read_text", refuse)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert machine.processor_name() == "riscv64"
    monkeypatch.setattr("os.sysconf", refuse)
    assert machine.memory_bytes() == 0
    monkeypatch.setattr(subprocess, "run", refuse)
    assert machine.commit() is None
    monkeypatch.setitem(sys.modules, "resource", None)  # as on Windows
    assert machine.peak_resident_bytes() == 0
