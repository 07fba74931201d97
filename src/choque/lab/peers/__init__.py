"""The libraries compared with, one file each; none is imported before it is used.

>>> from choque.lab import peers
>>> peers.get("scipy-ckdtree").exactness
'Exact for equal boxes; otherwise a superset, filtered within the timed part.'
"""

from __future__ import annotations

from choque.errors import UnknownName
from choque.lab.peers.coal import CoalTree
from choque.lab.peers.contract import Peer
from choque.lab.peers.fcl import FclTree
from choque.lab.peers.ipctk import IpctkHashGrid, IpctkLbvh, IpctkSweepAndPrune
from choque.lab.peers.rstar import Rstar
from choque.lab.peers.rtree import Rtree
from choque.lab.peers.scipy import ScipyCkdtree
from choque.lab.peers.shapely import ShapelyStrtree
from choque.lab.peers.vesin import Vesin, VesinSpheres
from choque.lab.peers.warp import WarpBvh, WarpHashGrid

__all__ = ["Peer", "get", "installed", "names"]

_PEERS: dict[str, type[Peer]] = {
    peer.name: peer
    for peer in (
        IpctkLbvh,
        IpctkHashGrid,
        IpctkSweepAndPrune,
        Vesin,
        VesinSpheres,
        WarpHashGrid,
        WarpBvh,
        ScipyCkdtree,
        FclTree,
        CoalTree,
        Rtree,
        Rstar,
        ShapelyStrtree,
    )
}


def names() -> list[str]:
    """List every peer that there is an adapter for, installed or not."""
    return list(_PEERS)


def installed() -> list[str]:
    """List the peers whose library can be found here, without importing any of them."""
    return [name for name, peer in _PEERS.items() if peer.is_installed()]


def get(name: str, threads: int | None = None) -> Peer:
    """Give the peer ``name``, to use ``threads`` threads where it can; None for all."""
    if name not in _PEERS:
        raise UnknownName("peer", name, _PEERS)
    return _PEERS[name](threads)
