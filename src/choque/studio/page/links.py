"""What a tab says beside viser's own messages: what its address names, and files that are dropped on it.

A script of the page opens a socket at `LINK_PATH`, which passes the `Gate` as every request does, and says one thing:

- what the part of the address after ``#`` names: ``#open=scene/bowling`` a thing of the chooser, ``#t=2.5`` a moment;
- the name and the size of a file that was dropped, and then its bytes.

A tab can open only what the chooser lists, and files that it sends itself. Those end in a suffix of `SUFFIXES`, whose
readers follow no other file; they have at most `MAX_FILE_BYTES`, are kept in a folder of their own until the next one
comes or the studio stops, and one is received at a time.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from choque.errors import ChoqueError, InvalidInput
from choque.files.source import lower_suffix
from choque.studio.page.entries import ENTRIES, find_view, in_chooser, view_of

if TYPE_CHECKING:
    from choque.studio.page.server import Studio

LINK_PATH = "link"

MAX_FILE_BYTES = 64 << 20
"""Maximum size of a dropped file [bytes]."""

MAX_WORDS = 2_000
"""Maximum length of the first message [characters]."""

STALLED = 20.0
"""A tab that says nothing for this long is not waited for [s]."""

SUFFIXES = (
    *(".npy", ".npz", ".csv", ".parquet", ".aabbs", ".xyz", ".extxyz", ".choque"),
    *(".stl", ".obj", ".ply", ".off", ".glb", ".3mf", ".nii", ".nii.gz", ".nrrd"),
)
"""Suffixes of files that can be dropped: all in one file, with what they name inside it."""

SCRIPT = """<script>
(() => {
  // viser opens its socket at the address of the page, which must have no part after "#" then, nor when it reconnects.
  const taken = () => {
    const words = location.hash.slice(1);
    if (words) history.replaceState(null, "", location.pathname + location.search);
    return words;
  };
  const first = taken();
  const say = async (words, file) => {
    const address = new URL("PATH", location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address, ["viser-vVERSION"]);
    socket.onmessage = (event) => notice(event.data);
    await new Promise((done, failed) => { socket.onopen = done; socket.onerror = failed; });
    socket.send(JSON.stringify(words));
    for (let first = 0; file && first < file.size && socket.readyState === 1; first += 262144) {
      socket.send(await file.slice(first, first + 262144).arrayBuffer());
      while (socket.bufferedAmount > 4194304) await new Promise((done) => setTimeout(done, 20));
    }
  };
  const notice = (words) => {
    const shown = document.createElement("div");
    shown.className = "choque-notice";
    shown.textContent = words;
    shown.style = "position:fixed;left:1em;bottom:1em;max-width:40em;padding:0.8em 1em;z-index:999;" +
      "background:#1d2433;color:#e8ecf3;font:15px/1.5 sans-serif;border-left:4px solid #ff7018";
    document.body.append(shown);
    setTimeout(() => shown.remove(), 8000);
  };
  const follow = (address) => {
    const named = new URLSearchParams(address), words = {};
    if (named.has("open")) words.open = named.get("open");
    if (named.has("t")) words.t = Number(named.get("t"));
    if (Object.keys(words).length) say(words);
  };
  addEventListener("hashchange", () => follow(taken()));
  addEventListener("DOMContentLoaded", () => follow(first));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    if (file) say({ file: file.name, size: file.size }, file);
  });
})();
</script>"""


def script() -> str:
    """Return the script of the page."""
    import viser

    return SCRIPT.replace("PATH", LINK_PATH).replace("VERSION", viser.__version__)


class Links:
    """Does what tabs say, in the thread of the studio."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._folder: Path | None = None
        self._is_receiving = False

    async def handle(self, connection: Any) -> None:
        """Do what a tab says, and answer in a sentence if it is refused."""
        try:
            words = _read(await asyncio.wait_for(connection.recv(), STALLED))
            if "file" in words:
                await self._receive(connection, words)
            else:
                self._studio.request(lambda: self.follow(words), "link")
        except InvalidInput as problem:
            await connection.send(str(problem))
        except TimeoutError:
            await connection.send("Nothing came for a while; drop the file again.")

    def follow(self, words: dict[str, Any]) -> None:
        """Open what an address names, unless it is shown already, and go to its moment."""
        if "open" in words:
            kind, name = in_chooser(str(words["open"]))
            if self._studio.view is None or self._studio.opened != (kind, name):
                self._studio.show(ENTRIES.find(kind).open([name], {}))
                self._studio.opened = kind, name
        if "t" in words and self._studio.view is not None:
            moment = words["t"]
            if not isinstance(moment, int | float) or not 0 <= moment <= sys.float_info.max:
                raise InvalidInput(f"The moment is {moment!r}; it must be a number of seconds from 0 on.")
            self._studio.view.seek_time(float(moment))

    def clear(self) -> None:
        """Delete the file that was dropped."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    async def _receive(self, connection: Any, words: dict[str, Any]) -> None:
        name, size = _checked_name(words.get("file")), words.get("size")
        if not isinstance(size, int) or not 0 < size <= MAX_FILE_BYTES:
            raise InvalidInput(
                f"{name} has {size!r} bytes; files of up to {MAX_FILE_BYTES >> 20} MiB can be dropped. Larger ones are "
                "opened by 'choque view FILE'."
            )
        if self._is_receiving:
            raise InvalidInput("Another file is on its way; drop this one again in a moment.")
        self._is_receiving = True
        folder = Path(tempfile.mkdtemp(prefix="choque-dropped-"))
        try:
            received = 0
            with (folder / name).open("xb") as file:
                while received < size:
                    part = await asyncio.wait_for(connection.recv(), STALLED)
                    received += len(part)
                    if not isinstance(part, bytes) or received > size:
                        raise InvalidInput(f"{name} is not what was announced; drop it again.")
                    file.write(part)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            self._is_receiving = False
        await connection.send(f"Opening {name} …")
        self._studio.request(lambda: self._open(folder, name))

    def _open(self, folder: Path, name: str) -> None:
        try:
            view = _view_of_file(folder / name)
        except ChoqueError as problem:
            shutil.rmtree(folder, ignore_errors=True)
            raise InvalidInput(str(problem).replace(f"{folder}/", "")) from None
        view.title = name if view.title == str(folder / name) else view.title
        self._studio.show(view)
        self.clear()
        self._folder = folder


def _view_of_file(path: Path) -> Any:
    from choque.files import scans

    if scans.scan_suffix(path) in (".nii", ".nii.gz", ".nrrd"):
        from choque.volumes import Volume

        return view_of(Volume.read(path))
    return find_view([str(path)])


def _read(message: str | bytes) -> dict[str, Any]:
    if not isinstance(message, str) or len(message) > MAX_WORDS:
        raise InvalidInput("A message of the page could not be read.")
    try:
        found = json.loads(message)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidInput("A message of the page could not be read.")
    return found


def _checked_name(given: Any) -> str:
    """Return a file name without folders and unusual characters, with a suffix that is read."""
    name = re.sub(r"[^\w.-]", "_", str(given))[-80:].lstrip(".")
    suffix = ".nii.gz" if name.lower().endswith(".nii.gz") else lower_suffix(Path(name))
    if suffix not in SUFFIXES:
        raise InvalidInput(f"{name or 'The file'} cannot be dropped; files may end in {', '.join(SUFFIXES)}.")
    return name
