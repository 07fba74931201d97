"""Reading and writing volumes: the format is chosen by the suffix.

Formats of solids, beside scans and meshes, are announced in the entry-point group ``choque.volume_formats``, named by
their suffix without the dot; Choque's own are in `choque.theses.evm`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from choque._core import check
from choque._core.registry import Registry
from choque._core.types import Bools
from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.files import meshes, scans
from choque.files.scans import Scan
from choque.files.source import read_head
from choque.volumes._lattice import check_cells
from choque.volumes._volume import Volume


class VolumeFormat(NamedTuple):
    """How solids are read from and written to files of one suffix."""

    read: Callable[..., Volume]  # takes a path and options of the format
    write: Callable[..., None]  # takes a path, a volume and options of the format


FORMATS: Registry[VolumeFormat] = Registry("format for volumes", group="choque.volume_formats")

PHANTOMS: Registry[Callable[..., Bools]] = Registry("phantom", group="choque.phantoms")
"""Test volumes by name: functions of the edge of a cube [voxels], and of options, that return a mask."""


def make_phantom(name: str, size: int = 64, **options: float) -> Volume:
    """Return the phantom ``name`` in a cube of voxels of edge 1, with ``size`` voxels along each axis."""
    shape, edge = PHANTOMS.find(name), check.whole_number(size, "size", 1)
    check_cells((edge,) * 3, "The phantom")
    return Volume.from_voxels(shape(edge, **options))


def is_phantom(word: str | os.PathLike[str]) -> bool:
    """Return whether a word names a phantom, with or without ``:size``, and not a file."""
    return os.fspath(word).partition(":")[0] in PHANTOMS and not Path(word).exists()


def find_phantom(word: str | os.PathLike[str]) -> Volume:
    """Return the phantom that a word names: ``screw``, or ``screw:96`` for one of 96³ voxels."""
    name, colon, size = os.fspath(word).partition(":")
    if colon and not size.isdecimal():
        raise InvalidInput(f"The phantom is {os.fspath(word)!r}; write its size as in {name}:64.")
    return make_phantom(name, int(size)) if colon else make_phantom(name)


def suffixes(*tables: dict[str, str]) -> list[str]:
    """Return the suffixes of `FORMATS` and of ``tables``, in alphabetical order."""
    return sorted({f".{name}" for name in FORMATS}.union(*tables))


def kind_of(path: str | os.PathLike[str]) -> str:
    """Return the kind of a file by its name: ``model``, ``scan`` or ``mesh``; a folder is a scan, a phantom a model."""
    if is_phantom(path):
        return "model"
    suffix = scans.scan_suffix(path)
    if suffix[1:] in FORMATS:
        return "model"
    if suffix in meshes.READERS:
        return "mesh"
    if Path(path).is_dir() or suffix in scans.READERS:
        return "scan"
    read_head(Path(path))
    readable = suffixes(scans.READERS, meshes.READERS)
    raise UnreadableFile(
        f"The file {path} ends in {suffix!r}; volumes are read from files that end in {', '.join(readable)}, and from "
        "folders of DICOM or TIFF slices."
    )


def read_volume(path: str | os.PathLike[str], **options: Any) -> Volume:
    """Read a volume from a file; see `Volume.read`."""
    if is_phantom(path):
        if options:
            raise InvalidInput(f"{path} is a phantom and takes no options; leave out {', '.join(options)}.")
        return find_phantom(path)
    kind = kind_of(path)
    if kind == "scan":
        return Volume.from_scan(path, **options)
    if kind == "mesh":
        return Volume.from_mesh(path, **options)
    return FORMATS.find(scans.scan_suffix(path)[1:]).read(path, **options)


def write_volume(path: str | os.PathLike[str], volume: Volume, **options: Any) -> None:
    """Write a volume to a file; see `Volume.write`."""
    suffix = scans.scan_suffix(path)
    model, lattice = volume.model, volume.lattice
    if suffix in meshes.WRITERS:
        meshes.write_mesh(path, *volume.surface())
    elif suffix[1:] in FORMATS:
        FORMATS.find(suffix[1:]).write(path, volume, **options)
    elif suffix not in scans.WRITERS:
        raise UnknownName("format for volumes", suffix, suffixes(scans.WRITERS, meshes.WRITERS))
    else:
        mask = model.mask()
        mask = mask if mask.size else np.zeros((1, 1, 1), np.bool_)  # scan formats have no empty images
        centre = scans.as_triple(lattice.to_world(np.array(model.bounds[0]) + 0.5))
        scans.write_scan(path, Scan(mask, lattice.spacing, centre), **options)
