"""Tables of records that people keep: works of art, checks, patients by visits, carriers, rice, parties, aggression, customers, graduates, counties, forests, an election, loans, cars for sale."""
import re

import numpy as np

import draws
from draws import Task
from kinds import deb, r, society, systems, tables


def drawn(name, group, seed, domain, units, shares, random):
    """A task in which all rows of a unit are in one domain."""
    return Task(name, group, seed, *(domain.take(rows) for rows in draws.by_units(units, domain.labels, shares, random)))


MEDIA = {"screenprint": "screenprint", "lithograph": "lithograph", "etching|aquatint|drypoint": "etching", "photograph|print.* on paper$|c-print": "photograph", "oil": "oil", "acrylic": "acrylic", "video|film": "film", "graphite|pencil|ink|watercolour|gouache|crayon": "drawing"}


def works():
    """Works of a museum by artist and title, in words; what they are made with is the class. Those of the nineties, and since 2003."""
    columns = r.frame("modeldata", "tate_text")
    titles = [str(title) for title in columns["title"]]
    labels = np.array([next((label for pattern, label in MEDIA.items() if re.search(pattern, str(medium).lower())), "") for medium in columns["medium"]])
    said = {
        "artist": columns["artist"].astype(object), "first_word": np.array([(title.split() or [""])[0].lower() for title in titles], object), "title_words": np.array([float(len(title.split())) for title in titles]), "title_length": np.array([float(len(title)) for title in titles]),
        "untitled": np.array([systems.YES["ntitled" in title or "no title" in title] for title in titles], object), "digits": np.array([float(sum(c.isdigit() for c in title)) for title in titles]), "brackets": np.array([systems.YES["(" in title or "[" in title] for title in titles], object),
    }
    parts = (r.domain(said, labels, rows=rows) for rows in (columns["year"] < 2000, columns["year"] >= 2003))
    yield Task("nineties-later", "gap", 1, *(society.evenly(part, 250, 721, i) for i, part in enumerate(parts)))


def checks():
    """Packages of R by their files and what they import; how long they take to be checked is the class, in three."""
    columns = r.frame("modeldata", "check_times")
    long = tables.cut(columns["check_time"], ["short", "middle", "long"])
    return tables.tasks(722, r.some(r.domain(columns, long, ["package", "check_time", "status"]), 3000, 722), [("files", "r_count", 2)])


def visits():
    """Patients at four visits by treatment, age, sex and how well they breathed before; how well they do is the class. One hospital, and another."""
    columns = r.frame("HSAUR3", "respiratory")
    first = dict(zip(columns["subject"][columns["month"] == 0], columns["status"][columns["month"] == 0]))
    columns["before"] = np.array([first[subject] for subject in columns["subject"]], object)
    columns["subject"] = r.as_words("patient", columns["subject"])
    yield Task("one-another", "gap", 1, *(r.domain(columns, "status", ["centre"], (columns["centre"] == centre) & (columns["month"] > 0)) for centre in (1, 2)))


def carriers():
    """Women, some of them twice or more, by age, season and four enzymes in their blood, some of it missing; whether they carry a disease of muscles is the class."""
    columns = deb.frame("ipred", "dystrophy")
    units = columns["HospID"].astype(int)
    columns["HospID"] = np.array([f"woman {unit}" for unit in units], object)
    return [drawn("shares", "label-shift", 1, r.domain(columns, "Class", ["OBS", "Y"]), units, (0.7, 0.45), np.random.default_rng(724))]


def rice():
    """Farms of rice in several seasons by land, work, prices and harvest; the village is the class."""
    columns = deb.frame("plm", "RiceFarms")
    domain = r.domain(columns, "region", ["id"])
    return [drawn("same", "none", 1, domain, columns["id"], (0.5,), np.random.default_rng(725))]


def parties():
    """People in four years by age, religion, class and what they think of abortion; the party that they like is the class. Before 1985, and other people later."""
    columns = r.frame("mlmRev", "Socatt")
    domain = r.domain(columns, "party", ["district", "respond", "year"])
    odd = np.unique(columns["respond"], return_inverse=True)[1] % 2 == 1
    early = columns["year"] < 1985
    kept = np.isin(domain.labels, ["conservative", "labour", "Lib/SDP/Alliance"])
    yield Task("before-after", "gap", 1, *(domain.take(np.flatnonzero(rows & kept)) for rows in (odd & early, ~odd & ~early)))


def aggression():
    """What people would do or want to do when others or they themselves are to blame; whether they say yes is the class."""
    columns = r.frame("lme4", "VerbAgg")
    few = columns["id"] <= 220
    columns = {name: values[few] for name, values in columns.items()}
    return [drawn("same", "none", 1, r.domain(columns, "r2", ["item", "id", "resp"]), columns["id"], (0.5,), np.random.default_rng(727))]


def customers():
    """A bank's customers by age, work, savings and cheques, all in words; whether they have its card is the class."""
    return tables.tasks(728, r.domain(deb.frame("ade4", "banque"), "cableue"), [("shares", (0.4, 0.65))])


def graduates():
    """Graduates of schools in Minnesota by rank, sex and their father's work, in words; what they did next is the class."""
    columns = deb.frame("vcdExtra", "Hoyt", "as.data.frame(Hoyt)")
    each = np.repeat(np.arange(len(columns["Freq"])), columns["Freq"].astype(int))
    columns = {name: values[each] for name, values in columns.items() if name != "Freq"}
    columns["Occupation"] = r.as_words("father", columns["Occupation"])
    return tables.tasks(729, r.some(society.evenly(r.domain(columns, "Status"), 1200, 729, 0), 3000, 729, 1), [("same",)])


def counties():
    """Counties of the Midwest by people, schools and poverty; the state is the class."""
    columns = r.frame("ggplot2", "midwest")
    return tables.tasks(730, r.domain(columns, "state", ["PID", "county", "area"]), [("shares", (0.65, 0.35, 0.5, 0.7, 0.4))])


def forests():
    """Places in two ranges of New Zealand by height and sixteen species; whether tawa grows there is the class."""
    parts = [deb.frame("VGAM", name) for name in ("hunua", "waitakere")]
    yield Task("hunua-waitakere", "gap", 1, *(r.domain(part, np.where(part["beitaw"] == 1, "tawa", "none"), ["beitaw"]) for part in parts))


def election():
    """Americans by news, age, schools, means and where they place themselves and two candidates; for whom of both they would vote is the class."""
    path = next((deb.unpacked("python3-statsmodels") / "usr/lib/python3/dist-packages/statsmodels/datasets/anes96").glob("anes96.csv*"))
    header, *rows = [re.findall(r"[^\s,;\"']+", line) for line in systems.text(path).strip().split("\n")]
    columns = {name: np.array(column, float) for name, column in zip(header, zip(*rows))}
    vote = np.array(["Clinton", "Dole"])[columns["vote"].astype(int)]
    return tables.tasks(732, r.domain(columns, vote, ["vote", "PID", "logpopul"]), [("age", "age", 3)])


def loans():
    """Loans by amount, state, income and debts; the grade that the lender gave, of which the last ones are rare, is the class."""
    columns = r.frame("modeldata", "lending_club")
    grade = np.array([text[0] for text in columns["sub_grade"]])
    return tables.tasks(733, society.evenly(r.domain(columns, grade, ["int_rate", "sub_grade", "Class"]), 420, 733, 0), [("shares", (0.4, 0.55, 0.5, 0.45, 0.65, 0.6, 0.4))])


MAKES, BODIES = ["Buick", "Cadillac", "Chevy", "Pontiac", "Saab", "Saturn"], ["convertible", "coupe", "hatchback", "sedan", "wagon"]


def sales():
    """Used cars by price, miles, body and what they have; the make is the class."""
    columns = deb.frame("caret", "cars")
    make, body = (np.array(names, object)[np.argmax([columns[name] for name in names], axis=0)] for names in (MAKES, BODIES))
    said = {name: columns[name] for name in ("Price", "Mileage", "Cylinder", "Doors", "Cruise", "Sound", "Leather")} | {"body": body}
    return tables.tasks(734, r.domain(said, make), [("shares", (0.6, 0.35, 0.5, 0.7, 0.4, 0.55))])
