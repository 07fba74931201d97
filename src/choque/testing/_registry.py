"""The checks of a suite: functions with names, so that one can be run alone and pytest can list them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from choque.testing._subject import Factory, Subject

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
