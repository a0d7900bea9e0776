"""Tables of health: infections, an epidemic, livers, mothers, and proteins of old people."""
import numpy as np

from draws import Task
from kinds import r, society, tables


def infections():
    """Years of five diseases in the states, by cases, people and weeks with reports; the disease is the class."""
    columns = r.frame("dslabs", "us_contagious_diseases")
    year, known = columns["year"], np.isin(columns["disease"], ["Hepatitis A", "Measles", "Mumps", "Pertussis", "Rubella"]) & (columns["population"] > 0)
    said = {"weeks_reporting": columns["weeks_reporting"], "cases": columns["count"], "people": columns["population"], "per_million": (1e6 * columns["count"] / columns["population"]).round(3), "disease": columns["disease"]}
    parts = [r.some(r.domain(said, "disease", rows=known & rows), 1200, 301, i) for i, rows in enumerate(((year >= 1968) & (year < 1978), (year >= 1988) & (year < 1998)))]
    yield Task("seventies-nineties", "gap", 1, *parts)


def epidemic():
    """Patients of an epidemic by age, the day of the diagnosis and how they were infected; whether they were dead at its end is the class."""
    columns = r.frame("MASS", "Aids2")
    wales = columns["state"] == "NSW"
    yield Task("wales-others", "gap", 1, *(r.domain(columns, "status", ["state", "death"], rows) for rows in (wales, ~wales)))


def livers():
    """Patients with a disease of the liver; whether it is in its last stage is the class. Those of a trial, and others, by what was measured on both."""
    columns = r.frame("survival", "pbc")
    stage = np.select([columns["stage"] <= 3, columns["stage"] == 4], ["before", "last"], "")
    trial = np.isfinite(columns["trt"])
    shared = {name: columns[name] for name in ("age", "sex", "edema", "bili", "albumin", "platelet", "protime")}
    tried, others = (r.domain(shared, stage, rows=rows) for rows in (trial, ~trial))
    yield Task("trial-others", "gap", 1, society.evenly(tried, 109, 303, 0), others)


def mothers():
    """Mothers in Guatemala by work, schools, house and the way to a clinic; whether her care before a birth was a modern one is the class. One child of each."""
    columns = r.frame("mlmRev", "guPrenat")
    first = np.zeros(len(columns["mom"]), bool)
    first[np.unique(columns["mom"], return_index=True)[1]] = True
    columns["husEd"] = np.where(columns["husEd"] == "Unknown", "", columns["husEd"])
    without = ["kid", "mom", "cluster"]
    yield from tables.tasks(304, r.domain(columns, "prenat", without, first), [("shares", (0.35, 0.65))])
    ladino = columns["indig"] == "Ladino"
    natives, others = (r.domain(columns, "prenat", [*without, "indig"], first & rows) for rows in (~ladino, ladino))
    yield Task("ladino-indigenous", "gap", 2, society.evenly(others, 330, 305, 0), natives)


def proteins():
    """Proteins in old people's blood and spinal fluid; whether their mind is impaired is the class."""
    domain = r.array(r.domain(r.frame("modeldata", "ad_data"), "Class", ["Genotype", "male"]))
    return tables.tasks(306, domain, [("shares", (0.35, 0.6))])
