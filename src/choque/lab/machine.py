"""The record that goes with a measurement: machine and versions, nothing that names a person or a place."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from choque._core import __version__
from choque._core.threads import available_count

FOLDER = "src/choque/lab/"
"""Where this file lies in a checkout; in any other repository the commit would not be ours."""


def describe(distributions: Iterable[str] = ()) -> dict[str, str | int | float]:
    """Describe the processor, its cores and memory, the system, and the versions of what did the work.

    Parameters
    ----------
    distributions
        More packages whose versions belong in the record, by the names pip knows.
    """
    record: dict[str, str | int | float] = {
        "processor": processor_name(),
        "architecture": platform.machine(),
        "cores": os.cpu_count() or 1,
        "threads available": available_count(),
        "memory [GiB]": round(memory_bytes() / 2**30, 1),
        "system": platform.system(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "choque": __version__,
    }
    record |= versions(["numpy", "numba", *distributions])
    revision = commit()
    return record | ({"commit": revision} if revision else {})


def versions(distributions: Iterable[str]) -> dict[str, str]:
    """Look up the installed versions of ``distributions``; those not installed are left out."""
    found = {}
    for name in distributions:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def processor_name() -> str:
    """Return the processor's name as its maker prints it, or the architecture where the system does not say."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return " ".join(value.split())
    return platform.processor() or platform.machine()


def memory_bytes() -> int:
    """Return the machine's memory [bytes]; 0 where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


def peak_resident_bytes() -> int:
    """Return the peak resident memory of this process so far [bytes]; 0 where the system does not say."""
    with suppress(OSError):  # on Linux; what `getrusage` says there begins with what the parent held
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if platform.system() == "Darwin" else peak * 1024


def commit() -> str | None:
    """Name the commit that is checked out, with "+" if files differ from it; None outside a checkout."""
    if _git("rev-parse", "--show-prefix") != FOLDER:
        return None
    revision = _git("rev-parse", "--short=12", "--verify", "-q", "HEAD")
    if not revision:
        return None
    return revision + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")


def label() -> str:
    """Make a short name for files: the processor and its cores, in lower case and hyphens."""
    words = re.sub(r"\(.*?\)|@.*", " ", processor_name()).lower()
    return "-".join([*re.findall(r"[a-z0-9]+", words), str(os.cpu_count() or 1), "cores"])


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
