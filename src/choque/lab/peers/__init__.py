"""The libraries compared with, one file each; none is imported before it is used.

>>> from choque.lab import peers
>>> peers.get("scipy-ckdtree").exactness
'Exact for equal boxes; otherwise a superset, filtered within the timed part.'
"""

from __future__ import annotations

from choque._core.registry import Registry
from choque.lab.peers.contract import Peer

__all__ = ["PEERS", "Peer", "get", "installed", "names"]

PEERS: Registry[type[Peer]] = Registry(
    "peer",
    {
        "ipctk-lbvh": "choque.lab.peers.ipctk:IpctkLbvh",
        "ipctk-hash-grid": "choque.lab.peers.ipctk:IpctkHashGrid",
        "ipctk-sweep": "choque.lab.peers.ipctk:IpctkSweepAndPrune",
        "vesin": "choque.lab.peers.vesin:Vesin",
        "vesin-spheres": "choque.lab.peers.vesin:VesinSpheres",
        "warp-hash-grid": "choque.lab.peers.warp:WarpHashGrid",
        "warp-bvh": "choque.lab.peers.warp:WarpBvh",
        "scipy-ckdtree": "choque.lab.peers.scipy:ScipyCkdtree",
        "fcl-tree": "choque.lab.peers.fcl:FclTree",
        "coal-tree": "choque.lab.peers.coal:CoalTree",
        "rtree": "choque.lab.peers.rtree:Rtree",
        "rstar": "choque.lab.peers.rstar:Rstar",
        "shapely-strtree": "choque.lab.peers.shapely:ShapelyStrtree",
        "geoindex-join": "choque.lab.peers.geoindex:GeoindexJoin",
    },
    group="choque.peers",
)


def names() -> list[str]:
    """List every peer that has an adapter, installed or not."""
    return list(PEERS)


def installed() -> list[str]:
    """List the peers whose library can be found here, without importing any of them."""
    return [name for name in PEERS if PEERS.find(name).is_installed()]


def get(name: str, threads: int | None = None) -> Peer:
    """Return the peer ``name``, to use ``threads`` threads where it can; None for all."""
    return PEERS.find(name)(threads)
