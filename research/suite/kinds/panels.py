"""Tables in which people, counties and schools are there more than once, and of waiting, wines, rides, injections and collisions: data of R's packages and gretl's."""
import gzip
import xml.etree.ElementTree

import numpy as np

import draws
from draws import Task
from kinds import deb, r, records, society, tables


def headaches():
    """Days of people with migraine by the air, what they take, age and sex, without a column that says whose day it is; whether the head aches is the class."""
    columns = r.frame("carData", "KosteckiDillon")
    rows = draws.at_most(columns["headache"], 1486, np.random.default_rng([801, 0]))
    domain = r.domain(columns, "headache", ["id"]).take(rows)
    return [records.drawn("same", "none", 1, domain, columns["id"][rows], (0.5,), np.random.default_rng(801))]


def children():
    """Children in one to six years of school by their marks and what their school is like, without the school's name; what their family is, is the class."""
    columns = as_numbers(r.frame("mlmRev", "egsingle"))
    label = np.where(columns["black"] == 1, "black", np.where(columns["hispanic"] == 1, "hispanic", "other"))
    domain = r.domain(columns, label, ["schoolid", "childid", "black", "hispanic"])
    return [records.drawn("same", "none", 1, domain, columns["schoolid"], (0.5,), np.random.default_rng(802))]


def as_numbers(columns):
    """Columns whose two codes are 0 and 1 as numbers."""
    return {name: values.astype(float) if set(map(str, np.unique(values))) <= {"0", "1"} else values for name, values in columns.items()}


def waiting():
    """People who wait for a liver by age, sex, blood, year and how long; what became of it is the class, in four, one of them rare."""
    domain = society.evenly(r.domain(r.frame("survival", "transplant"), "event"), 260, 803, 0)
    return tables.tasks(803, domain, [("shares", (0.5, 0.65, 0.4, 0.5))])


WORK = {"Craftsmen": "craft", "Operatives": "operative", "Laborers": "labour", "Clerical": "office", "Managers": "office", "Professional": "profession", "Service": "service", "Sales": "office"}


def careers():
    """Young men in eight years by wage, branch, school and family, with a column that says who it is; what they work as is the class, in six."""
    columns = deb.frame("plm", "Males")
    label = np.array([next((name for start, name in WORK.items() if str(said).startswith(start)), "") for said in columns["occupation"]])
    units = columns["nr"].astype(int)
    columns["nr"] = np.array([f"man {unit}" for unit in units], object)
    domain, units = r.domain(columns, label, ["occupation"]), units[label != ""]
    few = units % 2 == 1
    return [records.drawn("shares", "label-shift", 1, domain.take(np.flatnonzero(few)), units[few], (0.65, 0.4, 0.5, 0.6, 0.45), np.random.default_rng(804))]


def crimes():
    """Counties of North Carolina in seven years by crimes, wages and the police, without the county; in which part of the state they lie is the class."""
    columns = deb.frame("plm", "Crime")
    names = ["crmrte", "prbarr", "prbconv", "prbpris", "avgsen", "polpc", "density", "taxpc", "smsa", "pctmin", "wcon", "wtuc", "wtrd", "wfir", "wser", "wmfg", "wfed", "wsta", "wloc", "mix", "pctymle"]
    domain = r.domain({name: columns[name] for name in names}, columns["region"])
    return [records.drawn("shares", "label-shift", 1, domain, columns["county"], (0.65, 0.4, 0.5), np.random.default_rng(805))]


def gretl(name):
    """Columns by name of a data set of gretl's."""
    path, = deb.unpacked("gretl-data").glob(f"usr/share/gretl/data/*/{name}.gdt")
    with open(path, "rb") as f:
        packed = f.read(2) == b"\x1f\x8b"
    root = xml.etree.ElementTree.fromstring(gzip.open(path).read() if packed else path.read_bytes())
    rows = np.array([[np.nan if value == "NA" else float(value) for value in one.text.split()] for one in root.iter("obs")])
    return {one.get("name"): rows[:, i] for i, one in enumerate(root.iter("variable"))}


def paths():
    """Young men in several years by school, experience and branch, without who they are; what they do is the class, in five. Until 1984, and other men later."""
    columns = gretl("keane")
    label = np.array(["", "school", "home", "office", "hands", "service"])[np.nan_to_num(columns["choice"]).astype(int)]
    said = {name: columns[name] for name in ("educ", "expwc", "expbc", "expser", "black")} | {"years": columns["year"] - 80}
    odd, early = columns["id"] % 2 == 1, columns["year"] <= 84
    yield Task("before-after", "gap", 1, *(society.evenly(r.domain(said, label, rows=rows), each, 806, i) for i, (rows, each) in enumerate(((odd & early, 420), (~odd & ~early, 420)))))


def collisions():
    """Collisions in New York by hour, what was at fault and what drove; who was hurt is the class, in four. Three boroughs, and the two others."""
    columns = r.frame("VIM", "collisions")
    hurt = {name: np.nan_to_num(columns[f"number.of.{name}.injured"]) > 0 for name in ("pedestrians", "cyclist", "motorist")}
    label = np.where(hurt["pedestrians"], "on foot", np.where(hurt["cyclist"], "cyclist", np.where(hurt["motorist"], "motorist", "nobody")))
    date = [str(said) for said in columns["date"]]
    said = {
        "date": np.array([text[:10] for text in date], object), "hour": np.array([float(text[11:13]) if len(text) > 12 else 0.0 for text in date]), **{f"fault_{i}": columns[f"contributing.factor.vehicle.{i}"].astype(object) for i in (1, 2)}, **{f"vehicle_{i}": columns[f"vehicle.type.code.{i}"].astype(object) for i in (1, 2)},
        "street": np.array([str(name).strip().lower().split(" ")[-1] for name in columns["on.street.name"]], object), "longitude": columns["longitude"], "latitude": columns["latitude"],
    }
    borough = columns["borough"]
    parts = (r.domain(said, label, rows=rows) for rows in (np.isin(borough, ["BROOKLYN", "QUEENS", "STATEN ISLAND"]), np.isin(borough, ["MANHATTAN", "BRONX"])))
    yield Task("three-two", "gap", 1, *(society.evenly(part, 260, 807, i) for i, part in enumerate(parts)))


def wines():
    """Bottles by what a critic gave, the price, the place and the cellar; the grape is the class, in five."""
    columns = r.frame("VIM", "wine")
    domain = society.evenly(r.domain(columns, "variety_main", ["variety", "taster_twitter_handle"]), 700, 806, 0)
    price = np.nan_to_num(domain.values["price"], nan=np.nanmedian(domain.values["price"]))
    return tables.tasks(806, domain, [("price", price, 2)])


def rides():
    """Days of a city by warmth, wind and how many bicycles were lent; the season is the class."""
    columns = gretl("bikesharing")
    label = np.array(["", "spring", "summer", "autumn", "winter"])[columns["season"].astype(int)]
    columns["weathersit"] = r.as_words("sky", columns["weathersit"])
    return tables.tasks(810, r.domain(columns, label, ["season", "atemp", "cnt"]), [("wind", "windspeed", 3)])


def injections():
    """Patients whose vessels were looked at, by dates of birth, of that and of what came later, and of what they died; which contrast was used is the class."""
    columns = deb.frame("Epi", "thoro")
    label = np.array(["", "thorotrast", "other"])[columns["contrast"].astype(int)]
    columns["cause"] = r.as_words("cause", columns["cause"])
    columns["exitstat"] = r.as_words("state", columns["exitstat"])
    born = np.array([float(date[:4]) if date else 1910.0 for date in columns["birthdat"]])
    return tables.tasks(808, r.domain(columns, label, ["id", "contrast", "volume", "liverdat", "liver", "hepcc", "chola", "hmang"]), [("born", born, 3)])
