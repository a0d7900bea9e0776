"""Runs one of the programs as a process, and turns its failures into exceptions."""

from __future__ import annotations

import collections
import re
import signal
import subprocess
import sys
import threading
from os import PathLike
from typing import IO, Callable, Deque, List, Optional, Union

from . import _native
from ._native import Error, Program

_WRONG_USAGE = 2  # the programs' exit status for wrong usage or input that cannot be read
_KEPT_LINES = 200  # of standard error, in which the reason of a failure is looked for
# Seconds that a program has to end after the first interruption, in which its workers write what
# they have, and after the second one, which ends them.
_PATIENCE = (60, 10)
if sys.platform == "win32":
    _FLAGS, _INTERRUPTION = subprocess.CREATE_NEW_PROCESS_GROUP, signal.CTRL_BREAK_EVENT
else:
    _FLAGS, _INTERRUPTION = 0, signal.SIGINT
_KILL = 9


def run(
    program: Program,
    arguments: List[str],
    *,
    progress: bool,
    cwd: Union[str, "PathLike[str]", None] = None,
    words: Callable[[str], str] = str,
    also: int = 0,
) -> str:
    """Runs a program and returns its standard output.

    With progress, what it writes to standard error goes to sys.stderr line by line, but not the
    reason of a failure, which is raised. Both are in the words that a function makes of them.
    Raises ValueError for wrong usage or input that the program cannot read as asked, Error
    for everything else that fails, unless it ends with the status also. KeyboardInterrupt ends the
    program and its workers first.
    """
    # A session of its own: a terminal's Ctrl-C comes through here, and comes once.
    process = subprocess.Popen(
        [_native.program(program), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=_native.environment(),
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        creationflags=_FLAGS,
    )
    assert process.stdout and process.stderr
    output: List[str] = []
    screen = _Screen(program, words) if progress else None
    said: Deque[str] = collections.deque(maxlen=_KEPT_LINES)
    readers = [
        threading.Thread(target=_collect, args=(process.stdout, output), daemon=True),
        threading.Thread(target=_collect, args=(process.stderr, said, screen), daemon=True),
    ]
    try:
        for reader in readers:
            reader.start()
        status = process.wait()
    except BaseException:
        _stop(process)
        raise
    finally:
        for reader in readers:
            reader.join()
        process.stdout.close()
        process.stderr.close()
    if status in (0, also):
        if screen is not None:
            screen.show_withheld()
        return "".join(output)
    if status < 0:
        reason = ", as the system does if memory is short" if -status == _KILL else ""
        raise Error(f"{program} was ended by signal {-status} ({signal.strsignal(-status)}){reason}")
    message = _message(program, "".join(said)) or f"{program} ended with status {status} and said nothing"
    raise ValueError(words(message)) if status == _WRONG_USAGE else Error(words(message))


class _Screen:
    """Shows lines on sys.stderr while that is there. From the first on that may be the reason of
    a failure, they are withheld: such a reason is the last that programs say."""

    def __init__(self, program: str, words: Callable[[str], str]) -> None:
        self._stream: Optional[IO[str]] = sys.stderr
        self._reason = re.compile(rf"{program}: |--\w|\S+:\d+: ")
        self._words = words
        self._withheld: List[str] = []

    def write(self, line: str) -> None:
        if self._withheld or self._reason.match(line):
            self._withheld.append(line)
        else:
            self._show(self._words(line))

    def show_withheld(self) -> None:
        self._show(self._words("".join(self._withheld)))

    def _show(self, text: str) -> None:
        if self._stream is None or not text:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # closed
            self._stream = None


def _collect(stream: IO[str], to: Union[List[str], Deque[str]], screen: Optional[_Screen] = None) -> None:
    """Reads a stream to its end, and shows it."""
    for line in stream:
        to.append(line)
        if screen is not None:
            screen.write(line)


def _stop(process: "subprocess.Popen[str]") -> None:
    """Interrupts a process, again if it does not end or the user insists, and at last kills it."""
    for seconds in _PATIENCE:
        try:
            process.send_signal(_INTERRUPTION)
            process.wait(seconds)
            return
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            pass
    process.kill()
    process.wait()


def _message(program: str, said: str) -> str:
    """What a program that failed said at last, without its name and its usage."""
    said = said.split("\n\nUsage:\n")[0]
    start = f"{program}: "
    _, found, message = ("\n" + said).rpartition("\n" + start)
    return (message if found else said).strip()
