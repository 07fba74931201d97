"""ASE's function `neighbor_list`, with its arguments and conventions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from choque._core import check
from choque._core.threads import resolve_count
from choque._core.types import I64
from choque.errors import InvalidInput
from choque.neighbors import _find
from choque.neighbors._cells import Cells, check_cells
from choque.neighbors.lists import NearLists
from choque.neighbors.search import ALL, FULL, Group, Pass, prepare

SYMBOLS = (  # noqa: SIM905
    "X H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr "
    "Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt "
    "Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv "
    "Ts Og"
).split()
"""Chemical symbols by atomic number."""


def neighbor_list(quantities: str, a: Any, cutoff: Any, self_interaction: bool = False) -> Any:
    """Return the neighbours of atoms; a replacement for ``ase.neighborlist.neighbor_list``.

    Parameters
    ----------
    quantities
        Some of the letters ``ijdDS``, in the order in which arrays are returned; `choque.neighbors` describes them.
    a
        ASE's `Atoms`, or any object with ``positions`` (n, 3), ``cell`` (3, 3), ``pbc`` (3,) and ``numbers`` (n,).
        Left-handed cells are accepted, as ASE does.
    cutoff
        A number: one cut-off for all pairs. A sequence (n,): a radius for each atom; two atoms are neighbours if their
        distance is less than the sum. A dictionary: a cut-off for each two kinds of atoms, by symbols or atomic
        numbers, such as ``{("H", "C"): 1.3, (1, 1): 0.8}``; kinds that are not in it have no neighbours.
    self_interaction
        Whether each atom is its own neighbour, at the distance 0.

    Returns
    -------
    An array for each letter, in a tuple if there are several; ``i``, ``j`` and ``S`` are int64, as ASE returns them.
    Rows are sorted by i.
    """
    letters = _find.check_quantities(quantities, "ijdDS")
    part = ALL if check.boolean(self_interaction, "self_interaction") else FULL
    has_radii = not isinstance(cutoff, Mapping) and np.ndim(cutoff) > 0
    radii = cutoff if has_radii else None
    group, dimension = _find.check_group(_attribute(a, "positions"), radii, "positions", "cutoff")
    cells = check_cells(_attribute(a, "cell"), np.asarray(_attribute(a, "pbc"), bool), dimension, left_handed=True)
    if isinstance(cutoff, Mapping):
        kinds = np.atleast_1d(check.integers(_attribute(a, "numbers"), "numbers", 0)).astype(np.int64)
        check.same_length(kinds, "numbers", len(group.position), "atoms")
        lists = _search_kinds(group, kinds, cutoff, cells, part, letters)
    else:
        reach = 0.0 if has_radii else _find.check_reach(cutoff, None)
        task = _find.Task(group, group, _find.check_batch(None, len(group.position)), cells, reach, part)
        _, lists = _find.search(task, letters, resolve_count(None, len(group.position)))
    wide = lists._replace(i=lists.i.astype(np.int64), j=lists.j.astype(np.int64), shift=lists.shift.astype(np.int64))
    return _find.answer(wide, letters, dimension)


def _attribute(atoms: Any, name: str) -> Any:
    try:
        return np.asarray(getattr(atoms, name))
    except AttributeError:
        raise InvalidInput(
            f"{type(atoms).__name__} has no attribute {name!r}; neighbor_list takes ASE's Atoms or an object with "
            "positions, cell, pbc and numbers. For arrays call choque.neighbors(positions, cutoff, cell=cell)."
        ) from None


def _search_kinds(
    group: Group, kinds: I64, cutoffs: Mapping[Any, float], cells: Cells, part: int, letters: str
) -> NearLists:
    """Search kind by kind: each two kinds have a cut-off of their own."""
    members = {int(kind): group.take(np.flatnonzero(kinds == kind)) for kind in np.unique(kinds)}
    thread_count = resolve_count(None, len(kinds))
    passes: list[Pass] = []
    for (one, other), cutoff in _table(cutoffs).items():
        if one in members and other in members:
            kept = part if one == other else ALL
            passes.append(prepare(members[one], members[other], cells, cutoff, kept, thread_count))
    return _find.gather(passes, None, len(kinds), letters, thread_count)[1]


def _table(cutoffs: Mapping[Any, float]) -> dict[tuple[int, int], float]:
    table: dict[tuple[int, int], float] = {}
    for key, value in cutoffs.items():
        if not isinstance(key, tuple) or len(key) != 2:
            raise InvalidInput(f"cutoff has the key {key!r}; keys must be two symbols or atomic numbers: ('H', 'C').")
        one, other = _number(key[0]), _number(key[1])
        table[one, other] = table[other, one] = _find.check_reach(value, None)
    return table


def _number(kind: Any) -> int:
    if isinstance(kind, str):
        return SYMBOLS.index(check.choice(kind, "chemical symbol", SYMBOLS))
    return check.whole_number(kind, "an atomic number in cutoff", 0)
