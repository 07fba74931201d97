"""A world of rigid bodies: balls and capsules fall into a box, and every broad phase tells the same story."""

# %% Six by six by six bodies above a floor with four walls.
import numpy as np

from choque.world import Run, World

random = np.random.default_rng(1)
grid = np.indices((6, 6, 6)).reshape(3, -1).T
center = (grid - [2.5, 0, 2.5]) * 1.3 + [0, 1, 0] + random.uniform(-0.1, 0.1, grid.shape)
falling = {"acceleration": (0, -9.8, 0), "elasticity": 0.4}


def box_of_bodies() -> World:
    world = World(broad="sap-obb")
    world.add_tiles([0, 0, 0], 9, 9)
    world.add_tiles([[-4.5, 20, 0], [4.5, 20, 0]], 40, 9, rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    world.add_tiles([[0, 20, -4.5], [0, 20, 4.5]], 9, 40, rotation=[[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    world.add_spheres(center[::2], radius=0.5, **falling)
    world.add_capsules(center[1::2], radius=0.3, length=0.6, **falling)
    return world


# %% Two seconds, and what the last step did.
run = Run(box_of_bodies, stop_at=121)
run.observers.append(lambda world, report: print(report) if world.frame == 120 else None)
run.play_to_end()
ended = run.world.hash()
print(f"kinetic energy {run.world.energy():.1f}, state {ended:016x}")

# %% The same again by a uniform grid: other candidates, the same state to the last bit.
run.reset()
run.switch("grid")
run.play_to_end()
print("grid and sap-obb agree:", run.world.hash() == ended)

# %% Does the filter by oriented boxes pay here? The cost model of a whole run says so.
run.reset()
run.play_to_end()
print(run.world.cost)
