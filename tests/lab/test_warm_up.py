from __future__ import annotations

import pytest

from choque.lab import warm_up


def test_every_step_is_told_and_nothing_fails() -> None:
    told: list[tuple[int, int, str]] = []
    assert warm_up.warm_up(["all", "auto", "bvh"], lambda *step: told.append(step)) == {}
    total = 2 * (len(warm_up.KINDS) + 3)
    assert [done for done, _, _ in told] == list(range(total + 1))
    assert {all_steps for _, all_steps, _ in told} == {total}
    assert (0, total, "Boxes bounds, float32") == told[0]


def test_a_broken_method_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def use(name: str, dtype: str) -> None:
        tried.append(f"{name} {dtype}")
        if name == "broken":
            raise RuntimeError("out\nof order")

    monkeypatch.setattr(warm_up, "use_method", use)
    assert warm_up.warm_up(["broken", "sound"]) == {"broken": "RuntimeError: out of order"}
    assert tried == ["broken float32", "broken float64", "sound float32", "sound float64"]
