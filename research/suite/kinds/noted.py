"""Tables of independent rows: with dates and sizes as people write them (fevers, circuits), with rare classes (circuits, mushrooms, coupes, wives), and cards: data of R's packages and statsmodels', and files of a program."""
import re

import numpy as np

from kinds import deb, npm, r, systems, tables


def fevers():
    """People of California with a fever from mosquitos by county, age, sex and dates; which form it took, if that is known, is the class, in three."""
    return tables.tasks(1221, r.domain(deb.frame("epitools", "wnv"), "syndrome", ["id"]), [("shares", (0.6, 0.4, 0.5))])


PARTS = {"board": "board|shield|breakout|module|arduino|lilypad|wemos|grove|kit", "connector": "connector|header|hirose|molex|jack|usb|terminal|plug|socket|picoblade|db25", "display": "display|lcd|matrix",
         "chip": r"\bic\b|eeprom|microcontroller|chip|op-?amp|regulator|memory|logic|driver|register|timer", "part": r"resistor|capacitor|cap\b|inductor|diode|led\b|crystal|transistor|potentiometer|fuse|coil|thermistor",
         "sensor": "sensor|accelero|gyro", "switch": "switch|button|relay|motor|servo"}


def circuits():
    """Parts that people have drawn for a program of circuits by author, date, versions, package and spacing, each as they have written it, and connectors; what it is, is the class, in seven, some rare."""
    rows, labels = [], []
    folder = deb.unpacked("fritzing-parts") / "usr/share/fritzing/parts"
    for path in sorted([*(folder / "core").glob("*.fzp"), *(folder / "obsolete").glob("*.fzp")]):
        said = systems.text(path)
        if "SparkFun-" in said[:400]:  # made by a program
            continue
        has = {name.lower(): value.strip() for name, value in re.findall(r"<property name=['\"]([^'\"]+)['\"][^>]*>([^<]*)<", said)}
        label = next((name for name, pattern in PARTS.items() if re.search(pattern, has.get("family", "").lower())), "")

        def first(pattern):
            found = re.search(pattern, said)
            return found[1].strip() if found else ""

        rows.append({"author": first("<author>([^<]*)"), "date": first("<date>([^<]*)"), "version": first("<version[^>]*>([^<]*)"), "program": first("fritzingVersion=['\"]([^'\"]*)"), "package": has.get("package", ""), "spacing": has.get("pin spacing", has.get("footprint", "")), "layer": has.get("layer", ""),
                     "variant": has.get("variant", ""), "connectors": float(said.count("<connector ")), "buses": float(said.count("<bus ")), "tags": float(said.count("<tag>")), "letters": float(len(first("<description>([^<]*)")))})
        labels.append(label)
    domain = systems.domain(rows, labels)
    return tables.tasks(1222, domain.take(np.flatnonzero(domain.labels != "")), [("shares", (0.5, 0.6, 0.5, 0.6, 0.4, 0.6, 0.5))])


def mushrooms():
    """Mushrooms by shape, colour and smell in words; where they grow is the class, in seven, some rare."""
    return tables.tasks(1223, r.some(r.domain(deb.frame("cba", "Mushroom"), "habitat"), 1600, 1223, 0), [("shares", (0.5, 0.6, 0.6, 0.4, 0.5, 0.5, 0.6))])


def coupes():
    """Cars of 1985 by maker, sizes, engine and price; what their body is, is the class, in five, two of them rare."""
    return tables.tasks(1224, r.domain(deb.frame("randomForest", "imports85"), "bodyStyle"), [("shares", (0.6, 0.6, 0.6, 0.5, 0.5))])


def wives():
    """Married women by age, schools, religion, children and their husband's work; what they work as is the class, in six, two of them rare."""
    path = deb.unpacked("python3-statsmodels") / "usr/lib/python3/dist-packages/statsmodels/datasets/fair/fair.csv"
    rows = npm.rows(path)
    columns = npm.columns(rows, list(rows[0]))
    domain = r.domain(columns, r.as_words("work", columns["occupation"]), ["occupation", "affairs"])
    return tables.tasks(1225, r.some(domain, 1600, 1225, 0), [("same",)])


def cards():
    """Americans by reports against them, age, income, home and how long they live there; whether they got a credit card is the class."""
    return tables.tasks(1226, r.domain(r.frame("AER", "CreditCard"), "card", ["share", "expenditure"]), [("same",)])
