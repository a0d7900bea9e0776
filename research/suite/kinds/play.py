"""Tables of games, maps and charts: satellites, monsters and ships of games, openings of chess, features of browsers, names of colours."""
import collections
import json
import re

import numpy as np

from draws import Domain, Task
from kinds import deb, npm, society, systems, tables

YES = systems.YES


def satellites():
    """Satellites by their paths, when they were launched and how the air slows them; what they are for is the class."""
    folder = deb.unpacked("gpredict") / "usr/share/gpredict/data/satdata"
    plans = {"amateur": "amateur", "cubesat": "cubesat", "galileo": "navigation", "glo-ops": "navigation", "gps-ops": "navigation", "iridium": "telephone", "iridium-NEXT": "telephone", "molniya": "television", "noaa": "weather", "weather": "weather", "science": "science"}
    purposes = collections.defaultdict(set)
    for name, purpose in plans.items():
        for line in systems.text(folder / (name + ".cat")).split("\n")[1:]:
            purposes[line.strip()].add(purpose)
    rows, labels = [], []
    for said in systems.text(folder / "satellites.dat").split("\n["):
        number, one, two = (re.search(pattern, said, re.MULTILINE) for pattern in (r"(\d+)\]", r"^TLE1=(.*)", r"^TLE2=(.*)"))
        if number and one and two and len(purposes[number[1]]) == 1:
            one, two = one[1], two[1]
            year, (begin, power) = int(one[9:11]), (one[53:59], one[59:61])
            rows.append({
                "launched": float(year + (1900 if year > 50 else 2000)), "piece": one[14:17].strip(), "slowing": float(one[33:43]), "drag": float(begin.replace(" ", "0", 1).strip() or 0) * 10.0 ** int(power) / 1e5,
                "inclination": float(two[8:16]), "node": float(two[17:25]), "eccentricity": float("0." + two[26:33].strip()), "perigee": float(two[34:42]), "anomaly": float(two[43:51]), "orbits_a_day": float(two[52:63]), "orbits": float(two[63:68]),
            })
            labels.append(purposes[number[1]].pop())
    return tables.tasks(711, systems.domain(rows, labels), [("inclination", "inclination", 2)])


BEINGS = {
    "person": "person townsfolk ainu", "dragon": "dragon|ancient dragon|hydra", "demon": "major demon|minor demon", "undead": "ghost wraith zombie skeleton lich vampire",
    "animal": "canine|feline|spider|ant|worm|reptile|snake|bat|bird|quadruped|rodent|insect|killer beetle|centipede|hybrid|dragon fly|zephyr hound|louse", "people": "humanoid orc troll ogre giant kobold yeek naga",
    "thing": "elemental|vortex|golem|jelly|mold|mushroom|eye|quylthulg|icky thing|creeping coins|mimic|lurker|trap|tree",
}
BEING = {name: being for being, names in BEINGS.items() for name in names.split("|" if "|" in names else " ")}


def beings():
    """Stanzas of a game's monsters: number, what they are, and their lines by letter."""
    said = systems.text(deb.unpacked("angband") / "etc/angband/edit/monster.txt")
    for stanza in re.split(r"\n(?=N:)", said)[1:]:
        lines = collections.defaultdict(list)
        for line in stanza.split("\n"):
            if re.match(r"[\w-]+:", line):
                name, rest = line.split(":", 1)
                lines[name].append(rest)
        being = BEING.get(lines["T"][0]) if lines["T"] else None
        if being and lines["I"] and lines["W"]:
            yield int(lines["N"][0].split(":")[0]), being, lines


def monsters():
    """Monsters of a game by speed, health, blows, spells and colour; what they are is the class, in seven."""
    rows, labels = [], []
    for _, being, lines in beings():
        speed, health, sight, armour, alertness = map(float, lines["I"][0].split(":")[:5])
        level, rarity, _, worth = map(float, lines["W"][0].split(":")[:4])
        flags = "|".join(lines["F"])
        dice = [tuple(map(int, found)) for blow in lines["B"] for found in re.findall(r"(\d+)d(\d+)", blow)]
        rows.append({
            "level": level, "rarity": rarity, "worth": float(np.round(np.log10(1 + worth), 3)), "speed": speed, "health": float(np.round(np.log10(health + 1), 3)), "sight": sight, "armour": armour, "alertness": alertness, "colour": lines["C"][0] if lines["C"] else "",
            "blows": float(len(lines["B"])), "blow": lines["B"][0].split(":")[0] if lines["B"] else "", "effect": (lines["B"][0].split(":") + [""])[1] if lines["B"] else "", "damage": float(sum(n * sides for n, sides in dice)), "spells": float(sum(line.count("|") + 1 for line in lines["S"][1:])),
            "casts": float(lines["S"][0].split("_")[-1]) if lines["S"] and lines["S"][0].startswith("1_IN") else None, "unique": YES["UNIQUE" in flags], "male": YES["MALE" in flags.replace("FEMALE", "")], "flags": float(len(re.findall(r"\w+", flags))), "random": float(sum(int(n) for n in re.findall(r"RAND_(\d+)", flags))),
            "friends": float(len(lines["friends"])), "drops": float(flags.count("DROP") + len(lines["drop"])), "words": float(len(" ".join(lines["D"]).split())),
        })
        labels.append(being)
    return tables.tasks(712, systems.domain(rows, labels), [("level", "level", 3)])


CRAFT = {"Light Warship": "warship", "Medium Warship": "warship", "Heavy Warship": "warship", "Superheavy": "warship", "Interceptor": "small", "Fighter": "small", "Drone": "small", "Light Freighter": "freighter", "Heavy Freighter": "freighter", "Transport": "freighter", "Space Liner": "freighter", "Utility": "freighter", "Battleship": "warship"}
HUMAN = ("ships.txt", "kestrel.txt", "marauders.txt")


def ships():
    """Ships of a game by hull, mass, room and what they carry; what they are for is the class. Humans' ships, and others'."""
    found = ([], []), ([], [])
    for path in sorted((deb.unpacked("endless-sky-data") / "usr/share/games/endless-sky/data").glob("**/*.txt")):
        for name, stanza in re.findall(r'^ship ("[^"]*"|`[^`]*`|\w+)(?: "[^"]*"| `[^`]*`)?\n((?:[\t ].*\n|\s*\n)+)', systems.text(path), re.MULTILINE):
            category = re.search(r'category "([^"]*)"', stanza)
            label = CRAFT.get(category[1]) if category else None
            if label is None:
                continue

            def number(key):
                said = re.search(rf'"{key}" ([\d.]+)', stanza)
                return float(said[1]) if said else None

            columns = {key.replace(" ", "_"): number(key) for key in ("cost", "shields", "hull", "required crew", "bunks", "mass", "drag", "heat dissipation", "fuel capacity", "cargo space", "outfit space", "weapon capacity", "engine capacity", "blast radius")}
            columns |= {key: float(len(re.findall(rf"^\t{key}\b", stanza, re.MULTILINE))) for key in ("engine", "gun", "turret", "explode", "leak")}
            licence = re.search(r'licenses\n\s*"?([^"\n]*)', stanza)
            columns |= {"outfits": float(len(re.findall(r'^\t\t"[^"]*"(?: \d+)?$', stanza, re.MULTILINE))), "words": float(len(" ".join(re.findall(r"description [`\"](.*)", stanza)).split())), "licence": licence[1].strip() if licence else "", "drive": YES["Hyperdrive" in stanza or "Jump Drive" in stanza], "never_disabled": YES["never disabled" in stanza]}
            found[path.name not in HUMAN][0].append(columns)
            found[path.name not in HUMAN][1].append(label)
    yield Task("humans-others", "gap", 1, *(systems.domain(*part) for part in found))


def openings():
    """Lines of chess's openings by their fifth to tenth move and length, in words; the letter of the opening is the class."""
    rows, labels = [], []
    for letter, line in re.findall(r'^([A-E])\d\d\w* "[^"]*"\s+([^*]*)\*', systems.text(deb.unpacked("scid-data") / "usr/share/scid/data/scid.eco"), re.MULTILINE):
        moves = re.sub(r"\d+\.+", " ", line).split()
        if len(moves) >= 10:
            rows.append({**{f"move_{i + 1}": moves[i] for i in range(4, 10)}, "moves": float(len(moves)), "captures": float(sum("x" in move for move in moves)), "castled": YES[any("O-O" in move for move in moves[:10])], "checks": float(sum("+" in move for move in moves))})
            labels.append(letter)
    return tables.tasks(714, society.evenly(systems.domain(rows, labels), 600, 714, 0), [("shares", (0.7, 0.35, 0.5, 0.6, 0.4))])


ENGINES = ["chrome", "edge", "firefox", "ie", "opera", "safari", "safari_ios", "samsunginternet_android"]


def features():
    """Features of the web by the versions of browsers that have them, and what is said of them; the part of the web is the class."""
    data = json.loads((npm.unpacked("@mdn/browser-compat-data", lambda path: path == "package/data.json") / "data.json").read_text(encoding="utf-8"))
    rows, labels = [], []

    def walk(node, part, depth):
        said = node.get("__compat")
        if said:
            row = {}
            for engine in ENGINES:
                support = said["support"].get(engine, {})
                version = str((support[0] if isinstance(support, list) else support).get("version_added")).strip("≤")
                row[engine] = float(version) if re.fullmatch(r"\d+(\.\d+)?", version) else 0.0 if version == "False" else None
            status, notes = said.get("status", {}), json.dumps(said["support"])
            rows.append(row | {**{key: YES[bool(status.get(key))] for key in ("deprecated", "experimental", "standard_track")}, "notes": float(notes.count('"notes"')), "flags": float(notes.count('"flags"')), "alone": float(notes.count("prefix")), "partial": float(notes.count("partial")), "depth": float(depth), "parts": float(len([key for key in node if key != "__compat"])),
                               "described": float(len(re.sub("<[^>]*>", "", said.get("description", "")).split())), "specified": YES["spec_url" in said]})
            labels.append(part)
        for key, child in node.items():
            if isinstance(child, dict) and key != "__compat":
                walk(child, part, depth + 1)

    for part in ("api", "css", "html", "http", "javascript", "mathml", "svg", "webextensions"):
        walk(data[part], part, 0)
    return tables.tasks(715, society.evenly(systems.domain(rows, labels), 350, 715, 0), [("shares", (0.7, 0.4, 0.55))])


COLOURS = {"blue": "blue", "green": "green", "red": "red", "pink": "pink", "brown": "brown", "orange": "orange", "yellow": "yellow", "gray": "grey", "grey": "grey", "purple": "purple", "violet": "purple", "orchid": "purple", "white": "white", "gold": "yellow", "goldenrod": "yellow", "khaki": "brown", "tan": "brown", "sienna": "brown", "chocolate": "brown", "salmon": "pink", "cyan": "blue", "turquoise": "blue"}


def colours():
    """Colours by red, green and blue; the last word of their name is the class. Those of a window system, and those that people sent in."""
    own, sent = [], []
    for red, green, blue, name in re.findall(r"^\s*(\d+)\s+(\d+)\s+(\d+)\s+([a-z]+\d?)$", systems.text("/usr/share/X11/rgb.txt"), re.MULTILINE | re.IGNORECASE):
        word = re.search("(" + "|".join(COLOURS) + r")\d?$", name.lower())
        if word:
            own.append((red, green, blue, COLOURS[word[1]]))
    for name, red, green, blue in re.findall(r"^([^,\n]*),#(..)(..)(..)$", systems.text(npm.unpacked("color-name-list", lambda path: path == "package/dist/colornames.csv") / "dist/colornames.csv"), re.MULTILINE):
        if name.lower().split()[-1] in COLOURS and " " in name:
            sent.append((int(red, 16), int(green, 16), int(blue, 16), COLOURS[name.lower().split()[-1]]))

    def domain(found, each, *seed):
        values = np.array([row[:3] for row in sorted(set(found))], float)
        said = {name: values[:, i] for i, name in enumerate(("red", "green", "blue"))} | {"light": values.max(axis=1), "spread": values.max(axis=1) - values.min(axis=1)}
        return society.evenly(Domain(said, np.array([row[3] for row in sorted(set(found))])), each, *seed)

    yield Task("windows-people", "gap", 1, domain(own, 60, 716, 0), domain(sent, 150, 716, 1))
