"""Tables of what the system knows of the world: characters of Unicode, and time zones."""
import math
import re
import struct
import unicodedata

import numpy as np

from draws import Domain, Task, at_most
from kinds import tables

CATEGORIES = {"Lu": "upper", "Ll": "lower", "Lo": "letter", "Mn": "mark", "Nd": "number", "No": "number", "Nl": "number",
              "Sm": "symbol", "So": "symbol", "Po": "punctuation", "Ps": "punctuation", "Pe": "punctuation"}


def as_table(rows, labels):
    """Rows of values by name to columns."""
    return Domain({name: np.array([row[name] for row in rows], object if isinstance(rows[0][name], str) else np.float64) for name in rows[0]}, np.array(labels))


def character(c):
    name = unicodedata.name(c)
    words = re.split(r"[ -]", name)
    return {
        "name_length": float(len(name)), "words": float(len(words)), "longest_word": float(max(map(len, words))), "digits_in_name": float(sum(x.isdigit() for x in name)),
        "bytes": float(len(c.encode("utf-8"))), "in_block": float(ord(c) % 128), "decomposed": float(len(unicodedata.normalize("NFKD", c))),
        "combining": float(unicodedata.combining(c)), "value": math.log10(1 + abs(unicodedata.numeric(c))) if unicodedata.numeric(c, None) is not None else np.nan,
        "direction": unicodedata.bidirectional(c), "width": unicodedata.east_asian_width(c), "mirrored": "yes" if unicodedata.mirrored(c) else "no",
        "decomposition": (re.findall(r"<(\w+)>", unicodedata.decomposition(c)) or [""])[0],
    }


def characters():
    """Characters in seven groups of Unicode's categories, which are the classes; without the scripts of thousands of signs."""
    found = [chr(code) for code in range(33, 0x20000) if unicodedata.category(chr(code)) in CATEGORIES and unicodedata.name(chr(code), "")]
    found = [c for c in found if not re.match(r"CJK|HANGUL|YI |TANGUT|NUSHU|EGYPT|ANATOL|CUNEI|KHITAN|BAMUM|VAI", unicodedata.name(c))]
    labels = np.array([CATEGORIES[unicodedata.category(c)] for c in found])
    kept = at_most(labels, 250, np.random.default_rng([61, 0]))
    domain = as_table([character(found[i]) for i in kept], labels[kept])
    yield from tables.tasks(62, domain, [("shares", (0.7, 0.4, 0.2, 0.8)), ("name", "name_length", 3)])
    low = np.array([ord(c) < 0x3000 for c in found])
    parts = [rows[at_most(labels[rows], 120, np.random.default_rng([61, 3]))] for rows in (np.flatnonzero(low), np.flatnonzero(~low))]
    yield Task("low-high", "gap", 3, *(as_table([character(found[i]) for i in rows], labels[rows]) for rows in parts))


def degrees(text):
    """±DDMM or ±DDDMM, with seconds or without, as degrees."""
    sign, whole = -1 if text[0] == "-" else 1, text[1:]
    n = 2 if len(whole) in (4, 6) else 3
    return round(sign * (int(whole[:n]) + int(whole[n:n + 2]) / 60), 3)


def zone(line):
    """Where a zone is and how often its clocks were changed, from its file, and its part of the world."""
    _, place, name, *comment = line.rstrip("\n").split("\t")
    latitude, longitude = re.findall(r"[+-]\d+", place)
    with open("/usr/share/zoneinfo/" + name, "rb") as f:
        content = f.read()
    footer = content.rstrip(b"\n").rsplit(b"\n", 1)[-1].decode()
    _, _, _, transitions, types, letters = struct.unpack(">6I", content[20:44])
    abbreviation = re.match(r"<?([A-Za-z]+|[+-]\d+)>?(-?\d+)", footer)
    return {
        "latitude": degrees(latitude), "longitude": degrees(longitude), "transitions": float(transitions), "types": float(types), "letters": float(letters),
        "offset": -float(abbreviation[2]), "summer_time": "yes" if "," in footer else "no", "named": "yes" if abbreviation[1].isalpha() else "no",
        "country_has": "several" if comment else "one", "name_length": float(len(name.split("/")[-1])),
    }, {"Africa": "Africa", "America": "America", "Asia": "Asia", "Europe": "Europe"}.get(name.split("/")[0], "islands")


def zones():
    """Time zones; the part of the world is the class. Longitude is left out."""
    with open("/usr/share/zoneinfo/zone.tab", encoding="utf-8") as f:
        rows, labels = zip(*(zone(line) for line in f if not line.startswith("#")))
    domain = as_table(rows, labels)
    del domain.values["longitude"]
    return tables.tasks(63, domain, [("shares", (0.7, 0.3, 0.5, 0.8)), ("latitude", "latitude", 2)])
