"""Tables of nature as instruments saw it: animals, fields from a satellite, vowels, cars' outlines, oils, plants."""
import numpy as np

from draws import Task, by_class
from kinds import r, tables


def animals():
    """Crabs of two colours and penguins of three species; the sex is the class, or the species."""
    crabs = r.frame("MASS", "crabs")
    yield Task("crabs", "gap", 1, *(r.domain(crabs, "sex", ["sp", "index"], crabs["sp"] == colour) for colour in "BO"))
    penguins = r.frame("palmerpenguins", "penguins")
    large = penguins["species"] == "Gentoo"
    yield Task("penguins", "gap", 2, *(r.domain(penguins, "sex", ["species", "island", "year"], rows) for rows in (~large, large)))
    species = r.domain(penguins, "species", ["island", "year", "bill_length_mm"])
    yield from tables.tasks(121, species, [("species-shares", (0.75, 0.5, 0.3))])


def satellite():
    """Nine pixels in four colours; the soil of the middle one is the class."""
    domain = r.domain(r.frame("mlbench", "Satellite"), "classes")
    plans = [("shares", (0.7, 0.3, 0.5, 0.8, 0.2)), ("infrared", "x.19", 2)]
    return tables.tasks(122, r.some(domain, 1500, 122), plans)


WOMEN = [4, 5, 6, 7, 12, 13, 14]


def vowels():
    """Eleven vowels of fifteen speakers, by shapes of the spectrum."""
    columns = r.frame("mlbench", "Vowel")
    women, late = np.isin(columns["V1"], WOMEN), columns["V1"] > 7
    for seed, (name, rows) in enumerate([("men-women", women), ("speakers", late)], 1):
        yield Task(name, "gap", seed, *(r.domain(columns, "Class", ["V1"], part) for part in (~rows, rows)))
    domain = r.domain(columns, "Class", ["V1"])
    yield Task("shares", "label-shift", 3, *(domain.take(rows) for rows in by_class(domain.labels, (0.8, 0.3, 0.5), np.random.default_rng([123, 3]))))


def vehicles():
    """Outlines of four cars by eighteen measures."""
    domain = r.domain(r.frame("mlbench", "Vehicle"), "Class")
    return tables.tasks(124, domain, [("shares", (0.8, 0.4, 0.6, 0.25)), ("compactness", "Comp", 3)])


def olives():
    """Fatty acids of oils; the part of Italy is the class."""
    domain = r.domain(r.frame("dslabs", "olive"), "area", ["region"])
    return tables.tasks(125, domain, [("linoleic", "linoleic", 2)])


def soybeans():
    """Diseases of plants by 35 answers, of which many are missing."""
    columns = r.frame("mlbench", "Soybean")
    names, counts = np.unique(columns["Class"], return_counts=True)
    domain = r.domain(columns, "Class", rows=np.isin(columns["Class"], names[counts >= 20]))
    return tables.tasks(126, domain, [("same",), ("shares", (0.75, 0.3, 0.5, 0.4))])
