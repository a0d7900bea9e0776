"""Tables with numbers and times as people and machines write them (rails, trips, metro, scholars, caravans) and others: venereal, smokers, isotypes, hollanders, justices, landslides, breasts, apoplexies, twins, regions, myelomas: files of packages, and data of R's packages."""
import re

import numpy as np

from draws import Task
from kinds import deb, r, society, systems, tables, written

GAUGES = ("HO", "N", "O", "TT", "Z", "G", "F", "T")


def rails():
    """Pieces of track of model railways by length, angle and words, as each who drew them has written it, with commas and points; the scale is the class, in eight, some rare."""
    rows, labels = [], []
    for path in sorted((deb.unpacked("xtrkcad-common") / "usr/share/xtrkcad/params").glob("*.xtp")):
        for gauge, maker, title, number in re.findall(r'^TURNOUT +(\S+) +"([^"\t]*)\t([^"\t]*)\t([^"\t]*)"', path.read_bytes().decode("latin-1"), re.MULTILINE):
            if gauge not in GAUGES:
                continue

            def first(pattern):
                found = re.search(pattern, title)
                return found[1] if found else ""

            words = re.findall(r"[A-Za-z]{3,}", title)
            rows.append({"length": first(r"(\d+(?:[.,]\d+)?) ?mm"), "angle": first(r"(\d+(?:[.,]\d+)?) ?(?:[^\x00-\x7f]|Deg|deg)"), "number": first(r"#(\d+(?:[.,]\d+)?)"), "radius": first(r"R ?(\d+(?:[.,]\d+)?)"), "first": words[0] if words else "", "last": words[-1] if words else "", "letters": float(len(title)), "left": systems.YES["eft" in title], "digits": float(sum(c.isdigit() for c in number))})
            labels.append(gauge)
    return tables.tasks(1121, society.evenly(systems.domain(rows, labels), 240, 1121, 0), [("shares", (0.5, 0.6, 0.5, 0.4, 0.6, 0.5, 0.5, 0.35))])


def trips():
    """A car's way as a device has recorded it by time of day, height and place, with lengths as 70 ft and 0.1 mi; how fast it goes is the class, in three. One way, and another."""
    domains = []
    for name in ("towork", "h2h"):
        columns = deb.frame("TeachingDemos", "gps", f'with({name}, data.frame(clock=format(Time, "%H:%M:%S", tz="UTC"), height=Elevation, leg=Leg.Dist, took=format(.POSIXct(as.numeric(Leg.Time), tz="UTC"), "%H:%M:%S"), direction=Direction, place=LatLon, speed=Speed))')
        speed = columns["speed"]
        domains.append(r.domain(columns, np.select([np.isnan(speed), speed < 15, speed < 40], ["", "slow", "middle"], "fast"), ["speed"]))
    yield Task("one-another", "gap", 1, *domains)


def metro():
    """Hours in a station below the ground by date, time and air; how much dust there is, is the class, in four, one of them rare. A year, and two years later."""
    columns = deb.frame("ks", "air")
    label = np.where(np.isnan(columns["pm10"]), "", np.select([columns["pm10"] < 100, columns["pm10"] < 160, columns["pm10"] < 240], ["low", "middle", "high"], "very high"))
    year = np.array([str(day)[:4] for day in columns["date"]])
    names = ["time", "no", "no2", "co2", "temp", "humi"]
    domain = {name: columns[name] for name in names}
    yield Task("2013-2015", "gap", 1, *(r.some(r.domain(domain, label, rows=year == one), 800, 1124, i) for i, one in enumerate(("2013", "2015"))))


def scholars():
    """Articles on structural change by author, title, volume, issue and pages as printed; whether they are of econometrics or applied is the class."""
    columns = deb.frame("strucchange", "scPublications")
    title = [re.findall(r"[A-Za-z]+", str(one)) for one in columns["title"]]
    said = {"author": columns["author"], "authors": np.array([float(str(one).count(",") + 1) for one in columns["author"]]), "first": np.array([one[0] if one else "" for one in title], object), "last": np.array([one[-1] if one else "" for one in title], object), "words": np.array([float(len(one)) for one in title]),
            **{name: columns[name] for name in ("year", "volume", "issue", "bpage", "epage")}}
    return tables.tasks(1125, society.evenly(r.domain(said, columns["type"]), 420, 1125, 0), [("shares", (0.6, 0.4))])


def caravans():
    """Dutch customers of an insurer by what their neighbours are, as 10 - 20%, and what they pay; whether they insure a caravan is the class, few do."""
    columns = r.frame("kernlab", "ticdata")
    names = [name for name in columns if name in ("STYPE", "MOSHOOFD", "MGEMLEEF", "MINKGEM", "MKOOPKLA", "MHHUUR", "MAUT1", "MOPLLAAG", "MRELGE") or name.startswith("P")]
    domain = r.some(r.domain({name: columns[name] for name in names}, columns["CARAVAN"]), 2000, 1126, 0)
    return tables.tasks(1126, domain, [("shares", (0.6, 0.65))])


def venereal():
    """Young people with an infection by age, partners, signs and what they do; which it is, is the class, in three."""
    columns = deb.frame("KMsurv", "std")
    domain = r.domain(columns, r.as_words("infection", columns["iinfct"]), ["obs", "iinfct", "rinfct", "time"])
    return tables.tasks(1128, domain, [("shares", (0.4, 0.6, 0.5))])


def smokers():
    """Americans by age, weight, blood and iron; whether they smoke, have smoked or never have is the class."""
    columns = deb.frame("hexbin", "NHANES")
    return tables.tasks(1130, society.evenly(r.domain(columns, np.where(columns["Smoke"] == "Unknown", "", columns["Smoke"]), ["Smoke"]), 420, 1130, 0), [("age", "Age", 2)])


def isotypes():
    """Antibodies of a person by genes and lengths; which kind they are is the class, in four, one of them rare. Before a vaccination, and a week after."""
    columns = deb.frame("alakazam", "ExampleDb")
    said = {"v": np.array([str(one).split(",")[0] for one in columns["v_call_genotyped"]], object), "d": np.array([str(one).split(",")[0].replace("Homsap ", "") for one in columns["d_call"]], object), "j": np.array([str(one).split(",")[0].replace("Homsap ", "") for one in columns["j_call"]], object),
            **{name: columns[name] for name in ("junction_length", "np1_length", "np2_length", "duplicate_count")},
            "gaps": np.array([float(str(one).count(".")) for one in columns["sequence_alignment"]]), "changed": np.array([float(sum(a != b and "N" not in a + b and "." not in a + b for a, b in zip(str(one), str(other)))) for one, other in zip(columns["sequence_alignment"], columns["germline_alignment_d_mask"])])}
    yield Task("before-after", "gap", 1, *(society.evenly(r.domain(said, columns["c_call"], rows=columns["sample_id"] == one), 330, 1131, i) for i, one in enumerate(("-1h", "+7d"))))


def hollanders():
    """Dutch people by religion, age, income and how far they are from four parties; for which they voted is the class."""
    return tables.tasks(1132, society.evenly(r.domain(deb.frame("MCMCpack", "Nethvote"), "vote"), 330, 1132, 0), [("age", "age", 2)])


def justices():
    """Cases of America's highest court by how eight judges voted; how the ninth voted is the class. The first years, and the later ones."""
    columns = deb.frame("MCMCpack", "Rehnquist")
    label = r.as_words("vote", columns["Ginsburg"])
    yield Task("first-later", "gap", 1, *(r.domain(columns, label, ["Ginsburg", "term", "time"], rows=rows) for rows in (columns["term"] < 2000, columns["term"] >= 2000)))


def landslides():
    """Places in the Andes by height, slope, curves and roads; whether there was a landslide is the class."""
    columns = deb.frame("mlr", "spatial.task", 'spatial.task[["env"]][["data"]]')
    return tables.tasks(1134, society.evenly(r.domain(columns, np.array(["slide" if str(one).upper() == "TRUE" else "none" for one in columns["slides"]]), ["slides"]), 400, 1134, 0), [("height", "dem", 2)])


def breasts():
    """Women after a tumour of the breast by age, nodes, size and receptors; whether it came back within three years is the class. Rotterdam, and a German study."""
    domains = []
    for i, (name, time, event) in enumerate((("rotterdam", "rtime", "recur"), ("gbsg", "rfstime", "status"))):
        columns = r.frame("survival", "cancer", name)
        within, known = columns[time] < 1096, columns[event] == 1
        label = np.select([within & known, ~within], ["back", "well"], "")
        said = {key: columns[key] for key in ("age", "meno", "nodes", "pgr", "er", "hormon")} | {"grade": r.as_words("grade", columns["grade"])}
        said["size"] = columns["size"] if columns["size"].dtype == object else np.select([columns["size"] <= 20, columns["size"] <= 50], ["<=20", "20-50"], ">50").astype(object)
        domains.append(society.evenly(r.domain(said, label, rows=columns["nodes"] > 0), 300, 1135, i))
    yield Task("rotterdam-germany", "gap", 1, *domains)


def apoplexies():
    """People after a stroke by age, illnesses and habits; how bad it was is the class, in three."""
    columns = deb.frame("pec", "cost")
    return tables.tasks(1136, r.domain(columns, tables.cut(columns["strokeScore"], ["bad", "middle", "light"]), ["strokeScore", "time", "status"]), [("age", "age", 2)])


def twins():
    """Twins of Australia by age, weights and heights; what kind of twins they are is the class, in five."""
    columns = deb.frame("OpenMx", "twinData")
    names = ["age", "wt1", "wt2", "ht1", "ht2", "bmi1", "bmi2"]
    return tables.tasks(1137, society.evenly(r.domain({name: columns[name] for name in names}, columns["zygosity"]), 260, 1137, 0), [("shares", (0.6, 0.4, 0.5, 0.65, 0.35))])


def regions():
    """Patches of pictures of the open air by colours and edges; what they show is the class, in seven."""
    columns = written.weka("segment-challenge")
    return tables.tasks(1138, society.evenly(r.domain(columns, "class"), 130, 1138, 0), [("light", "intensity-mean", 2)])


def myelomas():
    """Tumours of marrow by six genes and a chromosome; which group they are of is the class, in seven."""
    columns = deb.frame("survminer", "myeloma")
    return tables.tasks(1140, r.domain(columns, "molecular_group", ["treatment", "event", "time"]), [("same",)])
