"""Run worlds for a long time and print what became of them: the proofs that are too long for the tests.

    python benchmarks/resting.py                     # all of them, tens of minutes on one core
    python benchmarks/resting.py spin restore        # some

``plane`` is a pyramid of N rows (100) for 1,000 steps, beside rapier3d where it is installed; ``sinking`` are piles of
cubes and of spheres for 10,000 steps; ``spin`` are free books for 10,000 steps; ``threads`` compares the states of a
pile-up by 1, 2, 3 and 8 threads; ``restore`` writes a pile-up at 50 random frames, reads each back and goes on to the
end; ``replay`` records it and does it again; ``bowl`` lets N spheres (100,000) fall into a bowl by one and by two
threads. Nothing sleeps unless it is said. Small versions of all but ``bowl`` are tests.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import choque
from dynamics import Ours, Rapier, bowl, pile, pyramid, warm_up


def plane(size: int = 100, steps: int = 1_000) -> None:
    """Print how far a pyramid left its plane and its place."""
    scene = pyramid(size)
    engines: list[Any] = [Ours(scene, 1)]
    try:
        engines.append(Rapier(scene, 1))
    except ImportError:
        print("  rapier3d is not installed")
    for engine in engines:
        for step in range(steps):
            engine.step()
            if step + 1 in (steps // 10, steps):
                away = np.abs(engine.positions() - scene.position).max(axis=0)
                print(f"  {engine.name:12} {step + 1:6,} steps, farthest along x, y, z: {away.round(4).tolist()} m")


def sinking(size: int = 300, steps: int = 10_000) -> None:
    """Print the overlap of piles, and how far their bodies moved, ten times on the way."""
    for shape in ("box", "sphere", "mixed"):
        ours = Ours(pile(size, shape), 1)
        for mark in range(10):
            before = ours.positions()
            for _ in range(steps // 10):
                ours.step()
            overlap = -np.minimum(ours.world.contacts().separations, 0)
            moved = np.linalg.norm(ours.positions() - before, axis=1)
            print(
                f"  {size} of {shape:7} {(mark + 1) * steps // 10:6,} steps: overlap in the mean "
                f"{overlap[overlap > 0].mean() * 100:.3f} %, at most {overlap.max() * 100:.2f} % of a body's size; "
                f"bodies moved by {moved.mean():.5f} m, at most {moved.max():.4f} m"
            )


def spin(size: int = 1, steps: int = 10_000) -> None:
    """Print how far the angular momentum and the energy of free books are from what they were."""
    world = choque.World(response="soft-step")
    place = 9.0 * np.arange(size)[:, None] * [1, 0, 0]
    world.add_boxes(place, [1, 2, 3], angular_velocity=[0.3, 5, 0.2])  # about their unstable axes
    momentum, energy = world.angular_momentum(), world.energy()
    for _ in range(steps):
        world.step(1 / 60)
    lost = np.linalg.norm(world.angular_momentum() - momentum) / np.linalg.norm(momentum)
    print(f"  {steps:,} steps: angular momentum off by {lost:.1e}, energy by {world.energy() / energy - 1:.1e}")


def threads(size: int = 5_000, steps: int = 200) -> None:
    """Print the hash of a pile-up of all kinds by the number of threads."""
    found = {}
    for count in (1, 2, 3, 8):
        ours = Ours(pile(size, "mixed"), count)
        for _ in range(steps):
            ours.step()
        found[count] = f"{ours.world.hash():016x}"
    verdict = "equal" if len(set(found.values())) == 1 else "DIFFERENT"
    print(f"  {size:,} mixed bodies, {steps} steps: {found}: {verdict}")


def restore(size: int = 300, steps: int = 300) -> None:
    """Print how many of 50 worlds that were written on the way and read back end in the same state."""
    frames = np.random.default_rng(7).choice(steps, 50, replace=False).tolist()
    ours = Ours(pile(size, "mixed"), 1)
    with tempfile.TemporaryDirectory() as folder:
        for frame in range(steps):
            if frame in frames:
                ours.world.write(Path(folder, f"{frame}.npz"))
            ours.step()
        equal = 0
        for frame in frames:
            world = choque.World.read(Path(folder, f"{frame}.npz"))
            for _ in range(steps - frame):
                world.step(1 / 60)
            equal += world.hash() == ours.world.hash()
    print(f"  {size} mixed bodies, {steps} steps: {equal} of {len(frames)} end in the same state")


def replay(size: int = 300, steps: int = 300) -> None:
    """Print whether a recorded pile-up, with sleep, is the same when it is simulated again by two threads."""
    world = choque.scene.bodies("rubble", size).world()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rubble.choque")
        with choque.record.Recorder(path, world) as recorder:
            for _ in range(steps):
                world.step(1 / 60)
                recorder.record()
        with choque.record.Recording(path) as recording:
            print(f"  {size} mixed bodies: {choque.record.verify(recording, threads=2)}")


def bowl_of_spheres(size: int = 100_000, steps: int = 300) -> None:
    """Print the time of a step by one and by two threads, in turns of ten steps, and where the spheres are."""
    scene = bowl(size)
    engines = [Ours(scene, 1), Ours(scene, 2)]
    times: dict[str, list[float]] = {engine.name: [] for engine in engines}
    for step in range(steps):
        for engine in engines:
            began = time.perf_counter()
            engine.step()
            times[engine.name].append(1e3 * (time.perf_counter() - began))
        if step % 50 == 49:
            lately = {name: statistics.median(spent[-50:]) for name, spent in times.items()}
            one, two = lately.values()
            print(
                f"  {size:,} spheres, steps {step - 48} to {step + 1}: {one:.0f} ms by one thread, {two:.0f} by two "
                f"({one / two:.2f}x); load {os.getloadavg()[0]:.1f}"
            )
    same = engines[0].world.hash() == engines[1].world.hash()
    print(f"  states {'equal' if same else 'DIFFERENT'}; the lowest sphere at {engines[0].positions()[:, 1].min():.2f}")


PROOFS = {
    "plane": plane,
    "sinking": sinking,
    "spin": spin,
    "threads": threads,
    "restore": restore,
    "replay": replay,
    "bowl": bowl_of_spheres,
}


def main() -> None:
    """Run the proofs that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proofs", nargs="*", metavar="PROOF", help=", ".join(PROOFS))
    parser.add_argument("--size", type=int, help="bodies, or rows of the pyramid")
    parser.add_argument("--steps", type=int)
    wanted = parser.parse_args()
    given = {name: value for name in ("size", "steps") if (value := getattr(wanted, name)) is not None}
    for shape in ("sphere", "box", "mixed"):
        warm_up(shape)
    for name in wanted.proofs or PROOFS:
        began = time.perf_counter()
        print(name, flush=True)
        PROOFS[name](**given)
        print(f"  ({time.perf_counter() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
