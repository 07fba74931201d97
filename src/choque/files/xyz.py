"""Atoms in extended XYZ files: a count, a line of keys and values, and a line an atom, frame after frame.

The second line of a frame may have ``Lattice="…"``, nine numbers, vector by vector; ``pbc="T T F"``; and
``Properties=species:S:1:pos:R:3:…``, the columns of the lines that follow. Plain XYZ files have a comment there, and
the columns symbol, x, y, z.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque._core.types import F64
from choque.errors import InvalidInput, UnreadableFile
from choque.files.source import Numbers, naming_damage, read_text

KEY_AND_VALUE = re.compile(r"""([A-Za-z_][\w-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|\{([^}]*)\}|(\S+))""")
TRUE, FALSE = {"t", "true", "1"}, {"f", "false", "0"}
MAX_COLUMNS = 1000
MAX_SYMBOL = 64  # longest name of an atom: an array of text gives every name the space of the longest


@dataclass(frozen=True)
class Atoms:
    """Atoms of one frame."""

    symbols: NDArray[np.str_]  #: (n,) text, the kind of each atom; empty strings if the file names none.
    positions: F64  #: (n, 3) float64, usually in Å.
    cell: F64 | None  #: (3, 3) float64, a vector a row, or None.
    periodic: tuple[bool, bool, bool]  #: Whether space repeats along each vector.


def read_atoms(path: str | os.PathLike[str], *, frame: int = 0) -> Atoms:
    """Read the atoms of one ``frame`` of an XYZ or extended XYZ file."""
    wanted = check.whole_number(frame, "frame", 0)
    file = Path(path)
    lines = read_text(file, "XYZ, which is text").splitlines()
    line = 0
    for number in range(wanted + 1):
        while number and line < len(lines) and not lines[line].strip():
            line += 1
        if number and line >= len(lines):
            raise InvalidInput(f"frame is {wanted}; {file} has {number}, numbered from 0.")
        count = _read_count(file, lines, line)
        if number < wanted:
            line += count + 2
    with naming_damage(file):
        return _read_frame(file, lines, line, count)


def _read_count(file: Path, lines: list[str], line: int) -> int:
    words = lines[line].split() if line < len(lines) else []
    if len(words) != 1 or not words[0].isascii() or not words[0].isdigit() or len(words[0]) > 12:
        raise UnreadableFile(
            f"Line {line + 1} of {file} is {lines[line][:40] if line < len(lines) else ''!r}; a frame of an XYZ file "
            "begins with the number of atoms. Other formats can be read by ASE: "
            "choque.neighbors.neighbor_list takes its Atoms."
        )
    count = int(words[0])
    if line + 2 + count > len(lines):
        raise UnreadableFile(
            f"The file {file} is truncated: line {line + 1} announces {count:,} atoms, and "
            f"{max(len(lines) - line - 2, 0):,} lines follow."
        )
    return count


def _read_frame(file: Path, lines: list[str], line: int, count: int) -> Atoms:
    header = {
        found[1].lower(): next(part for part in found.groups()[1:] if part is not None)
        for found in KEY_AND_VALUE.finditer(lines[line + 1])
    }
    kind_column, first = _columns(file, header.get("properties", "species:S:1:pos:R:3"))
    cell = _cell(file, header.get("lattice"))
    periodic = _periodic(file, header.get("pbc"), cell is not None)
    symbols: list[str] = []
    numbers = Numbers(file, "d")
    for row, text in enumerate(lines[line + 2 : line + 2 + count], line + 3):
        words = text.split()
        if len(words) < max(first + 3, kind_column + 1):
            raise UnreadableFile(f"Line {row} of {file} has {len(words)} columns; its atoms need {first + 3}.")
        symbol = words[kind_column] if kind_column >= 0 else ""
        if len(symbol) > MAX_SYMBOL:
            raise UnreadableFile(f"Line {row} of {file} names an atom {symbol[:40]!r}…; up to {MAX_SYMBOL} letters.")
        symbols.append(symbol)
        try:
            numbers.extend(list(map(float, words[first : first + 3])))
        except ValueError:
            raise UnreadableFile(f"Line {row} of {file} is {text[:80]!r}; a position is three numbers.") from None
    positions = numbers.array().reshape(count, 3)
    if not np.isfinite(positions).all():
        bad = int(np.argmax(~np.isfinite(positions).all(axis=1)))
        given = str(positions[bad].tolist())
        raise UnreadableFile(f"Line {line + 3 + bad} of {file} has the position {given}; give finite numbers.")
    return Atoms(np.array(symbols, np.str_), positions, cell, periodic)


def _columns(file: Path, properties: str) -> tuple[int, int]:
    """Return the column of the symbols, or -1, and the first column of the positions."""
    words = properties.split(":")
    column, kind, first = 0, -1, -1
    for name, letter, width in zip(words[::3], words[1::3], words[2::3], strict=False):
        if not width.isascii() or not width.isdigit() or not 0 < int(width) <= MAX_COLUMNS:
            raise UnreadableFile(f"Properties of {file} has {name}:{letter}:{width}; the last part must be a number.")
        if name.lower() == "species" and letter == "S":
            kind = column
        if name.lower() in ("pos", "positions") and int(width) == 3:
            first = column
        column += int(width)
    if first < 0 or len(words) % 3:
        raise UnreadableFile(f"Properties of {file} is {properties[:80]!r}; it must name three columns: pos:R:3.")
    return kind, first


def _cell(file: Path, lattice: str | None) -> F64 | None:
    if lattice is None:
        return None
    words = lattice.replace(",", " ").split()
    cell = np.array(words[:10], np.str_).astype(np.float64)
    if len(words) != 9 or not np.isfinite(cell).all():
        raise UnreadableFile(f"Lattice of {file} is {lattice[:80]!r}; it must be nine finite numbers, by vectors.")
    return cell.reshape(3, 3)


def _periodic(file: Path, text: str | None, has_cell: bool) -> tuple[bool, bool, bool]:
    if text is None:
        return has_cell, has_cell, has_cell
    words = text.replace(",", " ").lower().split()
    if len(words) != 3 or not set(words) <= TRUE | FALSE:
        raise UnreadableFile(f"pbc of {file} is {text[:40]!r}; it must be three times T or F.")
    return words[0] in TRUE, words[1] in TRUE, words[2] in TRUE
