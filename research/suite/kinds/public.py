"""Tables of public life: countries, arrests, stops by the police, homes, tests of pupils, moods, journeys, trains, articles, hair."""
import datetime

import numpy as np

from draws import Domain, Task
from kinds import r, society, tables


def countries():
    """Countries by births, deaths, people and money; the continent is the class. Of two decades, with other countries in each."""
    columns = r.frame("dslabs", "gapminder")
    columns["gdp_per_head"] = (columns["gdp"] / columns["population"]).round(2)
    without, year = ["country", "year", "region", "gdp"], columns["year"]
    yield from tables.tasks(321, r.domain(columns, "continent", without, year == 1995), [("shares", (0.7, 0.4, 0.6, 0.3, 0.5))])
    odd = np.unique(columns["country"], return_inverse=True)[1] % 2 == 1
    parts = [r.domain(columns, "continent", without, rows) for rows in (odd & np.isin(year, [1965, 1970, 1975]), ~odd & np.isin(year, [2000, 2005, 2010]))]
    yield Task("seventies-later", "gap", 2, *parts)


def arrests():
    """People arrested with little marijuana; whether they were released is the class."""
    columns = r.frame("carData", "Arrests")
    early = columns["year"] < 2000
    parts = [society.evenly(r.domain(columns, "released", ["year"], rows), 400, 322, i) for i, rows in enumerate((early, ~early))]
    yield Task("nineties-later", "gap", 1, *parts)


def stops():
    """Stops by a town's police, by hour, place and whom they met; what for is the class."""
    columns = r.frame("carData", "MplsStops")
    times = [datetime.datetime.fromisoformat(text) for text in columns["date"]]
    columns["hour"] = np.array([round(time.hour + time.minute / 60, 2) for time in times])
    columns["weekday"] = np.array([time.strftime("%a") for time in times], object)
    domain = r.some(r.domain(columns, "problem", ["idNum", "date", "policePrecinct", "neighborhood"]), 5000, 323)
    return tables.tasks(323, domain, [("same",)])


def homes():
    """Households by income, age, work and language, all in words; whether they own their home is the class."""
    columns = r.frame("kernlab", "income")
    english, other = columns["LANGUAGE"] == "English", np.isin(columns["LANGUAGE"], ["Spanish", "Other"])
    yield from tables.tasks(324, r.some(r.domain(columns, "HOUSEHOLDER"), 2400, 324), [("shares", (0.7, 0.5, 0.3))])
    yield Task("english-others", "gap", 2, *(r.some(r.domain(columns, "HOUSEHOLDER", ["LANGUAGE"], rows), 1000, 325, i) for i, rows in enumerate((english, other))))


def pupils():
    """Pupils of two schools by 24 tests of their mind; the school is the class."""
    columns = r.frame("psychTools", "holzinger.swineford")
    tests = {name: values for name, values in columns.items() if name.startswith("t") and name < "t25"}
    return tables.tasks(326, r.domain(tests, columns["school"]), [("shares", (0.35, 0.65))])


def moods():
    """What people felt before and after one of four films; the film is the class. One study and another."""
    columns = r.frame("psychTools", "affect")
    film = np.array(["document", "horror", "nature", "comedy"])[columns["Film"].astype(int) - 1]
    parts = [r.domain(columns, film, ["Study", "Film", "MEQ", "BDI", "state2"], columns["Study"] == study) for study in ("maps", "flat")]
    yield Task("one-another", "gap", 1, *parts)


def journeys():
    """Travellers by what four ways to go would cost them and how long they would take; how they went is the class."""
    columns = r.frame("AER", "TravelMode")
    ways = ["air", "train", "bus", "car"]
    values = {f"{name}_{way}": columns[name][columns["mode"] == way] for way in ways for name in ("wait", "vcost", "travel")}
    first = columns["mode"] == "air"
    values |= {"income": columns["income"][first], "travellers": columns["size"][first]}
    del values["wait_car"]  # none waits for it
    domain = Domain(values, columns["mode"][columns["choice"] == "yes"].astype(str))
    return tables.tasks(328, domain, [("shares", (0.7, 0.4, 0.6, 0.3))])


def trains():
    """People at twenty stations two weeks before, and the weather; the day of the week is the class."""
    columns = r.frame("modeldata", "Chicago")
    dates = [datetime.date.fromisoformat(text) for text in columns["date"]]
    weekday, year = np.array([date.strftime("%a") for date in dates]), np.array([date.year for date in dates])
    stations = list(columns)[1:21]
    said = {name: columns[name] for name in ("ridership", *stations, "temp", "wind", "percip", "Cubs_Home", "Bulls_Home")}
    parts = [r.some(r.domain(said, weekday, rows=rows), 1000, 329, i) for i, rows in enumerate((year < 2006, year >= 2011))]
    yield Task("before-after", "gap", 1, *parts)


def articles():
    """Articles of biology by pages, equations and citations; the journal is the class."""
    domain = r.domain(r.frame("AER", "EquationCitations"), "journal", ["authors", "volume", "startpage"])
    return tables.tasks(330, domain, [("same",)])


def hair():
    """Students' hair and sex; whether the eyes are blue or brown is the class."""
    columns = r.frame("datasets", "HairEyeColor", "as.data.frame(HairEyeColor)")
    each = np.repeat(np.arange(len(columns["Freq"])), columns["Freq"].astype(int))
    domain = r.domain({name: columns[name][each] for name in ("Hair", "Sex", "Eye")}, "Eye", rows=np.isin(columns["Eye"][each], ["Blue", "Brown"]))
    return tables.tasks(331, domain, [("shares", (0.35, 0.65))])
