"""Tables whose domains differ by nature (frames, infants, elderly, tumours, timings, tumblers, stereotypes, scorers, trawls, fulmars), whose rows were selected along a column (rainfall, detergents, busmen, residues), along two (brothers, minnesotans) or by a column of words (quizzes, inventory), and others (guests, gratitude): data of R's packages and gretl's."""
import numpy as np

from draws import Task
from kinds import deb, panels, r, society, tables


def parted(name, domains):
    """The one task of two domains that differ by nature."""
    source, target = domains
    return [Task(name, "gap", 1, source, target)]


def frames():
    """People of Virginia by blood, weight, waist and pressure; whether their frame is small, medium or large is the class. One county, and another."""
    columns = deb.frame("Publish", "Diabetes")
    without = ["id", "location", "AgeGroups", "height.europe", "weight.europe", "BMI"]
    return parted("one-another", (r.domain(columns, "frame", without, columns["location"] == county) for county in ("Buckingham", "Louisa")))


def infants():
    """American infants by their mother, weight, siblings and a lung's disease; how long they were breastfed is the class, in three. The north, and the south and the west."""
    columns = deb.frame("KMsurv", "pneumon")
    label = np.select([columns["wmonth"] == 0, columns["wmonth"] < 4], ["never", "months"], "longer")
    columns["race"] = r.as_words("race", columns["race"])
    return parted("north-elsewhere", (society.evenly(r.domain(columns, label, ["wmonth", "region"], rows), 250, 1301, i) for i, rows in enumerate((columns["region"] < 3, columns["region"] > 2))))


def elderly():
    """People of Denmark, seventy years old, by breath, blood and habits; the sex is the class. 1967, and 1984."""
    columns = deb.frame("deal", "ksl")
    said = {name: r.as_words(name.lower(), columns[name]) if name in ("Smok", "Alc", "Work") else columns[name] for name in ("FEV", "Kol", "Hyp", "logBMI", "Smok", "Alc", "Work")}
    return parted("1967-1984", (r.domain(said, r.as_words("sex", columns["Sex"]), rows=columns["Year"] == year) for year in (1, 2)))


def tumours():
    """Patients of Slovenia by age, sex, the day of the diagnosis and how long they lived; the tumour's stage is the class, in three. The colon, and the rectum."""
    columns = deb.frame("relsurv", "colrec", "transform(colrec, diag=as.numeric(unclass(diag)))")
    label = np.where(columns["stage"] == 99, "", r.as_words("stage", columns["stage"]))
    columns["sex"] = r.as_words("sex", columns["sex"])
    return parted("colon-rectum", (society.evenly(r.domain(columns, label, ["stage", "site"], columns["site"] == site), 300, 1302, i) for i, site in enumerate(("colon", "rectum"))))


def timings():
    """Computers by how long three tests took, cores and the version of R; whether they run Linux or Windows is the class. Processors of one maker, and of another."""
    columns = deb.frame("benchmarkmeData", "past_results_v2")
    runs, first = np.unique(columns["id"], return_index=True)
    said = {name: columns[name][first] for name in ("cores", "byte_optimize", "blas_optimize")}
    for test in ("prog", "matrix_cal", "matrix_fun"):
        rows = columns["test_group"] == test
        times = dict(zip(columns["id"][rows], columns["time"][rows]))
        said[test] = np.array([times.get(run, np.nan) for run in runs])
    said["version"] = np.array([".".join(f"{columns[part][i]:g}" for part in ("r_major", "r_minor", "r_point")) for i in first], object)
    system = np.where(columns["sysname"] == "Darwin", "", columns["sysname"])[first]  # it has no processors of the other maker
    intel, amd = (np.array([maker in name for name in columns["cpu"][first]]) & ~np.isnan(said["prog"]) for maker in ("Intel", "AMD"))
    return parted("intel-amd", (society.evenly(r.domain(said, system, rows=intel), 250, 1303, 0), r.domain(said, system, rows=amd)))


def tumblers():
    """Children by how they turned the water's line in eight tilted vessels; how old they are is the class, in three. Girls, and boys."""
    columns = deb.frame("mixtools", "WaterdataFull")
    label = tables.cut(columns["age"], ["young", "middle", "old"])
    said = {name: np.where(angles == 100, np.nan, angles) for name, angles in columns.items() if name not in ("age", "male")}
    return parted("girls-boys", (r.domain(said, label, rows=columns["male"] == male) for male in (0, 1)))


def stereotypes():
    """Dutch pupils by three tests, marks, age, sex and what they think of tests; whether they are of a minority is the class. A control group, and pupils who were reminded of stereotypes."""
    columns = deb.frame("psychotools", "StereotypeThreat")
    return parted("control-threat", (r.domain(columns, "ethnicity", ["condition"], columns["condition"] == condition) for condition in ("control", "threat")))


def scorers():
    """People by age and three tests; how far they are with their schools is the class, in six. Men, and women."""
    columns = r.frame("psychTools", "sat.act")
    label = r.as_words("education", columns["education"])
    return parted("men-women", (r.domain(columns, label, ["education", "gender"], columns["gender"] == sex) for sex in (1, 2)))


def trawls():
    """Hauls from a sea's bed by place, depth and what was caught; whether fishing was allowed there is the class. 1992, and 1993."""
    columns = r.frame("sm", "trawl")
    label = np.where(columns["Zone"] == 1, "closed", "open")
    return parted("1992-1993", (r.domain(columns, label, ["Zone", "Year"], columns["Year"] == year) for year in (0, 1)))


def fulmars():
    """Places of the North Sea by depth and how far the coast is; whether fulmars were seen there is the class. 1998, and 1999."""
    columns = deb.frame("gstat", "fulmar")
    label = np.where(columns["fulmar"] > 0, "seen", "none")
    return parted("1998-1999", (r.domain(columns, label, ["fulmar", "year"], columns["year"] == year) for year in (1998, 1999)))


def rainfall():
    """Stations of North America by place, height and how rain changes there; how much it rains in summer is the class, in three."""
    columns = deb.frame("fields", "NorthAmericanRainfall", 'as.data.frame(NorthAmericanRainfall[c("longitude", "latitude", "precip", "elevation", "trend", "type")])')
    return tables.tasks(1311, r.domain(columns, tables.cut(columns["precip"], ["dry", "middle", "wet"]), ["precip"]), [("height", "elevation", 2)])


def detergents():
    """Purchases by the prices of six detergents; which of them was bought is the class."""
    return tables.tasks(1312, society.evenly(r.domain(deb.frame("MNP", "detergent"), "choice"), 300, 1312, 0), [("price", "TidePrice", 2)])


def busmen():
    """Men of London by what they eat in a week, height and weight; whether they drive buses, sell tickets there or work in banks is the class."""
    columns = deb.frame("Epi", "diet")
    said = {name: columns[name] for name in ("month", "energy", "height", "weight", "fat", "fibre")}
    return tables.tasks(1313, r.domain(said, columns["job"]), [("energy", "energy", 2)])


def residues():
    """Proteins of many bacteria by how many they have of each of twenty amino acids; where they are in the cell is the class, in three."""
    return tables.tasks(1314, r.domain(deb.frame("ade4", "perthi02", "cbind(perthi02$tab, place=perthi02$cla)"), "place"), [("leucine", "Leu", 2)])


def brothers():
    """Young American men by two tests, wages, work, age and their mother's schools; how long they went to school is the class, in three."""
    columns = panels.gretl("griliches")
    label = np.select([columns["s"] <= 12, columns["s"] < 16], ["school", "some college"], "degree")
    return tables.tasks(1315, r.domain(columns, label, ["s", "s80"]), [("tests", ["iq", "kww"], 2)])


def minnesotans():
    """People of Minnesota, of a study of the liver, by age, weight, height and how long they were followed; the sex is the class."""
    columns = r.frame("survival", "nafld", "nafld1")
    said = {name: columns[name] for name in ("age", "weight", "height", "bmi", "futime", "status")}
    domain = r.domain(said, np.where(columns["male"] == 1, "man", "woman"), rows=~np.isnan(columns["bmi"]))
    return tables.tasks(1316, r.some(domain, 1600, 1316, 0), [("age-weight", ["age", "bmi"], 2)])


def quizzes():
    """German students by how much they know of five subjects, age, and how often they read a magazine; the sex is the class."""
    columns = deb.frame("psychotree", "SPISA")
    subjects = ("politics", "history", "economy", "culture", "sciences")  # nine questions each
    said = {name: np.sum([columns[f"spisa.{9 * i + j}"] for j in range(1, 10)], axis=0) for i, name in enumerate(subjects)}
    said |= {name: columns[name] for name in ("age", "semester", "elite", "spon")}
    return tables.tasks(1317, r.domain(said, columns["gender"]), [("magazine", "spon")])


def inventory():
    """People by 25 questions on their ways, age and schools; the sex is the class."""
    columns = r.frame("psychTools", "bfi")
    said = {name: columns[name] for name in columns if name not in ("gender", "education")}
    said["education"] = r.as_words("education", columns["education"])
    domain = r.domain(said, r.as_words("sex", columns["gender"]), rows=said["education"] != "")
    return tables.tasks(1318, society.evenly(domain, 500, 1318, 0), [("schools", "education")])


def guests():
    """Tables of a restaurant by the bill, the tip, who paid and how many they were; the day is the class, in four."""
    return tables.tasks(1319, r.domain(deb.frame("reshape2", "tips"), "day"), [("same",)])


def gratitude():
    """Young Americans by 25 questions on gratitude; how old they are is the class, in six."""
    columns = deb.frame("psychotools", "YouthGratitude")
    return tables.tasks(1320, r.domain(columns, "agegroup", ["id", "age"]), [("same",)])
