"""Tables in which rows belong together, with a column that says to whom (shots, patents, carrots, access, recall, craters) and without (doses, anaesthesia, teachers, classrooms, germans, weapons): data of R's packages and gretl's, and files of games and programs."""
import collections
import gzip
import re
import xml.etree.ElementTree

import numpy as np

import draws
from draws import Task
from kinds import deb, panels, r, society, systems, tables

YES = systems.YES


def apart(name, domain, units, shares, *seed):
    """A task of label shift in which all rows of a unit are in one domain; what most of its rows are is its class."""
    units = np.array(units)
    most = np.empty(len(units), object)
    for unit in np.unique(units):
        rows = units == unit
        most[rows] = collections.Counter(sorted(domain.labels[rows])).most_common(1)[0][0]
    source, target = draws.by_units(units, most.astype(str), shares, np.random.default_rng(seed))
    return Task(name, "label-shift", 1, domain.take(source), domain.take(target))


def by_chance(domain, units, *seed):
    """A task without shift in which all rows of a unit are in one domain."""
    names = np.unique(units)
    half = np.random.default_rng(seed).permutation(names)[:len(names) // 2]
    random, rows = np.random.default_rng([*seed, 1]), np.isin(units, half)
    return Task("same", "none", 1, *(domain.take(random.permutation(np.flatnonzero(part))) for part in (rows, ~rows)))


def even(domain, units, each, *seed):
    """At most so many rows of each class, and their units."""
    rows = draws.at_most(domain.labels, each, np.random.default_rng(seed))
    return domain.take(rows), np.array(units)[rows]


SHOTS = {"3pt": "three", "dunk": "dunk", "layup|finger roll": "layup", "hook": "hook", "tip": "tip", "jump|fade|bank|turnaround": "jump"}


def shots():
    """Shots of a season of basketball by place, minute and day, with a column that says who shot, at most forty of each; how is the class, in six, some rare."""
    columns = deb.frame("lubridate", "lakers")
    kind = [next((label for pattern, label in SHOTS.items() if re.search(pattern, str(text))), "") for text in columns["type"]]
    label = np.where((columns["etype"] == "shot") & (columns["player"] != ""), kind, "")
    said = {
        "player": columns["player"].astype(object), "date": np.array([f"{int(day)}"[:4] + "-" + f"{int(day)}"[4:6] + "-" + f"{int(day)}"[6:] for day in columns["date"]], object), "at": columns["game_type"].astype(object), "opponent": columns["opponent"].astype(object), "period": columns["period"],
        "minutes_left": np.array([float(text.split(":")[0]) + round(float(text.split(":")[1]) / 60, 2) for text in columns["time"]]), "result": columns["result"].astype(object), "x": columns["x"], "y": columns["y"],
    }
    domain = r.domain(said, label)
    domain = domain.take(draws.at_most(domain.values["player"].astype(str), 40, np.random.default_rng([901, 0])))
    return [apart("shares", *even(domain, domain.values["player"].astype(str), 620, 901, 1), (0.6, 0.4, 0.5, 0.65, 0.35), 901)]


BRANCHES = {"33": "machines", "32": "chemistry", "31": "food and cloth", "42": "trade", "21": "mines", "54": "services", "51": "media"}


def patents():
    """Companies in two to nine years by sales, patents, research and who owns them, with a column that names them; the branch is the class, in seven, some rare."""
    columns = deb.frame("sandwich", "InstInnovation")
    label = np.array([BRANCHES.get(f"{code:g}"[:2] if isinstance(code, float) else str(code)[:2], "") for code in columns["industry"]])
    names = ["company", "year", "sales", "capital", "employment", "patents", "cites", "randd", "precites", "sp500", "tobinq", "value", "institutions", "top1", "quasiindexed", "transient", "dedicated"]
    domain = r.domain({name: columns[name] for name in names}, label)
    return [by_chance(*even(domain, domain.values["company"].astype(str), 620, 902), 902)]


def carrots():
    """Twelve sorts of carrots as people found them, with a column that says by a number who ate; how much they liked it is the class."""
    columns = deb.frame("lmerTest", "carrots")
    label = np.array(["little", "middling", "much"])[np.searchsorted([3.5, 5.5], columns["Preference"])]
    columns |= {name: r.as_words(name.lower(), columns[name]) for name in ("Gender", "Age", "Homesize", "Work", "Income", "Frequency")}
    return [by_chance(r.domain(columns, label, ["Preference"]), columns["Consumer"], 903)]


EUROPE = set("ad al at ba be bg by ch cy cz de dk ee es fi fr gb gr hr hu ie is it li lt lu lv mc md me mk mt nl no pl pt ro rs ru se si sk sm ua va xk".split())


def access():
    """Telephone companies' points of access by their names and what goes with them, with columns for the country and the company; what they are for is the class, in three. Europe's, and others."""
    found = ([], []), ([], [])
    path = deb.unpacked("mobile-broadband-provider-info") / "usr/share/mobile-broadband-provider-info/serviceproviders.xml"
    for country in xml.etree.ElementTree.parse(path).getroot().iter("country"):
        for company in country.iter("provider"):
            points, networks = list(company.iter("apn")), list(company.iter("network-id"))
            for point in points:
                uses = [use.get("type") for use in point.findall("usage")]
                if len(uses) != 1 or uses[0] not in ("internet", "mms", "wap"):
                    continue
                name, title, user, word = point.get("value"), point.findtext("name") or "", point.findtext("username") or "", point.findtext("password") or ""
                plans = [plan.get("type") for plan in point.findall("plan")]
                part = found[country.get("code") not in EUROPE]
                part[0].append({
                    "country": country.get("code"), "company": company.findtext("name") or "", "networks": float(len(networks)), "first_network": float(networks[0].get("mnc")) if networks else None, "points": float(len(points)), "letters": float(len(name)), "dots": float(name.count(".")), "digits": float(sum(c.isdigit() for c in name)), "ending": name.split(".")[-1].lower() if "." in name else "",
                    "plans": " ".join(sorted(plans)), "title_words": float(len(title.split())), "user": user.lower(), "user_is_name": YES[user == name], "password_letters": float(len(word)), "same": YES[user == word], "servers": float(len(point.findall("dns"))), "gateway": YES[point.find("gateway") is not None], "authentication": (point.find("authentication").get("method") or "") if point.find("authentication") is not None else "",
                })
                part[1].append(uses[0])
    yield Task("europe-others", "gap", 1, *(systems.domain(*part) for part in found))


def recall():
    """Results of experiments on memory by what was done in them, with columns that say by numbers which article and sample they are from; how memory was tested is the class."""
    columns = deb.frame("metadat", "dat.mccurdy2020")
    domain = r.domain(columns, "memory_test", ["id", "pairing", "memory_type"])
    return [apart("shares", domain, domain.values["article"].astype(int), (0.6, 0.4, 0.55), 905)]


FEATURES = {"AA": "crater", "MO": "mountain", "PE": "patera", "VA": "valley", "DO": "ridge", "FO": "trench", "CM": "chain", "LI": "line", "RE": "region", "FA": "facula", "RU": "scarp", "LC": "lake", "PL": "plain"}


def craters():
    """Features of planets and moons by place, size and their names' letters, with a column that names the body; what they are is the class. Those of moons and small bodies, and those of planets and our moon."""
    found = ([], []), ([], [])
    for line in gzip.open(deb.unpacked("stellarium-data") / "usr/share/stellarium/data/nomenclature.dat", "rt", encoding="utf-8"):
        cells = line.rstrip("\n").split("\t")
        label = FEATURES.get(cells[3].strip()) if len(cells) == 7 and not line.startswith("#") else None
        if label:
            name = re.search(r'_\("([^"]*)"', cells[2])[1].split()
            part = found[cells[0] in ("Mercury", "Venus", "Mars", "Moon")]
            part[0].append({
                "body": cells[0], "latitude": float(cells[4]), "longitude": float(cells[5]), "size": float(np.round(np.log10(max(float(cells[6]), 0.01)), 3)), "letters": float(len(name[0])), "ending": name[0][-2:].lower(), "start": name[0][:1], "vowels": float(sum(c in "aeiou" for c in name[0].lower())), "plain": YES[name[0].isascii()], "hyphen": YES["-" in name[0]],
            })
            part[1].append(label)
    shared = [label for label in set(found[0][1]) if min(collections.Counter(part[1])[label] for part in found) >= 12]
    parts = [systems.domain([row for row, label in zip(*part) if label in shared], [label for label in part[1] if label in shared]) for part in found]
    yield Task("others-planets", "gap", 1, *(society.evenly(part, each, 906, i) for i, (part, each) in enumerate(zip(parts, (260, 180)))))


def doses():
    """Patients at the times of their doses and of their blood by age, weight, race and what was measured, without a column that says whose it is; how well the heart does is the class."""
    columns = r.frame("nlme", "Quinidine")
    domain = r.domain(columns, "Heart", ["Subject"])
    return [apart("shares", domain, columns["Subject"].astype(int), (0.6, 0.4, 0.55), 907)]


def anaesthesia():
    """Patients' blood at moments of an anaesthesia by time, dose, age, height and weight, without the patient; how much of it is in the blood is the class, in three."""
    columns = r.frame("nlme", "Remifentanil")
    known = ~np.isnan(columns["conc"])
    columns = {name: values[known] for name, values in columns.items()}
    domain = r.domain(columns, tables.cut(columns["conc"], ["low", "middle", "high"]), ["ID", "Subject", "conc"])
    return [by_chance(domain, columns["ID"], 908)]


def teachers():
    """Courses by how many took part and age, sex, looks and rank of who taught, without who it is; what students thought of it is the class."""
    columns = r.frame("AER", "TeachingRatings")
    domain = r.domain(columns, tables.cut(columns["eval"], ["low", "middle", "high"]), ["eval", "prof"])
    return [apart("shares", domain, columns["prof"].astype(int), (0.65, 0.35, 0.5), 909)]


def classrooms():
    """Dutch pupils by tests, family and what their school is like, without the school; how well they read at the end is the class, in three."""
    columns = r.frame("nlme", "bdf")
    columns["denomina"] = r.as_words("church", columns["denomina"])
    domain = r.domain(columns, tables.cut(columns["langPOST"], ["low", "middle", "high"]), ["langPOST", "aritPOST", "schoolNR", "pupilNR", "classNR", "IQ.ver.cen", "avg.IQ.ver.cen", "grpSiz.cen"])
    return [by_chance(domain, columns["schoolNR"], 910)]


def germans():
    """Germans in one to seven years by age, income, health and family, without who they are; what they work as is the class, in five. Until 1988, and other people since 1991."""
    columns = panels.gretl("rwm")
    work = np.select([columns["working"] == 0, columns["self"] == 1, columns["beamt"] == 1, columns["bluec"] == 1, columns["whitec"] == 1], ["none", "own", "state", "hands", "office"], "")
    known = (work != "") & ~np.isnan(columns["hsat"])
    said = {name: columns[name] for name in ("female", "age", "hsat", "handper", "hhninc", "hhkids", "educ", "married", "docvis", "hospvis", "public", "addon")}
    odd, early = columns["id"] % 2 == 1, columns["year"] <= 1988
    domains = []
    for seed, rows in enumerate((known & odd & early, known & ~odd & (columns["year"] >= 1991))):
        domain, people = r.domain(said, work, rows=rows), columns["id"][rows]
        few = np.random.default_rng([911, seed]).permutation(np.unique(people))[:(420, 480)[seed]]
        domains.append(domain.take(np.flatnonzero(np.isin(people, few))))
    yield Task("before-after", "gap", 1, *domains)


def weapons():
    """Weapons of a game's fighters by harm, range and who bears them, by health, price, level and race, without the name; what they do is the class, in six, some rare."""
    rows, labels, units = [], [], []
    for path in sorted((deb.unpacked("wesnoth-1.16-data") / "usr/share/games/wesnoth/1.16/data/core/units").glob("*/*.cfg")):
        said = re.split(r"^ *\[(?:female|male|variation)\]", systems.text(path), flags=re.MULTILINE)[0]
        weapons = [dict(re.findall(r"^ *(\w+)= *(.+?) *$", text, re.MULTILINE)) | {"specials": text.count("{WEAPON_SPECIAL")} for text in re.findall(r"^ *\[attack\]\n(.*?)^ *\[/attack\]", said, re.MULTILINE | re.DOTALL)]
        fighter = dict(re.findall(r"^ {4}(\w+)= *(.+?) *$", re.sub(r"^ *\[(\w+)\]\n.*?^ *\[/\1\]", "", said.replace("[unit_type]", ""), flags=re.MULTILINE | re.DOTALL), re.MULTILINE))
        for weapon in weapons:
            if weapon.get("damage", "").isdigit() and fighter.get("hitpoints", "").isdigit() and weapon.get("type") in ("blade", "pierce", "impact", "fire", "cold", "arcane"):
                rows.append({
                    **{name: float(fighter[name]) if fighter.get(name, "").isdigit() else None for name in ("hitpoints", "movement", "cost", "level", "experience")}, **{name: fighter.get(name, "") for name in ("alignment", "race", "usage", "movement_type")}, "damage": float(weapon["damage"]), "strikes": float(weapon["number"]) if weapon.get("number", "").isdigit() else None,
                    "range": weapon.get("range", ""), "weapons": float(len(weapons)), "specials": float(weapon["specials"]), "abilities": float(said.count("{ABILITY")), "next": float(len(fighter.get("advances_to", "null").split(","))) if fighter.get("advances_to", "null") != "null" else 0.0,
                })
                labels.append(weapon["type"])
                units.append(path.stem)
    return [apart("shares", systems.domain(rows, labels), units, (0.6, 0.4, 0.5, 0.65, 0.35), 912)]
