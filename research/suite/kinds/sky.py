"""Tables of the sky from KStars' catalogues: stars, deep-sky objects and small bodies."""
import json
import sqlite3

import numpy as np

from draws import Domain, Task, at_most
from kinds import tables

CATALOGUES = "/usr/share/kstars/"


def number(text):
    """NaN if there is none."""
    try:
        return float(text)
    except (TypeError, ValueError):
        return np.nan


def in_columns(rows, names):
    return {name: np.array(list(map(number, values))) for name, values in zip(names, zip(*rows))}


def stars():
    """Stars by colour, light, distance and motion; the letter of their spectrum is the class."""
    with open(CATALOGUES + "stars.dat", encoding="latin-1") as f:
        lines = [line for line in f if line[0] != "#" and line[56:57] in "BAFGKM"]
    random = np.random.default_rng(131)
    labels = np.array([line[56] for line in lines])
    lines = [lines[i] for i in at_most(labels, 400, random)]
    parts = [(line[20:29], line[29:38], line[38:45], line[45:51], line[51:56]) for line in lines]
    domain = Domain(in_columns(parts, ["motion_east", "motion_north", "parallax", "magnitude", "colour"]), np.array([line[56] for line in lines]))
    return tables.tasks(132, domain, [("shares", (0.8, 0.4, 0.6, 0.3)), ("magnitude", "magnitude", 3)])


TYPES = {8: "galaxy", 3: "cluster", 4: "globular", 5: "nebula", 6: "planetary", 13: "association", 17: "stars", 0: "star"}


def deepsky():
    """Objects of two catalogues by place, light and size; what they are is the class. The second catalogue came later and has fainter ones."""
    with sqlite3.connect(f"file:{CATALOGUES}OpenNGC.kscat?mode=ro", uri=True) as catalogue:
        rows = sorted(catalogue.execute("select name, type, ra, dec, magnitude, major_axis, minor_axis, position_angle from cat"))

    def domain(name, *seed):
        mine = [row for row in rows if row[0].startswith(name + " ") and TYPES.get(row[1]) in ("galaxy", "cluster", "nebula", "planetary", "stars", "star")]
        labels = np.array([TYPES[row[1]] for row in mine])
        kept = at_most(labels, 300, np.random.default_rng(seed))
        return Domain(in_columns([mine[i][2:] for i in kept], ["right_ascension", "declination", "magnitude", "major_axis", "minor_axis", "angle"]), labels[kept])

    first, second = domain("NGC", 133, 1), domain("IC", 133, 2)
    yield Task("ngc-ic", "gap", 1, first, second)
    yield Task("ic-ngc", "gap", 2, second, first)
    yield from tables.tasks(134, domain("NGC", 134), [("ngc-shares", (0.7, 0.3, 0.5, 0.8, 0.4))])


def asteroids():
    """Small bodies by light, size and path, without the path's width, which says all; the family is the class."""
    with open(CATALOGUES + "asteroids.dat", encoding="utf-8") as f:
        said = json.load(f)
    place = said["fields"].index
    names = {"H": "magnitude", "diameter": "diameter", "albedo": "albedo", "rot_per": "rotation", "e": "eccentricity", "i": "inclination", "om": "node", "w": "perihelion", "ma": "anomaly"}
    kept = [row for row in said["data"] if row[place("class")] in ("TNO", "MBA", "TJN", "OMB", "CEN")]
    labels = np.array([row[place("class")] for row in kept])
    domain = Domain(in_columns([[row[place(name)] for name in names] for row in kept], names.values()), labels)
    domain = domain.take(at_most(labels, 300, np.random.default_rng(135)))
    return tables.tasks(136, domain, [("shares", (0.7, 0.3, 0.5, 0.8, 0.4))])
