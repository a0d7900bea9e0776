"""Finds the programs, and the two libraries that iwrun needs."""

from __future__ import annotations

import os
from typing import Dict, Literal

Program = Literal["iwrun", "labelshift"]


class Error(RuntimeError):
    """Something failed; the message says what, and what to do."""


# The folder of programs that were built in a checkout, with their libraries.
_PROGRAMS_VARIABLE = "IWDA_PROGRAMS"
_BESIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "bin")


def program(name: Program) -> str:
    """The path of a program: in the folder $IWDA_PROGRAMS if that is set, else the wheel's."""
    folder = os.environ.get(_PROGRAMS_VARIABLE) or _BESIDE
    path = os.path.join(os.path.abspath(folder), name)
    if os.access(path, os.X_OK):
        return path
    if folder == _BESIDE:
        raise Error(f"there is no {name} in {folder}: install iwda's wheel, or set {_PROGRAMS_VARIABLE} to the folder that `make build` fills")
    raise Error(f"{_PROGRAMS_VARIABLE} ({folder}) has no program {name}")


def environment() -> Dict[str, str]:
    """The environment in which iwrun finds the libraries that it needs."""
    return dict(os.environ)
