"""Say which files and modules that ARCHITECTURE.md and CONTRIBUTING.md name are gone.

A name is a file such as ``broad/auto.py``, a folder with a slash at its end in backquotes, or a dotted name
``choque.x.y`` in backquotes. Paths are relative to the root, to ``src/choque``, or to any folder below it. What was
there at an earlier commit is written in italics and not checked.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "choque"
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md")

A_FILE = re.compile(r"(?<![\w/.*-])((?:[\w.-]+/)*[\w-]+\.(?:py|toml|json|md))\b")
A_FOLDER = re.compile(r"`((?:[\w-]+/)+)`")
A_MODULE = re.compile(r"`(choque(?:\.[a-z_]+)+)`")
FORMER = re.compile(r"(?<!\*)\*[^*\n]+\*(?!\*)")


def missing(page: Path) -> list[str]:
    """Return what ``page`` names and the repository does not have."""
    text = FORMER.sub("", page.read_text(encoding="utf-8"))
    files = [name for name in A_FILE.findall(text) + A_FOLDER.findall(text) if not _is_there(name)]
    return files + [name for name in A_MODULE.findall(text) if not _is_module(name)]


def _is_there(name: str) -> bool:
    return (ROOT / name).exists() or (PACKAGE / name).exists() or any(PACKAGE.rglob(name.rstrip("/")))


def _is_module(name: str) -> bool:
    """Whether a dotted name is a module, a name that a module exports, or a group of entry points."""
    if any(f'group="{name}"' in source.read_text(encoding="utf-8") for source in PACKAGE.rglob("*.py")):
        return True
    path = PACKAGE.parent.joinpath(*name.split("."))
    if path.is_dir() or path.with_suffix(".py").exists():
        return True
    home, member = path.parent, path.name
    source = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
    return source.exists() and re.search(rf"\b{member}\b", source.read_text(encoding="utf-8")) is not None


def main() -> None:
    """Print what is gone, and fail if anything is."""
    gone = [f"{page} names {name}, which does not exist." for page in PAGES for name in missing(ROOT / page)]
    if gone:
        raise SystemExit("\n".join(gone))


if __name__ == "__main__":
    main()
