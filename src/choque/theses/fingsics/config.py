"""The ``config.txt`` of Fingsics: sixteen keys, one ``KEY=value`` per line.

Unlike in the engine, spaces and comments after a value are ignored, and unknown values are errors: there,
``BROAD_PHASE=SAP # x`` silently ran without a broad phase.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from choque.errors import InvalidInput, UnreadableFile
from choque.files.source import naming_damage, read_text
from choque.scene import names
from choque.theses.fingsics.words import flag, whole

METHOD_ALIASES = {"NONE": "all", "AABB": "brute", "OBB": "brute-obb", "SAP": "sap-incremental", "SAPOBB": "sap-obb"}
"""The methods by their names in the engine."""

RUN_MODES = ("DEFAULT", "TEST", "BENCHMARK", "REPLAY")
VIDEO_RATES = (25, 30, 60, 120)


@dataclass(frozen=True)
class Config:
    """The settings of a run, each named as in the file, with the defaults of the engine's code.

    Attributes
    ----------
    scene_file_name
        The scene in the folder ``scenes``, without its suffix.
    fps_cap
        Steps a simulated second, and frames shown a second at most.
    windowed_width, windowed_height
        The size of films.
    fullscreen, show_fps
        Of the engine's window, and without effect here: the studio is a page of the browser, which shows its rate.
    log, record_scene, record_video
        What a run in the mode DEFAULT writes.
    draw_axes, object_definition
        How films are drawn; round bodies have ``object_definition`` latitudes and longitudes.
    broad_phase
        A key of `METHOD_ALIASES`; `method` is its name here.
    run_mode
        DEFAULT, TEST, BENCHMARK or REPLAY.
    num_runs_for_benchmark
        How often the mode BENCHMARK repeats the run.
    scene_replay_folder_name
        What the mode REPLAY plays, a folder in ``output``.
    stop_at_frame
        The last frame, which takes one step less; -1 for no end.
    """

    scene_file_name: str = ""
    fps_cap: int = 60
    fullscreen: bool = True
    windowed_width: int = 1280
    windowed_height: int = 720
    log: bool = False
    record_scene: bool = False
    record_video: bool = False
    draw_axes: bool = True
    object_definition: int = 8
    show_fps: bool = True
    broad_phase: str = "NONE"
    run_mode: str = "DEFAULT"
    num_runs_for_benchmark: int = 10
    scene_replay_folder_name: str = ""
    stop_at_frame: int = 300

    @property
    def method(self) -> str:
        """The broad phase as Choque calls it."""
        return METHOD_ALIASES[self.broad_phase]

    def scene_path(self, folder: str | os.PathLike[str] = ".") -> Path:
        """Find the scene: in ``scenes`` inside ``folder``, that of the configuration, in it itself, or built in.

        Its name is understood with its suffix, too.
        """
        if not self.scene_file_name:
            raise InvalidInput("SCENE_FILE_NAME is empty; name the scene to run, without its suffix.")
        candidates = (
            place / f"{self.scene_file_name}{suffix}"
            for place in (Path(folder) / "scenes", Path(folder))
            for suffix in (".xml", ".toml", "")
        )
        return next((path for path in candidates if path.is_file()), Path(self.scene_file_name))

    def require_consistent(self) -> None:
        """Refuse settings of which one needs another; to be asked once options of the command have had their say."""
        endless = self.stop_at_frame == -1
        if self.run_mode == "BENCHMARK" and endless:
            raise InvalidInput("RUN_MODE is BENCHMARK and STOP_AT_FRAME is -1; a benchmark needs a last frame.")
        if self.run_mode != "DEFAULT":
            return
        if self.record_scene and endless:
            raise InvalidInput("RECORD_SCENE is true and STOP_AT_FRAME is -1; a recording needs a last frame.")
        if self.record_video and self.fps_cap not in VIDEO_RATES:
            raise InvalidInput(f"RECORD_VIDEO is true and FPS_CAP is {self.fps_cap}; videos have 25, 30, 60 or 120.")

    def checked_scene(self, config: Path) -> Path:
        """Return the scene of a configuration in the file ``config``, whose name is in errors."""
        try:
            self.require_consistent()
            path = self.scene_path(config.parent)
        except InvalidInput as problem:
            raise InvalidInput(f"{config}: {problem}") from None
        if not path.is_file() and path.stem not in names("built-in"):
            raise UnreadableFile(
                f"{config}: SCENE_FILE_NAME is {self.scene_file_name!r}; there is no such .xml or .toml file in "
                f"{config.parent / 'scenes'} or beside the configuration, and no built-in scene of that name."
            )
        return path


def _at_least(smallest: int, largest: int = 10**9, *, extra: tuple[int, ...] = ()) -> Callable[[str], int]:
    """Make a reader of whole numbers within bounds, or one of ``extra`` ones."""

    def read(text: str) -> int:
        value = whole(text)
        if not (smallest <= value <= largest or value in extra):
            also = "".join(f"{each}, or " for each in extra)
            raise ValueError(f"{also}a whole number from {smallest} to {largest}")
        return value

    return read


def _one_of(*words: str) -> Callable[[str], str]:
    """Make a reader of one of a few words, in capitals or not."""

    def read(text: str) -> str:
        word = text.upper()
        if word not in words:
            near = difflib.get_close_matches(word, words, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(f"one of {', '.join(words)}{hint}")
        return word

    return read


READERS: dict[str, Callable[[str], Any]] = {
    "SCENE_FILE_NAME": str,
    "FPS_CAP": _at_least(1, 1_000_000),
    "FULLSCREEN": flag,
    "WINDOWED_WIDTH": _at_least(1, 65_535),
    "WINDOWED_HEIGHT": _at_least(1, 65_535),
    "LOG": flag,
    "RECORD_SCENE": flag,
    "RECORD_VIDEO": flag,
    "DRAW_AXES": flag,
    "OBJECT_DEFINITION": _at_least(3, 1000),
    "SHOW_FPS": flag,
    "BROAD_PHASE": _one_of(*METHOD_ALIASES),
    "RUN_MODE": _one_of(*RUN_MODES),
    "NUM_RUNS_FOR_BENCHMARK": _at_least(1),
    "SCENE_REPLAY_FOLDER_NAME": str,
    "STOP_AT_FRAME": _at_least(1, extra=(-1,)),
}
"""The keys, and how the value of each is read."""


def load_config(path: str | os.PathLike[str]) -> Config:
    """Read a configuration; keys that are not there keep the defaults, all others are errors that name the line."""
    path = Path(path)
    with naming_damage(path):
        return _config(path, read_text(path, "a configuration, which is text"))


def _config(path: Path, text: str) -> Config:
    settings: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.partition("#")[0].strip()
        if not words:
            continue
        key, sign, value = (part.strip() for part in words.partition("="))
        where = f"{path}, line {number}"
        if not sign:
            raise UnreadableFile(f"{where}: {words[:80]!r} is no setting; write KEY=value, or # before a comment.")
        if key not in READERS:
            near = difflib.get_close_matches(key.upper(), READERS, n=1)
            hint = f" Did you mean {near[0]}?" if near else f" Known: {', '.join(READERS)}."
            raise UnreadableFile(f"{where}: there is no setting {key[:80]!r}.{hint}")
        if key in lines:
            raise UnreadableFile(f"{where}: {key} was set on line {lines[key]} already; set it once.")
        lines[key] = number
        try:
            settings[key.lower()] = READERS[key](value)
        except ValueError as problem:
            allowed = str(problem)
            end = "" if allowed.endswith("?") else "."
            raise UnreadableFile(f"{where}: {key} is {value[:80]!r}; it must be {allowed}{end}") from problem
    return Config(**settings)
