"""Many numbers a row, as instruments and counts give them: mails, DNA, cells, light through meat, echoes, molecules."""
import numpy as np

from draws import Domain, Task
from kinds import r, tables


def spam():
    """Shares of words and signs in a mail; whether it was wanted is the class."""
    table = r.some(r.domain(r.frame("kernlab", "spam"), "type"), 2000, 151)
    return tables.tasks(152, r.array(table), [("shares", (0.3, 0.8)), ("capitals", table.values["capitalLong"], 3)])


def splice():
    """Sixty letters of DNA, three bits each; where its text is cut is the class."""
    domain = r.array(r.some(r.domain(r.frame("mlbench", "DNA"), "Class"), 2400, 153))
    strong = domain.values[:, 1::3].sum(axis=1) + domain.values[:, 2::3].sum(axis=1)  # the letters C and G
    return tables.tasks(154, domain, [("shares", (0.7, 0.3, 0.5)), ("strong", strong, 3)])


def cells():
    """Cells under a microscope by 56 measures; whether a program has found their outline is the class."""
    columns = r.frame("modeldata", "cells")
    parts = [r.array(r.domain(columns, "class", ["case"], columns["case"] == case)) for case in ("Train", "Test")]
    yield Task("same", "none", 1, *parts)
    yield from tables.tasks(155, Domain(*(np.concatenate(both) for both in zip(*((part.values, part.labels) for part in parts)))), [("shares", (0.3, 0.7))])


def spectra():
    """Light that pieces of meat let through at a hundred wavelengths; how fat they are is the class."""
    columns = r.frame("modeldata", "meats")
    fat = tables.cut(columns["fat"], ["lean", "middle", "fat"])
    domain = r.array(r.domain(columns, fat, ["water", "fat", "protein"]))
    return tables.tasks(156, domain, [("shares", (0.7, 0.3, 0.5)), ("light", domain.values[:, 0], 3)])


def echoes():
    """What came back from metal and from rocks in sixty bands of sound; and radar from the ionosphere."""
    yield from tables.tasks(157, r.array(r.domain(r.frame("mlbench", "Sonar"), "Class")), [("sonar-same",), ("sonar-shares", (0.7, 0.35))])
    radar = r.domain(r.frame("mlbench", "Ionosphere"), "Class", ["V1", "V2"])
    yield from tables.tasks(158, radar, [("radar-shares", (0.3, 0.75))])


def molecules():
    """Shapes of molecules by 166 distances; whether they smell of musk is the class."""
    columns = r.frame("kernlab", "musk")
    domain = r.array(r.domain(columns, np.where(columns.pop("Class") == 1, "musk", "other")))
    return tables.tasks(159, domain, [("same",), ("shares", (0.4, 0.75))])
