"""Tables of what people describe or make: noise and white of cameras, lenses, printers, fingerprints of systems, attributes, parts and their footprints, rules, keys, players, cartridges, items, recipes and beings of a game, atoms, functions around them, changes of proteins, characters, holidays."""
import collections
import datetime
import functools
import glob
import json
import re
import subprocess
import xml.etree.ElementTree

import numpy as np

import draws
from draws import Domain, Task
from kinds import deb, npm, records, society, systems, tables

YES = systems.YES


def chosen(rows, labels, each, *seed, units=None):
    """A table of at most so many rows of each class, and their units."""
    places = draws.at_most(np.array(labels), each, np.random.default_rng(seed))
    domain = systems.domain([rows[i] for i in places], [labels[i] for i in places])
    return domain if units is None else (domain, np.array(units)[places])


def log(value):
    return float(np.round(np.log10(value), 4))


def darktable(name, key):
    for maker in json.loads(systems.text(deb.unpacked("darktable") / "usr/share/darktable" / (name + ".json")))[key]:
        for model in maker["models"]:
            yield maker["maker"], model


def noise():
    """Noise of cameras' pictures by how sensitive they were set, without the camera; the maker is the class."""
    rows, labels, units = [], [], []
    for maker, model in darktable("noiseprofiles", "noiseprofiles"):
        if maker in ("Canon", "Nikon", "Sony", "Olympus", "Panasonic", "Fujifilm", "Pentax"):
            for profile in model["profiles"]:
                if all(value > 0 for value in profile["a"]):
                    rows.append({"iso": float(profile["iso"]), **{f"slope_{c}": log(v) for c, v in zip("rgb", profile["a"])}, **{f"floor_{c}": float(f"{v:.4g}") for c, v in zip("rgb", profile["b"])}})
                    labels.append(maker)
                    units.append(f"{maker} {model['model']}")
    names = np.unique(units)
    few = set(np.random.default_rng([811, 0]).permutation(names)[:len(names) // 2])
    kept = [i for i, unit in enumerate(units) if unit in few]
    domain = systems.domain([rows[i] for i in kept], [labels[i] for i in kept])
    return [records.drawn("shares", "label-shift", 1, domain, np.array(units)[kept], (0.45, 0.6, 0.5, 0.4, 0.65), np.random.default_rng(811))]


LIGHTS = {"Daylight": "sun", "Shade": "shade", "Cloudy": "clouds", "Tungsten": "bulb", "Incandescent": "bulb", "Fluorescent": "tube", "CoolWhiteFluorescent": "tube", "Flash": "flash", "DirectSunlight": "sun"}


def balances():
    """Cameras' amounts of red and blue for kinds of light, and by how much they were tuned, with a column that names the camera; the light is the class. One maker's cameras, and others'."""
    found = ([], []), ([], [])
    for maker, model in darktable("wb_presets", "wb_presets"):
        for preset in model["presets"]:
            light = LIGHTS.get(re.sub(r"[^A-Za-z]", "", preset["name"]))
            tuning = preset.get("tuning", 0)
            if light and maker in ("Nikon", "Canon", "Sony", "Pentax", "Olympus") and abs(tuning) <= 3:
                part = found[maker != "Nikon"]
                red, green, blue = preset["channels"][:3]
                part[0].append({"camera": f"{maker} {model['model']}", "red": float(red), "blue": float(blue), "green": float(green), "ratio": float(np.round(red / blue, 4)), "tuning": float(tuning)})
                part[1].append(light)
    yield Task("nikon-others", "gap", 1, *(chosen(*part, each, 812, i) for i, (part, each) in enumerate(zip(found, (200, 160)))))


def lenses():
    """Lenses by length, aperture and what was measured of them; who made them is the class."""
    rows, labels = [], []
    for path in sorted((deb.unpacked("liblensfun-data-v1") / "usr/share/lensfun/version_1").glob("*.xml")):
        for lens in xml.etree.ElementTree.parse(path).getroot().iter("lens"):
            maker, model = lens.findtext("maker") or "", lens.findtext("model") or ""
            calibration = lens.find("calibration")
            parts = list(calibration) if calibration is not None else []
            lengths = [float(part.get("focal")) for part in parts if part.get("focal")]
            aperture = re.search(r"[fF]/?(\d+(?:\.\d+)?)", model)
            distortions = [part for part in parts if part.tag == "distortion"]
            maker = {"Minolta": "Sony", "Konica Minolta": "Sony", "Leica": "Panasonic", "smc Pentax": "Pentax", "Ricoh": "Pentax"}.get(maker, maker)
            rows.append({
                "crop": float(lens.findtext("cropfactor") or "nan"), "shortest": min(lengths, default=None), "longest": max(lengths, default=None), "aperture": float(aperture[1]) if aperture else None, "mounts": float(len(lens.findall("mount"))),
                "kind": (lens.find("type").text if lens.find("type") is not None else "") or "", "parts": float(len(parts)), **{tag: float(sum(part.tag == tag for part in parts)) for tag in ("distortion", "tca", "vignetting")}, "model_of": distortions[0].get("model") if distortions else "",
                "a": float(distortions[0].get("a", distortions[0].get("k1", "nan"))) if distortions else None, "b": float(distortions[0].get("b", "nan")) if distortions else None, "words": float(len(model.split())), "capitals": float(sum(c.isupper() for c in model)), "macro": YES["acro" in model], "fixed": YES["fixed" in model],
            })
            labels.append(maker)
    many = [label for label, n in collections.Counter(labels).items() if n >= 35]
    kept = [i for i, label in enumerate(labels) if label in many]
    return tables.tasks(813, chosen([rows[i] for i in kept], [labels[i] for i in kept], 150, 813, 0), [("shares", (0.6, 0.4, 0.5, 0.65, 0.35))])


def printers():
    """Printers by resolution, languages, driver and how well they work; how they print is the class."""
    rows, labels = [], []
    for path in sorted((deb.unpacked("foomatic-db") / "usr/share/foomatic/db/source/printer").glob("*.xml")):
        root = xml.etree.ElementTree.fromstring(re.sub(r"&(?!amp;|lt;|gt;|quot;|apos;|#)", "&amp;", systems.text(path)))
        mechanism, language = root.find("mechanism"), root.find("lang")
        kinds = [child.tag for child in mechanism if child.tag in ("laser", "inkjet", "led", "impact", "dotmatrix", "sublimation", "transfer")] if mechanism is not None else []
        if len(kinds) != 1:
            continue
        across, down = ([float(found.text) for found in mechanism.iter(axis) if found.text and found.text.strip().isdigit()] for axis in "xy")
        spoken = [child.tag for child in language] if language is not None else []
        model = root.findtext("model") or ""
        rows.append({
            "make": root.findtext("make") or "", "x": max(across, default=None), "y": max(down, default=None), "colour": YES[mechanism.find("color") is not None], "languages": float(len(spoken)), **{name: YES[name in spoken] for name in ("postscript", "pcl", "pjl", "text", "proprietary")},
            "works": root.findtext("functionality") or "", "driver": root.findtext("driver") or "", "drivers": float(len(list(root.iter("driver")))), "margins": YES[mechanism.find("margins") is not None], "detected": YES[root.find("autodetect") is not None],
            "first_word": model.split()[0] if model else "", "digits": float(sum(c.isdigit() for c in model)), "letters": float(sum(c.isalpha() for c in model)), "said": float(len(" ".join(root.itertext()).split())), "unverified": YES[root.find("unverified") is not None],
        })
        labels.append(kinds[0])
    many = [label for label, n in collections.Counter(labels).items() if n >= 40]
    kept = [i for i, label in enumerate(labels) if label in many]
    return tables.tasks(814, chosen([rows[i] for i in kept], [labels[i] for i in kept], 700, 814, 0), [("said", "said", 2)])


FAMILY = {"embedded": "embedded", "Linux": "Linux", "Windows": "Windows", "FreeBSD": "BSD", "OpenBSD": "BSD", "NetBSD": "BSD", "IOS": "IOS", "Mac OS X": "Apple", "OS X": "Apple", "iOS": "Apple", "iPhone OS": "Apple", "Solaris": "Solaris", "AIX": "AIX", "VxWorks": "VxWorks", "Android": "Linux"}


def fingerprints():
    """How systems answer to packets, in the first value of each; which family of systems it is, is the class."""
    rows, labels, units = [], [], []
    for stanza in systems.text(deb.unpacked("nmap-common") / "usr/share/nmap/nmap-os-db").split("\n\n"):
        classes = {FAMILY.get(found) for found in re.findall(r"^Class [^|]*\| ([^|]*?) \|", stanza, re.MULTILINE)}
        name = re.search(r"^Fingerprint (\w+)", stanza, re.MULTILINE)
        if len(classes) == 1 and None not in classes and name:
            said = dict(re.findall(r"^(SEQ|OPS|WIN|ECN|T1|T2|T3|T4|T5|T7|U1|IE)\((.*)\)$", stanza, re.MULTILINE))
            said = {line: dict(pair.split("=", 1) for pair in tests.split("%") if "=" in pair) for line, tests in said.items()}

            def first(line, test):
                return re.split(r"[|]", said.get(line, {}).get(test, ""))[0]

            def hexadecimal(line, test):
                found = re.match(r"[<>]?([0-9A-F]+)", first(line, test))
                return float(int(found[1], 16)) if found else None

            rows.append({
                **{f"{line}_{test}".lower(): first(line, test) or "" for line, test in (("SEQ", "TI"), ("SEQ", "CI"), ("SEQ", "II"), ("SEQ", "TS"), ("OPS", "O1"), ("ECN", "O"), ("ECN", "CC"), ("T1", "F"), ("T2", "R"), ("T3", "R"), ("T4", "S"), ("T5", "F"), ("T7", "R"), ("U1", "RIPL"), ("IE", "DFI"), ("IE", "CD"))},
                **{f"{line}_{test}".lower(): hexadecimal(line, test) for line, test in (("SEQ", "SP"), ("SEQ", "GCD"), ("SEQ", "ISR"), ("WIN", "W1"), ("ECN", "W"), ("T1", "T"), ("U1", "T"), ("U1", "IPL"), ("T5", "RD"))},
            })
            labels.append(classes.pop())
            units.append(name[1])
    return tables.tasks(815, chosen(rows, labels, 420, 815, 0), [("shares", (0.5, 0.65, 0.4, 0.6, 0.35))])


KINDS_OF_VALUES = {"string": "text", "integer": "number", "integer64": "number", "short": "number", "byte": "number", "ipaddr": "address", "ipv6addr": "address", "ipv6prefix": "address", "ipv4prefix": "address", "octets": "bytes", "tlv": "group"}


def attributes():
    """Attributes of a protocol by the words of their names and their number, with a column that says whose they are; what their values are is the class. Standards and those that vendors up to M have, and the other vendors'."""
    found = ([], []), ([], [])
    for path in sorted((deb.unpacked("freeradius-common") / "usr/share/freeradius").glob("dictionary.*")):
        vendor, place = path.name.removeprefix("dictionary."), 0
        for name, number, kind, flags in re.findall(r"^ATTRIBUTE\s+(\S+)\s+(\S+)\s+(\w+)(?:\[\d+\])?[ \t]*(.*)$", systems.text(path), re.MULTILINE):
            label, place = KINDS_OF_VALUES.get(kind), place + 1
            words = [word for word in re.split(r"[-_.]", name) if word]
            last = re.fullmatch(r"(?:0x)?([\da-fA-F]+)", number.split(".")[-1])
            if label:
                part = found[vendor[0] >= "n" and not vendor.startswith("rfc")]
                part[0].append({
                    "vendor": vendor, "number": float(int(last[1], 16 if number.startswith("0x") else 10)) if last and (number.startswith("0x") or last[1].isdigit()) else None, "depth": float(number.count(".")), "place": float(place), "words": float(len(words)), "length": float(len(name)), "first": words[0].lower(), "second": words[1].lower() if len(words) > 1 else "",
                    "last": words[-1].lower(), "digits": float(sum(c.isdigit() for c in name)), "flags": flags.split()[0] if flags.strip() else "", "capitals": float(sum(c.isupper() for c in name)),
                })
                part[1].append(label)
    yield Task("first-later", "gap", 1, *(chosen(*part, each, 816, i) for i, (part, each) in enumerate(zip(found, (450, 350)))))


PARTS = {"Connector": "connector", "Package": "package", "Capacitor": "capacitor", "Resistor": "resistor", "Inductor": "inductor", "Crystal": "crystal", "Diode": "diode", "LED": "diode", "Button": "switch", "Relay": "relay", "Potentiometer": "resistor", "Converter": "converter", "Transformer": "inductor", "TerminalBlock": "connector", "Fuse": "fuse", "Mounting": "hole", "MountingHole": "hole", "Sensor": "sensor", "Display": "display", "Module": "module", "RF": "radio", "Oscillator": "crystal", "Varistor": "resistor"}


def footprints():
    """Footprints of parts by their pads, lines and size; what the part is, is the class, in twelve."""
    rows, labels = [], []
    random = np.random.default_rng([817, 0])
    for folder in sorted((deb.unpacked("kicad-footprints") / "usr/share/kicad/footprints").glob("*.pretty")):
        label = PARTS.get(re.split("[_.]", folder.name)[0])
        paths = sorted(folder.glob("*.kicad_mod")) if label else []
        for i in sorted(random.permutation(len(paths))[:60]):
            said = systems.text(paths[i])
            pads = re.findall(r'\(pad "?([^" )]*)"? (\w+) (\w+) \(at ([-\d.]+) ([-\d.]+)[^)]*\) \(size ([\d.]+) ([\d.]+)\)(?: \(drill (?:oval )?([\d.]+))?', said)
            if not pads:
                continue
            x, y, width, height = (np.array([float(pad[j]) for pad in pads]) for j in (3, 4, 5, 6))
            drills = [float(pad[7]) for pad in pads if pad[7]]
            rows.append({
                "pads": float(len(pads)), "names": float(len({pad[0] for pad in pads})), "across": float(np.round(np.ptp(x), 3)), "along": float(np.round(np.ptp(y), 3)), "pad_width": float(np.round(np.median(width), 3)), "pad_height": float(np.round(np.median(height), 3)), "drill": float(np.median(drills)) if drills else None,
                "fixed_by": collections.Counter(pad[1] for pad in pads).most_common(1)[0][0], "shape": collections.Counter(pad[2] for pad in pads).most_common(1)[0][0], "shapes": float(len({pad[2] for pad in pads})), "rows": float(len(set(np.round(y, 2)))), "columns": float(len(set(np.round(x, 2)))),
                "lines": float(said.count("(fp_line")), "circles": float(said.count("(fp_circle")), "arcs": float(said.count("(fp_arc")), "polygons": float(said.count("(fp_poly")), "model": YES["(model" in said], "tags": float(len((re.findall(r'\(tags "([^"]*)"', said) or [""])[0].split())), "described": float(len((re.findall(r'\(descr "([^"]*)"', said) or [""])[0].split())),
            })
            labels.append(label)
    many = [label for label, n in collections.Counter(labels).items() if n >= 40]
    kept = [i for i, label in enumerate(labels) if label in many]
    return tables.tasks(817, chosen([rows[i] for i in kept], [labels[i] for i in kept], 320, 817, 1), [("pads", "pads", 2)])


LIBRARIES = {"Amplifier": "amplifier", "Analog": "converter", "Connector": "connector", "Converter": "supply", "Regulator": "supply", "Power": "supply", "MCU": "processor", "CPU": "processor", "Memory": "memory", "Sensor": "sensor", "Transistor": "transistor", "Diode": "diode", "Interface": "interface", "Driver": "driver", "RF": "radio", "Timer": "timer", "Relay": "relay", "74xx": "logic", "4xxx": "logic", "Logic": "logic", "Isolator": "isolator"}


def symbols():
    """Symbols of parts by the kinds of their pins, drawing and title; what the part is, is the class."""
    rows, labels = [], []
    for path in sorted((deb.unpacked("kicad-symbols") / "usr/share/kicad/symbols").glob("*.kicad_sym")):
        label = LIBRARIES.get(re.split("[_.]", path.name)[0])
        for stanza in re.split(r"\n  (?=\(symbol )", systems.text(path))[1:] if label else []:
            pins = re.findall(r"\(pin (\w+) (\w+)", stanza)
            if not pins or '(extends "' in stanza:
                continue
            counted = collections.Counter(kind for kind, _ in pins)
            said = {key: (re.findall(rf'\(property "{key}" "([^"]*)"', stanza) or [""])[0] for key in ("Reference", "Footprint", "Datasheet", "ki_keywords", "ki_description", "ki_fp_filters")}
            if said["Reference"].startswith("#"):
                continue
            names = re.findall(r'\(name "([^"]*)"', stanza)
            rows.append({
                "pins": float(len(pins)), **{kind: float(counted[kind]) for kind in ("input", "output", "bidirectional", "power_in", "power_out", "passive", "no_connect", "open_collector", "tri_state")}, "units": float(len(re.findall(r'\(symbol "', stanza)) - 1), "shapes": float(len({shape for _, shape in pins})), "hidden": float(stanza.count(" hide")),
                "lines": float(stanza.count("(polyline")), "boxes": float(stanza.count("(rectangle")), "circles": float(stanza.count("(circle") + stanza.count("(arc")), "package": re.split("[:_]", said["Footprint"])[1] if "_" in said["Footprint"] else said["Footprint"].split(":")[0], "site": (re.findall(r"//(?:www\.)?([^/]+)", said["Datasheet"]) or [""])[0], "filters": float(len(said["ki_fp_filters"].split())),
                "name_length": float(np.round(np.mean([len(name) for name in names]), 2)) if names else None, "unnamed": float(sum(name == "~" for name in names)), "keywords": float(len(said["ki_keywords"].split())), "described": float(len(said["ki_description"].split())), "pin_names": YES["(pin_names" in stanza],
            })
            labels.append(label)
    many = [label for label, n in collections.Counter(labels).items() if n >= 30]
    kept = [i for i, label in enumerate(labels) if label in many]
    return tables.tasks(818, chosen([rows[i] for i in kept], [labels[i] for i in kept], 220, 818, 0), [("shares", (0.6, 0.4, 0.5, 0.65, 0.35))])


def rules():
    """Rules of a filter of mails by their pattern, score and title; which part of a mail they read is the class."""
    folder = deb.unpacked("spamassassin") / "usr/share/spamassassin"
    kinds, scores, titles, flags = {}, {}, {}, {}
    for path in sorted(folder.glob("[2-7]*.cf")):
        for kind, name, rest in re.findall(r"^\s*(header|body|rawbody|uri|meta|score|describe|tflags)\s+(\w+)\s+(.*)$", systems.text(path), re.MULTILINE):
            if kind == "score":
                scores[name] = [float(v) for v in re.findall(r"-?\d+(?:\.\d+)?", rest)]
            elif kind == "describe":
                titles.setdefault(name, rest)
            elif kind == "tflags":
                flags[name] = rest
            else:
                kinds[name] = kind, rest, path.name
    rows, labels = [], []
    for name, (kind, rest, file) in sorted(kinds.items()):
        pattern = rest.split("=~", 1)[-1] if kind == "header" else rest
        score, title = scores.get(name, []), titles.get(name, "")
        rows.append({
            "score": score[-1] if score else None, "scores": float(len(score)), "length": float(len(pattern)), "alternatives": float(pattern.count("|")), "classes": float(pattern.count("[")), "escapes": float(pattern.count("\\")), "counts": float(pattern.count("{")), "groups": float(pattern.count("(")), "ands": float(pattern.count("&&")), "ends": pattern.rstrip()[-1:] if pattern.strip() else "", "words": float(len(re.findall("[a-z]{3,}", pattern))),
            "capitals": float(len(re.findall("[A-Z]{3,}", pattern))), "name_words": float(name.strip("_").count("_") + 1), "hidden": YES[name.startswith("__")], "first_word": name.strip("_").split("_")[0], "title_words": float(len(title.split())), "title_start": (title.split() or [""])[0], "flags": (flags.get(name, "").split() or [""])[0], "file": file[:2], "digits": float(sum(c.isdigit() for c in pattern)),
        })
        labels.append(kind)
    return tables.tasks(819, chosen(rows, labels, 420, 819, 0), [("shares", (0.6, 0.35, 0.5, 0.65, 0.4))])


def keys():
    """Keys by their kind, dates and what is signed with them, without a name; who has it is the class, in three: who may upload all packages, some, or none."""
    rows, labels, folder = [], [], deb.unpacked("debian-keyring") / "usr/share/keyrings"
    for name, label in (("debian-keyring", "all"), ("debian-maintainers", "some"), ("debian-nonupload", "none")):
        said = subprocess.run(["gpg", "--no-default-keyring", "--with-colons", "--show-keys", folder / (name + ".gpg")], capture_output=True, text=True, errors="replace").stdout
        for stanza in re.split(r"^(?=pub:)", said, flags=re.MULTILINE)[1:]:
            lines = [line.split(":") for line in stanza.split("\n") if line]
            key, names, parts = lines[0], [line for line in lines if line[0] == "uid"], [line for line in lines if line[0] == "sub"]

            def day(seconds):
                return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%d") if seconds else ""

            hosts = [re.search(r"@([\w.-]+)>", line[9]) for line in names]
            hosts = [found[1].lower() for found in hosts if found and not found[1].lower().endswith("debian.org")]
            rows.append({
                "bits": float(key[2]), "algorithm": f"number {key[3]}", "made": day(key[5]), "ends": day(key[6]), "can": "".join(c for c in key[11] if c.islower()), "names": float(len(names)), "revoked_names": float(sum(line[1] == "r" for line in names)), "latest_name": day(max((line[5] for line in names if line[5]), default="")), "parts": float(len(parts)),
                "signing_parts": float(sum("s" in line[11] for line in parts)), "latest_part": day(max((line[5] for line in parts if line[5]), default="")), "ended_parts": float(sum(line[1] in "er" for line in parts)), "domain": hosts[0].split(".")[-1] if hosts else "", "hosts": float(len(set(hosts))),
            })
            labels.append(label)
    return tables.tasks(820, chosen(rows, labels, 190, 820, 0), [("shares", (0.5, 0.6, 0.4))])


def players():
    """Chess players by rating, country, year of birth and games, without their names; which title they have is the class, in six. Those born before 1975, and since 1990."""
    found = ([], []), ([], [])
    for title, woman_title, rest in re.findall(r"^[^%#@\n]+?#(GM|IM|FM|CM|WGM|WIM|WFM)(\S*)\s+(.*)$", systems.text(deb.unpacked("scid-spell-data") / "usr/share/scid/data/spelling.ssp"), re.MULTILINE):
        said = re.match(r"([A-Z]{3}) +\[(\d{4})\] +(\d{4})((?:\.\d\d){0,2})(?:--(\d{4}))?\s*(\w*)", rest)
        if said and int(said[3]) > 1800 and not 1975 <= int(said[3]) < 1990:
            part = found[int(said[3]) >= 1990]
            part[0].append({"country": said[1], "rating": float(said[2]), "born": float(said[3]), "day_known": YES[bool(said[4])], "dead": YES[bool(said[5])], "woman": YES["w" in said[6]], "inactive": YES["i" in said[6]], "two_titles": YES[bool(woman_title)]})
            part[1].append(title)
    yield Task("before-after", "gap", 1, *(chosen(*part, each, 821, i) for i, (part, each) in enumerate(zip(found, (260, 200)))))


CONSOLES = {"nes": "nes", "snes": "snes", "megadriv": "megadrive", "gameboy": "gameboy", "gba": "advance", "a2600": "atari", "pce": "engine", "sms": "master", "n64": "n64", "coleco": "coleco", "intv": "intellivision", "gamegear": "gear"}


def cartridges():
    """Cartridges of games by year, publisher and what is in them; the machine is the class. Those from Japan, and from elsewhere."""
    found = ([], []), ([], [])
    folder = deb.unpacked("mame-data") / "usr/share/games/mame/hash"
    for file, label in CONSOLES.items():
        said = re.sub(r"<!--.*?-->", "", systems.text(folder / (file + ".xml")), flags=re.DOTALL)
        for software in xml.etree.ElementTree.fromstring(said).iter("software"):
            title, year = software.findtext("description") or "", software.findtext("year") or ""
            areas = {area.get("name"): area for area in software.iter("dataarea")}
            sizes = [int(rom.get("size"), 0) for rom in software.iter("rom") if rom.get("size")]
            if not sizes:
                continue
            part = found["Japan" not in title]
            part[0].append({
                "year": float(year) if year.isdigit() else None, "publisher": software.findtext("publisher") or "", "size": log(1 + sum(sizes)), "largest": log(1 + max(sizes)), "roms": float(len(sizes)), "areas": float(len(areas)), "words": float(len(title.split())), "copy": YES["cloneof" in software.attrib], "state": software.get("supported", "yes"),
                "infos": float(len(software.findall("info"))), "features": float(len(list(software.iter("feature")))), "place": (re.findall(r"\(([A-Z][a-z]+)", title) or [""])[0], "try": YES[bool(re.search(r"[Pp]roto|[Bb]eta|[Ss]ample", title))], "alternative": YES["Alt" in title], "number": YES[bool(re.search(r"\b(?:II|III|IV|\d)\b", title.split("(")[0]))],
            })
            part[1].append(label)
    shared = [label for label in set(found[0][1]) if min(collections.Counter(part[1])[label] for part in found) >= 30]
    parts = [([row for row, label in zip(*part) if label in shared], [label for label in part[1] if label in shared]) for part in found]
    yield Task("japan-others", "gap", 1, *(chosen(*part, each, 822, i) for i, (part, each) in enumerate(zip(parts, (200, 200)))))


GAME = "usr/share/games/cataclysm-dda"


@functools.lru_cache(maxsize=None)
def objects(pattern):
    """Objects of a game's files, in the files' order."""
    found = []
    for path in sorted(glob.glob(str(deb.unpacked("cataclysm-dda-data") / GAME / pattern), recursive=True)):
        said = json.loads(systems.text(path))
        found += [one for one in (said if isinstance(said, list) else [said]) if isinstance(one, dict)]
    return found


def amount(value):
    """A number of a text as 113 g or 2 h 30 m, in the smallest of its units."""
    units = {"kg": 1000, "g": 1, "mg": 0.001, "L": 1000, "l": 1000, "ml": 1, "h": 60, "m": 1, "s": 1 / 60, "d": 1440, "hours": 60, "minutes": 1}
    if isinstance(value, (int, float)):
        return float(value)
    found = re.findall(r"([\d.]+) *([A-Za-z]+)", value) if isinstance(value, str) else []
    return sum(float(n) * units.get(unit, 1) for n, unit in found) if found else None


def items():
    """Things of a game by weight, price, material and colour; what they are is the class, in nine."""
    kinds, rows, labels = ("ARMOR", "COMESTIBLE", "GENERIC", "TOOL", "AMMO", "BOOK", "GUN", "MAGAZINE", "GUNMOD"), [], []
    for one in objects("json/items/**/*.json"):
        said = one.get("description", "")
        said = said if isinstance(said, str) else said.get("str", "") if isinstance(said, dict) else ""
        if one.get("type") in kinds and "abstract" not in one and said:
            material = one.get("material") or [""]
            material = material[0] if isinstance(material, list) else material
            rows.append({
                "weight": amount(one.get("weight")), "volume": amount(one.get("volume")), "price": amount(one.get("price")), "later_price": amount(one.get("price_postapoc")), "to_hit": amount(one.get("to_hit")), "bash": amount(one.get("bashing")), "cut": amount(one.get("cutting")), "material": material if isinstance(material, str) else "", "materials": float(len(one.get("material", []))) if isinstance(one.get("material"), list) else 1.0,
                "colour": one.get("color", ""), "derived": YES["copy-from" in one], "flags": float(len(one.get("flags", []))), "looks": YES["looks_like" in one], "words": float(len(said.split())), "sentences": float(said.count(".")), "you": YES["you" in said.lower()], "used": YES["use_action" in one],
            })
            labels.append(one["type"].lower())
    return tables.tasks(823, chosen(rows, labels, 300, 823, 0), [("shares", (0.6, 0.4, 0.5, 0.65, 0.35))])


def recipes():
    """Recipes of a game by time, skill and what goes in; what they make is the class."""
    rows, labels = [], []
    for one in objects("json/recipes/**/*.json"):
        if one.get("type") == "recipe" and one.get("category") in ("CC_FOOD", "CC_OTHER", "CC_ARMOR", "CC_WEAPON", "CC_AMMO", "CC_CHEM", "CC_ELECTRONIC"):
            components, tools = (one.get(key, []) for key in ("components", "tools"))
            first = components[0][0][0] if components and components[0] and isinstance(components[0][0], list) else ""
            rows.append({
                "time": amount(one.get("time")), "skill": one.get("skill_used", ""), "difficulty": amount(one.get("difficulty", 0)), "activity": one.get("activity_level", ""), "components": float(len(components)), "choices": float(sum(map(len, components))), "tools": float(len(tools)), "first": first, "qualities": float(len(one.get("qualities", []))), "using": float(len(one.get("using", []))),
                "known": YES[bool(one.get("autolearn"))], "reversible": YES[bool(one.get("reversible"))], "books": float(len(one.get("book_learn", []))), "flags": float(len(one.get("flags", []))), "proficiencies": float(len(one.get("proficiencies", []))), "charges": amount(one.get("charges")), "batch": YES["batch_time_factors" in one],
            })
            labels.append(one["category"].removeprefix("CC_").lower())
    domain = chosen(rows, labels, 330, 824, 0)
    return tables.tasks(824, domain, [("time", np.nan_to_num(domain.values["time"], nan=10.0), 2)])


SPECIES = {"ZOMBIE": "dead", "MAMMAL": "mammal", "ROBOT": "robot", "NETHER": "nether", "FUNGUS": "fungus", "INSECT": "insect", "SPIDER": "insect", "INSECT_FLYING": "insect", "BIRD": "bird", "FISH": "fish", "REPTILE": "reptile", "AMPHIBIAN": "reptile", "DINOSAUR": "reptile", "HUMAN": "human", "PLANT": "plant"}


def creatures():
    """Creatures of a game by health, speed, what they hit with and how they see; what they are is the class. The game's own, and those that others added."""
    found = ([], []), ([], [])
    for i, pattern in enumerate(("json/monsters/**/*.json", "mods/*/**/*.json")):
        for one in objects(pattern):
            label = SPECIES.get((one.get("species") or [""])[0] if isinstance(one.get("species"), list) else one.get("species"))
            if one.get("type") == "MONSTER" and label:
                flags = one.get("flags", []) if isinstance(one.get("flags"), list) else []
                found[i][0].append({
                    "weight": amount(one.get("weight")), "volume": amount(one.get("volume")), **{key: amount(one.get(key)) for key in ("hp", "speed", "aggression", "morale", "melee_skill", "melee_dice", "melee_dice_sides", "melee_cut", "dodge", "armor_bash", "armor_cut", "vision_day", "vision_night", "diff")}, "colour": one.get("color", "") if isinstance(one.get("color"), str) else "",
                    "derived": YES["copy-from" in one], "attacks": float(len(one.get("special_attacks", []))), "flags": float(len(flags)), **{flag.lower(): YES[flag in flags] for flag in ("SEES", "HEARS", "SMELLS", "WARM", "STUMBLES", "FLIES", "SWIMS")}, "words": float(len(str(one.get("description", "")).split())),
                })
                found[i][1].append(label)
    shared = [label for label in set(found[0][1]) if min(collections.Counter(part[1])[label] for part in found) >= 4]
    parts = [([row for row, label in zip(*part) if label in shared], [label for label in part[1] if label in shared]) for part in found]
    yield Task("own-added", "gap", 1, *(chosen(*part, 90, 825, i) for i, part in enumerate(parts)))


def residues(path):
    """Residues of a force field: atoms with their charges, and bonds."""
    for name, said in re.findall(r"^\[ *(\w+) *\]\s*\n((?:(?!^\[ *\w+ *\]).*\n?)*)", systems.text(path), re.MULTILINE):
        atoms = re.search(r"\[ atoms \]\s*\n((?:.*\n)*?)(?= *\[|\Z)", said)
        bonds = re.search(r"\[ bonds \]\s*\n((?:.*\n)*?)(?= *\[|\Z)", said)
        if atoms and bonds:
            lines = [line.split(";")[0].split() for line in atoms[1].split("\n")]
            yield name, [line for line in lines if len(line) >= 4], [line.split()[:2] for line in bonds[1].split("\n") if len(line.split()) >= 2]


def atoms():
    """Atoms of amino acids by their charge, bonds and neighbours' charges, with a column that says which residue; the element is the class, in five. One force field, and another."""
    found = ([], []), ([], [])
    for part, field in zip(found, ("amber99sb", "charmm27")):
        for name, lines, bonds in residues(deb.unpacked("gromacs-data") / "usr/share/gromacs/top" / (field + ".ff") / "aminoacids.rtp"):
            charge = {line[0]: float(line[2]) for line in lines}
            for i, line in enumerate(lines):
                label = line[0].lstrip("0123456789")[0]
                near = [other for pair in bonds if line[0] in pair for other in pair if other != line[0]]
                known = [charge[other] for other in near if other in charge]
                if label in "CHNOS":
                    part[0].append({
                        "residue": name[-3:], "charge": charge[line[0]], "bonds": float(len(near)), "near": float(np.round(sum(known), 4)), "lowest_near": min(known, default=None), "highest_near": max(known, default=None), "place": float(i), "residue_size": float(len(lines)), "residue_charge": float(np.round(sum(charge.values()), 3)), "rank": float(sum(value < charge[line[0]] for value in charge.values())),
                    })
                    part[1].append(label)
    yield Task("amber-charmm", "gap", 1, *(chosen(*part, 220, 826, i) for i, part in enumerate(found)))


FIRST, SECOND = ["cc-pvdz", "cc-pvtz", "aug-cc-pvdz", "cc-pvqz"], ["def2-svp", "def2-tzvp", "def2-qzvp", "6-311g_2df_2pd_"]


def shells():
    """Functions around atoms by their exponents and how many there are, without the atom; their shape is the class, in five. One family of sets, and others."""
    found = ([], []), ([], [])
    for part, names in zip(found, (FIRST, SECOND)):
        for name in names:
            said = systems.text(deb.unpacked("psi4-data") / "usr/share/psi4/basis" / (name + ".gbs"))
            for stanza in said.split("****")[1:]:
                functions = re.findall(r"^([SPDFG])\s+(\d+)\s+[\d.]+\s*\n((?:\s+[-\d.DEe+]+\s+[-\d.DEe+]+.*\n)+)", stanza, re.MULTILINE)
                for place, (shape, _, lines) in enumerate(functions):
                    pairs = np.array([[float(v.replace("D", "E")) for v in line.split()[:2]] for line in lines.strip("\n").split("\n") if line.strip()])
                    part[0].append({
                        "functions": float(len(pairs)), "highest": log(pairs[:, 0].max()), "lowest": log(pairs[:, 0].min()), "mean": float(np.round(np.log10(pairs[:, 0]).mean(), 4)), "weight": float(np.round(pairs[:, 1].sum(), 4)), "largest_weight": float(np.round(np.abs(pairs[:, 1]).max(), 4)), "negative": float((pairs[:, 1] < 0).sum()), "shells": float(len(functions)), "place": float(place),
                    })
                    part[1].append(shape)
    yield Task("one-others", "gap", 1, *(chosen(*part, 220, 827, i) for i, part in enumerate(found)))


def changes():
    """Changes of proteins by mass, what they consist of and where they sit, without their name; what they are is the class, in six. Those sent in before 2008, and later."""
    found, space = (([], []), ([], [])), "{http://www.unimod.org/xmlns/schema/unimod_2}"
    path, = deb.unpacked("openms-common").glob("usr/share/*/CHEMISTRY/unimod.xml")
    kinds = {"Chemical derivative", "Post-translational", "AA substitution", "Isotopic label", "Artefact", "O-linked glycosylation", "Other"}
    for change in xml.etree.ElementTree.parse(path).getroot().iter(space + "mod"):
        delta, posted = change.find(space + "delta"), int(change.get("date_time_posted")[:4])
        made = {element.get("symbol"): float(element.get("number")) for element in delta.findall(space + "element")}
        for place in change.findall(space + "specificity"):
            if place.get("classification") in kinds:
                part = found[posted >= 2008]
                part[0].append({
                    "mass": float(delta.get("mono_mass")), **{f"of_{symbol.lower()}": made.get(symbol, 0.0) for symbol in ("H", "C", "N", "O", "S", "P")}, "isotopes": sum(n for symbol, n in made.items() if symbol[0].isdigit()), "sugars": sum(n for symbol, n in made.items() if symbol in ("Hex", "HexNAc", "dHex", "Pent", "NeuAc")), "elements": float(len(made)),
                    "site": place.get("site"), "position": place.get("position"), "hidden": YES[place.get("hidden") == "1"], "sites": float(len(change.findall(space + "specificity"))), "losses": float(len(place.findall(space + "NeutralLoss"))), "notes": YES[place.find(space + "misc_notes") is not None], "references": float(len(change.findall(space + "xref"))), "approved": YES[change.get("approved") == "1"],
                })
                part[1].append(place.get("classification"))
    shared = [label for label in set(found[0][1]) if min(collections.Counter(part[1])[label] for part in found) >= 10]
    parts = [([row for row, label in zip(*part) if label in shared], [label for label in part[1] if label in shared]) for part in found]
    yield Task("before-after", "gap", 1, *(chosen(*part, 250, 828, i) for i, part in enumerate(parts)))


def kanji():
    """Characters of Japan by strokes, readings, meanings and how often they are used; in which school one learns them is the class."""
    rows, labels = [], []
    said = (deb.unpacked("kanjidic") / "usr/share/edict/kanjidic").read_bytes().decode("euc_jp", errors="replace")
    grades = {**{str(i): "lower" for i in (1, 2, 3)}, **{str(i): "upper" for i in (4, 5, 6)}, "8": "later", "9": "names", "10": "names", None: "none"}
    for line in said.split("\n")[1:]:
        code = {key: (re.findall(rf" {key}(\d+)", line) or [None])[0] for key in ("B", "C", "G", "S", "F", "J", "Q")}
        if code["B"]:
            main = line.split(" T1")[0]
            rows.append({
                "strokes": float(code["S"]), "radical": float(code["B"]), "frequency": float(code["F"]) if code["F"] else None, "corners": float(code["Q"]) if code["Q"] else None, "on": float(len(re.findall(r"[゠-ヿ]+(?= )", main))), "kun": float(len(re.findall(r" [぀-ゟ.-]+(?= )", main))), "with_ending": float(main.count(".")), "in_names": YES[" T1" in line],
                "meanings": float(line.count("{")), "korean": float(len(re.findall(r" W\w+", line))), "chinese": float(len(re.findall(r" Y\w+", line))), "first_on": (re.findall(r"[゠-ヿ]+", main) or [""])[0][:1], "other_codes": float(line.count(" X")),
            })
            labels.append(grades[code["G"]])
    return tables.tasks(829, chosen(rows, labels, 2200, 829, 0), [("same",)])


def holidays():
    """Days of countries by month, how they are reckoned and what they are called, with a column that says whose they are; what kind of day it is, is the class."""
    said = json.loads((npm.unpacked("date-holidays", lambda path: path == "package/data/holidays.json") / "data/holidays.json").read_text(encoding="utf-8"))
    rows, labels, units = [], [], []
    for country, found in sorted(said["holidays"].items()):
        for rule, day in found.get("days", {}).items():
            if not isinstance(day, dict):
                continue
            name = day.get("name") or said["names"].get(day.get("_name", ""), {}).get("name", {})
            fixed, easter = re.match(r"(?:\d{4}-)?(\d\d)-(\d\d)", rule), re.match(r"(?:easter|orthodox) *(-?\d+)?", rule)
            words = (name.get("en") or next(iter(name.values()), "")).split() if isinstance(name, dict) else str(name).split()
            rows.append({
                "country": country, "month": float(fixed[1]) if fixed else None, "day": float(fixed[2]) if fixed else None, "after_easter": float(easter[1] or 0) if easter else None, "reckoned": "date" if fixed else (re.findall(r"[a-z]{4,}", rule.lower()) or [""])[0], "moved": YES["if " in rule or "substitutes" in rule], "first_word": words[0].lower() if words else "", "last_word": words[-1].lower() if words else "", "words": float(len(words)),
                "languages": float(len(name)) if isinstance(name, dict) else 1.0, "own_name": YES["name" in day], "shared_name": YES["_name" in day], "rule_words": float(len(rule.split())), "notes": YES["note" in day], "of_country": float(len(found["days"])), "states": float(len(found.get("states", {}))), "starts_ends": YES["active" in day],
            })
            labels.append(day.get("type", "public"))
            units.append(country)
    labels = np.array(labels)
    kept = draws.at_most(labels, 420, np.random.default_rng([830, 0]))
    kept = kept[np.isin(labels[kept], ["public", "observance", "bank", "optional", "school"])]
    domain = systems.domain([rows[i] for i in kept], labels[kept])
    return [records.drawn("same", "none", 1, domain, np.array(units)[kept], (0.5,), np.random.default_rng(830))]
