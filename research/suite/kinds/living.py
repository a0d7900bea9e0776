"""Tables of living things and of where they are: chamois, fish, bacteria, leaves, melons, fires of forests, an ocean, clouds."""
import datetime

import numpy as np

from draws import Task
from kinds import r, society, tables


def chamois():
    """Chamois that were shot, by age, weight and the length of their horns; the sex is the class. Grown ones and young ones."""
    columns = r.frame("ddalpha", "gemsen_MvsF")
    said = {"age": columns["alter"], "weight": columns["gewicht"], "horns": columns["krucken"]}
    sex = np.where(columns["geschlecht"] == "f", "female", "male")
    grown = columns["alter"] >= 4
    yield Task("grown-young", "gap", 1, *(r.domain(said, sex, rows=rows) for rows in (grown, ~grown)))


FISH = {1: "bream", 3: "roach", 4: "parkki", 5: "smelt", 6: "pike", 7: "perch"}


def fish():
    """Fish of a lake by weight, lengths, height and width; the species is the class, but for whitefish, of which there are six."""
    columns = r.frame("rrcov", "fish")
    species = np.array([FISH.get(int(code), "") for code in columns["Species"]])
    return tables.tasks(404, r.domain(columns, species, ["Species"]), [("shares", (0.4, 0.7, 0.5, 0.6, 0.3))])


def bacteria():
    """Proteins of a bacterium by five marks of their letters; where they are in the cell is the class."""
    parts = [r.frame("ddalpha", "ecoli_cpvsim"), r.frame("ddalpha", "ecoli_cpvspp")]
    second = parts[1]["C"] == 3  # the others are in the first table too
    names = {"X1": "mcg", "X2": "gvh", "X3": "aac", "X4": "alm1", "X5": "alm2"}
    said = {new: np.concatenate([parts[0][old], parts[1][old][second]]) for old, new in names.items()}
    place = np.where(parts[0]["C"] == 1, "plasm", "inside")
    return tables.tasks(403, r.domain(said, np.concatenate([place, np.repeat("between", second.sum())])), [("same",)])


def leaves():
    """Leaves, needles, bark, wood and moss by 25 elements; which of nine they are is the class. South and north of a town."""
    columns = r.frame("rrcov", "OsloTransect")
    elements = {name: values for name, values in list(columns.items())[13:]}
    known, north = np.isfinite(columns["Ca"]), columns["YCOO"] > np.median(columns["YCOO"])
    yield Task("south-north", "gap", 1, *(r.domain(elements, columns["X.MAT"], rows=known & rows) for rows in (~north, north)))


def melons():
    """Melons by the light that they give back at 32 wavelengths; the sort is the class."""
    columns = r.frame("rrcov", "fruit")
    light = {f"V{i}": columns[f"V{i}"] for i in range(1, 257, 8)}
    return tables.tasks(405, r.domain(light, columns["cultivar"]), [("shares", (0.3, 0.6, 0.7))])


def fires():
    """Fires of forests in La Mancha by place, day and the area that they burnt; what has caused them is the class. Other years."""
    columns = r.frame("spatstat.data", "clmfires", "cbind(clmfires$marks, x=clmfires$x, y=clmfires$y)")
    dates = [datetime.date.fromisoformat(text) for text in columns["date"]]
    said = {"x": columns["x"], "y": columns["y"], "day": np.array([float(date.strftime("%j")) for date in dates]),
            "weekday": np.array([date.strftime("%a") for date in dates], object), "burnt_area": columns["burnt.area"]}
    late = np.array([date.year for date in dates]) >= 2004
    parts = (society.evenly(r.domain(said, columns["cause"], rows=rows), 350, 406, i) for i, rows in enumerate((~late, late)))
    yield Task("before-2004", "gap", 1, *parts)


def ocean():
    """Days of buoys in an ocean by the warmth of water and air, and by wind; which buoy it is is the class. 1993, and 1997, when El Niño came."""
    columns = r.frame("VIM", "tao")
    buoy = np.array([f"{latitude:g} {longitude:g}" for latitude, longitude in zip(columns["Latitude"], columns["Longitude"])])
    both = ~np.isin(buoy, ["-2 -95", "-5 -95"])  # where there was one in both years
    late = columns["Year"] == 1997
    yield Task("1993-1997", "gap", 1, *(r.domain(columns, buoy, ["Year", "Latitude", "Longitude"], both & rows) for rows in (~late, late)))


def clouds():
    """Months of places in and around Central America by clouds, ozone, pressure and warmth; the season is the class. The Pacific's side and the Atlantic's."""
    columns = r.frame("GGally", "nasa")
    season = np.array(["winter", "spring", "summer", "autumn"])[columns["month"].astype(int) % 12 // 3]
    said = {name: columns[name] for name in ("lat", "cloudhigh", "cloudmid", "cloudlow", "ozone", "pressure", "surftemp", "temperature")}
    north = columns["lat"] > 5
    parts = (r.some(r.domain(said, season, rows=north & rows), 1500, 408, i) for i, rows in enumerate((columns["long"] < -95, columns["long"] > -75)))
    yield Task("pacific-atlantic", "gap", 1, *parts)
