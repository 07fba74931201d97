"""What one does to a world with the mouse and the panel: grab, throw, shoot, add, remove, and change what acts on all.

Every action is a `Change`: a function of the world alone, which the history of the run can do again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput
from choque.narrow.shapes import PLANE, TILE
from choque.studio.page.bodies import Part
from choque.studio.page.history import Change
from choque.studio.palette import QUIET
from choque.world import Bodies, World

if TYPE_CHECKING:
    from choque.studio.page.world import WorldView

PULL = 9.0
"""Natural frequency of the spring that pulls a grabbed body to the pointer, which is damped critically [1/s]."""

MAX_BODIES = 20_000
"""Bodies are not added to a world of more than this."""

MAX_DRAGGED = 5_000
"""In a world of more bodies, dragging turns the camera at first: the browser tests each body for the pointer."""

SHAPES = ("ball", "capsule", "box")
RESTS = "soft-step"
"""The response with friction and resting contact."""

Vector = NDArray[np.float64]


class Hands:
    """The controls of a world that act on its bodies, and dragging.

    A body that is dragged while the run plays hangs on a spring and keeps its velocity when it is let go; in a paused
    run it is moved.
    """

    def __init__(self, view: WorldView) -> None:
        self._view = view
        self._grabbed: tuple[int, Vector, Vector] | None = None  # id, offset from its center, pointer
        self.is_grabbing = len(view.run.world) <= MAX_DRAGGED
        self.speed, self.shape = 20.0, SHAPES[0]
        self._bound: list[Any] = []

    @property
    def is_busy(self) -> bool:
        """Whether a body is being dragged."""
        return self._grabbed is not None

    # Panel

    def add_first_controls(self) -> None:
        """Add what belongs beside the play button: throwing, shooting, gravity."""
        page, now = self._view.page, _settings(self._view.run.world.bodies)
        page.text("**Drag a body to throw it.** Drag beside the bodies to turn the camera.")
        page.button("Shoot a ball (B)", self.shoot, is_main=True, hint="From the camera to what it looks at.")
        self._sliders = [page.slider("Gravity", 0.0, 25.0, 0.1, now[0], self.set_gravity, hint="Downward [unit/s²].")]

    def add_folder(self) -> None:
        """Add the other controls, in a folder, and the keys."""
        page, run = self._view.page, self._view.run
        _, friction, restitution = _settings(run.world.bodies)
        with page.folder("Bodies"):
            self._check = page.checkbox("Drag bodies (H)", self.is_grabbing, self.set_grabbing)
            page.slider("Speed of a ball", 1.0, 100.0, 1.0, self.speed, self._set_speed, hint="When shot [unit/s].")
            page.choice("Shape", SHAPES, self.shape, self._set_shape, hint="Of a body that is added.")
            page.buttons("Bodies", ("Add", "Remove"), lambda word: self.add() if word == "Add" else self.remove())
            self._sliders += [
                page.slider("Friction", 0.0, 2.0, 0.05, friction, self.set_friction),
                page.slider("Restitution", 0.0, 1.0, 0.05, restitution, self.set_restitution),
            ]
            page.slider("Steps a second", 15.0, 480.0, 15.0, _within(1 / run.dt, 480.0, 15.0), self.set_rate)
        page.key("H", "Drag bodies or turn the camera", self.toggle_grabbing)
        page.key("B", "Shoot a ball", self.shoot)
        page.key("delete", "Remove the selected body", self.remove)

    def show_settings(self) -> None:
        """Show the gravity, the friction and the restitution that the world has now."""
        for slider, value in zip(self._sliders, _settings(self._view.run.world.bodies), strict=True):
            slider.value = value

    def attach(self, parts: list[tuple[Part, Any]]) -> None:
        """Let the moving bodies of these parts be dragged, or stop it."""
        if parts == self._bound:
            return
        self._bound = list(parts)
        static = self._view.cast().static
        for part, handle in parts:
            if static[part.rows[0]]:
                continue
            handle.remove_drag_callback("all")
            if self.is_grabbing:
                handle.on_drag("left")(self._dragging(part))

    def set_grabbing(self, value: bool) -> None:
        """Let dragging grab bodies, or only turn the camera."""
        self.is_grabbing = value
        self._check.value = value
        self._bound = []
        self.attach(self._view.bodies_layer.parts)

    def toggle_grabbing(self) -> None:
        """Switch what dragging does."""
        self.set_grabbing(not self.is_grabbing)

    # Grabbing

    def _dragging(self, part: Part) -> Any:
        """Return the callback of viser for the bodies of a part; phases come in order because it is a coroutine."""
        ids, rows, studio = self._view.cast().ids, part.rows, self._view.page.studio

        async def dragged(event: Any) -> None:
            index = event.instance_index
            if index is None or not 0 <= index < len(rows):
                return
            identity, pointer = int(ids[rows[index]]), np.array(event.end_position, np.float64)
            if event.phase == "end":
                studio.request(self.let_go)
            elif np.isfinite(pointer).all():
                start = np.array(event.start_position, np.float64)
                is_first = event.phase == "start"
                studio.request(
                    lambda: self.grab(identity, pointer, start if is_first else None), None if is_first else self
                )

        return dragged

    def grab(self, identity: int, pointer: Vector, start: Vector | None = None) -> None:
        """Pull a body toward ``pointer``; ``start`` is the point of the body at which it is held."""
        bodies = self._view.run.world.bodies
        row = _row(bodies, identity)
        if row is None:
            self._grabbed = None
            return
        if self._grabbed is None or self._grabbed[0] != identity or start is not None:
            offset = np.zeros(3) if start is None else start - bodies.position[row]
            self._grabbed = identity, offset, pointer
            self._view.pick(identity)
        else:
            self._grabbed = identity, self._grabbed[1], pointer
        if not self._view.run.playing:
            self._view.act(_moved(identity, pointer - self._grabbed[1]))

    def let_go(self) -> None:
        """Let the grabbed body go, with the velocity that it has."""
        self._grabbed = None

    def pull(self) -> None:
        """Pull the grabbed body by its spring, before a step."""
        if self._grabbed is not None:
            identity, offset, pointer = self._grabbed
            self._view.history.act(_pulled(identity, pointer - offset, self._view.run.dt))

    # Adding and removing

    def shoot(self) -> None:
        """Add a heavy ball at the camera that flies to what the camera looks at."""
        eye, target = self._view.cameras.eye(), self._view.cameras.looked_at()
        way = target - eye
        distance = float(np.linalg.norm(way))
        if distance > 0.0:
            velocity = self.speed * way / distance
            self._add("ball", eye + 0.25 * way, velocity, 1.5, 8.0)

    def add(self) -> None:
        """Add a body above what the camera looks at."""
        around = self._view.bodies_layer.around
        place = self._view.cameras.looked_at().copy()
        if around is not None:
            place[1] = around.center[1] + 0.9 * around.radius
        self._add(self.shape, place, np.zeros(3), 1.0, 1.0)

    def remove(self) -> None:
        """Remove the selected body."""
        identity = self._view.picked
        if identity is None:
            raise InvalidInput("No body is selected; click one first.")
        if self._grabbed is not None and self._grabbed[0] == identity:
            self._grabbed = None
        self._view.pick(None)
        self._view.act(lambda world: world.remove([identity]))

    def _add(self, shape: str, place: Vector, velocity: Vector, scale: float, mass: float) -> None:
        """Add a body of about the size and the mass of those that are there, which falls as they do."""
        bodies = self._view.run.world.bodies
        if len(bodies) >= MAX_BODIES:
            raise InvalidInput(f"The world has {len(bodies):,} bodies; the page adds none beyond {MAX_BODIES:,}.")
        moving = ~bodies.static & ~np.isin(bodies.kind, (TILE, PLANE))
        glow = self._view.glow
        size = scale * (1.0 if glow is None else glow.size)
        options: dict[str, Any] = {
            "velocity": velocity,
            "mass": mass * (float(np.median(bodies.mass[moving])) if moving.any() else 1.0),
            "acceleration": np.median(bodies.acceleration[moving], axis=0) if moving.any() else (0.0, 0.0, 0.0),
            "restitution": _middle(bodies.restitution),
            "friction": _middle(bodies.friction),
            "color": QUIET[len(bodies) % len(QUIET)],
        }

        def change(world: World) -> None:
            if shape == "ball":
                world.add_spheres([place], size, **options)
            elif shape == "capsule":
                world.add_capsules([place], 0.6 * size, 1.2 * size, **options)
            else:
                world.add_boxes([place], 1.5 * size, **options)

        self._view.act(change)

    # What acts on all bodies

    def set_gravity(self, value: float) -> None:
        """Let all moving bodies fall with this acceleration [unit/s²]; bodies that fall rest on others."""

        def change(world: World) -> None:
            world.bodies.acceleration[~world.bodies.static] = (0.0, -value, 0.0)
            _wake(world.bodies)

        self._rest_from_now_on()
        self._view.act(change)

    def set_friction(self, value: float) -> None:
        """Set the friction of all bodies."""

        def change(world: World) -> None:
            world.bodies.friction[:] = value
            _wake(world.bodies)

        self._rest_from_now_on()
        self._view.act(change)

    def set_restitution(self, value: float) -> None:
        """Set the restitution of all bodies: 0 does not rebound, 1 loses nothing."""

        def change(world: World) -> None:
            world.bodies.restitution[:] = value

        self._view.act(change)

    def set_rate(self, value: float) -> None:
        """Set the number of steps per simulated second."""
        self._view.run.dt = 1.0 / value

    def _rest_from_now_on(self) -> None:
        """Switch from a response without friction and rest to the one with both."""
        if self._view.run.world.settings.response == "impulse":
            self._view.switch(response=RESTS)
            self._view.page.notify("Response", f"The response is {RESTS} now, which has friction and lets bodies rest.")

    def _set_speed(self, value: float) -> None:
        self.speed = value

    def _set_shape(self, value: str) -> None:
        self.shape = value


def _settings(bodies: Bodies) -> tuple[float, float, float]:
    """Return the gravity, the friction and the restitution of most bodies, in the ranges of their sliders."""
    gravity = _within(_middle(-bodies.acceleration[~bodies.static, 1]), 25.0)
    return gravity, _within(_middle(bodies.friction), 2.0), _within(_middle(bodies.restitution), 1.0)


def _row(bodies: Bodies, identity: int) -> int | None:
    found = int(np.searchsorted(bodies.ids, identity))
    return found if found < len(bodies) and bodies.ids[found] == identity else None


def _pulled(identity: int, goal: Vector, dt: float) -> Change:
    """Return the pull of a critically damped spring for one step; solved implicitly, it is stable for any step."""

    def change(world: World) -> None:
        bodies = world.bodies
        row = _row(bodies, identity)
        if row is None or bodies.static[row]:
            return
        away = goal - bodies.position[row]
        damped = (1.0 + PULL * dt) ** 2
        bodies.velocity[row] = (bodies.velocity[row] + dt * PULL**2 * away) / damped - bodies.acceleration[row] * dt
        bodies.angular_velocity[row] *= 1.0 / damped

    return change


def _moved(identity: int, place: Vector) -> Change:
    def change(world: World) -> None:
        row = _row(world.bodies, identity)
        if row is not None:
            world.bodies.position[row] = place

    return change


def _wake(bodies: Bodies) -> None:
    """Wake sleeping bodies, which notice changes of poses and velocities only, by a nudge that is not seen."""
    bodies.velocity[~bodies.static, 1] -= 1e-9


def _middle(values: NDArray[np.floating]) -> float:
    return float(np.median(values)) if len(values) else 0.0


def _within(value: float, highest: float, lowest: float = 0.0) -> float:
    return min(max(value, lowest), highest)
