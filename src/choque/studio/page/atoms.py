"""The view of neighbours: points, the bonds between those closer than a cut-off, and the periodic cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import choque
from choque._core import check
from choque.errors import InvalidInput
from choque.files import read_atoms
from choque.neighbors import Neighbors
from choque.studio.page.entries import Entry
from choque.studio.page.findings import Findings
from choque.studio.page.points import Motion, PointsView, chosen, in_space
from choque.studio.page.run_panels import counted
from choque.studio.page.still import Lines
from choque.studio.page.wires import EDGES, NO_SEGMENTS, Segments
from choque.studio.palette import FREE, GLOW, GRID, PICKED, Colors, Rgb, blended

BOND: Rgb = (176, 190, 208)
ACROSS: Rgb = (120, 220, 255)
"""Bonds within the cell, and those that leave it on one side and return on the other."""

MAX_BONDS = 30_000
"""Maximum number of bonds that are drawn."""

SIZE = 0.13
"""Radius of a ball, as a share of the cut-off."""

MAX_POINTS = 200_000


class NeighborsView(PointsView):
    """Points and their bonds; a point with fewer or more neighbours than most glows.

    Parameters
    ----------
    neighbors
        Shown as they are at each moment, not copied: a program may move the points with `Studio.ask`. Another cut-off,
        chosen on the page, makes a list of the page's own; so does a list with ``full=False``.
    motion
        Moves the points of ``neighbors`` by some seconds; None for points that something else moves.
    """

    picture_name = "choque-neighbors.png"

    def __init__(self, neighbors: Neighbors, *, motion: Motion | None = None, title: str = "Neighbours") -> None:
        if not len(neighbors.positions):
            raise InvalidInput("These neighbours have no points yet; call update(positions) first.")
        super().__init__(motion)
        self.neighbors, self.title = neighbors, title
        self.cutoff = neighbors.cutoff
        i, j = neighbors.find("ij")
        self._is_half = bool((i < j).any()) and not bool((i > j).any())  # each pair is at one of its points only
        self._own: Neighbors | None = None

    # Content

    def points(self) -> NDArray[np.floating]:
        """Return the points, in the cell where space repeats."""
        positions, cell = self.neighbors.positions, self.neighbors.cell
        if cell is None:
            return positions
        part = np.linalg.solve(cell.T, positions.T).T
        part -= np.where(self.neighbors.periodic, np.floor(part), 0.0)
        wrapped: NDArray[np.float64] = part @ cell
        return wrapped

    def sizes(self) -> ArrayLike:
        """Return one radius for all."""
        return SIZE * self.cutoff

    def version(self) -> object:
        """Return a number that differs after each update."""
        return hash((self.neighbors.positions.tobytes(), self.cutoff))

    @property
    def shown(self) -> Neighbors:
        """The neighbours by the cut-off of the page."""
        if self.cutoff == self.neighbors.cutoff and not self._is_half:
            return self.neighbors
        if self._own is None or self._own.cutoff != self.cutoff:
            self._own = Neighbors(self.cutoff, skin=0.1 * self.cutoff)
        periodic = self.neighbors.periodic if self.neighbors.cell is not None else None
        self._own.update(self.neighbors.positions, self.neighbors.cell, periodic=periodic)
        return self._own

    def status(self) -> str:
        """Return how many neighbours there are, and how rarely they are searched."""
        found = self.shown
        count = len(self.cast())
        cell = "no cell" if found.cell is None else f"periodic along {int(found.periodic.sum())} of {len(found.cell)}"
        lines = [
            f"<b>{count:,} points</b>, {cell}",
            f"{len(found) / max(count, 1):.2f} neighbours each, closer than {self.cutoff:.4g}",
        ]
        if found.skin:
            searches = counted(found.rebuild_count, "search", "searches")
            lines.append(f"{searches} so far: one serves until an atom has moved by {found.skin / 2:.2g}")
        if self.picked is not None:
            near = self._of_picked()
            lines.append(f"<b>Point {self.picked}</b>: {len(near):,} neighbours: {', '.join(map(str, near[:12]))}")
        else:
            lines.append("Click a point to see its neighbours. Orange points have more or fewer than most.")
        return "<br>".join(lines)

    def _of_picked(self) -> list[int]:
        i, j = self.shown.find("ij")
        listed: list[int] = j[i == self.picked].tolist()
        return sorted(listed)

    def add_controls(self) -> None:
        """Add the cut-off."""
        step = 10.0 ** np.floor(np.log10(0.01 * self.neighbors.cutoff))
        top = step * np.ceil(2.0 * self.neighbors.cutoff / step)
        self.page.slider("Cut-off", step, float(top), step, self.cutoff, self.set_cutoff)

    def set_cutoff(self, value: float) -> None:
        """Show the neighbours closer than another cut-off."""
        self.cutoff, self.is_stale = value, True

    def lines(self) -> list[Lines]:
        """Return the bonds, those that cross the border of the cell in halves, and the edges of the cell."""
        i, j, step = self.shown.find("ijD")
        kept = np.flatnonzero(i < j)[:MAX_BONDS]
        i, j = i[kept], j[kept]
        place, way = in_space(self.points()), in_space(step[kept])
        crosses = np.abs(place[j] - place[i] - way).max(axis=1, initial=0.0) > 1e-9 * (1.0 + self.cutoff)
        inside = np.stack((place[i], place[j]), axis=1)[~crosses]
        half = 0.5 * way[crosses]
        out = np.stack((place[i[crosses]], place[i[crosses]] + half), axis=1)
        back = np.stack((place[j[crosses]], place[j[crosses]] - half), axis=1)
        return [
            Lines(inside.astype(np.float32), BOND),
            Lines(np.concatenate((out, back)).astype(np.float32), ACROSS),
            Lines(self._cell(), GRID),
        ]

    def _cell(self) -> Segments:
        cell = self.neighbors.cell
        if cell is None:
            return NO_SEGMENTS
        vectors = np.zeros((3, len(cell)))
        vectors[: len(cell)] = cell
        corners = np.array([[corner >> axis & 1 for axis in range(3)] for corner in range(8)], np.float64) @ vectors
        edges = EDGES if len(cell) == 3 else EDGES[(EDGES < 4).all(axis=1)]
        ends: Segments = in_space(corners)[edges].astype(np.float32)
        return ends

    def _colors(self, findings: Findings) -> Colors:  # noqa: ARG002
        count = np.diff(self.shown.offsets)
        usual = int(np.bincount(count, minlength=1).argmax())
        share = np.clip(0.8 * np.abs(count - usual), 0.0, 1.0)
        color = blended(np.tile(np.array(FREE, np.uint8), (len(count), 1)), GLOW, share)
        if self.picked is not None:
            i, j = self.shown.find("ij")
            color[j[i == self.picked]] = ACROSS
            color[self.picked] = PICKED
        return color


class Crystal:
    """Atoms of a diamond lattice in a periodic cell that vibrate, and drift through its borders.

    Parameters
    ----------
    count
        About how many atoms; a cube of unit cells of eight.
    heat
        Amplitude of the vibration, as a share of a bond.
    """

    def __init__(self, count: int, *, heat: float = 0.09, seed: int = 0) -> None:
        check.whole_number(count, "n", 1, MAX_POINTS)
        random = np.random.default_rng(seed)
        side = max(1, round((count / 8) ** (1 / 3)))
        base = np.array([(0, 0, 0), (0, 2, 2), (2, 0, 2), (2, 2, 0), (1, 1, 1), (1, 3, 3), (3, 1, 3), (3, 3, 1)]) / 4.0
        cells = np.stack(np.meshgrid(*3 * [np.arange(side)], indexing="ij"), axis=-1).reshape(-1, 1, 3)
        self._lattice = (LENGTH * (cells + base)).reshape(-1, 3)
        self._cell = np.full(3, LENGTH * side)
        bond = 3**0.5 / 4 * LENGTH
        self._amplitude = check.number(heat, "heat", 0, 1) * bond * random.normal(size=self._lattice.shape)
        self._phase = random.uniform(0.0, 2.0 * np.pi, self._lattice.shape)
        self._pace = random.uniform(3.0, 7.0, self._lattice.shape)
        self._time = 0.0
        self.neighbors = Neighbors(1.2 * bond, skin=0.3 * bond)
        self.move(0.0)

    def move(self, seconds: float) -> None:
        """Let some seconds pass."""
        self._time += seconds
        place = self._lattice + self._amplitude * np.sin(self._phase + self._pace * self._time)
        self.neighbors.update(place + self._time * np.array([0.25, 0.1, 0.15]), self._cell)


LENGTH = 3.567
"""Edge of the unit cell of diamond [Å]."""

_PARAMETERS: dict[str, Any] = {"n": 512, "heat": 0.09, "seed": 0}
NAME = "diamond"


def _open(things: Sequence[str], parameters: Mapping[str, Any]) -> NeighborsView:
    if len(things) != 1:
        raise InvalidInput(f"{len(things)} sets of points were given, {', '.join(things)}; the studio shows one.")
    word = things[0]
    if _is_crystal(word):
        given = chosen(word, _PARAMETERS, parameters)
        crystal = Crystal(given["n"], heat=given["heat"], seed=given["seed"])
        return NeighborsView(crystal.neighbors, motion=crystal.move, title="Atoms of diamond")
    given = dict(parameters)
    atoms = read_atoms(word, frame=check.whole_number(given.pop("frame", 0), "frame", 0))
    cutoff = given.pop("cutoff", None)
    if given:
        raise InvalidInput(f"Atoms of a file have no parameter {next(iter(given))!r}; give cutoff or frame.")
    if not len(atoms.positions):
        raise InvalidInput(f"{word} has no atoms in this frame.")
    neighbors = Neighbors(_usual_bond(atoms.positions) if cutoff is None else cutoff)
    neighbors.update(atoms.positions, atoms.cell, periodic=atoms.periodic if atoms.cell is not None else None)
    return NeighborsView(neighbors, title=Path(word).name)


def _usual_bond(positions: NDArray[np.float64]) -> float:
    """Return a cut-off at which most points have neighbours: 1.3 times the usual distance to the nearest one."""
    sides = np.ptp(positions, axis=0)
    spacing = float(np.prod(sides[sides > 0.0]) / len(positions)) ** (1.0 / max(int((sides > 0.0).sum()), 1))
    i, distance = choque.neighbors(positions, 2.0 * spacing or 1.0, quantities="id")  # type: ignore[operator]
    nearest = np.full(len(positions), np.inf)
    np.minimum.at(nearest, i, distance)
    usual = float(np.median(nearest))
    return 1.3 * usual if np.isfinite(usual) and usual > 0.0 else 2.0 * spacing or 1.0


def _is_crystal(word: str) -> bool:
    return word.partition(":")[0] == NAME and not Path(word).exists()


NEIGHBORS = Entry(
    title="Neighbours",
    about="Points in a periodic cell, and bonds between those closer than a cut-off.",
    things=lambda: {NAME: "Atoms of diamond that vibrate, and drift through the borders of their cell."},
    open=_open,
    parameters=lambda _: _PARAMETERS,
    suffixes=(".xyz", ".extxyz"),
    claims=_is_crystal,
)
