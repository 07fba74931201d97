"""What the studio can show: the registry behind the chooser and the command line."""

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
    from choque.volumes import Volume


MAX_QUOTED = 80
"""Maximum length of a refused word in a message."""


@dataclass(frozen=True)
class Entry:
    """A kind of thing that the studio shows."""

    title: str
    about: str
    """The heading in the chooser, and the text below it."""
    things: Callable[[], Mapping[str, str]]
    """Returns the names to choose from, each with a description."""
    open: Callable[[Sequence[str], Mapping[str, Any]], View]
    """Makes the view of some things (at least one name or path) with parameters; bad input is a `ChoqueError`."""
    parameters: Callable[[str], Mapping[str, object]] | None = None
    """Returns the parameters of a thing with their defaults: numbers, words, True or False. None if there are none."""
    suffixes: tuple[str, ...] = ()
    """Suffixes of the files that it opens, such as ".xml"."""
    claims: Callable[[str], bool] | None = None
    """Returns whether a word that names no file belongs to it; None if only those in `things` do."""
    study: bool = False
    """Whether it can be given by ``--study``."""
    preview: Callable[[str], BodyScene] | None = None
    """Returns the scene of bodies that a thing starts from, for the chooser; None if there is none."""


ENTRIES: Registry[Entry] = Registry(
    "kind of view",
    {
        "scene": "choque.studio.page.scenes:SCENES",
        "generator": "choque.studio.page.scenes:GENERATORS",
        "recording": "choque.studio.page.recordings:RECORDINGS",
        "kinetic": "choque.studio.motion.entry:KINETIC",
        "volumes": "choque.studio.volumes.entry:VOLUMES",
        "boxes": "choque.studio.page.boxes:BOXES",
        "crowd": "choque.studio.page.crowd:CROWDS",
        "neighbors": "choque.studio.page.atoms:NEIGHBORS",
        "meshes": "choque.studio.page.surfaces:MESHES",
    },
    group="choque.studio",
    fits=lambda thing: isinstance(thing, Entry),
    wanted="a choque.studio.page.entries.Entry",
)
"""What the studio shows, by name, in the order of the chooser."""


def find_view(things: Sequence[str], *, study: str | None = None, parameters: Mapping[str, Any] | None = None) -> View:
    """Make the view of ``things``, names or paths; ``study`` names the entry explicitly."""
    return ENTRIES.find(entry_of(things, study) or _unknown(things)).open(things, parameters or {})


def view_of(*things: Any) -> View:
    """Make the view of an object in memory, of two volumes, of meshes, or of a path; a view is returned unchanged.

    A single volume is shown with a small ball beside it, to touch it with.
    """
    from choque.interest import Areas
    from choque.meshes import Mesh
    from choque.neighbors import Neighbors
    from choque.record import Recording
    from choque.scene import BodyScene
    from choque.studio.run import Run
    from choque.theses.fingsics.scene_dat import SceneDat
    from choque.volumes import Volume
    from choque.world import World

    if len(things) == 2 and all(isinstance(thing, Volume) for thing in things):
        return _volumes(("first", "second"), things)
    if len(things) == 2 and isinstance(things[0], Volume) and isinstance(things[1], Mesh):
        from choque.studio.page.clearance import clearance_view

        return clearance_view(*things)
    from choque.studio.page.surfaces import view_of_meshes

    if (surfaces := view_of_meshes(*things)) is not None:
        return surfaces
    if len(things) != 1:
        raise InvalidInput(f"{len(things)} things were given to show; give one, two volumes, or meshes.")
    thing = things[0]
    if isinstance(thing, Volume):
        return _volumes(("volume", "a ball to touch it with"), (thing, _probe(thing)))
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
    if isinstance(thing, Areas):
        from choque.studio.page.crowd import CrowdView

        return CrowdView(thing)
    if isinstance(thing, Neighbors):
        from choque.studio.page.atoms import NeighborsView

        return NeighborsView(thing)
    from choque.studio.page.boxes import view_of_boxes

    found = view_of_boxes(thing)
    if found is not None:
        return found
    raise InvalidInput(
        f"An object of type {type(thing).__name__} was given to show; give a world, a run, a scene of bodies, a "
        "recording, bounds, a kinetic sweep, areas of interest, neighbours, a broad phase, meshes, one or "
        "two volumes, or a path."
    )


def _volumes(names: Sequence[str], volumes: Sequence[Volume]) -> View:
    from choque.studio.volumes.pair import VolumePair
    from choque.studio.volumes.source import VolumeSource
    from choque.studio.volumes.view import VolumeView

    one, two = (VolumeSource(name, model=model) for name, model in zip(names, volumes, strict=True))
    return VolumeView(VolumePair(one, two))


def _probe(volume: Volume) -> Volume:
    """Return a small ball beside a volume, on its lattice, to touch it with."""
    import numpy as np

    from choque.volumes import Volume

    lower, upper = volume.bounds
    sides = np.rint((np.asarray(upper) - lower) / volume.spacing)
    radius = max(2, int(sides.max() / 12))
    steps = np.arange(2 * radius) + 0.5 - radius
    mask = (np.array(np.meshgrid(steps, steps, steps)) ** 2).sum(axis=0) <= radius**2
    place = np.rint((sides - 2 * radius) / 2)
    place[0] = sides[0] + radius
    return Volume.from_voxels(mask, spacing=volume.spacing, origin=np.asarray(lower) + place * volume.spacing)


def entry_of(things: Sequence[str], study: str | None = None) -> str | None:
    """Return the name of the entry for ``things``, by the first of them; None if no entry knows it."""
    if study is not None:
        studies = [name for name in ENTRIES if ENTRIES.find(name).study]
        if study not in studies:
            raise UnknownName("study to show", study, studies)
        return study
    if not things:
        raise InvalidInput("There is nothing to show; give a scene, a recording or a file, or nothing for the chooser.")
    first = things[0]
    suffix, entries = lower_suffix(Path(first)), {name: ENTRIES.find(name) for name in ENTRIES}
    for name, each in entries.items():
        if each.claims is not None and each.claims(first):
            # Two meshes are two volumes; one, or many, are shown as they are.
            is_meshes = name == "volumes" and len(things) != 2 and suffix in entries["meshes"].suffixes
            return "meshes" if is_meshes else name
    for name, each in entries.items():
        if suffix in each.suffixes:
            return "volumes" if name == "boxes" and len(things) == 2 else name  # an array can hold either
    for name, each in entries.items():
        if first in each.things():
            return name
    return None


def in_chooser(word: str) -> tuple[str, str]:
    """Return the entry and the name of a word such as ``scene/bowling``, if the chooser lists it."""
    kind, _, name = word.partition("/")
    if kind not in ENTRIES or name not in ENTRIES.find(kind).things():
        listed = [f"{each}/{thing}" for each in ENTRIES for thing in ENTRIES.find(each).things()]
        raise UnknownName("thing in the chooser", word[:MAX_QUOTED], listed, "choque view")
    return kind, name


def _unknown(things: Sequence[str]) -> NoReturn:
    first, entries = things[0], [ENTRIES.find(name) for name in ENTRIES]
    known = sorted({each for found in entries for each in found.suffixes})
    if Path(first).exists():
        raise InvalidInput(f"The studio does not know what {first} is; it opens {', '.join(known)} and recordings.")
    names = [thing for each in entries for thing in each.things()]
    raise UnknownName("file or scene", first, names, "choque view")
