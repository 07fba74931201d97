"""Volumes through files of every kind, and `choque volume` in the shell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from choque.cli import volume as command
from choque.errors import ChoqueError, InvalidInput, UnknownName, UnreadableFile
from choque.lab import phantoms
from choque.volumes import Volume

pytest.importorskip("nibabel")
pytest.importorskip("nrrd")
pytest.importorskip("tifffile")

SUFFIXES = [".evm", ".nii", ".nii.gz", ".nrrd", ".tif", ".tiff", ".npz"]


def bone() -> Volume:
    solid = phantoms.make("vertebra", 24)
    return Volume.from_voxels(solid.voxels(), spacing=(0.5, 0.5, 0.75), origin=(3.25, -8.0, 100.0))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_volume_comes_back_from_every_format(suffix: str, tmp_path: Path) -> None:
    bone().write(tmp_path / f"bone{suffix}")
    assert Volume.read(tmp_path / f"bone{suffix}") == bone()


@pytest.mark.parametrize("suffix", [".off", ".stl", ".ply"])
def test_a_surface_fills_to_the_volume_it_came_from(suffix: str, tmp_path: Path) -> None:
    bone().write(tmp_path / f"bone{suffix}")
    assert Volume.read(tmp_path / f"bone{suffix}", like=bone()) == bone()


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".vox"])
def test_an_empty_volume_comes_back(suffix: str, tmp_path: Path) -> None:
    (phantoms.make("ball", 3) - phantoms.make("ball", 3)).write(tmp_path / f"none{suffix}")
    assert Volume.read(tmp_path / f"none{suffix}").is_empty


def test_a_grey_scan_by_threshold_and_label(tmp_path: Path) -> None:
    """F-003-49."""
    values = np.random.default_rng(0).integers(0, 1000, (6, 7, 8)).astype(np.int16)
    np.save(tmp_path / "scan.npy", values)
    for level in (-1, 250, 500, 990):
        found = Volume.from_scan(tmp_path / "scan.npy", above=level)
        assert np.array_equal(found.voxels((0, 0, 0), values.shape), values > level)
    chosen = Volume.from_scan(tmp_path / "scan.npy", label=int(values[1, 2, 3]), spacing=(1, 2, 3))
    assert chosen.spacing == (1.0, 2.0, 3.0)
    turned = Volume.from_scan(tmp_path / "scan.npy", above=500, axes="zyx")
    assert np.array_equal(turned.voxels((0, 0, 0), values.shape[::-1]), values.transpose() > 500)
    with pytest.raises(InvalidInput, match="No voxel"):
        Volume.from_scan(tmp_path / "scan.npy", above=5000)


def test_impossible_files_are_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(b"PK")
    with pytest.raises(UnreadableFile, match="docx"):
        Volume.read(tmp_path / "a.docx")
    with pytest.raises(UnknownName, match=r"\.evm"):
        bone().write(tmp_path / "a.docx")
    with pytest.raises(InvalidInput, match=r"\.evm"):
        bone().write(tmp_path / "a.vox")


@pytest.fixture
def shell() -> typer.Typer:
    app = typer.Typer(rich_markup_mode=None)
    app.callback()(command.volume)
    for name, verb in command.VERBS.items():
        app.command(name)(verb)
    return app


def run(app: typer.Typer, *words: object) -> str:
    outcome = CliRunner().invoke(app, [str(word) for word in words])
    if outcome.exception is not None:
        raise outcome.exception
    return outcome.stdout


def test_the_shell_measures_collides_cuts_and_converts(shell: typer.Typer, tmp_path: Path) -> None:
    solid, screw = bone(), phantoms.make("screw", 24)
    screw = Volume.from_voxels(
        screw.voxels(), spacing=solid.spacing, origin=solid.bounds[0] + 1.0 * np.array([4, 4, 0])
    )
    solid.write(tmp_path / "bone.nrrd")
    screw.resampled(like=solid).write(tmp_path / "screw.stl")
    screw = Volume.read(tmp_path / "screw.stl", like=solid)
    printed = json.loads(run(shell, "info", tmp_path / "bone.nrrd", "--json"))
    assert printed["volume"] == pytest.approx(solid.volume)
    assert printed["parts"] == 1
    assert "voxels" in run(shell, "info", tmp_path / "bone.nrrd")
    exact = ("--centres", "--report", "--json")
    printed = json.loads(run(shell, "collide", tmp_path / "bone.nrrd", tmp_path / "screw.stl", *exact))
    assert printed["collides"] == solid.collides(screw) is True
    assert printed["shared_volume"] == pytest.approx((solid & screw).volume)
    assert printed["push"] == pytest.approx(solid.separation(screw).tolist())
    assert "separates them" in run(shell, "collide", tmp_path / "screw.stl", tmp_path / "bone.nrrd", "--report")
    run(shell, "boolean", "minus", tmp_path / "bone.nrrd", tmp_path / "screw.stl", tmp_path / "drilled.evm")
    assert Volume.read(tmp_path / "drilled.evm") == solid - screw
    run(shell, "convert", tmp_path / "drilled.evm", tmp_path / "drilled.nii.gz")
    assert Volume.read(tmp_path / "drilled.nii.gz") == solid - screw
    printed = json.loads(run(shell, "collide", tmp_path / "drilled.evm", tmp_path / "screw.stl", *exact))
    assert printed["collides"] is False
    assert printed["clearance"] == 0.0
    printed = json.loads(run(shell, "collide", tmp_path / "drilled.evm", tmp_path / "screw.stl", "--closed", *exact))
    assert printed["collides"] is True
    run(shell, "mesh", tmp_path / "bone.nrrd", tmp_path / "bone.ply")
    assert Volume.read(tmp_path / "bone.ply", like=solid) == solid


def test_the_shell_resamples_and_takes_a_spacing(shell: typer.Typer, tmp_path: Path) -> None:
    fine, coarse = bone(), phantoms.make("ball", 12).translated((4, -10, 100))
    fine.write(tmp_path / "fine.nrrd")
    coarse.write(tmp_path / "coarse.nrrd")
    names = tmp_path / "fine.nrrd", tmp_path / "coarse.nrrd"
    with pytest.raises(InvalidInput, match=r"fine\.nrrd are of .*coarse\.nrrd of .*--resample"):
        run(shell, "collide", *names)
    printed = json.loads(run(shell, "collide", *names, "--resample", "--report", "--json"))
    wanted = fine & coarse.resampled(like=fine, conservative=True)
    assert printed["shared_volume"] == pytest.approx(wanted.volume)
    assert (
        json.loads(run(shell, "collide", *names[::-1], "--resample", "--report", "--json"))["shared_box"]
        == (printed["shared_box"])
    )
    wanted = fine & coarse.resampled(like=fine)
    run(shell, "boolean", "and", *names, tmp_path / "both.evm", "--resample")
    assert Volume.read(tmp_path / "both.evm") == wanted
    np.save(tmp_path / "mask.npy", coarse.voxels())
    for given, spacing in (("2", [2.0, 2.0, 2.0]), ("1,2,0.5", [1.0, 2.0, 0.5])):
        printed = json.loads(run(shell, "info", tmp_path / "mask.npy", "--spacing", given, "--json"))
        assert printed["spacing"] == spacing
    with pytest.raises(InvalidInput, match="--spacing is 'wide'"):
        run(shell, "info", tmp_path / "mask.npy", "--spacing", "wide")


def test_a_wall_thinner_than_a_voxel_is_hit_in_both_orders(shell: typer.Typer, tmp_path: Path) -> None:
    wall = np.zeros((4, 4, 4), bool)
    wall[:, :, 1] = True
    Volume.from_voxels(wall, spacing=0.25).write(tmp_path / "wall.nrrd")
    Volume.from_voxels(np.ones((1, 1, 1), bool)).write(tmp_path / "block.nrrd")
    for names in (("block.nrrd", "wall.nrrd"), ("wall.nrrd", "block.nrrd")):
        words = [tmp_path / name for name in names]
        printed = json.loads(run(shell, "collide", *words, "--resample", "--report", "--json"))
        assert printed["collides"] is True
        assert printed["shared_volume"] == pytest.approx(0.25)


def test_the_largest_part_alone(shell: typer.Typer, tmp_path: Path) -> None:
    """A voxel of noise decides a clearance, unless the largest part is taken."""
    mask = np.zeros((30, 8, 8), bool)
    mask[:6], mask[20, 4, 4] = True, True
    Volume.from_voxels(mask).write(tmp_path / "noisy.nrrd")
    Volume.from_voxels(np.ones((2, 2, 2), bool), origin=(22.0, 4.0, 4.0)).write(tmp_path / "pin.nrrd")
    words = ("collide", tmp_path / "noisy.nrrd", tmp_path / "pin.nrrd", "--report", "--json")
    assert json.loads(run(shell, *words))["clearance"] == 1.0
    assert json.loads(run(shell, *words, "--largest"))["clearance"] == 16.0
    (tmp_path / "folder.stl").mkdir()
    with pytest.raises(UnreadableFile, match="is a folder"):
        Volume.read(tmp_path / "folder.stl", voxels_per_unit=1)


def test_an_empty_volume_is_not_apart(shell: typer.Typer, tmp_path: Path) -> None:
    """Meshes without triangles, and volumes without voxels, are refused; thin meshes collide."""
    Volume.from_voxels(np.ones((8, 8, 8), bool)).write(tmp_path / "block.nrrd")
    plate = Volume.from_voxels(np.ones((1, 1, 1), bool), spacing=(2.0, 2.0, 0.3), origin=(1.0, 1.0, 1.6))
    plate.write(tmp_path / "plate.stl")
    assert json.loads(run(shell, "collide", tmp_path / "block.nrrd", tmp_path / "plate.stl", "--json"))["collides"]
    (tmp_path / "nothing.off").write_text("OFF\n0 0 0\n")
    np.save(tmp_path / "zeros.npy", np.zeros((2, 2, 2), bool))
    for name, sentence, words in (
        ("plate.stl", "leaves no voxel", ["--centres"]),
        ("nothing.off", "no triangles", []),
        ("zeros.npy", "no full voxel", ["--resample"]),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            run(shell, "collide", tmp_path / "block.nrrd", tmp_path / name, *words)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("info", "bone.stl"), "voxels-per-unit"),
        (("boolean", "plus", "bone.evm", "bone.evm", "out.evm"), "minus"),
        (("mesh", "bone.evm", "out.evm"), r"\.stl"),
        (("info", "missing.nii"), "no file"),
        (("convert", "bone.evm", "out.docx"), "docx"),
    ],
)
def test_the_shell_refuses_in_one_sentence(
    shell: typer.Typer, words: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    bone().write(tmp_path / "bone.evm")
    bone().write(tmp_path / "bone.stl")
    with pytest.raises(ChoqueError, match=sentence):
        run(shell, words[0], *(tmp_path / word if "." in word else word for word in words[1:]))


def test_headers_in_single_precision_line_up() -> None:
    """NIfTI rounds origins to float32, which moves a grid by up to a ten-thousandth of a voxel."""
    mask = np.ones((3, 3, 3), np.bool_)
    exact = (171.7113, 166.4044, -176.5036)
    rounded = tuple(float(np.float32(value)) for value in exact)
    one = Volume.from_voxels(mask, spacing=(0.625, 0.625, 1.0), origin=exact)
    two = Volume.from_voxels(mask, spacing=(0.625, 0.625, 1.0), origin=rounded)
    assert one == two
    assert one.collides(two)


def test_the_tolerance_does_not_grow_with_the_distance() -> None:
    cube = Volume.from_voxels(np.ones((2, 2, 2), np.bool_))
    with pytest.raises(InvalidInput, match="nearest"):
        cube.translated((1_000_000.4, 0, 0))
    with pytest.raises(InvalidInput, match="line up"):
        cube.collides(Volume.from_voxels(np.ones((2, 2, 2), np.bool_), origin=(1_000_000.4, 0, 0)))


def test_an_evm_file_refuses_voxels_below_its_decimals(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="six decimals"):
        Volume.from_voxels(np.ones((2, 2, 2), np.bool_), spacing=4e-7).write(tmp_path / "small.evm")
    assert not list(tmp_path.iterdir())


def test_the_report_of_volumes_that_touch(shell: typer.Typer, tmp_path: Path) -> None:
    block = Volume.from_voxels(np.ones((4, 4, 4), np.bool_))
    block.write(tmp_path / "one.evm")
    block.translated((4.0, 0.0, 0.0)).write(tmp_path / "two.evm")
    printed = run(shell, "collide", tmp_path / "one.evm", tmp_path / "two.evm", "--closed", "--report")
    assert "no volume: they touch, from (4, 0, 0) to (4, 4, 4)" in printed
    assert "push" not in printed
