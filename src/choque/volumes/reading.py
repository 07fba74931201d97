"""Reading and writing volumes: the format is chosen by the suffix."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.files import meshes, scans
from choque.files.scans import Scan
from choque.files.source import read_head
from choque.files.voxel_text import VertexFile, read_evm, read_vox, write_evm, write_vox
from choque.volumes import phantoms
from choque.volumes._lattice import Lattice
from choque.volumes._model import ExtremeVertices
from choque.volumes._volume import Volume
from choque.volumes.keys import ORDERS

MODEL_SUFFIXES = (".evm", ".vox")
READABLE = sorted({*MODEL_SUFFIXES, *scans.READERS, *meshes.READERS})
WRITABLE = sorted({*MODEL_SUFFIXES, *scans.WRITERS, *meshes.WRITERS})


def kind_of(path: str | os.PathLike[str]) -> str:
    """Return the kind of a file by its name: ``model``, ``scan`` or ``mesh``; a folder is a scan, a phantom a model."""
    if phantoms.is_phantom(path):
        return "model"
    suffix = scans.scan_suffix(path)
    if suffix in MODEL_SUFFIXES:
        return "model"
    if suffix in meshes.READERS:
        return "mesh"
    if Path(path).is_dir() or suffix in scans.READERS:
        return "scan"
    read_head(Path(path))
    raise UnreadableFile(
        f"The file {path} ends in {suffix!r}; volumes are read from files that end in {', '.join(READABLE)}, and from "
        "folders of DICOM or TIFF slices."
    )


def read_volume(path: str | os.PathLike[str], **options: Any) -> Volume:
    """Read a volume from a file; see `Volume.read`."""
    if phantoms.is_phantom(path):
        if options:
            raise InvalidInput(f"{path} is a phantom and takes no options; leave out {', '.join(options)}.")
        return phantoms.find(path)
    kind = kind_of(path)
    if kind == "scan":
        return Volume.from_scan(path, **options)
    if kind == "mesh":
        return Volume.from_mesh(path, **options)
    if scans.scan_suffix(path) == ".vox":
        mask, first = read_vox(path, **options)
        return Volume(ExtremeVertices.from_mask(mask, offset=first), Lattice())
    found = read_evm(path, **options)
    if found.order not in ORDERS[3]:
        raise UnreadableFile(f"The file {path} names the order {found.order!r}; orders are {', '.join(ORDERS[3])}.")
    try:
        model = ExtremeVertices.from_points(found.points, order=found.order)
    except InvalidInput as problem:
        raise UnreadableFile(f"The file {path} holds no solid. {problem}") from problem
    return Volume(model, Lattice.make(found.spacing, found.origin))


def write_volume(path: str | os.PathLike[str], volume: Volume, **options: Any) -> None:
    """Write a volume to a file; see `Volume.write`."""
    suffix = scans.scan_suffix(path)
    if suffix not in WRITABLE:
        raise UnknownName("format for volumes", suffix, WRITABLE)
    model, lattice = volume.model, volume.lattice
    if suffix in meshes.WRITERS:
        meshes.write_mesh(path, *volume.surface())
    elif suffix == ".evm":
        write_evm(path, VertexFile(model.points, model.order, lattice.spacing, lattice.origin), **options)
    elif suffix == ".vox":
        write_vox(path, model.mask(), _whole_corner(volume), **options)
    else:
        mask = model.mask()
        mask = mask if mask.size else np.zeros((1, 1, 1), np.bool_)  # scan formats have no empty images
        centre = lattice.to_world(np.array(model.bounds[0]) + 0.5)
        scan = Scan(mask, lattice.spacing, (float(centre[0]), float(centre[1]), float(centre[2])))
        scans.write_scan(path, scan, **options)


def _whole_corner(volume: Volume) -> tuple[int, int, int]:
    corner = volume.bounds[0]
    if volume.spacing != (1.0, 1.0, 1.0) or not np.array_equal(corner, np.rint(corner)):
        raise InvalidInput(
            f"The format .vox holds voxels of edge 1 at whole positions; these are {volume.spacing} at "
            f"{corner.tolist()}. Write .evm, .nii.gz or .nrrd instead."
        )
    return (int(corner[0]), int(corner[1]), int(corner[2]))
