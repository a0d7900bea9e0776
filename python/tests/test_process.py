"""How programs are run, with shell scripts in their place."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from iwda import _native, _process


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Returns a function that makes a shell script the program of a name."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("IWDA_PROGRAMS", str(folder))

    def make(text: str, name: str = "iwrun") -> Path:
        path = folder / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    return make


def test_output_is_returned_and_progress_shown(programs, capsys, tmp_path):
    programs('echo "epoch 1 of 2" >&2; pwd; printf "<%s>" "$@"; cat')
    said = _process.run("iwrun", ["adapt", "two words"], progress=True, cwd=tmp_path)
    assert said == f"{tmp_path}\n<adapt><two words>"
    assert capsys.readouterr() == ("", "epoch 1 of 2\n")
    _process.run("iwrun", [], progress=False)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "script, kind, message",
    [
        ("printf 'iwrun: no flag --x\\n\\nUsage:\\n  iwrun adapt\\nAll flags: …\\n' >&2; exit 2", ValueError, "no flag --x"),
        ("printf 'a.yaml:3:1: no method dan2\\na.yaml:4:1: no seed\\n' >&2; exit 2", ValueError, "a.yaml:3:1: no method dan2\na.yaml:4:1: no seed"),
        ("printf 'epoch 1\\niwrun: disk full\\nfree some\\n' >&2; exit 1", _native.Error, "disk full\nfree some"),
        ("exit 3", _native.Error, "iwrun ended with status 3 and said nothing"),
        ("kill -9 $$", _native.Error, "iwrun was ended by signal 9 (Killed), as the system does if memory is short"),
    ],
)
def test_failures_are_exceptions(programs, script, kind, message):
    programs(script)
    with pytest.raises(kind) as raised:
        _process.run("iwrun", [], progress=False)
    assert type(raised.value) is kind
    assert str(raised.value) == message


def test_a_reason_is_raised_and_not_shown(programs, capsys):
    """What comes before it is shown, in other words."""
    programs("printf 'run 1 of b.csv\\niwrun: b.csv is gone\\nlook for it\\n' >&2; exit $1")
    with pytest.raises(_native.Error, match="^X is gone\nlook for it$"):
        _process.run("iwrun", ["1"], progress=True, words=lambda text: text.replace("b.csv", "X"))
    assert capsys.readouterr().err == "run 1 of X\n"
    _process.run("iwrun", ["0"], progress=True)
    assert capsys.readouterr().err == "run 1 of b.csv\niwrun: b.csv is gone\nlook for it\n"


def test_much_output_does_not_block(programs):
    programs("i=0; while [ $i -lt 3000 ]; do echo '0123456789012345678901234567890123456789'; echo 'iwrun: no' >&2; i=$((i+1)); done")
    assert len(_process.run("iwrun", [], progress=False)) == 3000 * 41


class Interrupting:
    """A standard error that interrupts Python, as Ctrl-C does, when a line comes."""

    def __init__(self):
        self.lines = []

    def write(self, text):
        self.lines.append(text)
        os.kill(os.getpid(), signal.SIGINT)

    def flush(self):
        pass


def test_interruption_stops_the_program_once(programs, tmp_path, monkeypatch):
    count = tmp_path / "count"
    programs(f"trap 'echo stopped >>{count}; exit 130' INT; echo ready >&2; while :; do sleep 0.05; done")
    monkeypatch.setattr("sys.stderr", Interrupting())
    with pytest.raises(KeyboardInterrupt):
        _process.run("iwrun", [], progress=True)
    assert count.read_text() == "stopped\n"


def test_second_interruption_is_passed_on(programs, tmp_path, monkeypatch):
    count = tmp_path / "count"
    programs(f"n=0; trap 'n=$((n+1)); echo $n >>{count}; echo again >&2; [ $n -lt 2 ] || exit 130' INT; echo ready >&2; while :; do sleep 0.05; done")
    screen = Interrupting()
    monkeypatch.setattr("sys.stderr", screen)
    with pytest.raises(KeyboardInterrupt):
        _process.run("iwrun", [], progress=True)
    assert count.read_text() == "1\n2\n"


def test_a_screen_that_is_closed_does_not_end_the_program(programs, monkeypatch, tmp_path):
    programs("echo a >&2; echo b >&2; echo done")
    closed = open(tmp_path / "screen", "w")
    closed.close()
    monkeypatch.setattr("sys.stderr", closed)
    assert _process.run("iwrun", [], progress=True) == "done\n"


def test_programs_run_from_other_threads(programs):
    programs("echo done")
    said = []
    thread = threading.Thread(target=lambda: said.append(_process.run("iwrun", [], progress=False)))
    thread.start()
    thread.join()
    assert said == ["done\n"]


def test_missing_programs_are_named(programs, monkeypatch, tmp_path):
    with pytest.raises(_native.Error, match=r"IWDA_PROGRAMS \(.*\) has no program iwrun"):
        _process.run("iwrun", ["labelshift"], progress=False)
