"""Figures of the answers to contacts."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import choque
from choque.theses.fingsics.engine import settings
from choque.theses.kdop.shape_matching import ShapeMatching

from .canvas import BLUE, COLOURS, GREY, OCHRE, RED, drawn, panels, plain


@drawn()
def impulse() -> Figure:
    """Balls of different restitution, and a row of balls that is struck."""
    figure, (bounce, cradle) = panels(9, 3.4, 2)
    world = choque.World(response="impulse")
    world.add_tiles([0, 0, 0], 40, 40, restitution=1.0)
    restitution = (1.0, 0.6, 0.2, 0.0)
    places = [[4.0 * number, 5, 0] for number in range(4)]
    world.add_spheres(places, radius=0.5, restitution=restitution, acceleration=(0, -9.8, 0))
    heights = [world.bodies.position[1:, 1].copy()]
    for _ in range(240):
        world.step(1 / 120)
        heights.append(world.bodies.position[1:, 1].copy())
    for number, colour in enumerate((BLUE, OCHRE, RED, GREY)):
        shared = (restitution[number] + 1) / 2
        bounce.plot(np.arange(241) / 120, np.array(heights)[:, number], color=colour, label=f"{shared:g}")
    bounce.axhline(0.5, color=GREY, linewidth=0.8)
    bounce.set(xlabel="seconds", ylabel="height of the centre", title="a drop, by restitution")
    bounce.set_ylim(0, 5.6)
    bounce.legend(ncols=4, fontsize=7.5, loc="lower left")
    scene = choque.scene.read("cradle")
    world = scene.world()
    balls = ~world.bodies.static
    speeds = [world.bodies.velocity[balls, 0]]
    count = int(1.6 / scene.dt)  # before the last ball comes to a wall
    for _ in range(count):
        world.step(scene.dt)
        speeds.append(world.bodies.velocity[balls, 0])
    for ball, course in enumerate(np.array(speeds).T):
        cradle.step(np.arange(count + 1) * scene.dt, course + 0.12 * ball, where="post", color=COLOURS[ball + 1])
    cradle.set(xlabel="seconds", ylabel="speed (lines moved apart)", title="six balls: the speed is handed on")
    return figure


@drawn()
def soft_step() -> Figure:
    """The contacts of a pyramid with their impulses, and how a pile comes to rest."""
    figure, (wall, rest) = panels(9, 3.4, 2)
    world: Any = choque.scene.bodies("pyramid", 21).world(response_options={"sleep": False})
    for _ in range(40):
        world.step(1 / 60)
    bodies, found, force = world.bodies, world.contacts(), world.forces().sum(axis=1)
    outline = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    for row in np.flatnonzero(~bodies.static):
        placed = outline @ bodies.rotation[row, :2, :2].T + bodies.position[row, :2]
        wall.fill(*placed.T, facecolor=GREY, alpha=0.25, edgecolor=GREY)
    middle = [found.points[k, : found.point_count[k]].mean(axis=0) for k in range(len(found))]
    x, y, _ = np.array(middle).T
    wall.scatter(x, y, s=300 * force / force.max(), color=RED, alpha=0.8)
    plain(wall, "areas: the force between two cubes")
    for name, colour, options in (("4 sub-steps", BLUE, {}), ("16 sub-steps", OCHRE, {"substeps": 16})):
        scene_of = choque.scene.bodies("stack", 12, ratio=10.0)
        world = scene_of.world(response_options={**options, "sleep": False})
        start, course = world.bodies.position[-1, 1], []
        for _ in range(180):
            world.step(1 / 60)
            course.append(1e3 * (start - world.bodies.position[-1, 1]))
        rest.plot(np.arange(180) / 60, course, color=colour, label=name)
    rest.set(xlabel="seconds", ylabel="mm", title="sinking of twelve cubes under one of mass 10")
    rest.legend(loc="center right")
    return figure


@drawn()
def fingsics_response() -> Figure:
    """A ball that strikes two at once, and a box of bodies without loss, by both responses."""
    figure, (break_shot, energy) = panels(9, 3.4, 2)
    scene = choque.scene.find_bodies("mixed-box-100")
    for name, colour, options in (("impulse", BLUE, {"response": "impulse"}), ("fingsics", RED, settings({}))):
        world = choque.World(**options)
        world.add_spheres(
            [[0, 0, 0], [4, 0.55, 0], [4, -0.55, 0], [6, 1.6, 0]], radius=0.5, velocity=[[6, 0, 0], *[[0, 0, 0]] * 3]
        )
        course = [world.bodies.position.copy()]
        for _ in range(100):
            world.step(1 / 60)
            course.append(world.bodies.position.copy())
        x, y, _ = np.array(course).T
        break_shot.plot(x.T, y.T, color=colour, linewidth=1.4, linestyle="-" if name == "impulse" else "--")
        break_shot.plot(x[:, -1], y[:, -1], "o", color=colour, label=name)
        world = scene.world(**options)
        total = []
        for _ in range(180):
            world.step(scene.dt)
            total.append(world.energy())
        energy.plot(np.arange(180) * scene.dt, total, color=colour, label=name)
    break_shot.set(title="a ball strikes two at once; dots: after 1.7 s", aspect="equal", xlabel="x", ylabel="y")
    break_shot.legend(loc="lower left")
    energy.set(xlabel="seconds", title="kinetic energy of 100 bodies without loss")
    energy.set_ylim(0, 1.15 * energy.get_ylim()[1])
    energy.legend(loc="lower left")
    return figure


@drawn()
def shape_matching() -> Figure:
    """Three boxes that overlap, after more and more passes over their pairs."""
    outline = np.array([[-1, -0.5], [1, -0.5], [1, 0.5], [-1, 0.5]])
    angles, places = (0.0, 0.35, -0.5), ((0.0, 0.0), (1.2, 0.55), (-0.2, 0.75))
    figure, axes = panels(9.6, 2.8, 4)
    for panel, passes in zip(axes, (0, 1, 3, 10), strict=True):
        world: Any = choque.World(response="shape-matching", threads=1)
        turns = [[[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]] for a in angles]
        world.add_boxes([[*place, 0] for place in places], (2, 1, 4), rotation=turns)
        bodies = world.bodies
        if passes:
            pairs = np.array([[0, 1], [0, 2], [1, 2]], np.int32)
            ShapeMatching(iterations=passes).respond(bodies, pairs, 0.0)
        for row, colour in enumerate((BLUE, OCHRE, RED)):
            placed = outline @ bodies.rotation[row, :2, :2].T + bodies.position[row, :2]
            panel.fill(*placed.T, facecolor=colour, alpha=0.4, edgecolor=colour)
            panel.plot(*placed.T, "o", color=colour, markersize=3)
        plain(panel, "before" if not passes else f"{passes} pass{'es' if passes > 1 else ''}")
        panel.set(xlim=(-2.6, 3.1), ylim=(-1.3, 2.2))
    return figure
