"""What programs say, in the words of who calls them from Python."""

from __future__ import annotations

import csv
import re
from typing import List, Mapping, Tuple

# Words of the command line, and what stands for them here.
_WORDS: List[Tuple[str, str]] = [
    (r"another folder with -o", "another folder="),
    (r" with --overwrite, which removes what is there| with --overwrite", " after removing this one"),
    (r"leave it out of both with --ignore (?:'[^\n]*'|\S+)", "leave it out of both"),
    (r"name such a column with --id-column or --ignore", "leave such a column out, or name it id"),
    (r"Name another column with --id-column, or leave it out with --ignore", "Give others with ids="),
    (r"leave the cell empty if its value is missing", "put NaN there if its value is missing"),
    (r"with iwrun predict", "with iwda.load"),
    (r"add --module (\S+)", r"add run_module=\1"),
    (r"iwrun evaluate", "evaluate"),
    (r"--device \S+: (?=device )", ""),
    (r"--steps (\S+): ", r"steps=\1: "),
    (r"(?m)^weightest: ", ""),
]


class Words:
    """Translates what a program says.

    Parameters
    ----------
    files : dict
        What the content of files of rows is called, by path. Lines of .csv files are rows then.
    parts : dict
        What else is called how, word for word. Of paths in it, line numbers are left out.
    """

    def __init__(self, files: Mapping[str, str], parts: Mapping[str, str] = {}) -> None:
        self._files, self._parts = files, parts

    def __call__(self, text: str) -> str:
        for path, name in self._files.items():
            text = re.sub(re.escape(path) + r":(\d+)\b", lambda found: _row(path, name, int(found[1])), text)
            text = text.replace(path, name)
        for part, name in self._parts.items():
            text = re.sub(re.escape(part) + r"(:\d+\b)?", lambda _: name, text)
        for pattern, word in _WORDS:
            text = re.sub(pattern, word, text)
        return text


def _row(path: str, name: str, line: int) -> str:
    """Where the line of a .csv file is: in its head, or in a row, counted from 0."""
    if line == 1:
        return name
    with open(path, encoding="utf-8", newline="") as file:
        cells = csv.reader(file)
        row = sum(cells.line_num < line for _ in cells) - 1
    return f"{name}: row {row}"
