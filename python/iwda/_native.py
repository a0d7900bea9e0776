"""Finds the program, and says how iwrun-torch is made where something needs it."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import sysconfig
from typing import Dict, Literal, NoReturn

Program = Literal["iwrun"]


class Error(RuntimeError):
    """Something failed; the message says what, and what to do."""


# The folder of programs that were built in a checkout, where iwrun-torch lies beside iwrun.
_PROGRAMS_VARIABLE = "IWDA_PROGRAMS"
_PACKAGE = os.path.dirname(os.path.abspath(__file__))
# What the wheel brings: iwrun, and in those for some systems what iwrun-torch is made of.
_BROUGHT = os.path.join(_PACKAGE, "programs")


def program(name: Program) -> str:
    """The path of a program: in the folder $IWDA_PROGRAMS if that is set, else the wheel's."""
    named = os.environ.get(_PROGRAMS_VARIABLE)
    folder = os.path.abspath(named) if named else os.path.join(_BROUGHT, "bin")
    path = os.path.join(folder, name + (".exe" if sys.platform == "win32" else ""))
    if os.access(path, os.X_OK):
        return path
    if named:
        raise Error(f"{_PROGRAMS_VARIABLE} ({named}) has no program {name}")
    raise Error(f"there is no {name} in {folder}: install iwda's wheel, or set {_PROGRAMS_VARIABLE} to the folder that `make build` fills")


def version() -> str:
    """The version of the programs, which is the package's, too."""
    said = subprocess.run([program("iwrun"), "--version"], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return said.stdout.split()[-1]


def environment() -> Dict[str, str]:
    """The environment of iwrun, in which it can have iwrun-torch made for the torch of this Python."""
    variables = dict(os.environ)
    if variables.get(_PROGRAMS_VARIABLE):
        return variables
    if os.path.isdir(os.path.join(_BROUGHT, "torch")):
        spec = importlib.util.find_spec("torch")
        torch = os.path.dirname(spec.origin) if spec and spec.origin else ""
        variables.setdefault("IWDA_MAKE_TORCH", json.dumps([sys.executable, "-I", os.path.join(_PACKAGE, "_compile.py"), torch]))
    launcher = os.path.join(sysconfig.get_path("scripts"), "iwrun")
    if os.path.exists(launcher):  # by which scripts for a cluster start it
        variables["IWDA_LAUNCHER"] = launcher
    return variables


def iwrun() -> NoReturn:
    """The command iwrun: becomes the program, to which signals come then, and whose exit status counts."""
    try:
        path = program("iwrun")
    except Error as error:
        sys.exit(f"iwrun: {error}")
    if sys.platform == "win32":  # where no program becomes another; both get Ctrl-C
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.exit(subprocess.call([path, *sys.argv[1:]], env=environment()))
    # Python passes over these, and the program would too.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    os.execve(path, sys.argv, environment())
