"""Tables whose rows were selected along a column (colleges, earners, newborns, dwellings, grafts, families), and others whose domains differ by nature (degrees, olympians, lamps, vocabulary, gammopathies, wards): data of R's packages, npm's and a program's."""
import re

import numpy as np

from draws import Task
from kinds import deb, npm, r, society, systems, tables


def colleges():
    """Young Americans by tests, parents, home and how far a college is; how long they went to school is the class, in three."""
    columns = r.frame("AER", "CollegeDistance")
    label = np.select([columns["education"] < 13, columns["education"] < 16], ["school", "some college"], "degree")
    return tables.tasks(1211, society.evenly(r.domain(columns, label, ["education"]), 500, 1211, 0), [("score", "score", 2)])


def earners():
    """American men by wage, years of work, region and town; how long they went to school is the class, in three."""
    columns = r.frame("AER", "CPS1988")
    label = np.select([columns["education"] < 12, columns["education"] == 12], ["less", "school"], "more")
    return tables.tasks(1212, society.evenly(r.domain(columns, label, ["education"]), 450, 1212, 0), [("experience", "experience", 2)])


def newborns():
    """Newborn children by sex, how long they were awaited, and their mother; how heavy they are is the class, in three."""
    columns = deb.frame("Epi", "births")
    said = {name: columns[name] for name in ("gestwks", "matage", "hyp", "sex")}
    domain = r.domain(said, tables.cut(columns["bweight"], ["light", "middle", "heavy"]), rows=~np.isnan(columns["gestwks"]))
    return tables.tasks(1213, domain, [("weeks", "gestwks", 2)])


def dwellings():
    """Houses of a Canadian town by land, rooms and what they have; the price is the class, in three."""
    columns = r.frame("AER", "HousePrices")
    return tables.tasks(1214, r.domain(columns, tables.cut(columns["price"], ["cheap", "middle", "dear"]), ["price"]), [("land", "lotsize", 2)])


def grafts():
    """Cells of a patient's blood by light and four colours; how many days after a transplantation it was taken is the class, in seven."""
    columns = deb.frame("latticeExtra", "gvhd10")
    return tables.tasks(1215, society.evenly(r.domain(columns, r.as_words("day", columns["Days"]), ["Days"]), 170, 1215, 0), [("light", "FSC.H", 2)])


def families():
    """American women by age, year, schools, siblings and where they grew up; how many children they have is the class, in three."""
    columns = r.frame("AER", "GSS7402")
    label = np.select([columns["kids"] == 0, columns["kids"] < 3], ["none", "few"], "many")
    return tables.tasks(1216, society.evenly(r.domain(columns, label, ["kids", "agefirstbirth"]), 450, 1216, 0), [("age", "age", 2)])


def degrees():
    """Young Americans by earnings, age and sex; whether they have a bachelor's degree is the class. 1992, and 2004."""
    columns = r.frame("AER", "CPSSW9204")
    yield Task("1992-2004", "gap", 1, *(r.some(r.domain(columns, "degree", ["year"], columns["year"] == year), 900, 1217, i) for i, year in enumerate((1992, 2004))))


def olympians():
    """Athletes of the games of 2016 by country, day of birth, height and weight; six sports are the classes. Women, and men."""
    path = npm.unpacked("@observablehq/sample-datasets", lambda path: path.endswith("olympians.csv")) / "olympians.csv"
    columns = npm.columns(npm.rows(path), ["height", "weight"], ["nationality", "date_of_birth", "sex", "sport"])
    sport = np.where(np.isin(columns["sport"], ["aquatics", "athletics", "judo", "rowing", "basketball", "gymnastics"]), columns["sport"], "")
    yield Task("women-men", "gap", 1, *(society.evenly(r.domain(columns, sport, ["sex", "sport"], columns["sex"] == sex), 90, 1218, i) for i, sex in enumerate(("female", "male"))))


LAMPS = {"Color Changer": "colour changer", "Moving Head": "moving head", "Scanner": "scanner"}


def lamps():
    """Lamps and machines of stages by channels, weight, size, power and light, some unknown; what they are is the class, in four. A maker, and another."""
    domains = []
    for maker in ("American_DJ", "Chauvet"):
        rows, labels = [], []
        for path in sorted((deb.unpacked("qlcplus-data") / "usr/share/qlcplus/fixtures" / maker).glob("*.qxf")):
            said = systems.text(path)
            row = {"modes": float(said.count("<Mode ")), "channels": float(said.count("<Channel Name")), "capabilities": float(said.count("<Capability"))}
            for name in ("Weight", "Width", "Height", "Depth", "PowerConsumption", "Lumens", "ColourTemperature", "DegreesMax"):
                found = re.search(rf'\b{name}="([\d.]+)"', said)
                row[name.lower()] = float(found[1]) if found and float(found[1]) else None
            for name, pattern in (("bulb", '<Bulb [^>]*Type="([^"]*)"'), ("lens", '<Lens [^>]*Name="([^"]*)"'), ("connector", 'DmxConnector="([^"]*)"')):
                found = re.search(pattern, said)
                row[name] = found[1] if found else ""
            rows.append(row)
            labels.append(LAMPS.get(re.search("<Type>([^<]*)<", said)[1], "other"))
        domains.append(systems.domain(rows, labels))
    yield Task("one-another", "gap", 1, *domains)


def vocabulary():
    """Americans by age, sex, schools and whether they were born there; how many of ten words they know is the class, in three. Until 1987, and since 2010."""
    columns = r.frame("carData", "GSSvocab")
    label = np.select([np.isnan(columns["vocab"]), columns["vocab"] < 5, columns["vocab"] < 7], ["", "few", "middle"], "many")
    said = {name: columns[name] for name in ("age", "gender", "nativeBorn", "educ")}
    yield Task("before-after", "gap", 1, *(r.some(r.domain(said, label, rows=rows), 900, 1219, i) for i, rows in enumerate((columns["year"] < 1988, columns["year"] >= 2010))))


def gammopathies():
    """Patients with a protein in the blood by age, sex and what else is in it; whether they died within ten years is the class. Until 1984, and later."""
    columns = r.frame("survival", "cancer", "mgus2")
    label = np.select([columns["futime"] >= 120, columns["death"] == 1], ["lived", "died"], "")
    said = {name: columns[name] for name in ("age", "sex", "hgb", "creat", "mspike")}
    yield Task("before-after", "gap", 1, *(r.domain(said, label, rows=rows) for rows in (columns["dxyr"] < 1985, columns["dxyr"] >= 1985)))


def wards():
    """Patients of wards for the gravely ill by age, weight for height, a score, how long they were there and what was ill; why they came is the class, in three. 2007, and 2011."""
    columns = deb.frame("pammtools", "patient")
    said = {name: columns[name] for name in ("Gender", "Age", "ApacheIIScore", "BMI", "DiagID2", "Survdays", "PatientDied")}
    yield Task("2007-2011", "gap", 1, *(r.domain(said, columns["AdmCatID"], rows=columns["Year"] == year) for year in (2007, 2011)))
