"""The configuration file of the Fingsics engine: all sixteen keys, trimmed and checked."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest

import choque
from choque.errors import InvalidInput, UnreadableFile
from choque.theses.fingsics.config import METHOD_ALIASES, Config, load_config

SETTINGS = {
    "SCENE_FILE_NAME": ("bowling", "bowling", ""),
    "FPS_CAP": ("120", 120, 60),
    "FULLSCREEN": ("false", False, True),
    "WINDOWED_WIDTH": ("1600", 1600, 1280),
    "WINDOWED_HEIGHT": ("900", 900, 720),
    "LOG": ("true", True, False),
    "RECORD_SCENE": ("true", True, False),
    "RECORD_VIDEO": ("true", True, False),
    "DRAW_AXES": ("false", False, True),
    "OBJECT_DEFINITION": ("20", 20, 8),
    "SHOW_FPS": ("false", False, True),
    "BROAD_PHASE": ("SAPOBB", "SAPOBB", "NONE"),
    "RUN_MODE": ("BENCHMARK", "BENCHMARK", "DEFAULT"),
    "NUM_RUNS_FOR_BENCHMARK": ("5", 5, 10),
    "SCENE_REPLAY_FOLDER_NAME": ("scene", "scene", ""),
    "STOP_AT_FRAME": ("-1", -1, 300),
}


def read(path: Path, text: str) -> Config:
    path.write_text(text, encoding="utf-8")
    return load_config(path)


@pytest.mark.parametrize("key", SETTINGS)
def test_every_key_alone(key: str, tmp_path: Path) -> None:
    """F-001-05: each key is set while all others keep the defaults of the engine's code."""
    assert len(SETTINGS) == 16
    found = asdict(read(tmp_path / "config.txt", f"{key}={SETTINGS[key][0]}\n"))
    expected = {name.lower(): given if name == key else default for name, (_, given, default) in SETTINGS.items()}
    assert found == expected


def test_values_are_trimmed_and_comments_cut_off(tmp_path: Path) -> None:
    """F-001-06: where the engine would run without a broad phase."""
    text = (
        "\ufeff# a comment\r\n\r\n  BROAD_PHASE =  SAP # x\r\nLOG=True#y\r\nSCENE_FILE_NAME= my scene \r\nRUN_MODE=test"
    )
    made = read(tmp_path / "config.txt", text)
    assert (made.broad_phase, made.method, made.log) == ("SAP", "sap-incremental", True)
    assert (made.scene_file_name, made.run_mode) == ("my scene", "TEST")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("BROAD_PHASE=SAPOB", r"BROAD_PHASE is 'SAPOB'; it must be one of NONE, .*; did you mean SAPOBB\?"),
        ("BROAD_PHASE=", "BROAD_PHASE is ''"),
        ("BROAD_FASE=SAP", r"no setting 'BROAD_FASE'. Did you mean BROAD_PHASE\?"),
        ("COLOUR=3", "no setting 'COLOUR'. Known: SCENE_FILE_NAME"),
        ("log", "'log' is no setting; write KEY=value"),
        ("FPS_CAP=0", "a whole number from 1"),
        ("FPS_CAP=60.5", "a whole number, such as 60"),
        ("FPS_CAP=9999999999999999999", "a whole number"),
        ("FPS_CAP=١٢", "a whole number"),
        ("STOP_AT_FRAME=-2", "-1, or a whole number from 1"),
        ("STOP_AT_FRAME=--1", "a whole number"),
        ("LOG=yes", "true or false"),
        ("RUN_MODE=PLAY", "one of DEFAULT, TEST, BENCHMARK, REPLAY"),
        ("OBJECT_DEFINITION=2", "from 3 to 1000"),
        ("FULLSCREEN=true", "FULLSCREEN was set on line 1 already"),
    ],
)
def test_errors_name_the_line(line: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=rf"config.txt, line 3: .*{words}"):
        read(tmp_path / "config.txt", f"FULLSCREEN=true\n# fine\n{line}\n")


def test_files_that_are_none(tmp_path: Path) -> None:
    """F-001-04."""
    with pytest.raises(UnreadableFile, match="There is no file"):
        load_config(tmp_path / "config.txt")
    (tmp_path / "config.txt").write_bytes(b"\x00\x01")
    with pytest.raises(UnreadableFile, match="is not a configuration"):
        load_config(tmp_path / "config.txt")
    (tmp_path / "config.txt").write_bytes(b"#" * 5000 + b"\xff")
    with pytest.raises(UnreadableFile, match="not text in UTF-8"):
        load_config(tmp_path / "config.txt")


def test_names_of_methods() -> None:
    assert list(METHOD_ALIASES) == ["NONE", "AABB", "OBB", "SAP", "SAPOBB"]
    assert set(METHOD_ALIASES.values()) <= set(choque.broad.names())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"run_mode": "BENCHMARK", "stop_at_frame": -1}, "a benchmark needs a last frame"),
        ({"record_scene": True, "stop_at_frame": -1}, "a recording needs a last frame"),
        ({"record_video": True, "fps_cap": 50}, "FPS_CAP is 50; videos have 25, 30, 60 or 120"),
    ],
)
def test_settings_that_need_others(changes: dict[str, object], words: str) -> None:
    Config().require_consistent()
    with pytest.raises(InvalidInput, match=words):
        replace(Config(), **changes).require_consistent()
    if changes.get("run_mode") is None:
        replace(Config(run_mode="REPLAY"), **changes).require_consistent()


def test_the_scene_is_found(tmp_path: Path) -> None:
    assert Config("bowling").scene_path(tmp_path) == Path("bowling")
    (tmp_path / "bowling.toml").touch()
    assert Config("bowling").scene_path(tmp_path) == tmp_path / "bowling.toml"
    (tmp_path / "scenes").mkdir()
    (tmp_path / "scenes" / "bowling.xml").touch()
    assert Config("bowling").scene_path(tmp_path) == tmp_path / "scenes" / "bowling.xml"
    assert Config("bowling.xml").scene_path(tmp_path) == tmp_path / "scenes" / "bowling.xml"
    with pytest.raises(InvalidInput, match="SCENE_FILE_NAME is empty"):
        Config().scene_path(tmp_path)


def test_the_example_of_the_original(fingsics: Path) -> None:
    made = load_config(fingsics / "example-config.txt")
    assert made == Config(
        scene_file_name="scene",
        fullscreen=False,
        broad_phase="SAP",
        num_runs_for_benchmark=5,
        scene_replay_folder_name="scene--2021-10-11--10-41-03",
        stop_at_frame=-1,
    )
