"""What can be watched: the table that the chooser lists and the command line looks things up in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from choque._core.registry import Registry
from choque.errors import InvalidInput, UnknownName
from choque.files.source import lower_suffix
from choque.studio.page.view import View

if TYPE_CHECKING:
    from choque.scene import BodyScene


@dataclass(frozen=True)
class Entry:
    """A kind of thing that can be watched.

    Attributes
    ----------
    title, about
        The heading in the chooser, and a sentence below it.
    things
        Gives what there is to choose: names, each with a sentence.
    open
        Makes the view of some things, one name or path at least, with parameters; bad input is a `ChoqueError`.
    parameters
        Gives the parameters of a thing with their defaults: numbers, words, True or False. None where there are none.
    suffixes
        Of the files that it opens, such as ".xml".
    claims
        Tells whether a word that is no file is meant for it; None where only things in `things` are.
    study
        Whether ``--study`` names it.
    preview
        Gives the scene of bodies that a thing starts from, for the chooser to show; None where there is none.
    """

    title: str
    about: str
    things: Callable[[], Mapping[str, str]]
    open: Callable[[Sequence[str], Mapping[str, Any]], View]
    parameters: Callable[[str], Mapping[str, object]] | None = None
    suffixes: tuple[str, ...] = ()
    claims: Callable[[str], bool] | None = None
    study: bool = False
    preview: Callable[[str], BodyScene] | None = None


ENTRIES: Registry[Entry] = Registry(
    "kind of view",
    {
        "scene": "choque.studio.page.scenes:SCENES",
        "generator": "choque.studio.page.scenes:GENERATORS",
        "recording": "choque.studio.page.recordings:RECORDINGS",
        "kinetic": "choque.studio.motion.entry:KINETIC",
        "volumes": "choque.studio.volumes.entry:VOLUMES",
    },
    group="choque.studio",
    fits=lambda thing: isinstance(thing, Entry),
    wanted="a choque.studio.page.entries.Entry",
)
"""What the studio shows, by name, in the order of the chooser."""


def find_view(things: Sequence[str], *, study: str | None = None, parameters: Mapping[str, Any] | None = None) -> View:
    """The view of ``things``, each the name of something or a path; ``study`` says outright which entry is meant."""
    return ENTRIES.find(entry_of(things, study) or _unknown(things)).open(things, parameters or {})


def view_of(thing: Any) -> View:
    """The view of something that is in memory: a world, a run, a scene of bodies, a recording, or a view itself."""
    from choque.record import Recording
    from choque.scene import BodyScene
    from choque.theses.fingsics.scene_dat import SceneDat
    from choque.world import Run, World

    if isinstance(thing, View):
        return thing
    if isinstance(thing, World | Run | BodyScene):
        from choque.studio.page.world import WorldView

        return WorldView(thing)
    if isinstance(thing, Recording | SceneDat):
        from choque.studio.page.recording import RecordingView

        return RecordingView(thing)
    if isinstance(thing, str | Path):
        return find_view([str(thing)])
    raise InvalidInput(
        f"A {type(thing).__name__} was given to show; give a world, a run, a scene of bodies, a recording or a path."
    )


def entry_of(things: Sequence[str], study: str | None = None) -> str | None:
    """Which entry ``things`` are for, judged by the first of them; None where no entry knows it."""
    if study is not None:
        studies = [name for name in ENTRIES if ENTRIES.find(name).study]
        if study not in studies:
            raise UnknownName("study to watch", study, studies)
        return study
    if not things:
        raise InvalidInput("There is nothing to show; give a scene, a recording or a file, or nothing for the chooser.")
    first = things[0]
    suffix, entries = lower_suffix(Path(first)), {name: ENTRIES.find(name) for name in ENTRIES}
    for name, each in entries.items():
        if each.claims is not None and each.claims(first):
            return name
    for name, each in entries.items():
        if suffix in each.suffixes:
            return name
    for name, each in entries.items():
        if first in each.things():
            return name
    return None


def _unknown(things: Sequence[str]) -> NoReturn:
    first, entries = things[0], [ENTRIES.find(name) for name in ENTRIES]
    known = sorted({each for found in entries for each in found.suffixes})
    if Path(first).exists():
        raise InvalidInput(f"The studio does not know what {first} is; it opens {', '.join(known)} and recordings.")
    names = [thing for each in entries for thing in each.things()]
    raise UnknownName("file or scene", first, names)
