"""Files appear whole or not at all."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from choque.errors import ChoqueError, InvalidInput
from choque.files.atomic import beside, replacing


def test_content_appears_at_the_end_only(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")
    with replacing(target) as handle:
        handle.write(b"new content")
        handle.flush()
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new content"
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), ValueError("no"), SystemExit(3)])
def test_any_exception_leaves_no_trace(tmp_path: Path, problem: BaseException) -> None:
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")

    def interrupted() -> None:
        with replacing(target) as handle:
            handle.write(b"half")
            raise problem

    with pytest.raises(type(problem)):
        interrupted()
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk_while_writing_is_a_sentence(tmp_path: Path, number: int) -> None:
    sentence = r"a\.bin could not be written: the disk is full"
    with pytest.raises(ChoqueError, match=sentence), replacing(tmp_path / "a.bin"):
        raise OSError(number, os.strerror(number))
    assert os.listdir(tmp_path) == []


def test_full_disk_at_the_last_moment_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ChoqueError, match="the disk is full"), replacing(tmp_path / "a.bin") as handle:
        handle.write(b"x")
    assert os.listdir(tmp_path) == []


def test_permissions_are_those_of_an_ordinary_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    with replacing(tmp_path / "ours") as handle:
        handle.write(b"x")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_keeps_leading_to_its_target(tmp_path: Path) -> None:
    (tmp_path / "real.bin").write_bytes(b"old")
    (tmp_path / "link.bin").symlink_to(tmp_path / "real.bin")
    with replacing(tmp_path / "link.bin") as handle:
        handle.write(b"new")
    assert (tmp_path / "link.bin").is_symlink()
    assert (tmp_path / "real.bin").read_bytes() == b"new"


def test_places_that_cannot_be_written_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    cases: dict[str | Path, str] = {
        tmp_path: "is a folder",
        tmp_path / "missing" / "a.bin": "there is no folder",
        tmp_path / "pipe": "a device or a pipe",
        tmp_path / "loop": "cannot be written",
        "zero\0byte": "cannot be written",
        tmp_path / ("x" * 300): "cannot be written",
    }
    for path, sentence in cases.items():
        with pytest.raises(ChoqueError, match=sentence), replacing(path) as handle:
            handle.write(b"x")

    def denied(*arguments: object, **options: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(InvalidInput, match="permission denied"), replacing(tmp_path / "a.bin") as handle:
        handle.write(b"x")


def test_what_is_half_written_is_not_found_by_its_suffix(tmp_path: Path) -> None:
    with replacing(tmp_path / "cell.json") as handle:
        handle.write(b"{")
        assert not list(tmp_path.glob("*.json"))
        assert len(list(tmp_path.iterdir())) == 1
    with beside(tmp_path / "film.gif") as partial:
        assert partial.suffix == ".gif"
        partial.touch()
    assert {path.name for path in tmp_path.iterdir()} == {"cell.json", "film.gif"}


@pytest.mark.skipif(os.name != "posix", reason="processes are looked up by signals")
def test_files_left_by_a_killed_process_are_removed_by_the_next(tmp_path: Path) -> None:
    code = "import os, sys\nfrom choque.files.atomic import replacing\nwith replacing(sys.argv[1]): os._exit(9)\n"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.bin")], env=os.environ)
    (left,) = tmp_path.iterdir()
    fresh = left.with_name(left.name[:-20] + "0" * 12 + ".partial")
    foreign = tmp_path / f".choque-00000000-{left.name.split('-')[2]}-{'1' * 12}.partial"
    own = tmp_path / left.name.replace(f"-{left.name.split('-')[2]}-", f"-{os.getpid()}-")
    for path in (fresh, foreign, own):
        path.touch()
    for path in (left, foreign, own):
        os.utime(path, (0, 0))
    with replacing(tmp_path / "b.bin") as handle:
        handle.write(b"b")
    assert {path.name for path in tmp_path.iterdir()} == {"b.bin", fresh.name, foreign.name, own.name}
