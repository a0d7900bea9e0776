"""Tables of things and of animals that they meet: diamonds, bank notes, solder, fuels, computers, radiators, birds, ticks, a river's banks."""
import numpy as np

from draws import Domain, Task
from kinds import npm, r, society, tables


def diamonds():
    """Diamonds by price, weight and measures; how they were cut, or how clear they are, is the class."""
    columns = r.frame("ggplot2", "diamonds")
    yield from tables.tasks(341, society.evenly(r.domain(columns, "cut"), 300, 341, 0), [("cut-shares", (0.7, 0.4, 0.5, 0.3, 0.6))])
    yield from tables.tasks(342, society.evenly(r.domain(columns, "clarity"), 250, 342, 0), [("clarity-carat", "carat", 2)])


def banknotes():
    """Bank notes by length, height and margin; whether they were forged is the class. Without the picture's diagonal, which says it, and the lower margin."""
    return tables.tasks(343, r.domain(r.frame("mclust", "banknote"), "Status", ["Diagonal", "Bottom"]), [("same",)])


def solder():
    """Boards by how they were soldered; how many spots were skipped is the class, in three. Two kinds of masks."""
    columns = r.frame("rpart", "solder")
    skips = np.select([columns["skips"] == 0, columns["skips"] <= 4], ["none", "few"], "many")
    parts = [r.domain(columns, skips, ["skips", "Mask"], np.isin(columns["Mask"], masks)) for masks in (["A1.5", "A3"], ["B3", "B6"])]
    yield Task("masks", "gap", 1, *parts)


def fuels():
    """Shells, wood, straw and other fuels by what they consist of, without carbon; the heat that they give is the class, in three."""
    columns = r.frame("modeldata", "biomass")
    heat = tables.cut(columns["HHV"], ["low", "middle", "high"])
    return tables.tasks(345, r.domain(columns, heat, ["sample", "dataset", "carbon", "HHV"]), [("nitrogen", "nitrogen", 3)])


def computers():
    """Computers of the eighties by clock, memory and channels; how fast they are is the class, in four."""
    columns = r.frame("MASS", "cpus")
    speed = tables.cut(columns["perf"], ["slowest", "slow", "fast", "fastest"])
    return tables.tasks(346, r.domain(columns, speed, ["name", "perf", "estperf"]), [("same",)])


def radiators():
    """Sensors of a space shuttle's radiators; their state is the class."""
    columns = r.frame("mlbench", "Shuttle")
    known = np.isin(columns["Class"], ["Rad.Flow", "High", "Bypass", "Fpv.Open"])
    domain = society.evenly(r.domain(columns, "Class", rows=known), 250, 347, 0)
    return tables.tasks(347, domain, [("shares", (0.3, 0.7, 0.5, 0.6)), ("time", "V1", 2)])


PHASES = ["Approach", "Climb", "Descent", "Landing Roll", "Take-off run"]


def birds():
    """Birds that aircraft struck, by the aircraft, its speed, the time and the damage; the phase of the flight is the class."""
    rows = [row for row in npm.vega("birdstrikes.csv") if row["Phase of flight"] in PHASES]
    words = ["Aircraft Make Model", "Effect Amount of damage", "Origin State", "Wildlife Size", "Wildlife Species", "Time of day"]
    domain = Domain(npm.columns(rows, ["Speed IAS in knots", "Cost Total $"], words), np.array([row["Phase of flight"] for row in rows]))
    yield from tables.tasks(348, r.some(domain, 2500, 348), [("shares", (0.3, 0.6, 0.7, 0.5, 0.4))])
    lines = np.array([row["Aircraft Airline Operator"] not in ("MILITARY", "BUSINESS", "PRIVATELY OWNED", "GOVERNMENT", "UNKNOWN") for row in rows])
    airlines, others = (domain.take(np.flatnonzero(part)) for part in (lines, ~lines))
    yield Task("airlines-others", "gap", 2, society.evenly(airlines, 600, 349, 0), others)


def ticks():
    """Young grouse by the height of their nest and how many of the brood were looked at; how many ticks they had is the class, in three."""
    columns = r.frame("lme4", "grouseticks")
    brood = np.unique(columns["BROOD"], return_inverse=True, return_counts=True)
    said = {"height": columns["HEIGHT"], "brood": brood[2][brood[1]].astype(float)}
    found = np.select([columns["TICKS"] == 0, columns["TICKS"] <= 4], ["none", "few"], "many")
    late = columns["YEAR"] == 97
    earlier, later = (r.domain(said, found, rows=rows) for rows in (~late, late))
    yield Task("before-1997", "gap", 1, society.evenly(earlier, 70, 350, 0), later)


def banks():
    """Soil beside a river by metals, height and use; how often it is under water is the class."""
    columns = r.frame("sp", "meuse")
    flooded = np.array(["often", "sometimes", "rarely"])[columns["ffreq"].astype(int) - 1]
    return tables.tasks(351, r.domain(columns, flooded, ["x", "y", "ffreq", "soil", "dist.m"]), [("shares", (0.35, 0.7, 0.6))])
