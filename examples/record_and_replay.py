"""Record a run while it goes on, replay it in any order, and prove that it repeats to the last bit."""

# %% A ball rolls into pins; an observer of the run records it, another logs it.
import tempfile
from pathlib import Path

import choque
from choque.record import Log, Recorder, Recording, Replay, SceneDat, Totals, verify, write_scene_dat
from choque.world import Run

folder = tempfile.TemporaryDirectory()
here = Path(folder.name)
scene = choque.scene.load("bowling")
run = Run(scene.world(broad="sap-obb"), scene.dt)
totals = Totals()
with (
    Recorder(here / "bowling.choque", run.world, scene=scene.name, camera=scene.camera) as recorder,
    Log(here / "log.csv") as log,
):
    run.observers += [recorder, log, totals]
    run.step(240)
print(f"{recorder.frame_count} frames, {log.row_count} rows, {totals.contacts} contacts")
print(totals.cost)

# %% Any frame at once, in both directions; nothing is simulated.
recording = Recording(here / "bowling.choque")
replay = Replay(recording)
print(f"{replay.seek(+60)}, {replay.seek(+600)}, {replay.seek(-1)}: the ball is at {replay.poses.position[3].round(2)}")
assert replay.seek_to(240) == 240
assert (replay.poses.position == run.world.bodies.position.astype("float32")).all()

# %% The recording holds the initial state, so that the run can be done again, with another number of threads.
found = verify(recording, threads=2)
print(found)
assert found.is_equal

# %% The format of the original is larger, and loses nothing of the poses.
write_scene_dat(here / "scene.dat", recording)
original = SceneDat(here / "scene.dat")
sizes = [path.stat().st_size for path in (recording.path, original.path)]
print(f"recording.choque has {sizes[0]:,} bytes, scene.dat {sizes[1]:,}")
assert original.frame(123).position.tobytes() == recording.frame(123).position.tobytes()
recording.close()
folder.cleanup()
