"""The studies, one file each: built in, brought by other packages, or any file of yours.

A file holds a `choque.lab.Study` called ``STUDY``; see `choque.lab.study` for the whole of one. It may import files
beside it, which come last: none of them hides a module of the standard library or of a package. Packages bring theirs
through the entry-point group ``choque.lab``.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from importlib.metadata import entry_points
from pathlib import Path

from choque.errors import ChoqueError, InvalidInput, UnknownName, UnreadableFile
from choque.lab.study import Study

GROUP = "choque.lab"


def names() -> list[str]:
    """List every study that can be run by name, sorted."""
    return sorted({*_built_in(), *_brought()})


def find(reference: str) -> Study:
    """Give the study of a name, or of a file whose path ends in ``.py``."""
    if reference.endswith(".py"):
        return _from_file(Path(reference))
    if reference in _built_in():
        study = importlib.import_module(f"{__name__}.{reference}").STUDY
    elif reference in _brought():
        study = _brought()[reference].load()
    else:
        raise UnknownName("study", reference, names())
    return _checked(study, reference)


def _built_in() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]


def _brought() -> dict[str, importlib.metadata.EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


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
    study = _checked(getattr(module, "STUDY", None), str(path))
    study.origin = str(path)
    return study


def _checked(study: object, reference: str) -> Study:
    if isinstance(study, Study):
        return study
    raise InvalidInput(f"{reference} defines no study; it must hold a choque.lab.Study called STUDY.")
