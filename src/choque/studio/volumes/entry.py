"""The entry of volumes in the chooser and the command line: two files, two phantoms, or an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from choque._core import check
from choque.errors import InvalidInput
from choque.files import meshes, scan_dicom, scans
from choque.studio.page.entries import Entry
from choque.studio.volumes.pair import VolumePair
from choque.studio.volumes.source import VolumeSource, open_source
from choque.studio.volumes.view import VolumeView
from choque.theses.evm.objects import sphere_mesh
from choque.volumes.reading import is_phantom, suffixes

EXAMPLES = {
    "vertebra-and-screw": "A synthetic vertebra and a screw.",
    "two-spheres": "Two spheres of 760 triangles, as in the EVM thesis, and their voxels.",
    "gyroid-and-channel": "A labyrinth and a solid that fits into it without touching.",
}


SUFFIXES = tuple(suffix for suffix in suffixes(scans.READERS, meshes.READERS) if suffix not in (".npy", ".npz"))
"""Suffixes of files that can only hold volumes; .npy and .npz hold boxes by default."""

MAX_PROBED_FILES = 20
"""Number of files of a folder that are tested for being slices of a scan."""


def open_volumes(things: Sequence[str], parameters: Mapping[str, Any]) -> VolumeView:
    """Open the view of an example, or of two files or phantoms."""
    return VolumeView(find_pair(things, parameters))


def find_pair(things: Sequence[str], parameters: Mapping[str, Any]) -> VolumePair:
    """Return the pair that ``things`` name: an example, or two files or phantoms.

    Parameters are ``voxels_per_unit``, and for scans ``axes`` and ``world`` as in `choque.volumes.Volume.from_scan`,
    and ``threshold``, above which voxels of the first scan are full.
    """
    given = dict(parameters)
    threshold = given.pop("threshold", None)
    pair = _find_pair(things, given)
    if threshold is not None:
        scans_given = [which for which, part in enumerate(pair.parts) if part.source.kind == "scan"]
        if not scans_given:
            raise InvalidInput("A threshold is given, but neither file is a scan; leave it out.")
        pair.set_threshold(scans_given[0], check.number(threshold, "threshold"))
    return pair


def _find_pair(things: Sequence[str], given: dict[str, Any]) -> VolumePair:
    per_unit = given.pop("voxels_per_unit", None)
    axes, world = given.pop("axes", None), given.pop("world", "LPS")
    if given:
        raise InvalidInput(
            f"Volumes have no parameter {next(iter(given))!r}; give voxels_per_unit, threshold, axes or world."
        )
    if per_unit is not None:
        check.positive(per_unit, "voxels_per_unit")
    if len(things) == 1 and things[0] in EXAMPLES:
        pair = _example(things[0])
        if per_unit is not None:
            pair.set_voxels_per_unit(per_unit)
        return pair
    if len(things) != 2:
        raise InvalidInput(
            f"{len(things)} thing{' was' if len(things) == 1 else 's were'} given; the volume view shows two, such as "
            f"scan.nii.gz implant.stl, or one of {', '.join(EXAMPLES)}. To see one scan, write its surface by "
            "'choque volume mesh' and view that."
        )
    one, two = (open_source(thing, axes=axes, world=world) for thing in things)
    return VolumePair(one, two, voxels_per_unit=per_unit)


def is_volume(word: str) -> bool:
    """Return whether a word is a file or folder that can only hold a volume, or a phantom."""
    path = Path(word)
    if path.is_dir():
        files = (file for file in islice(sorted(path.iterdir()), MAX_PROBED_FILES) if file.is_file())
        return any(scans.scan_suffix(file) in (".tif", ".tiff") or scan_dicom.is_dicom(file) for file in files)
    if scans.scan_suffix(path) in SUFFIXES:
        return True
    return is_phantom(word)


def _example(name: str) -> VolumePair:
    if name == "two-spheres":
        sphere = sphere_mesh()
        one, two = (VolumeSource(f"{which} sphere", mesh=sphere) for which in ("first", "second"))
        pair = VolumePair(one, two, voxels_per_unit=8.0)
        pair.move_to((1.5, 0.0, 1.0))
        return pair
    if name == "gyroid-and-channel":
        return VolumePair(open_source("gyroid:40"), open_source("gyroid-channel:40"))
    pair = VolumePair(open_source("vertebra:64"), open_source("screw:48"))
    pair.move_to((8.0, -10.0, 30.0))
    return pair


VOLUMES = Entry(
    title="Volumes",
    about="Two solids from scans, meshes or voxels: drag one through the other and see what collides.",
    things=lambda: EXAMPLES,
    open=open_volumes,
    suffixes=SUFFIXES,
    claims=is_volume,
    study=True,
)
