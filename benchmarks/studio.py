"""Measure the figures that the studio promises, with a real page in a headless Chromium on the same machine.

    python benchmarks/studio.py                                     # 1,000 and 10,000 bodies, 20 tabs, a film
    python benchmarks/studio.py --bodies 1000 --seconds 4 --tabs 0 --no-film

The page is drawn without a graphics card here, which takes Chromium all the cores that it can get: it is given a lower
priority than the studio, which is what is measured. The times of a step (simulation) and of a picture (sending) are
separate: wall time and processor time. Sending is what the studio's thread does to hand a picture over, and what the
server's thread does to write it to the socket.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import choque
from choque.errors import require
from choque.studio.page.server import HOST, free_port
from choque.studio.page.studio import Studio, open_studio
from choque.studio.page.world import WorldView

SIZE = {"width": 1000, "height": 560}
PATIENCE = 120.0

POLITENESS = 10
"""By how much the priority of the browser is lower."""


@dataclass
class Work:
    """Every call of something: when it ended, its wall time and the time of the processor in its thread [s]."""

    ended: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def timing(self, action: Callable[..., Any]) -> Callable[..., Any]:
        """The same action, whose calls are noted."""

        def timed(*given: Any) -> Any:
            wall, processor = time.perf_counter(), time.thread_time()
            try:
                return action(*given)
            finally:
                self.ended.append(time.perf_counter())
                self.wall.append(self.ended[-1] - wall)
                self.processor.append(time.thread_time() - processor)

        return timed

    def __str__(self) -> str:
        wall, processor = statistics.median(self.wall), statistics.median(self.processor)
        return f"{wall * 1e3:8.2f} ms wall {processor * 1e3:8.2f} ms processor"


@dataclass
class Sent:
    """Messages that were written to the socket of a page."""

    count: int = 0
    size: int = 0


def page_up(bodies: int) -> float:
    """Seconds from the command ``choque view`` until its page is served."""
    port = free_port(HOST, None)
    command = [sys.executable, "-m", "choque", "view", f"mixed-box:{bodies}", "--no-browser", "--port", str(port)]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as studio:
        try:
            while not _answers(f"http://{HOST}:{port}/"):
                if studio.poll() is not None or time.perf_counter() - began > PATIENCE:
                    raise SystemExit("The studio did not come up.")
                time.sleep(0.01)
            return time.perf_counter() - began
        finally:
            studio.terminate()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as page:
            return bool(page.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False


@contextmanager
def watched(studio: Studio) -> Iterator[Sent]:
    """A tab of Chromium that shows the studio, and what is sent to it."""
    playwright: Any = require("playwright.sync_api", extra="test", purpose="to open a page")
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        raise SystemExit("There is no Chromium (Debian: apt-get install chromium).")
    sent = Sent()
    with tempfile.TemporaryDirectory(prefix="choque-") as folder, playwright.sync_playwright() as session:
        polite = Path(folder) / "chromium"
        polite.write_text(f'#!/bin/sh\nexec nice -n {POLITENESS} {found} "$@"\n', encoding="utf-8")
        polite.chmod(0o755)
        browser = session.chromium.launch(
            executable_path=str(polite), args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        page = browser.new_page(viewport=SIZE)
        connections = studio.server._websock_server._live_connections
        others = set(connections)
        began = time.perf_counter()
        page.goto(studio.url)
        page.get_by_role("button", name="Play").wait_for(timeout=1e3 * PATIENCE)
        print(f"{'Play is on the page after it is opened':44s} {time.perf_counter() - began:8.2f} s{'':27s} under 2 s")
        _wait(lambda: set(connections) - others, "the page to connect")
        (connection,) = (connections[number] for number in set(connections) - others)
        send = connection.send

        async def counted(message: bytes) -> None:
            await send(message)
            sent.count += 1
            sent.size += len(message)

        connection.send = counted
        time.sleep(5.0)  # until all bodies are there and drawn
        yield sent
        browser.close()


@contextmanager
def clients(studio: Studio, count: int) -> Iterator[list[int]]:
    """Further tabs without a browser, which read all that is sent; the number of messages that each has got."""
    import asyncio

    import viser
    from websockets.asyncio.client import connect

    received, stop = [0] * count, threading.Event()

    async def watch(number: int) -> None:
        protocol: Any = f"viser-v{viser.__version__}"
        async with connect(f"ws://{HOST}:{studio.port}", subprotocols=[protocol], max_size=None) as tab:
            while not stop.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(tab.recv(), 0.5)
                    received[number] += 1

    async def all_of_them() -> None:
        await asyncio.gather(*(watch(number) for number in range(count)))

    watching = threading.Thread(target=lambda: asyncio.run(all_of_them()), daemon=True)
    watching.start()
    _wait(lambda: all(received), "all tabs to connect")
    yield received
    stop.set()
    watching.join(5.0)


def processor_clock(thread: threading.Thread) -> Callable[[], float]:
    """Return a clock of the processor time of a thread [s]."""
    clock = time.pthread_getcpuclockid(thread.ident)  # type: ignore[arg-type]
    return lambda: time.clock_gettime(clock)


def first_picture(studio: Studio, view: WorldView) -> float:
    """Seconds from pressing Play until the first picture of the run has been handed over, warm."""
    drawn = threading.Event()
    present = view.present

    def noticed() -> None:
        present()
        if view.run.frame:
            drawn.set()

    studio.ask(view.reset)
    view.present = noticed  # type: ignore[method-assign]
    began = time.perf_counter()
    studio.request(view.toggle)
    drawn.wait(PATIENCE)
    found = time.perf_counter() - began
    studio.ask(view.pause)
    view.present = present  # type: ignore[method-assign]
    return found


def film(bodies: int, seconds: float) -> None:
    """Print how long ``choque video`` takes for a film at 720p."""
    with tempfile.TemporaryDirectory(prefix="choque-") as folder:
        target = str(Path(folder) / "film.mp4")
        command = [sys.executable, "-m", "choque", "video", f"mixed-box:{bodies}", target]
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        options = ["--seconds", str(seconds), "--size", "1280x720"]
        subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        took = time.perf_counter() - began
        processor = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    what = f"film of {seconds:g} s at 720p, {bodies:,} bodies"
    print(f"{what:44s} {took:8.1f} s wall {processor:8.1f} s processor      under 20 s")


def measure(bodies: int, seconds: float, tabs: int) -> None:
    """Play, then pause, and print what both took."""
    print(f"\n{bodies:,} bodies, {tabs} more tabs, load {os.getloadavg()[0]:.1f}")
    print(f"{'page up after the command':44s} {page_up(bodies):8.2f} s                           under 3 s")
    view = WorldView(choque.scene.bodies("mixed-box", bodies))
    with open_studio(view) as studio:
        studio.ask(lambda: None)
        for _ in range(30):  # kernels are loaded, bodies have begun to collide
            studio.ask(view.step)
        print(f"{'first picture after Play':44s} {first_picture(studio, view):8.3f} s{'':27s} under 0.2 s")
        steps, pictures = Work(), Work()
        with clients(studio, tabs) as received, watched(studio) as sent:
            loop = processor_clock(studio.server._websock_server._server_thread)
            view.run._step = steps.timing(view.run._step)  # type: ignore[method-assign]
            view.present = pictures.timing(view.present)  # type: ignore[method-assign]
            studio.ask(view.play)
            time.sleep(1.0)
            for work in (steps, pictures):
                studio.ask(work.__init__)  # type: ignore[misc]
            got = list(received)
            before = (time.perf_counter(), time.process_time(), loop(), sent.count, sent.size)
            time.sleep(seconds)
            after = (time.perf_counter(), time.process_time(), loop(), sent.count, sent.size)
            got = [now - then for now, then in zip(received, got, strict=True)]
            studio.ask(view.pause)
            wall, whole, writing, count, size = (new - old for new, old in zip(after, before, strict=True))
            frames = sum(1 for ended in pictures.ended if ended <= after[0])
            time.sleep(2.0)
            idle_wall, idle = time.perf_counter(), time.process_time()
            time.sleep(5.0)
            share = (time.process_time() - idle) / (time.perf_counter() - idle_wall)
    print(f"{'frames a second':44s} {frames / wall:8.1f}{'':29s}at least {30 if bodies <= 1000 else 20}")
    if got:
        print(f"{f'messages a second to the slowest of {tabs} more tabs':44s} {min(got) / wall:8.1f}")
    print(f"{'simulation, a step':44s} {steps}")
    print(f"{'simulation, steps in a frame':44s} {len(steps.wall) / max(frames, 1):8.2f}")
    print(f"{'sending, a frame: handed over':44s} {pictures}")
    print(f"{'sending, a frame: written to the socket':44s} {'':16s} {writing / max(count, 1) * 1e3:8.2f} ms processor")
    print(f"{'messages written a second':44s} {count / wall:8.1f}")
    print(f"{'bytes a message':44s} {size / max(count, 1) / 1e3:8.1f} kB")
    print(f"{'the studio, all of it':44s} {whole / wall * 100:8.1f} % of a core")
    print(f"{'the studio, paused':44s} {share * 100:8.2f} % of a core                  under 3 %")


def _wait(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"Waited in vain for {what}.")
        time.sleep(0.05)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--seconds", type=float, default=15.0, help="how long it plays")
    parser.add_argument("--tabs", type=int, default=20, help="how many more tabs look on, without a browser")
    parser.add_argument("--film", action=argparse.BooleanOptionalAction, default=True, help="make a film of 3 s, too")
    chosen = parser.parse_args()
    for count in chosen.bodies:
        measure(count, chosen.seconds, chosen.tabs)
    if chosen.film:
        film(1_000, 3.0)
