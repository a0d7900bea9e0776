"""Tables with numbers as people write them (statures, listed, budgets, components, borrowers) and others whose rows are independent: leisure, foetuses, diminutives, listings, pulp, stemcells, rocks, roads, mexicans, carers, tea: files of packages, npm's, and data of R's packages."""
import csv
import re
import xml.etree.ElementTree

import numpy as np

from draws import Domain, Task
from kinds import deb, npm, r, society, systems, tables


def statures():
    """How tall students say they are, in inches, feet or centimetres and as each has written it, and when; the sex is the class."""
    columns = r.frame("dslabs", "reported_heights")
    return tables.tasks(1011, society.evenly(r.domain(columns, "sex"), 520, 1011, 0), [("shares", (0.65, 0.4))])


def listed():
    """Companies that three exchanges list by their names' words and what they are worth, written with a dollar's sign and thousands apart; the exchange is the class."""
    rows, labels = [], []
    for exchange in ("amex", "nasdaq", "nyse"):
        columns = deb.frame("fImport", exchange + "Listing")
        for name, worth in zip(columns.get("Name", columns.get("Description")), columns["MarketCap"]):
            words = re.findall(r"[A-Za-z&]+", name)
            if words:
                rows.append({"worth": worth, "letters": float(len(name)), "words": float(len(words)), "first": words[0], "ends": words[-1], "comma": systems.YES["," in name], "capitals": systems.YES[name.isupper()], "fund": systems.YES[bool(re.search("Fund|Trust|iShares|ETF", name))], "the": systems.YES["(The)" in name]})
                labels.append(exchange)
    return tables.tasks(1012, society.evenly(systems.domain(rows, labels), 420, 1012, 0), [("shares", (0.6, 0.35, 0.55))])


def budgets():
    """What a state takes in by account and year, as written with thousands apart; the kind of income is the class, in four, one of them rare."""
    rows = npm.vega("budget.json")
    kinds = {"Misc. Governmental Receipts": "others", "Social Insurance Taxes and Contributions": "insurance", "Excise Taxes": "excise", "Customs Duties": "customs"}
    rows = [row for row in rows if row["Source category name"] in kinds]
    said = [{"agency": row["Agency name"], "treasury": f"treasury {row['Treasury Agency code']}", "on": row["On- or off-budget"], "words": float(len(row["Account name"].split())), "last": row["Account name"].split()[-1], **{f"year_{year}": row[str(year)] for year in range(1965, 2020, 5)}} for row in rows]
    return tables.tasks(1013, systems.domain(said, [kinds[row["Source category name"]] for row in rows]), [("shares", (0.5, 0.6, 0.4, 0.6))])


FAMILIES = {"resistor": "resistor|potentiometer|trimpot", "capacitor": "cap", "light": "led|display", "board": "board|arduino|wemos|shield|breakout", "connector": "header|connector|molex|hirose|socket|terminal|jst|usb", "switch": "switch|button|jumper|relay", "sensor": "sensor|accelerometer|gyro|grove", "transistor": "transistor|diode|mosfet|regulator", "chip": "ic$|logic|eeprom|microcontroller|74|driver|mux|op-amp|amplifier|uc$|ctb"}
PROPERTIES = ("package", "variant", "pin spacing", "pins", "size", "voltage", "current", "power", "rated power", "frequency", "hole size", "pitch", "color")


def components():
    """Electronic parts by package, pins, sizes and what they bear, as each who drew them has written it, with units; what they are is the class, in nine. A program's own, and a shop's."""
    found = ([], []), ([], [])
    for path in sorted((deb.unpacked("fritzing-parts") / "usr/share/fritzing/parts").glob("*/*.fzp")):
        try:
            root = xml.etree.ElementTree.fromstring(systems.text(path))
        except xml.etree.ElementTree.ParseError:
            continue
        said = {(one.get("name") or "").lower(): (one.text or "").strip() for one in root.iter("property")}
        family = said.get("family", "").lower().replace("//obsolete//", "").strip()
        label = next((label for label, pattern in FAMILIES.items() if re.search(pattern, family.removeprefix("sparkfun "))), None)
        if label:
            part = found[family.startswith("sparkfun")]
            part[0].append({**{name: said.get(name, "") for name in PROPERTIES}, "date": (root.findtext("date") or "").strip(), "connectors": float(len(list(root.iter("connector")))), "views": float(len(list(root.iter("layers")))), "tags": float(len(list(root.iter("tag")))), "words": float(len((root.findtext("description") or "").split()))})
            part[1].append(label)
    yield Task("own-shop", "gap", 1, *(society.evenly(systems.domain(*part), each, 1014, i) for i, (part, each) in enumerate(zip(found, (130, 120)))))


def arff(path):
    """Columns by name of a file of Weka's."""
    said = systems.text(path)
    names = re.findall(r"^@attribute\s+('[^']*'|\S+)", said, re.MULTILINE | re.IGNORECASE)
    lines = [line for line in re.split(r"^@data\s*$", said, maxsplit=1, flags=re.MULTILINE | re.IGNORECASE)[1].split("\n") if line.strip() and not line.startswith("%")]
    return dict(zip((name.strip("'") for name in names), map(r.column, zip(*csv.reader(lines, quotechar="'", escapechar="\\")))))


def weka(name):
    return arff(deb.unpacked("weka") / f"usr/share/doc/weka/examples/{name}.arff")


def borrowers():
    """A German bank's borrowers by account, savings and years of work, in words as <0 and >=7, purpose and age; whether they paid is the class."""
    domain = society.evenly(r.domain(weka("credit-g"), "class"), 420, 1015, 0)
    return tables.tasks(1015, domain, [("age", "age", 2)])


def leisure():
    """French people by eighteen things they do when they are free, age, sex and marriage, in words; what they work as is the class, in six."""
    columns = deb.frame("FactoMineR", "hobbies")
    label = np.where(columns["Profession"] == "Other", "", columns["Profession"])
    return tables.tasks(1017, society.evenly(r.domain(columns, label, ["Profession"]), 300, 1017, 0), [("shares", (0.6, 0.4, 0.5, 0.65, 0.35))])


def foetuses():
    """Unborn children's hearts by how they beat; the pattern is the class, in ten, some rare."""
    columns = deb.frame("ks", "cardio")
    domain = r.domain(columns, r.as_words("pattern", columns["CLASS"]), ["CLASS", "NSP"])
    return tables.tasks(1018, society.evenly(domain, 320, 1018, 0), [("shares", (0.6, 0.4, 0.5, 0.65, 0.35))])


def diminutives():
    """Dutch nouns by the sounds of their last three syllables; how one makes them small is the class, in five, two of them rare."""
    lines = systems.text(deb.unpacked("timbl") / "usr/share/doc/timbl/examples/dimin.train").split()
    cells = np.array([line.split(",") for line in lines if line.count(",") == 12], object)
    names = [f"{part}_{i}" for i in (3, 2, 1) for part in ("stress", "onset", "nucleus", "coda")]
    domain = Domain({name: np.where(cells[:, i] == "=", "", cells[:, i]) for i, name in enumerate(names)}, cells[:, 12].astype(str))
    return tables.tasks(1019, society.evenly(domain, 520, 1019, 0), [("shares", (0.4, 0.6, 0.5, 0.6, 0.5))])


def listings():
    """Homes for sale around Sacramento by city, rooms, size, price and place; what they are is the class, in three, two of them rare."""
    return tables.tasks(1020, society.evenly(r.domain(r.frame("modeldata", "Sacramento"), "type"), 560, 1020, 0), [("shares", (0.6, 0.6, 0.45))])


def pulp():
    """Hours of a digester for pulp by flows, levels and heat; how much lignin is left is the class, in three. The first half, and the second."""
    columns = r.frame("VIM", "pulplignin")
    domain = r.domain(columns, tables.cut(columns["Y.Kappa"], ["low", "middle", "high"]), ["Observation", "Y.Kappa"])
    yield Task("before-after", "gap", 1, domain.take(np.arange(len(domain) // 2)), domain.take(np.arange(len(domain) // 2, len(domain))))


def stemcells():
    """Cells of mice's blood by four colours; what they are is the class, in three. Two mice, and two others."""
    columns = deb.frame("ks", "hsct")
    known, late = np.isin(columns["label"], (1, 2, 3)), columns["subject"] > 8
    yield Task("two-others", "gap", 1, *(society.evenly(r.domain(columns, r.as_words("cell", columns["label"]), ["label", "subject"], rows=known & part), 260, 1022, i) for i, part in enumerate((~late, late))))


def rocks():
    """Places of a mountain range by metals in the soil, use and where they lie; the rock below is the class."""
    parts = [deb.frame("gstat", "jura", name) for name in ("prediction.dat", "validation.dat")]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    label, columns["Landuse"] = r.as_words("rock", columns["Rock"]), r.as_words("use", columns["Landuse"])
    domain = r.domain(columns, label, ["Rock"], rows=columns["Rock"] != 4)
    return tables.tasks(1023, domain, [("east", "Xloc", 2)])


def roads():
    """Hours beside a road by cars, warmth and wind; how much of a gas is in the air is the class, in three."""
    columns = r.frame("gss", "NO2")
    return tables.tasks(1024, r.domain(columns, tables.cut(columns["no2"], ["low", "middle", "high"]), ["no2"]), [("warmth", "temp", 2)])


def mexicans():
    """Mexicans by schools, age, town and what they think of parties, debts and votes; for whom of three they voted is the class."""
    columns = deb.frame("Zelig", "mexico")
    label = np.array(["", "first", "second", "third"])[np.nan_to_num(columns["vote88"]).astype(int)]
    return tables.tasks(1025, r.domain(columns, label, ["vote88", "pri82", "pan82", "novote82", "one", "othcok", "othsocok"]), [("age", "age", 2)])


def carers():
    """People who care for others by hours, age, work and how they feel, and of whom they care; how much help these need is the class, in four."""
    columns = deb.frame("sjmisc", "efc")
    label = np.array(["", "none", "little", "much", "all"])[np.nan_to_num(columns["e42dep"]).astype(int)]
    return tables.tasks(1026, r.domain(columns, label, ["e42dep"]), [("same",)])


def tea():
    """French people by when, how and why they drink tea, in words; where they buy it is the class, in three, one of them rare."""
    return tables.tasks(1027, r.domain(deb.frame("FactoMineR", "tea"), "where"), [("same",)])
