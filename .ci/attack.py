"""Attacks on Choque, bounded in time: ``make attack``, or ``python .ci/attack.py --seconds 60 --seed 7 [names]``.

Each attack draws from one seed, which is printed, and counts what it tried and what fell. A wrong answer, an exception
that is not a `ChoqueError`, a hang and a crash all count. The exit code is 1 if anything fell.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import choque
from choque import broad, files
from choque.bounds import Boxes
from choque.errors import BusyObject, ChoqueError
from choque.files.meshes import read_mesh, write_mesh
from choque.testing import oracle

EXACT = [name for name in broad.names() if name not in ("all", "interest")]
HANG = 20
"""Seconds after which a reader counts as hanging."""


@dataclass
class Outcome:
    """What an attack tried, and what fell: a line each."""

    tried: int = 0
    fallen: list[str] = field(default_factory=list)


@dataclass
class Attempt:
    """The time and the random numbers of one attack, and a folder for its files."""

    seconds: float
    random: np.random.Generator
    folder: Path
    outcome: Outcome = field(default_factory=Outcome)

    def turns(self) -> Iterator[int]:
        """Count turns until the time is over."""
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            yield self.outcome.tried
            self.outcome.tried += 1

    def fell(self, what: str) -> None:
        """Note a failure."""
        self.outcome.fallen.append(what)


# Boxes


def adversarial(random: np.random.Generator, count: int, dimension: int, dtype: type) -> Boxes:
    """Boxes of one of the shapes that break methods: ties, points, giants, infinities, the ends of the number range."""
    kind = int(random.integers(9))
    lower = random.uniform(0, max(1.0, 0.8 * count ** (1 / dimension)), (count, dimension))
    edge = random.uniform(0, 1.5, (count, dimension))
    if kind == 1:
        lower, edge = lower.round(), edge.round()
    elif kind == 2:
        edge[:] = 0
    elif kind == 3:
        lower[:] = 0
    elif kind == 4:
        edge *= 10.0 ** random.integers(-6, 4, (count, 1))
    elif kind == 5:
        lower[:, 1:] = 0
    elif kind == 6:
        lower = lower * 1e30 if dtype is np.float32 else lower * 1e300
    elif kind == 7:
        lower = lower + 1e7
    lower, upper = lower.astype(dtype), (lower + edge).astype(dtype)
    if kind == 8 and count:
        chosen = random.random((count, dimension)) < 0.1
        ends = random.choice([-np.inf, np.inf], chosen.sum())
        upper[chosen] = ends
        lower[chosen] = np.where(random.random(chosen.sum()) < 0.5, ends, -np.inf)
    return Boxes(lower, np.maximum(lower, upper))


def attack_pairs(attempt: Attempt) -> None:
    """`choque.pairs` by every method against brute force in NumPy."""
    random = attempt.random
    for _ in attempt.turns():
        count = int(random.choice([0, 1, 2, 3, 63, 64, 65, 255, 256, 257, 700, 1100]))
        boxes = adversarial(random, count, int(random.integers(2, 4)), random.choice([np.float32, np.float64]))
        closed, method = bool(random.integers(2)), str(random.choice(EXACT))
        expected = oracle.overlapping_pairs(boxes.lower, boxes.upper, closed=closed)
        threads = random.choice(np.array([1, 2, None], object))
        found = choque.pairs(boxes.lower, boxes.upper, method=method, closed=closed, threads=threads)
        if not np.array_equal(found, expected):
            attempt.fell(
                f"{method}: {len(found)} pairs where {len(expected)} are right, {count} boxes, closed={closed}"
            )


def attack_sets(attempt: Attempt) -> None:
    """Operations on sets that are kept: update, move, add, remove, copies, wrong calls."""
    random = attempt.random
    end = time.monotonic() + attempt.seconds
    while time.monotonic() < end:
        method, closed, dimension = str(random.choice(EXACT)), bool(random.integers(2)), int(random.integers(2, 4))
        boxes = adversarial(random, int(random.integers(1, 300)), dimension, np.float64)
        made = broad.create(method, boxes, closed=closed)
        lower, upper = boxes.lower.copy(), boxes.upper.copy()
        alive = np.arange(len(boxes))
        before: set[tuple[int, ...]] = {*map(tuple, made.pairs().tolist())}
        for _ in range(12):
            attempt.outcome.tried += 1
            what = int(random.integers(6))
            if what == 0:
                new = adversarial(random, len(alive), dimension, np.float64)
                lower[alive], upper[alive] = new.lower, new.upper
                made.update(new)
            elif what == 1 and len(alive):
                some = random.choice(alive, min(3, len(alive)), replace=False)
                new = adversarial(random, len(some), dimension, np.float64)
                lower[some], upper[some] = new.lower, new.upper
                made.move(some, new)
            elif what == 2:
                new = adversarial(random, 3, dimension, np.float64)
                alive = np.append(alive, made.add(new))
                lower, upper = np.concatenate((lower, new.lower)), np.concatenate((upper, new.upper))
            elif what == 3 and len(alive) > 3:
                some = random.choice(alive, 2, replace=False)
                made.remove(some)
                alive = np.setdiff1d(alive, some)
            elif what == 4:
                made = pickle.loads(pickle.dumps(made)) if random.integers(2) else made.copy()
                before = {*map(tuple, made.pairs().tolist())}
                continue
            else:
                try:
                    made.remove([10**6])
                    attempt.fell(f"{method}: an id that never was is removed")
                except ChoqueError:
                    pass
                continue
            expected = alive[oracle.overlapping_pairs(lower[alive], upper[alive], closed=closed)]
            now = {*map(tuple, expected.tolist())}
            began = {*map(tuple, made.began.tolist())}
            if not np.array_equal(made.pairs(), expected) or began != now - before:
                attempt.fell(f"{method}: wrong after operation {what}, {len(alive)} boxes, closed={closed}")
                break
            before = now


# Files


TEXTS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "text.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1/1 2/2 4/3\nf -1 -2 -3\n" * 5, read_mesh),
    "text.stl": (
        "solid a\n"
        + "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n" * 9
        + "endsolid a\n",
        read_mesh,
    ),
    "text.ply": (
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 2\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 2 1 0\n",
        read_mesh,
    ),
    "text.vox": ("MIN 0 0 0\nMAX 2 1 1\n\n0 1 1\n1 1 0\n\n0 0 1\n1 0 1\n", choque.Volume.read),
    "atoms.xyz": ('3\nLattice="4 0 0 0 4 0 0 0 4" pbc="T T F"\nH 0 0 0\nO 1 1 1\nH 2 2 2\n' * 3, files.read_atoms),
    "scene.xml": (
        '<config><objects><sphere pos="1,2,3" radius="2"/><tile static="true"/><capsule mass="2"/></objects></config>',
        choque.scene.read,
    ),
}
"""Files as text, with their readers."""


def _written(folder: Path) -> list[tuple[Path, Callable[[Path], object]]]:
    """A file of every kind that can be written here, with its reader."""
    lower = np.random.default_rng(1).random((40, 3), dtype=np.float32)
    made: list[tuple[Path, Callable[[Path], object]]] = []
    for suffix in (".npy", ".npz", ".csv", ".parquet", ".aabbs"):
        files.write_boxes(folder / f"boxes{suffix}", lower, lower + 1)
        made.append((folder / f"boxes{suffix}", files.read_boxes))
    vertices, faces = (
        np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
    )
    for suffix in (".off", ".ply", ".stl"):
        write_mesh(folder / f"mesh{suffix}", vertices, faces)
        made.append((folder / f"mesh{suffix}", read_mesh))
    for name, (text, read) in TEXTS.items():
        (folder / name).write_text(text)
        made.append((folder / name, read))
    volume = choque.Volume.from_voxels(np.random.default_rng(2).random((8, 9, 10)) < 0.5)
    for suffix in (".npy", ".nrrd", ".nii", ".nii.gz", ".tif", ".evm"):
        try:
            volume.write(folder / f"volume{suffix}")
        except ChoqueError:
            continue  # a library for it is not installed
        made.append((folder / f"volume{suffix}", choque.Volume.read))
    world = choque.World()
    world.add_spheres(lower * 9, 0.4, velocity=lower)
    with choque.record.Recorder(folder / "film.choque", world) as recorder:
        for _ in range(5):
            world.step()
            recorder.record()
    made.append((folder / "film.choque", _all_frames))
    world.write(folder / "saved.world")
    made.append((folder / "saved.world", choque.World.read))
    choque.scene.write(folder / "scene.toml", choque.scene.find_bodies("pile"))
    made.append((folder / "scene.toml", choque.scene.read))
    return made


def _all_frames(path: Path) -> None:
    recording = choque.record.open(path)
    for index in range(recording.frame_count):
        recording.frame(index)


class Hang(BaseException):
    """A reader that does not end."""


def attack_files(attempt: Attempt) -> None:
    """Mutated files for every reader: a sentence or a value, within seconds."""
    random = attempt.random

    def ring(*_: object) -> None:
        raise Hang

    signal.signal(signal.SIGALRM, ring)
    samples = [(path, path.read_bytes(), read) for path, read in _written(attempt.folder)]
    for turn in attempt.turns():
        path, whole, read = samples[turn % len(samples)]
        mutant = path.with_name(f"mutant{turn}{''.join(path.suffixes)}")
        mutant.write_bytes(_mutated(random, whole))
        signal.alarm(HANG)
        try:
            read(mutant)
        except ChoqueError:
            pass
        except Hang:
            attempt.fell(f"{path.name}: a reader did not end, seed turn {turn}")
        except Exception as problem:
            attempt.fell(f"{path.name}: {type(problem).__name__}: {problem}, turn {turn}")
        finally:
            signal.alarm(0)
        mutant.unlink()


def _mutated(random: np.random.Generator, whole: bytes) -> bytes:
    data = bytearray(whole)
    for _ in range(int(random.integers(1, 6))):
        place = int(random.integers(len(data) or 1))
        how = int(random.integers(5))
        if how == 0:
            data = data[:place]
        elif how == 1 and data:
            data[place] ^= 1 << int(random.integers(8))
        elif how == 2:
            data[place:place] = random.bytes(int(random.integers(1, 9)))
        elif how == 3:
            data[place : place + 8] = random.choice([b"\xff" * 8, b"\0" * 8, b"99999999", b"-1 nan 1"])
        else:
            other = int(random.integers(len(data) or 1))
            data[place:place] = data[other : other + 64]
    return bytes(data)


# Interruption


def attack_interruption(attempt: Attempt) -> None:
    """Ctrl-C at random moments of changes of sets and worlds: before or after, never between."""
    random = attempt.random

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    frames = [adversarial(np.random.default_rng(k), 900, 3, np.float64) for k in range(20)]
    right = [oracle.overlapping_pairs(one.lower, one.upper) for one in frames]
    sets = {method: (broad.create(method, frames[0]), 0) for method in EXACT}
    world = _crowd()
    twin, hashes = _crowd(), {}
    for turn in attempt.turns():
        method = EXACT[turn % len(EXACT)]
        made, at = sets[method]
        to = int(random.integers(len(frames)))
        try:
            signal.setitimer(signal.ITIMER_REAL, float(random.uniform(1e-5, 3e-3)))  # rings once
            made.update(frames[to])
            world.step()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except (KeyboardInterrupt, SystemError):  # Numba's dispatcher turns some interruptions into a SystemError
            pass
        found = made.pairs()
        if not (np.array_equal(found, right[to]) or np.array_equal(found, right[at])):
            attempt.fell(f"{method}: pairs of neither frame after an interruption, turn {turn}")
        at = to if np.array_equal(found, right[to]) else at
        sets[method] = made, at
        while twin.frame < world.frame:
            twin.step()
        hashes[twin.frame] = twin.hash()
        if world.hash() != hashes[world.frame]:
            attempt.fell(f"world: another course after an interruption in frame {world.frame}, turn {turn}")
            world, twin = _crowd(), _crowd()


def attack_kept_interruption(attempt: Attempt) -> None:
    """Ctrl-C at random moments of areas and kinetic sweeps: states are whole, and no event is lost."""
    random = attempt.random

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    places = np.random.default_rng(1).uniform(0, 14, (3_000, 3))
    areas = choque.interest.Areas(places, radius=1.0)
    lower = np.random.default_rng(2).uniform(0, 20, (300, 2))
    speed = np.random.default_rng(3).normal(0, 1, lower.shape)
    sweep, twin = (choque.kinetic.Sweep(lower, lower + 1, speed) for _ in range(2))
    events, right = list[Any](), list[Any]()
    areas.move([0], places[:1])
    sweep.advance(0.001), twin.advance(0.001)
    for turn in attempt.turns():
        some = random.choice(len(places), 3, replace=False)
        moved = places.copy()
        moved[some] += random.normal(0, 0.5, (3, 3))
        until, was_returned = twin.time + 0.003, False
        try:
            signal.setitimer(signal.ITIMER_REAL, float(random.uniform(1e-5, 1e-3)))
            if turn % 2:
                areas.move(some, moved[some])
            else:
                found = sweep.advance(max(until, sweep.time))
                signal.setitimer(signal.ITIMER_REAL, 0)
                events.extend(found)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except (KeyboardInterrupt, SystemError) as problem:
            # Numba's dispatcher turns some interruptions into a SystemError.
            signal.setitimer(signal.ITIMER_REAL, 0)
            # After the events were returned, it is the caller's frame that loses them.
            was_returned = all(frame.name != "run" for frame in traceback.extract_tb(problem.__traceback__))
        if turn % 2:
            now = areas.position
            if not (np.array_equal(now, moved) or np.array_equal(now, places)):
                attempt.fell(f"areas: places of neither state, turn {turn}")
            places = np.array(now)
            if turn % 51 == 1 and not np.array_equal(areas.pairs(), choque.interest.Areas(places, radius=1.0).pairs()):
                attempt.fell(f"areas: wrong members after an interruption, turn {turn}")
        else:
            right.extend(twin.advance(until))
            events.extend(sweep.advance(until))
            if not np.array_equal(sweep.pairs(), twin.pairs()) or (events != right and not was_returned):
                attempt.fell(f"sweep: {len(events)} events where {len(right)} are right, turn {turn}")
            if events != right:
                sweep, events = twin.copy(), list(right)


def _crowd() -> Any:
    random = np.random.default_rng(3)
    world = choque.World("sap-incremental")
    world.add_spheres(random.uniform(0, 12, (300, 3)), 0.6, velocity=random.normal(0, 2, (300, 3)))
    world.step()
    return world


# Processes and threads

CHILD = "import choque, numpy as np; r = np.random.default_rng(1).random((900, 3)); print(len(choque.pairs(r, r + .1)))"

RECORDING = """
import sys, choque, numpy as np
world = choque.World()
world.add_spheres(np.random.default_rng(1).uniform(0, 9, (200, 3)), 0.4)
with choque.record.Recorder(sys.argv[1], world) as recorder:
    while True:
        world.step()
        recorder.record()
        print(world.frame, flush=True)
"""


def attack_cold_cache(attempt: Attempt) -> None:
    """Twenty processes on one empty kernel cache give one answer."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(attempt.folder / "käche ✓")}
    children = [
        subprocess.Popen([sys.executable, "-c", CHILD], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(20)
    ]
    answers = [child.communicate(timeout=600) for child in children]
    attempt.outcome.tried = len(children)
    for child, (out, problem) in zip(children, answers, strict=True):
        if child.returncode or out != answers[0][0]:
            attempt.fell(f"a process ended with {child.returncode}: {problem.decode()[-300:]}")


def attack_kill(attempt: Attempt) -> None:
    """SIGKILL of a recording: what was written is read and verified."""
    for turn in attempt.turns():
        path = attempt.folder / f"killed{turn}.choque"
        child = subprocess.Popen([sys.executable, "-c", RECORDING, str(path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        for _ in range(int(attempt.random.integers(1, 300))):
            child.stdout.readline()
        child.kill()
        child.wait()
        try:
            _all_frames(path)
        except ChoqueError as problem:
            if path.exists() and path.stat().st_size > 10_000:
                attempt.fell(f"a killed recording is not readable: {problem}")


LAB = "lab run comparison --quick --methods brute,grid --factor n=100 --factor scene=uniform --output"


def attack_lab_kill(attempt: Attempt) -> None:
    """SIGKILL of a laboratory run at any moment: what is finished stays, and the run is resumed to its end."""
    for turn in attempt.turns():
        folder = attempt.folder / f"run{turn}"
        command = [sys.executable, "-m", "choque", *LAB.split(), str(folder)]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            child.wait(timeout=float(attempt.random.uniform(0.5, 12.0)))
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        if not (folder / "study.json").exists():
            continue
        for verb in ("resume", "report"):
            again = subprocess.run(
                [sys.executable, "-m", "choque", "lab", verb, str(folder)],
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            if again.returncode:
                attempt.fell(f"lab {verb} after a kill: {again.stderr[-300:]}")


# The studio


def attack_origin(attempt: Attempt) -> None:
    """Pages of other origins and requests for other hosts: all are refused, and the studio's own are answered."""
    from choque.studio.page.studio import open_studio

    random = attempt.random
    parts = ("evil.example", "127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.0.0.1.evil.example", "x@127.0.0.1", "")
    with open_studio() as studio:
        own = f"127.0.0.1:{studio.port}"
        for _ in attempt.turns():
            words = random.choice(parts, 2)
            host = f"{words[0]}{random.choice(['', f':{studio.port}', ':1', '.', '%00', ' '])}"
            origin = f"{random.choice(['http', 'https', 'file', 'null'])}://{words[1]}:{random.integers(1, 65536)}"
            which = int(random.integers(3))
            status = _status(studio.port, own if which == 1 else host, origin if which == 1 else None, bool(which == 2))
            is_own = which != 1 and host.lower() in (own, f"localhost:{studio.port}", f"[::1]:{studio.port}")
            is_loopback = host.split(":")[0].rstrip(". ") in ("127.0.0.1", "localhost") or host.startswith("[::1]")
            if status in (101, 200) and not (is_own or (which != 1 and is_loopback)):
                attempt.fell(f"Host {host!r}, Origin {origin if which == 1 else None!r}: answered {status}")
        if _status(studio.port, own, None, False) != 200:
            attempt.fell("the studio does not answer its own page any more")


def _status(port: int, host: str, origin: str | None, is_socket: bool) -> int:
    """Return the status of a request; 0 for a connection that is closed."""
    lines = ["GET / HTTP/1.1", f"Host: {host}", "Connection: close"]
    if origin is not None or is_socket:
        lines += [f"Origin: {origin or 'http://evil.example'}", "Upgrade: websocket", "Connection: Upgrade"]
        lines += ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
        line.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace"))
        answer = line.recv(64)
    words = answer.split()
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


def attack_full_disk(attempt: Attempt) -> None:
    """No file may grow beyond a limit: a sentence, and the old file is untouched."""
    code = """
import resource, signal, sys, numpy as np, choque
from choque import files
from choque.errors import ChoqueError
small, large = np.zeros((5, 3)), np.zeros((200_000, 3))
path = sys.argv[1]
files.write_boxes(path, small, small + 1)
before = open(path, "rb").read()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
large = np.random.default_rng(1).random(large.shape)
try:
    files.write_boxes(path, large, large + 1)
    sys.exit("written beyond the limit")
except (ChoqueError, OSError) as problem:
    sys.exit(0 if open(path, "rb").read() == before else f"the old file changed: {problem}")
"""
    for suffix in (".npy", ".npz", ".csv", ".parquet", ".aabbs"):
        attempt.outcome.tried += 1
        command = [sys.executable, "-c", code, str(attempt.folder / f"full{suffix}")]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if ended.returncode:
            attempt.fell(f"{suffix}: {ended.stderr[-300:]}")


def attack_threads(attempt: Attempt) -> None:
    """Sixteen threads with sets of their own, and one set that two threads fight for."""
    lock, end = threading.Lock(), time.monotonic() + attempt.seconds
    shared = broad.create("bvh", adversarial(np.random.default_rng(0), 5000, 3, np.float64))

    def work(number: int) -> None:
        random = np.random.default_rng(number)
        while time.monotonic() < end:
            boxes = adversarial(random, 700, 3, np.float64)
            found = choque.pairs(boxes.lower, boxes.upper, method=str(random.choice(EXACT)))
            is_right = np.array_equal(found, oracle.overlapping_pairs(boxes.lower, boxes.upper))
            with lock:
                attempt.outcome.tried += 1
                if not is_right:
                    attempt.fell(f"a wrong answer on thread {number}")
            try:
                shared.move([number], boxes.take([number]))
            except BusyObject:
                pass
            except Exception as problem:
                attempt.fell(f"a set that threads fight for: {type(problem).__name__}: {problem}")

    workers = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def attack_fork(attempt: Attempt) -> None:
    """A process that has computed on threads is forked: the children answer too."""
    boxes = adversarial(np.random.default_rng(2), 20_000, 3, np.float64)
    expected = len(choque.pairs(boxes.lower, boxes.upper))
    for _ in attempt.turns():
        with multiprocessing.get_context("fork").Pool(2) as pool:
            answer = pool.apply_async(_count, (boxes.lower, boxes.upper))
            try:
                if answer.get(60) != expected:
                    attempt.fell("a wrong answer in a forked child")
            except multiprocessing.TimeoutError:
                attempt.fell("a forked child hangs")


def _count(lower: Any, upper: Any) -> int:
    return len(choque.pairs(lower, upper))


ATTACKS: dict[str, tuple[Callable[[Attempt], None], float]] = {
    "pairs": (attack_pairs, 3),
    "sets": (attack_sets, 3),
    "files": (attack_files, 3),
    "interruption": (attack_interruption, 2),
    "threads": (attack_threads, 1),
    "fork": (attack_fork, 1),
    "kept": (attack_kept_interruption, 2),
    "kill": (attack_kill, 1),
    "lab-kill": (attack_lab_kill, 1),
    "origin": (attack_origin, 1),
    "full-disk": (attack_full_disk, 0),
    "cold-cache": (attack_cold_cache, 0),
}
"""The attacks, and their shares of the time; those of 0 take as long as they take."""


def warm_up() -> None:
    """Compile the kernels that the attacks use: an interruption inside Numba's compiler is Numba's affair."""
    for dtype in (np.float32, np.float64):
        boxes = [adversarial(np.random.default_rng(k), 1100, 3, dtype) for k in range(3)]
        for method in EXACT:
            made = broad.create(method, boxes[0])
            made.pairs()
            for each in boxes[1:]:
                made.update(each)
                made.move([0], each.take([0]))
                made.add(each.take([0]))
                made.remove(made.ids[-1:])
                made.pairs(), made.began, made.count()
    world = _crowd()
    world.step()
    world.hash()


def main() -> int:
    """Run the attacks that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="attack", help=f"some of {', '.join(ATTACKS)}; all by default")
    parser.add_argument("--seconds", type=float, default=120, help="the time for all")
    parser.add_argument("--seed", type=int, default=None, help="repeats what another run drew")
    given = parser.parse_args()
    unknown = {*given.names} - {*ATTACKS}
    if unknown:
        parser.error(f"there is no attack called {', '.join(sorted(unknown))}; there are {', '.join(ATTACKS)}")
    seed = int(np.random.SeedSequence().entropy) % 2**32 if given.seed is None else given.seed  # type: ignore[arg-type]
    print(f"seed {seed}", flush=True)
    warm_up()
    chosen = {name: ATTACKS[name] for name in given.names or ATTACKS}
    total = sum(share for _, share in chosen.values()) or 1
    has_fallen = False
    for number, (name, (attack, share)) in enumerate(chosen.items()):
        with tempfile.TemporaryDirectory(prefix="choque-attack-") as folder:
            attempt = Attempt(given.seconds * share / total, np.random.default_rng([seed, number]), Path(folder))
            try:
                attack(attempt)
            except Exception:
                attempt.fell(traceback.format_exc(limit=-4))
        fallen = attempt.outcome.fallen
        has_fallen |= bool(fallen)
        print(f"{name:14} {attempt.outcome.tried:8,} tried {len(fallen):6,} fell", flush=True)
        for line in fallen[:10]:
            print(f"    {line}")
    return int(has_fallen)


if __name__ == "__main__":
    sys.exit(main())
