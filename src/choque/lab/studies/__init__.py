"""The studies, one file each: built in, brought by other packages, or any file of yours.

A file holds a `choque.lab.Study` called ``STUDY``; see `choque.lab.study` for the whole of one. It may import files
beside it, which come last: none of them hides a module of the standard library or of a package. Packages bring theirs
through the entry-point group ``choque.lab``.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from choque._core.registry import Registry
from choque.errors import ChoqueError, InvalidInput, UnreadableFile
from choque.lab.study import Study

STUDIES: Registry[Study] = Registry(
    "study",
    {"comparison": "choque.lab.studies.comparison:STUDY"},
    group="choque.lab",
    fits=lambda study: isinstance(study, Study),
    wanted="a choque.lab.Study",
)


def names() -> list[str]:
    """List every study that can be run by name, in alphabetical order."""
    return STUDIES.names()


def find(reference: str) -> Study:
    """Return the study of a name, or of a file whose path ends in ``.py``."""
    return _from_file(Path(reference)) if reference.endswith(".py") else STUDIES.find(reference)


def _from_file(path: Path) -> Study:
    path = path.resolve()
    if not path.is_file():
        raise UnreadableFile(
            f"There is no study {path}; give a file that defines STUDY, or one of: {', '.join(names())}."
        )
    name = f"choque_study_{path.stem}"
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module  # dataclasses of the file look themselves up
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        specification.loader.exec_module(module)
    except ChoqueError:
        raise
    except Exception as problem:
        raise InvalidInput(f"The study {path} cannot be read: {type(problem).__name__}: {problem}.") from problem
    study = getattr(module, "STUDY", None)
    if not isinstance(study, Study):
        raise InvalidInput(f"{path} defines no study; it must hold a choque.lab.Study called STUDY.")
    study.origin = str(path)
    return study
