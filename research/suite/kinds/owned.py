"""Tables in which rows belong together, with a column that says to whom (offsets, remotes, transponders, vessels, campuses) and without (schoolmates, belts, streams, radon): files of packages, and data of R's packages."""
import re

import numpy as np

from draws import Task
from kinds import deb, r, society, systems, tables, units


def offsets():
    """Places' times over the years as a package of time zones writes them, with a column for the place: offsets, rules and dates; the part of the world is the class, in nine, some rare."""
    rows, labels, place = [], [], None
    for line in systems.text(deb.unpacked("tzdata") / "usr/share/zoneinfo/tzdata.zi").split("\n"):
        cells = line.split()
        if line[:1] in "RL#":
            continue
        if cells[0] == "Z":
            place, cells = cells[1].split("/", 1), cells[2:]
        if len(place) < 2 or place[0] == "Etc":
            continue
        offset, rule, form, year, month, day, time = cells + [""] * (7 - len(cells))
        rows.append({"place": place[1], "offset": offset, "rule": rule, "form": form, "year": float(year) if year else None, "month": month, "day": day, "time": time})
        labels.append(place[0])
    return [units.apart("shares", systems.domain(rows, labels), [row["place"] for row in rows], (0.6, 0.5, 0.5, 0.4, 0.5, 0.5, 0.65, 0.5, 0.35), 1001)]


BUTTONS = {"digit": r"(NUMERIC_)?\d", "sound": r"VOLUME(UP|DOWN)|MUTE|AUDIO", "channel": "CHANNEL(UP|DOWN)?|PREVIOUS|NEXT|LAST", "play": "PLAY|PAUSE|PLAYPAUSE|STOP|RECORD|REWIND|FASTFORWARD|FORWARD", "arrow": "UP|DOWN|LEFT|RIGHT|OK|ENTER|SELECT", "colour": "RED|GREEN|YELLOW|BLUE", "power": "POWER2?|SLEEP"}


def remotes():
    """Buttons of remote controls by their codes and where they stand in the list, with a column that names the control; what they are for is the class, in seven."""
    rows, labels = [], []
    for path in sorted((deb.unpacked("ir-keytable") / "lib/udev/rc_keymaps").glob("*.toml")):
        said = systems.text(path)
        protocol, variant = (re.search(rf'^{name} = ["\'](.*)["\']', said, re.MULTILINE) for name in ("protocol", "variant"))
        buttons = re.findall(r'^0x([0-9a-f]+) = "KEY_(\w+)"', said, re.MULTILINE)
        codes = np.array([int(code, 16) & 255 for code, _ in buttons])
        for i, (code, name) in enumerate(buttons):
            label = next((label for label, pattern in BUTTONS.items() if re.fullmatch(pattern, name)), None)
            if label:
                rows.append({
                    "control": path.stem, "protocol": protocol[1] if protocol else "", "variant": variant[1] if variant else "", "buttons": float(len(buttons)), "place": float(i), "code": float(codes[i]), "high": float(int(code, 16) >> 8), "digits": float(len(code)), "rank": float((codes < codes[i]).sum()),
                    "before": float(codes[i] - codes[i - 1]) if i else None, "after": float(codes[i + 1] - codes[i]) if i + 1 < len(codes) else None,
                })
                labels.append(label)
    return [units.by_chance(*units.even(systems.domain(rows, labels), [row["control"] for row in rows], 300, 1002), 1002)]


def transponders():
    """Satellites' channels by frequency, rate and share of what mends errors, with a column for the satellite; how they are sent is the class, in four, one of them rare. Satellites above the east, and above the west."""
    found = ([], []), ([], [])
    for path in sorted((deb.unpacked("dtv-scan-tables") / "usr/share/dvb/dvb-s").iterdir()):
        position = re.search(r"-([\d.]+)([EW])$", path.name)
        part = found[position is not None and position[2] == "W"]
        for stanza in re.split(r"^\[.*\]$", systems.text(path), flags=re.MULTILINE)[1:]:
            said = dict(re.findall(r"(\w+) = (\S+)", stanza))
            label = {"DVBSQPSK": "first", "DVBS": "first", "DVBS2PSK/8": "second, eight", "DVBS2QPSK": "second, four", "DVBS2APSK/16": "second, more", "DVBS2APSK/32": "second, more"}.get(said.get("DELIVERY_SYSTEM", "") + said.get("MODULATION", ""))
            if position and label:
                part[0].append({"satellite": path.name, "degrees": float(position[1]), "frequency": float(said["FREQUENCY"]) / 1000, "polarization": said.get("POLARIZATION", ""), "rate": float(said["SYMBOL_RATE"]) / 1000, "mended": said.get("INNER_FEC", ""), "rolloff": said.get("ROLLOFF", ""), "inversion": said.get("INVERSION", ""), "stream": said.get("STREAM_ID", "none")})
                part[1].append(label)
    yield Task("east-west", "gap", 1, *(society.evenly(systems.domain(*part), each, 1003, i) for i, (part, each) in enumerate(zip(found, (420, 400)))))


def vessels():
    """People with another's heart in several years, with a column that numbers them, by age, the giver's age, sex and illness; how the heart's vessels are is the class, in four."""
    columns = deb.frame("msm", "msmdata", "cav")
    domain = r.domain(columns, r.as_words("state", columns["state"]), ["state", "firstobs", "statemax"])
    return [units.by_chance(*units.even(domain, domain.values["PTNUM"].astype(int), 520, 1004), 1004)]


def campuses():
    """Schools of California by size, teachers, parents and tests, with a column for the district; whether they are for the small, the middle or the old is the class."""
    columns = deb.frame("survey", "api", "apipop")
    domain = r.domain(columns, "stype", ["cds", "name", "sname", "snum", "dnum", "cname", "cnum", "flag", "pcttest", "api.stu"])
    return [units.apart("shares", *units.even(domain, domain.values["dname"].astype(str), 520, 1005), (0.65, 0.35, 0.5), 1005)]


def schoolmates():
    """Pupils of New Zealand by sex, mind and what their school is like, without the school; how well they calculate is the class, in three."""
    columns = deb.frame("mitools", "pisamaths")
    names = ["STRATUM", "ST04Q01", "ST14Q02", "ST18Q02", "MATHEFF", "OPENPS", "SC35Q02", "PCGIRLS", "PROPMA5A", "ABGMATH", "SMRATIO"]
    domain = r.domain({name: columns[name] for name in names}, tables.cut(columns["PV1MATH"], ["low", "middle", "high"]))
    return [units.by_chance(*units.even(domain, columns["SCHOOLID"].astype(int), 720, 1006), 1006)]


def belts():
    """American states' years by deaths on the road, miles, income and limits, without the state; how they see to it that people wear belts is the class, in three."""
    columns = r.frame("AER", "USSeatBelts")
    domain = r.domain(columns, "enforce", ["state"])
    return [units.apart("shares", domain, columns["state"].astype(str), (0.6, 0.6, 0.4), 1007)]


def streams():
    """Counts of salamanders by species, water and day, without the stream; whether there was a mine is the class."""
    columns = deb.frame("glmmTMB", "Salamanders")
    return [units.apart("shares", r.domain(columns, "mined", ["site"]), columns["site"].astype(str), (0.6, 0.4), 1008)]


def radon():
    """Homes of a state by floor and what the county's ground holds, without the county; how much radon is in them is the class, in three."""
    columns = deb.frame("rstanarm", "radon")
    domain = r.domain(columns, tables.cut(columns["log_radon"], ["low", "middle", "high"]), ["log_radon", "county"])
    return [units.apart("shares", domain, columns["county"].astype(str), (0.6, 0.4, 0.5), 1009)]
