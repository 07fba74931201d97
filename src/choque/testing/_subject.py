"""What is under test, and one trial of it: a scene and settings that every failure can name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, Self, TypeAlias, cast

import numpy as np

from choque._core.pair_keys import pack_pairs, unpack_pairs
from choque._core.types import Floats, Pairs
from choque.bounds import Bounds
from choque.broad import BroadPhase, Index, create
from choque.errors import ChoqueError, InvalidInput
from choque.testing.scenes import NamedBoxes

Factory: TypeAlias = str | type[Index] | Callable[..., BroadPhase]
"""A registered name, a subclass of `Index`, or a function ``(bounds, **options) -> BroadPhase``."""


class ConformanceFailure(ChoqueError, AssertionError):
    """A method broke its contract; the message names the check, scene, settings and first wrong pair."""


@dataclass(frozen=True)
class Subject:
    """A method under one check: how to make one, and what it promises."""

    check: str
    factory: Factory
    exact: bool = True
    thorough: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (isinstance(self.factory, str) or callable(self.factory)):
            raise InvalidInput(
                f"factory is {self.factory!r}; it must be the name of a method, a subclass of choque.broad.Index, "
                "or a function of bounds and options that returns a BroadPhase."
            )

    @property
    def label(self) -> str:
        """The method as it reads in a message and, for a name, in code."""
        given = self.factory
        return repr(given) if isinstance(given, str) else getattr(given, "__qualname__", "factory")

    def make(self, bounds: Bounds, **settings: Any) -> BroadPhase:
        """Return a broad phase of the method over ``bounds``."""
        chosen = {**self.options, **settings}
        factory = self.factory
        if isinstance(factory, str) or (isinstance(factory, type) and issubclass(factory, Index)):
            return create(factory, bounds, **chosen)
        return cast("Callable[..., BroadPhase]", factory)(bounds, **chosen)

    def trial(self, scene: NamedBoxes, **settings: Any) -> Trial:
        """Return a trial on ``scene`` with these ``settings``."""
        return Trial(self, scene, settings)


@dataclass
class Trial:
    """A subject on one scene with some settings; used as a context manager, it explains errors raised in it."""

    subject: Subject
    scene: NamedBoxes
    settings: dict[str, Any]
    moment: str = ""  # where in the trial it is, such as "frame 7, after remove"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, problem: BaseException | None, _trace: object) -> None:
        if isinstance(problem, Exception) and not isinstance(problem, ConformanceFailure):
            raise self._failure(f"{type(problem).__name__} was raised: {problem}") from problem

    def make(self, bounds: Bounds | None = None, **more: Any) -> BroadPhase:
        """Return an object over ``bounds``, those of the scene unless given, with the settings of the trial."""
        return self.subject.make(self.scene.boxes() if bounds is None else bounds, **{**self.settings, **more})

    def fail(self, problem: str) -> NoReturn:
        """Raise a `ConformanceFailure` that says where and how to see it again."""
        raise self._failure(problem)

    def require(self, condition: bool, problem: str) -> None:
        """Fail with ``problem`` unless ``condition``."""
        if not condition:
            self.fail(problem)

    def agree(self, what: str, found: Pairs, expected: Pairs, *, ordered: bool = True) -> None:
        """Fail unless ``found`` is ``expected``, or contains it where the subject is not exact."""
        self.well_formed(what, found, ordered=ordered)
        if np.array_equal(found, expected):
            return
        missing = np.setdiff1d(pack_pairs(expected), pack_pairs(found))
        extra = np.setdiff1d(pack_pairs(found), pack_pairs(expected))
        tally = f"{len(missing)} missing, {len(extra)} too many"
        if len(missing):
            self.fail(f"{what}: the pair {tuple(unpack_pairs(missing)[0].tolist())} is missing ({tally})")
        if len(extra) and self.subject.exact:
            self.fail(f"{what}: the pair {tuple(unpack_pairs(extra)[0].tolist())} is too many ({tally})")

    def well_formed(self, what: str, found: Pairs, *, ordered: bool = True) -> None:
        """Fail unless ``found`` is (m, 2) int32, sorted, unique and, if ``ordered``, i < j in each row."""
        if not isinstance(found, np.ndarray) or found.ndim != 2 or found.shape[1] != 2 or found.dtype != np.int32:
            shape, kind = getattr(found, "shape", None), getattr(found, "dtype", type(found).__name__)
            self.fail(f"{what} has shape {shape} and type {kind}; it must be (m, 2) int32")
        if ordered and not (found[:, 0] < found[:, 1]).all():
            wrong = found[found[:, 0] >= found[:, 1]][0]
            self.fail(f"{what}: the pair {tuple(wrong.tolist())} does not have its smaller id first")
        keys = pack_pairs(found)
        late = np.flatnonzero(keys[1:] <= keys[:-1])
        if len(late):
            row = int(late[0]) + 1
            problem = "is there twice" if keys[row] == keys[row - 1] else "is out of order"
            self.fail(f"{what}: the pair {tuple(found[row].tolist())} {problem}")

    def _failure(self, problem: str) -> ConformanceFailure:
        subject, when = self.subject, f", {self.moment}" if self.moment else ""
        settings = {**subject.options, **self.settings}
        shown = ", ".join(f"{name}={_brief(value)}" for name, value in settings.items()) or "defaults"
        again = [subject.label, f"checks=[{subject.check!r}]"]
        again += [] if subject.exact else ["exact=False"]
        again += ["thorough=True"] if subject.thorough else []
        again += [f"options={dict(subject.options)!r}"] if subject.options else []
        return ConformanceFailure(
            f"{subject.label} fails the check {subject.check!r} on the scene {self.scene}{when}, "
            f"with {shown}.\n"
            f"  {problem}.\n"
            f"  Run it again: choque.testing.check_broad_phase({', '.join(again)})\n"
            f"  The boxes:    {self.scene.expression}"
        )


def scene_of(name: str, lower: Floats, upper: Floats) -> NamedBoxes:
    """Return a scene of a check's own, which is reproduced only by running the check."""
    return NamedBoxes(name, lower, upper, "those that the check makes")


def _brief(value: Any) -> str:
    return f"<{len(value)} values>" if isinstance(value, np.ndarray) else repr(value)


# Checks: functions with names, so that one can be run alone and pytest can list them all

Body: TypeAlias = Callable[[Subject], None]


@dataclass(frozen=True)
class Check:
    """One property of a broad phase; calling it raises `ConformanceFailure` unless the method has it."""

    name: str
    explanation: str
    body: Body

    def __call__(
        self, factory: Factory, *, thorough: bool = False, exact: bool = True, options: Mapping[str, Any] | None = None
    ) -> None:
        """Run it; the arguments are those of `choque.testing.check_broad_phase`."""
        self.body(Subject(self.name, factory, exact, thorough, dict(options or {})))


broad_phase: dict[str, Check] = {}


def broad_phase_check(name: str) -> Callable[[Body], Body]:
    """Register a function of a `Subject` as the check ``name``; its docstring's first line explains it."""

    def register(body: Body) -> Body:
        broad_phase[name] = Check(name, (body.__doc__ or "").partition("\n")[0], body)
        return body

    return register
