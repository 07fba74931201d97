"""The command as a whole: its help, how it fails, and what it does not load."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import choque
from choque.cli import FAMILIES, GROUPS, verb_name

if TYPE_CHECKING:
    from conftest import Command

NAMES = [verb_name(verb) for verbs in GROUPS.values() for verb in verbs]
MEMBERS = [(verb_name(family), name) for family, verbs in FAMILIES.items() for name in verbs]


def in_shell(*arguments: str, code: str = "import sys; from choque.cli import main; sys.exit(main())") -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def test_help_lists_every_verb(command: Command) -> None:
    text = command.succeeds("--help")
    for name in NAMES:
        assert f"\n  {name} " in text
    listed = text.partition("Options:")[2]
    assert all(f"\n{heading}:\n" in listed for heading in GROUPS)
    assert max(map(len, text.splitlines())) <= 80
    assert "--install-completion" in text


@pytest.mark.parametrize("family", [verb_name(family) for family in FAMILIES])
def test_the_summaries_of_a_family_fit_on_a_line(command: Command, family: str) -> None:
    listed = command.succeeds(family, "--help").partition("Commands:")[2]
    assert listed
    assert "..." not in listed, "a summary is too long for a terminal of 80 columns"


def test_without_arguments_help_is_printed(command: Command) -> None:
    assert command.succeeds() == command.succeeds("--help")


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_each_verb_has_an_example(command: Command, name: str) -> None:
    text = command.succeeds(name, "--help")
    assert f"  Try:\n    choque {name}" in text


@pytest.mark.parametrize(("family", "name"), MEMBERS)
def test_the_help_of_each_verb_of_a_family_has_an_example(command: Command, family: str, name: str) -> None:
    text = command.succeeds(family, name, "--help")
    assert "  Try:\n    choque " in text
    assert f"choque {family} {name}" in text.partition("Try:")[2]


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (["pairs"], "FILE"),
        (["view"], "[THING...]"),
        (["picture"], "THING... FILE"),
        (["run"], "[SCENE]"),
        (["bench"], "[SCENE...]"),
        (["volume", "boolean"], "OPERATION FILE FILE OUTPUT"),
    ],
)
def test_usage_has_no_python_types(command: Command, words: list[str], usage: str) -> None:
    """No braces, and no types of Python beside the arguments."""
    text = command.succeeds(*words, "--help")
    assert text.startswith(f"Usage: choque {' '.join(words)} [OPTIONS] {usage}\n")
    listed = text.partition("\nArguments:\n")[2]
    assert listed.startswith(f"  {usage if '...' in usage else usage.split()[0]}  ")
    assert "<" not in listed.partition("\nOptions:\n")[0]


def test_version(command: Command) -> None:
    assert command.succeeds("--version") == f"choque {choque.__version__}\n"


@pytest.mark.parametrize("words", [(), ("pairs",), ("lab",), ("lab", "run")])
def test_the_short_option_prints_help(command: Command, words: tuple[str, ...]) -> None:
    assert command.succeeds(*words, "-h") == command.succeeds(*words, "--help")


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from choque.cli import main; main(['--help']);"
        "print([m for m in ('numpy', 'numba', 'matplotlib', 'rich', 'choque.broad', 'choque.lab') if m in sys.modules])"
    )
    done = subprocess.run(in_shell(code=code), capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (["pears"], "pairs"),
        (["explian", "boxes.npy"], "explain"),
        (["pairs", "boxes.npy", "--metod", "grid"], "--method"),
        (["pairs", "--frame", "one", "boxes.npy"], "'choque pairs --help'"),
        (["pairs"], "FILE"),
        (["bake", "uniform"], "FILE"),
        (["methods", "bvh", "surplus"], "'choque methods --help'"),
        (["--verson"], "--version"),
        (["volume", "colide"], "collide"),
        (["kinetic", "run", "three-object"], "three-objects"),
        (["kinetic", "run", "three-objects", "--method", "kintic"], "kinetic"),
        (["lab", "run", "comparisn"], "comparison"),
        (["run", "bowlin"], "bowling"),
        (["run", "bowling", "--broad", "sap-ob"], "sap-obb"),
        (["bake", "unform", "a.npy"], "uniform"),
        (["volume", "boolean", "mins", "a.evm", "b.evm", "c.evm"], "minus"),
    ],
)
def test_misspelt_words_get_a_suggestion(command: Command, arguments: list[str], suggestion: str) -> None:
    assert suggestion in command.fails(*arguments)


def test_an_interrupt_prints_one_line(command: Command, boxes_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(choque.files, "read_boxes", interrupt)
    outcome = command("pairs", boxes_file)
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "choque: Interrupted.\n")


def test_too_little_memory_is_reported(command: Command, boxes_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhaust(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(choque.files, "read_boxes", exhaust)
    assert "memory" in command.fails("pairs", boxes_file)


@pytest.mark.parametrize("arguments", [["--help"], ["methods", "--json"], ["--version"]])
def test_a_closed_pipe_is_not_an_error(arguments: list[str]) -> None:
    writer = subprocess.Popen(in_shell(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    writer.stdout.close()
    _, complaints = writer.communicate(timeout=300)
    assert (complaints, writer.returncode) == ("", 1)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [(["pairs", "nowhere.npy"], 2, "choque: There is no file nowhere.npy.\n"), (["--help"], 0, "")],
)
def test_in_a_separate_process(arguments: list[str], code: int, words: str) -> None:
    done = subprocess.run(in_shell(*arguments), capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (code, words)


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "choque", "--version"], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout == f"choque {choque.__version__}\n"


def test_an_end_of_file_inside_a_verb_is_not_taken_for_an_interruption(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(*_: object, **__: object) -> None:
        raise EOFError("Ran out of input")

    monkeypatch.setattr("choque.broad.names", ends)
    with pytest.raises(EOFError, match="Ran out of input"):
        command("methods")


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_terminated_command_leaves_no_unfinished_file(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, choque.files\n"
        "def slow(path, *_):\n"
        "    from choque.files.atomic import replacing\n"
        "    with replacing(path) as handle:\n"
        "        handle.write(b'some')\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "choque.files.write_boxes = slow\n"
        "from choque.cli import main; sys.exit(main())\n"
    )
    arguments = in_shell("bake", "uniform:10", str(tmp_path / "boxes.npy"), code=code)
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 143, done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_command_ends_although_an_import_swallows_the_exception_of_its_termination(tmp_path: Path) -> None:
    (tmp_path / "swallows.py").write_text(
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGTERM)\nexcept BaseException:\n    pass\n"
    )
    code = (
        f"import sys, time, choque.files; sys.path.insert(0, {str(tmp_path)!r})\n"
        "def slow(path, *_):\n"
        "    import swallows\n"
        "    time.sleep(600)\n"
        "choque.files.write_boxes = slow\n"
        "from choque.cli import main; sys.exit(main())\n"
    )
    arguments = in_shell("bake", "uniform:10", str(tmp_path / "boxes.npy"), code=code)
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
    assert done.returncode == 143, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
@pytest.mark.parametrize(("name", "code", "words"), [("SIGTERM", 143, "Terminated."), ("SIGINT", 130, "Interrupted.")])
def test_a_signal_amid_a_call_of_llvm_ends_the_command_after_it(
    tmp_path: Path, name: str, code: int, words: str
) -> None:
    """LLVM calls Python back while it compiles; an exception there is printed and forgotten."""
    source = (
        "import signal, sys, time, choque.files\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"call = 'try:\\n    signal.raise_signal(signal.{name})\\nexcept BaseException:\\n    print(\"forgotten\")'\n"
        "def slow(path, *_):\n"
        "    exec(compile(call, '/llvmlite/binding/executionengine.py', 'exec'), globals())\n"
        "    time.sleep(600)\n"
        "choque.files.write_boxes = slow\n"
        "from choque.cli import main; sys.exit(main())\n"
    )
    arguments = in_shell("bake", "uniform:10", str(tmp_path / "boxes.npy"), code=source)
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.endswith(f"choque: {words}\n")
    assert "Traceback" not in done.stderr


def test_control_characters_do_not_reach_the_terminal(command: Command) -> None:
    line = command.fails("pairs", "\x1b]0;owned\x07.npy")
    assert "\x1b" not in line
    assert "\x07" not in line


def test_a_name_of_a_file_is_printed_with_its_control_characters_written_out() -> None:
    from choque.cli._terminal import plain  # every verb prints through it

    assert plain("\x1b]0;owned\x07\tä\n") == "\\x1b]0;owned\\x07\tä\n"
    assert plain({"\x1b": ["\x9b", 3, None]}) == {"\\x1b": ["\\x9b", 3, None]}


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="needs the device /dev/full")
@pytest.mark.parametrize("arguments", [("scenes",), ("scenes", "--json"), ("--version",)])
def test_an_output_that_is_full_gets_one_line(arguments: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(in_shell(*arguments), stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 2
    assert done.stderr == "choque: The output cannot be written: no space left on device.\n"


@pytest.mark.skipif(os.name != "posix", reason="closes stdout by the shell")
def test_a_verb_ends_well_without_an_output() -> None:
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *in_shell("scenes")], capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")


def test_characters_that_an_output_does_not_have_are_replaced() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(in_shell("scenes", "gas"), capture_output=True, text=True, timeout=300, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "mean square 'speed'?" in done.stdout
