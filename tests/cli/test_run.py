"""The verbs that run worlds: run, replay, test-scenes, video."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from choque.record import Recording, recorder
from choque.theses.fingsics.log import read_log
from choque.theses.fingsics.scene_dat import SceneDat
from choque.world import StepReport, World

if TYPE_CHECKING:
    from conftest import Command

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data" / "fingsics"
SHARED = Path(os.environ.get("CHOQUE_FINGSICS") or BESIDE)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def only_folder(parent: str = "output") -> Path:
    (folder,) = Path(parent).iterdir()
    return folder


def test_a_run_prints_its_stages_and_writes_nothing(command: Command, tmp_path: Path) -> None:
    text = command.succeeds("run", "bowling", "--frames", 20, "--response", "impulse", "--details")
    for words in ("bounds", "broad", "narrow", "response", "integrate", "capsule-tile", "Energy"):
        assert words in text
    text = command.succeeds("run", "bowling", "--frames", 20, "--details")
    assert "capsule-tile" in text
    assert "used again" in text
    assert "ns per test" not in text  # soft-step does not time them
    short = command.succeeds("run", "bowling", "--frames", 20).splitlines()
    assert len(short) == 5, "what happened, the time of a step, energy and state"
    assert list(tmp_path.iterdir()) == []


def test_a_run_says_what_happened(command: Command) -> None:
    text = command.succeeds("run", "bowling", "--frames", 120)
    assert "contacts in a step; the fastest hit at " in text
    assert "Energy, kinetic and potential together: " in text, "without a share: the zero of height is arbitrary"
    found = json.loads(command.succeeds("run", "bowling", "--frames", 120, "--json"))
    hit = found["fastest_hit"]
    assert f"the fastest hit at {hit['speed']:.3g} m/s, of bodies {hit['pair'][0]} and {hit['pair'][1]}" in text
    assert 0 < hit["time"] < 2
    assert 100 < found["timed_steps"] <= found["steps"] == 120


def test_an_energy_that_rounding_alone_changes_is_unchanged(command: Command) -> None:
    assert "together: unchanged." in command.succeeds("run", "pile:10", "--frames", 2), "bodies in free fall"


def test_the_cost_model_is_printed_on_request(command: Command) -> None:
    assert "T = C + bB + oO" not in command.succeeds("run", "bowling", "--frames", 2)
    assert "T = C + bB + oO" in command.succeeds("run", "bowling", "--frames", 2, "--cost")


def test_a_recorded_run_is_verified_by_any_number_of_threads(command: Command) -> None:
    run = json.loads(
        command.succeeds("run", "mixed-box:60", "--seed", 3, "--frames", 25, "--record", "--log", "--json")
    )
    folder = only_folder()
    assert folder.name.startswith("mixed-box--")
    assert sorted(path.name for path in folder.iterdir()) == ["log.csv", "recording.choque"]
    assert len(read_log(folder / "log.csv")["NPCDTests"]) == run["steps"] == 25
    for threads in (1, 2):
        printed = json.loads(command.succeeds("replay", folder, "--verify", "--threads", threads, "--json"))
        assert (printed["verified"], printed["frames"], printed["seed"], printed["complete"]) == (True, 26, 3, True)
        assert printed["last_hash"] == run["hash"]
    assert "equal to the last bit" in command.succeeds("replay", folder, "--verify")


def test_a_scene_without_a_seed_replays_without_one(command: Command) -> None:
    command.succeeds("run", "bounce", "--frames", 3, "--record")
    assert "seed" not in command.succeeds("replay", only_folder())


def test_two_runs_two_folders(command: Command) -> None:
    """F-001-41."""
    for _ in range(2):
        command.succeeds("run", "bounce", "--frames", 3, "--log")
    assert len(list(Path("output").iterdir())) == 2


def test_a_folder_that_is_given_is_the_run_s_own_and_a_used_one_gets_another_inside(command: Command) -> None:
    for _ in range(2):
        command.succeeds("run", "bounce", "--frames", 3, "--record", "--log", "--output", "here")
    assert {"log.csv", "recording.choque"} < {path.name for path in Path("here").iterdir()}
    assert len(list(Path("here").iterdir())) == 3
    assert "equal to the last bit" in command.succeeds("replay", "here", "--verify")


def test_a_folder_of_runs_replays_the_latest(command: Command) -> None:
    for frames in (3, 4):
        command.succeeds("run", "bounce", "--frames", frames, "--record")
    assert json.loads(command.succeeds("replay", "output", "--json"))["frames"] == 5


@pytest.mark.parametrize(
    ("name", "ours"),
    [("NONE", "all"), ("AABB", "brute"), ("OBB", "brute-obb"), ("SAP", "sap-incremental"), ("SAPOBB", "sap-obb")],
)
def test_the_names_of_the_original(command: Command, name: str, ours: str) -> None:
    assert json.loads(command.succeeds("run", "bounce", "--frames", 2, "--broad", name, "--json"))["broad"] == ours


def test_frames_are_steps_and_stop_at_is_one_more(command: Command) -> None:
    for options, steps in ((("--frames", 7), 7), (("--stop-at", 7), 6)):
        assert json.loads(command.succeeds("run", "bounce", *options, "--json"))["steps"] == steps


def test_benchmark(command: Command) -> None:
    """F-001-35."""
    text = command.succeeds("run", "bounce", "--benchmark", 2, "--frames", 5)
    folder = only_folder("benchmarks")
    assert "Mean total time per frame" in text
    assert {path.name for path in folder.iterdir()} == {"run1.csv", "run2.csv", "averages_per_frame.csv", "summary.txt"}
    printed = json.loads(command.succeeds("run", "bounce", "--benchmark", 1, "--frames", 5, "--json"))
    assert printed["runs"] == 1


def configure(**keys: object) -> None:
    Path("scenes").mkdir(exist_ok=True)
    ball = '<sphere pos="0,3,0" acceleration="0,-9.8,0"/><tile/>'
    Path("scenes/drop.xml").write_text(f"<config><objects>{ball}</objects></config>")
    keys = {"SCENE_FILE_NAME": "drop", "BROAD_PHASE": "SAP", **keys}
    Path("config.txt").write_text("".join(f"{key}={value} # as it is\n" for key, value in keys.items()))


def test_a_configuration_of_the_original(command: Command) -> None:
    configure(STOP_AT_FRAME=30, LOG="true", RECORD_SCENE="true", FPS_CAP=120)
    command.succeeds("run", "--config", "config.txt")
    folder = only_folder()
    assert sorted(path.name for path in folder.iterdir()) == ["log.csv", "recording.choque", "scene.dat"]
    assert len(read_log(folder / "log.csv")["NPCDTests"]) == 29
    dat = SceneDat(folder)
    assert (dat.frame_count, dat.frames_per_second) == (30, 120)
    configure(RUN_MODE="REPLAY", SCENE_REPLAY_FOLDER_NAME=folder.name)
    assert "30 frames at 120 a second" in command.succeeds("run", "--config", "config.txt")
    configure(RUN_MODE="BENCHMARK", NUM_RUNS_FOR_BENCHMARK=2, STOP_AT_FRAME=-1)
    assert "config.txt: RUN_MODE is BENCHMARK" in command.fails("run", "--config", "config.txt")
    command.succeeds("run", "--config", "config.txt", "--frames", 4)
    assert (only_folder("benchmarks") / "run2.csv").is_file()


def test_the_mode_test_gives_a_verdict(command: Command) -> None:
    """F-001-36."""
    configure(RUN_MODE="TEST")
    text = command.succeeds("run", "--config", "config.txt")
    assert "no expected log" in text
    found = next(Path("testing").glob("*/drop_test.csv"))
    Path("expected").mkdir()
    Path("expected/drop.csv").write_text(found.read_text())
    assert "equal in all 299 rows" in command.succeeds("test-scenes", ".")
    lines = found.read_text().splitlines()
    lines[5] = "0,9,0,9,0,0,0"
    Path("expected/drop.csv").write_text("\n".join(lines))
    outcome = command("test-scenes", ".")
    assert (outcome.code, "differs from row 5 on" in outcome.out) == (1, True)


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the scenes of the Fingsics engine")
def test_the_counts_of_the_fingsics_engine(command: Command) -> None:
    """F-001-36: every row of the four expected logs, from the verb that tests and from a logged run."""
    printed = json.loads(command.succeeds("test-scenes", SHARED, "--json"))
    sums = {each["scene"]: (each["tests"], each["collisions"]) for each in printed["scenes"]}
    assert all(each["equal"] and each["rows"] == 299 for each in printed["scenes"])
    assert sums == {
        "many-balls": (173, 82),
        "missile": (6565, 377),
        "objects-resting": (527, 527),
        "bowling": (3445, 2255),
    }
    scene = SHARED / "scenes" / "missile.xml"
    command.succeeds("run", scene, "--fingsics", "--broad", "sap-incremental", "--log", "--stop-at", 300)
    expected = read_log(SHARED / "expected" / "missile.csv")
    found = read_log(only_folder() / "log.csv")
    assert all((found[name] == expected[name]).all() for name in ("NPCDTests", "Collisions"))


def test_an_interrupt_keeps_what_was_recorded(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    real = World.step

    def step(self: World, dt: float) -> StepReport:
        if self.frame == 40:
            raise KeyboardInterrupt
        return real(self, dt)

    monkeypatch.setattr(World, "step", step)
    outcome = command("run", "bounce", "--frames", 100, "--record", "--log")
    assert outcome.code == 130
    assert outcome.err.splitlines()[-1] == "choque: Interrupted."
    recording = Recording(only_folder())
    assert (recording.frame_count, recording.complete) == (41, True)
    assert len(read_log(only_folder() / "log.csv")["Collisions"]) == 40


def test_a_full_disk(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    real = recorder.write_block
    written: list[bytes] = []

    def write_block(handle: object, kind: bytes, payload: bytes) -> int:
        written.append(kind)
        if written.count(b"POSE") > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle, kind, payload)

    monkeypatch.setattr(recorder, "write_block", write_block)
    assert "the disk is full. Its first 60 frames stay readable" in command.fails(
        "run", "bounce", "--frames", 200, "--record"
    )
    assert Recording(only_folder()).frame_count == 60
    assert "60 frames" in command("replay", only_folder()).out


def test_a_configuration_whose_scene_is_not_there_is_named(command: Command) -> None:
    Path("config.txt").write_text("SCENE_FILE_NAME=lost\n")
    printed = command.fails("run", "--config", "config.txt")
    assert "config.txt: SCENE_FILE_NAME is 'lost'; there is no such .xml or .toml file in scenes" in printed


def test_a_scene_dat_from_a_recording(command: Command) -> None:
    command.succeeds("run", "bounce", "--frames", 5, "--record")
    command.succeeds("replay", only_folder(), "--scene-dat", "scene.dat")
    assert json.loads(command.succeeds("replay", "scene.dat", "--json"))["frames"] == 6
    assert "cannot be simulated again" in command.fails("replay", "scene.dat", "--verify")


def test_a_run_that_does_not_repeat_is_exit_code_1(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    command.succeeds("run", "bounce", "--frames", 5, "--record")
    monkeypatch.setattr(Recording, "hashes", lambda self: self.times().astype("u8"))
    outcome = command("replay", only_folder(), "--verify")
    assert outcome.code == 1
    assert "Frame 0 differs" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Give a scene"),
        (["run-away"], "no scene of bodies"),
        (["uniform:1000"], "uniform is a scene of boxes, for 'choque bake'"),
        (["pile:" + 300 * "1"], "it must be a whole number from 0"),
        (["nothing.xml"], "There is no file"),
        (["mixed-box:many"], "mixed-box:1000"),
        (["bounce", "--frames", "0"], "at least 1"),
        (["bounce", "--stop-at", "1"], "at least 2"),
        (["bounce", "--frames", "2", "--stop-at", "2"], "not both"),
        (["bounce", "--broad", "grd"], "Did you mean 'grid'?"),
        (["bounce", "--bounds", "hexagon"], "kind of bounds"),
        (["bounce", "--response", "none"], "response"),
        (["bounce", "--seed", "1"], "not a generator"),
        (["bounce", "--option", "gap=2"], "not a generator"),
        (["mixed-box:5", "--option", "gap=2"], "has no parameter 'gap'"),
        (["bounce", "--benchmark", "0"], "at least 1"),
        (["bounce", "--fps", "0"], "at least 1"),
        (["bounce", "--threads", "0"], "threads"),
        (["bounce", "--device", "crad"], "no device called 'crad'"),
        (["--config", "config.txt"], "There is no file config.txt"),
        (["bounce", "--config", "config.txt"], "not both"),
        (["bounce", "--log", "--frames", "1", "--output", "/dev/null/x"], "No folder can be made"),
    ],
)
def test_bad_arguments(command: Command, tmp_path: Path, arguments: list[str], words: str) -> None:
    assert words in command.fails("run", *arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["replay", "nowhere"], "There is no file"),
        (["replay", "."], "has no recording"),
        (["test-scenes", "nowhere"], "There is no folder"),
        (["video", "nowhere", "a.mp4"], "There is no file"),
        (["video", "nowhere", "a.mp4", "--size", "large"], "1280x720"),
        (["video", "nowhere", "a.mp4", "--camera", "1,2"], "40,-25,0"),
    ],
)
def test_bad_arguments_of_other_verbs(command: Command, arguments: list[str], words: str) -> None:
    assert words in command.fails(*arguments)
