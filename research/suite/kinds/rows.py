"""Tables whose rows are independent, though numbers and words in them repeat: letters, values, doctors, nations, cover, examinees, attacks, canadians, europeans, addicts, prisoners, satisfaction: data of R's packages and gretl's, and a game's files."""
import re

import numpy as np

from kinds import deb, panels, r, society, systems, tables

YES = systems.YES


def letters():
    """Printed letters by sixteen measures of their shape, from 0 to 15; twelve letters are the classes."""
    columns = r.frame("mlbench", "LetterRecognition")
    domain = r.domain(columns, "lettr", rows=np.isin(columns["lettr"], list("BDEFHKNPRSXZ")))
    return tables.tasks(921, society.evenly(domain, 200, 921, 0), [("shares", (0.6, 0.4, 0.5, 0.65, 0.35))])


def values():
    """People by age, sex, religion, schools and what they think of help for the poor; the country is the class, in four."""
    domain = society.evenly(r.domain(r.frame("carData", "WVS"), "country"), 900, 922, 0)
    return tables.tasks(922, domain, [("shares", (0.6, 0.35, 0.5, 0.65))])


def doctors():
    """Australians by age, income, illnesses and how often they see a doctor; how they are insured is the class, in four."""
    columns = r.frame("AER", "DoctorVisits")
    label = np.select([columns[name] == "yes" for name in ("private", "freepoor", "freerepat")], ["private", "free as poor", "free as old"], "basic")
    domain = society.evenly(r.domain(columns, label, ["private", "freepoor", "freerepat"]), 480, 924, 0)
    return tables.tasks(924, domain, [("shares", (0.6, 0.5, 0.35, 0.65))])


PARTS = {"European": "Europe", "African": "Africa", "Asian": "Asia", "American": "America", "Oceanian": "Oceania"}


def nations():
    """Nations of a game by their cities, rulers and titles; the part of the world is the class, in five, one of them rare."""
    rows, labels = [], []
    for path in sorted((deb.unpacked("freeciv-data") / "usr/share/games/freeciv/nation").glob("*.ruleset")):
        said = systems.text(path)
        groups = re.search(r'^groups *= *(.*(?:\n +".*)*)', said, re.MULTILINE)
        found = [PARTS[group] for group in re.findall(r'"([^"]*)"', groups[1]) if group in PARTS] if groups else []
        cities = re.search(r"^cities *= *\n?((?:.*\n)*)", said, re.MULTILINE)
        if len(found) != 1 or not cities:
            continue
        places = re.findall(r'"([^"(]+?) *(?:\(([^")]*)\))? *"', cities[1])
        names, hints = [name for name, _ in places], [hint for _, hint in places]
        leaders = re.findall(r'^ *"([^"]+)", *"(Male|Female)"', said, re.MULTILINE)
        titles = re.findall(r'^ *"([A-Z]\w+)", *_', said, re.MULTILINE)
        legend = re.search(r'^legend *= *_?\(?"((?:[^"]|\n)*)"', said, re.MULTILINE)
        if not names:
            continue

        def share(word):
            return float(np.round(np.mean([word in hint for hint in hints]), 3))

        rows.append({
            "cities": float(len(names)), "letters": float(np.round(np.mean([len(name) for name in names]), 2)), "words": float(np.round(np.mean([len(re.split(r"[ -]", name)) for name in names]), 2)), "vowels": float(np.round(np.mean([sum(c in "aeiou" for c in name.lower()) / len(name) for name in names]), 3)), "accents": float(np.round(np.mean([not name.isascii() for name in names]), 3)),
            **{name: share(name) for name in ("ocean", "river", "hills", "mountains")}, "leaders": float(len(leaders)), "women": float(sum(sex == "Female" for _, sex in leaders)), "leader_words": float(np.round(np.mean([len(name.split()) for name, _ in leaders]), 2)) if leaders else None, "titles": float(len(titles)), "first_title": titles[0] if titles else "",
            "conflicts": float(len(re.findall('"', (re.findall(r"^conflicts_with *=(.*(?:\n +\".*)*)", said, re.MULTILINE) or [""])[0])) // 2), "said": float(len(legend[1].split())) if legend else None, "modern": YES['"Modern"' in groups[1]], "old": YES['"Ancient"' in groups[1] or '"Medieval"' in groups[1]], "core": YES['"Core"' in groups[1]],
        })
        labels.append(found[0])
    return tables.tasks(925, society.evenly(systems.domain(rows, labels), 160, 925, 0), [("shares", (0.6, 0.5, 0.4, 0.35, 0.6))])


def cover():
    """Americans by age, health, family, work, schools and region; whether they have an insurance is the class."""
    domain = society.evenly(r.domain(r.frame("AER", "HealthInsurance"), "insurance"), 1300, 926, 0)
    return tables.tasks(926, domain, [("shares", (0.65, 0.35))])


def examinees():
    """Students of an examination in mathematics by tests before, study, term and attempt; how many exercises they have solved is the class, in three."""
    columns = deb.frame("psychotools", "MathExam14W", 'MathExam14W[, c("nsolved", "tests", "gender", "study", "semester", "attempt", "group")]')
    columns |= {name: r.as_words(name, columns[name]) for name in ("study", "group")}
    domain = r.domain(columns, tables.cut(columns["nsolved"], ["few", "some", "many"]), ["nsolved"])
    return tables.tasks(923, domain, [("shares", (0.6, 0.35, 0.5))])


def attacks():
    """Patients after an attack of the heart by age, sex, diabetes and how the heart beats; whether they died is the class."""
    columns = deb.frame("timereg", "TRACE")
    label = np.where(columns["status"] == 9, "died", np.where(columns["status"] == 0, "lives", ""))
    return tables.tasks(927, r.domain(columns, label, ["id", "status", "time"]), [("age", "age", 2)])


def canadians():
    """Canadians by province, sex, schools and how much religion means to them; whether they would ban abortion is the class."""
    domain = society.evenly(r.domain(r.frame("carData", "CES11"), "abortion", ["id", "weight"]), 420, 928, 0)
    meaning = np.array([["not", "notvery", "somewhat", "very"].index(text) for text in domain.values["importance"]], float)
    return tables.tasks(928, domain, [("meaning", meaning, 2)])


WORK = {"30h a week or more": "full", "less then 30h a week": "part", "self employed": "own", "retired/pensioned": "retired", "housewife": "house", "student": "student", "unemployed": "without"}


def europeans():
    """People of 32 countries by year of birth, schools, family, occupation and income; whether and how they work is the class, in seven."""
    columns = deb.frame("psychotree", "EuropeanValuesStudy", "EuropeanValuesStudy[, names(EuropeanValuesStudy) != \"paircomp\"]")
    label = np.array([WORK.get(text, "") for text in columns["employment"]])
    domain = society.evenly(r.domain(columns, label, ["employment", "country2"]), 320, 929, 0)
    left = np.nan_to_num(domain.values["eduage"], nan=np.nanmedian(domain.values["eduage"]))
    return tables.tasks(929, domain, [("school", left, 2)])


def addicts():
    """People who are treated as they take drugs by age, mood, race, treatments before and which drugs; whether they have ever injected is the class, in three."""
    columns = deb.frame("quantreg", "uis")
    label = np.array(["", "never", "before", "lately"])[columns["IV"].astype(int)]
    columns["HC"] = r.as_words("drugs", columns["HC"])
    return tables.tasks(930, r.domain({name: columns[name] for name in ("AGE", "BECK", "HC", "NDT", "RACE", "TREAT", "SITE", "LEN.T")}, label), [("same",)])


def prisoners():
    """Prisoners by age, schools, drugs, sentences before and time in prison; what they had done is the class, in three."""
    columns = panels.gretl("recid")
    label = np.where(columns["person"] == 1, "person", np.where(columns["property"] == 1, "property", "other"))
    domain = society.evenly(r.domain(columns, label, ["person", "property", "durat", "cens", "super"]), 480, 931, 0)
    return tables.tasks(931, domain, [("same",)])


def satisfaction():
    """Customers by nine marks that they give a company; the mark for the whole is the class, in three."""
    columns = deb.frame("bayesm", "customerSat")
    return tables.tasks(932, r.domain(columns, np.array(["low", "middle", "high"])[np.searchsorted([4.5, 7.5], columns["q1"])], ["q1"]), [("same",)])
