"""The configuration file of the arena: it comes back as it was written, and a bad line is one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from choque.errors import InvalidInput, UnreadableFile
from choque.theses.interest.config import CHOICES, METHODS, InterestConfig, read_config, write_config
from choque.theses.interest.trials import COLUMNS, STAGES, run_config

configs = st.builds(
    InterestConfig,
    steps=st.integers(1, 10**6),
    objects=st.integers(1, 10**6),
    cells=st.tuples(*(st.integers(1, 64),) * 3),
    depth=st.integers(1, 12),
    axes=st.integers(1, 3),
    k=st.floats(1.0, 9.0),
    seed=st.integers(0, 2**40),
    edge=st.floats(4.0, 100.0),
    smallest_radius=st.floats(0.01, 0.2),
    largest_radius=st.floats(0.2, 0.8),
    speed=st.floats(1e-6, 1.0),
    **{name: st.sampled_from(choices) for name, choices in CHOICES.items()},
)


@given(configs)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_configuration_comes_back(tmp_path: Path, config: InterestConfig) -> None:
    """F-004-29: every key, the seven of the thesis and those that it leaves out."""
    write_config(tmp_path / "run.txt", config)
    assert read_config(tmp_path / "run.txt") == config


def test_remarks_blank_lines_and_missing_keys(tmp_path: Path) -> None:
    """F-004-29."""
    path = tmp_path / "run.txt"
    path.write_text("# a run\n\nmethod = GR  # a grid\n  cells=1X2x1\nsteps= 20\n", "utf-8")
    config = read_config(path)
    assert (config.configuration, config.steps, config.objects) == ("GR1x2x1", 20, InterestConfig().objects)
    numbers = {"FB": "FB", "GR": "GR2x2x2", "BSP": "BSP3", "SaP": "SaP3", "AoIP": "AoIP1"}
    assert {name: InterestConfig(method=name).configuration for name in METHODS} == numbers


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("steps = 0", "Line 2 of .*: steps is 0; it must be a whole number from 1"),
        ("steps = many", "steps is 'many'; it must be a whole number"),
        ("steps = 1.5", "steps is '1.5'; it must be a whole number"),
        ("objects = -3", "objects is -3"),
        ("method = grid", "no method of a configuration called 'grid'"),
        ("cells = 4x4", r"cells is \(4, 4\)"),
        ("cells = 4x0x4", "cells is"),
        ("cells = a lot", "cells is 'a lot'; it must be cells for each axis, such as 4x4x4"),
        ("depth = 99", "depth is 99"),
        ("axes = 4", "axes is 4; it must be a whole number from 1 to 3"),
        ("k = 0.5", "k is 0.5"),
        ("k = nan", "k is nan"),
        ("seed = -1", "seed is -1"),
        ("scenario = crowded", "no scenario of a configuration called 'crowded'"),
        ("steps 500", "'steps 500' is not a setting; write key = value"),
        ("step = 500", "no key of a configuration called 'step'. Did you mean 'steps'"),
        ("objects = 5\nobjects = 6", "Line 3 of .*: objects is given twice"),
        ("largest_radius = 1", "largest_radius is 1.0 in an arena of 4.0; it may be a fifth of the edge, 0.8"),
        ("smallest_radius = 0.5", "smallest_radius is 0.5 and largest_radius 0.4"),
    ],
)
def test_a_bad_line_is_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    """F-004-29: with the file and the number of the line."""
    path = tmp_path / "run.txt"
    path.write_text(f"# first\n{text}\n", "utf-8")
    with pytest.raises(UnreadableFile, match=said) as caught:
        read_config(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_files_that_are_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"no.*file"):
        read_config(tmp_path / "missing.txt")
    (tmp_path / "zeros.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00")
    with pytest.raises(UnreadableFile, match="is not a configuration"):
        read_config(tmp_path / "zeros.npy")
    with pytest.raises(InvalidInput, match="steps is True"):
        InterestConfig(steps=True)
    with pytest.raises(InvalidInput, match=r"objects is 2\.5"):
        InterestConfig(objects=2.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="cells is 4; it must be three whole numbers"):
        InterestConfig(cells=4)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
def test_a_log_has_a_row_for_each_step(method: str, tmp_path: Path, thorough: bool) -> None:
    """F-004-30, F-004-37, F-004-44: means recompute from the file; the same seed gives the same log but for times."""
    config = InterestConfig(steps=500 if thorough else 40, objects=60, method=method, seed=3, area="box")
    log, again = run_config(config), run_config(config)
    log.write(tmp_path / "log.csv")
    table = np.genfromtxt(tmp_path / "log.csv", delimiter=",", names=True)
    assert table.dtype.names == COLUMNS
    assert table["step"].tolist() == list(range(1, config.steps + 1))
    assert table["pairs"].mean() == pytest.approx(log.mean_pairs)
    spent = sum(table[stage].sum() for stage in STAGES) / config.steps
    assert spent == pytest.approx(log.mean_milliseconds)
    assert (table["create_ms"][1:] == 0).all()
    for name in ("pairs", "unique_pairs", "density", "collisions"):
        np.testing.assert_array_equal(log.column(name), again.column(name))
    assert (table["collisions"] <= table["unique_pairs"]).all()
    assert (np.diff(table["density"][:40]) > 0).all()  # all start in the middle and have not met a wall yet
    if method == "FB":
        assert (table["pairs"] == 60 * 59 / 2).all()
    others = InterestConfig(steps=config.steps, objects=60, method="SaP", seed=3)
    np.testing.assert_array_equal(run_config(others).column("collisions"), log.column("collisions"))
