"""Tables of matter: weather, storms, earthquakes, isotopes, glass, concrete and blood."""
import re

import numpy as np

from draws import Domain, Task
from kinds import npm, r, society, tables


def weather():
    """Days in two towns by rain, wind and warmth; what the weather was called is the class."""
    rows = npm.vega("weather.csv")
    domain = Domain(npm.columns(rows, ["precipitation", "temp_max", "temp_min", "wind"]), np.array([row["weather"] for row in rows]))
    seattle = np.array([row["location"] == "Seattle" for row in rows])
    parts = [r.some(domain.take(np.flatnonzero(part)), 1000, 221, i) for i, part in enumerate((seattle, ~seattle))]
    yield Task("seattle-york", "gap", 1, *parts)


def storms():
    """Storms by place, time and pressure; what they were is the class. Without wind, which says it."""
    columns = r.frame("dplyr", "storms")
    said = {name: columns[name] for name in ("month", "day", "hour", "lat", "long", "pressure", "status")}
    early, late = columns["year"] < 1990, columns["year"] >= 2005
    yield Task("early-late", "gap", 1, *(r.some(r.domain(said, "status", rows=rows), 1000, 222, i) for i, rows in enumerate((early, late))))
    yield from tables.tasks(223, r.some(r.domain(said, "status"), 1500, 223), [("latitude", "lat", 3)])


def quakes():
    """Earthquakes of a week; who has measured them is the class. Without their place."""
    rows = [one["properties"] | {"depth": one["geometry"]["coordinates"][2]} for one in npm.vega("earthquakes.json")["features"] if one["properties"]["net"] in ("ak", "ci", "nc", "nn", "us")]
    values = npm.columns(rows, ["mag", "depth", "sig", "nst", "dmin", "rms", "gap"], ["magType"])
    domain = Domain(values, np.array([row["net"] for row in rows]))
    return tables.tasks(224, domain, [("shares", (0.7, 0.3, 0.5, 0.8, 0.4)), ("depth", "depth", 2)])


def isotopes():
    """Isotopes by their particles and mass; how long half of them lasts is the class, in three, and those that stay."""
    with open("/usr/share/bodr/isotopes.xml", encoding="utf-8") as f:
        found = re.findall(r'<isotope id="[^"]*" number="(\d+)"(.*?)</isotope>', f.read(), re.DOTALL)
    rows, lasting = [], []
    for number, one in found:
        nucleons = int(number)
        said = {name: float(value) for name, value in re.findall(r'bo:(exactMass|halfLife|relativeAbundance|atomicNumber)"[^>]*>([0-9.eE+-]+)<', one)}
        if "halfLife" in said or "relativeAbundance" in said:
            protons = int(said["atomicNumber"])
            rows.append([protons, nucleons - protons, (nucleons - 2 * protons) / nucleons, 1000 * (said["exactMass"] - nucleons) / nucleons, protons % 2, (nucleons - protons) % 2])
            lasting.append(np.log10(said["halfLife"]) if "halfLife" in said else np.inf)
    lasting = np.array(lasting)
    labels = np.where(np.isinf(lasting), "stays", tables.cut(np.where(np.isinf(lasting), np.median(lasting), lasting), ["short", "middle", "long"]))
    values = dict(zip(["protons", "neutrons", "excess", "mass_excess", "odd_protons", "odd_neutrons"], np.array(rows, float).T.round(6)))
    domain = Domain(values, labels)
    yield from tables.tasks(225, r.some(domain, 1500, 225), [("shares", (0.7, 0.3, 0.5, 0.6))])
    heavy = values["protons"] > 50
    yield Task("light-heavy", "gap", 2, *(r.some(domain.take(np.flatnonzero(part)), 900, 226, i) for i, part in enumerate((~heavy, heavy))))


def glass():
    """Pieces of glass by what they consist of; what they were part of is the class."""
    return tables.tasks(227, r.domain(r.frame("MASS", "fgl"), "type"), [("shares", (0.7, 0.4, 0.5, 0.6)), ("index", "RI", 2)])


def concrete():
    """Concrete by what is in it and its age; how strong it is is the class, in three."""
    columns = r.frame("modeldata", "concrete")
    strength = tables.cut(columns.pop("compressive_strength"), ["weak", "middle", "strong"])
    return tables.tasks(228, r.domain(columns, strength), [("water", "water", 3)])


def thyroid():
    """Blood of patients by five measures; what their thyroid does is the class."""
    return tables.tasks(229, society.evenly(r.domain(r.frame("mclust", "thyroid"), "Diagnosis"), 150, 229, 0), [("shares", (0.7, 0.5, 0.35))])
