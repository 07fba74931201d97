"""Completion of names of methods, scenes and studies in the shell."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from glob import escape, glob


def _completer(names: Callable[[], Iterable[str]], *, or_files: bool = False) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        done, comma, word = incomplete.rpartition(",")  # names can be joined by commas
        found = [f"{done}{comma}{name}" for name in names() if name.startswith(word)]
        return found + (sorted(glob(f"{escape(incomplete)}*")) if or_files else [])

    return complete


def _methods() -> Iterable[str]:
    from choque import broad

    return broad.names()


def _broad_phases() -> Iterable[str]:
    from choque.theses.fingsics.config import METHOD_ALIASES

    return [*_methods(), *METHOD_ALIASES]


def _box_scenes() -> Iterable[str]:
    from choque import scene

    return scene.names()


def _body_scenes() -> Iterable[str]:
    from choque import scene

    return [*scene.names("built-in"), *scene.names("bodies")]


def _scenes() -> Iterable[str]:
    return [*_body_scenes(), *_box_scenes()]


def _kinetic_scenes() -> Iterable[str]:
    from choque.theses.kinetic import scenes

    return scenes.names()


def _studies() -> Iterable[str]:
    from choque import lab

    return lab.names()


complete_methods = _completer(_methods)
complete_broad_phases = _completer(_broad_phases)
complete_box_scenes = _completer(_box_scenes)
complete_scenes = _completer(_scenes)
complete_body_scenes = _completer(_body_scenes, or_files=True)
complete_kinetic_scenes = _completer(_kinetic_scenes, or_files=True)
complete_studies = _completer(_studies, or_files=True)
