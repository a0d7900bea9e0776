"""Tables of what those write who make a system: uploads, tags of a checker, terminals, tablets, locales, kinds of media, an editor's runtime, sources in Go, licences, options of a kernel."""
import collections
import configparser
import email.utils
import functools
import glob
import gzip
import lzma
import os
import re
import struct
import subprocess
import xml.etree.ElementTree

import numpy as np

from draws import Domain, Task
from kinds import deb, r, society, tables

YES = {True: "yes", False: "no"}


def domain(rows, labels):
    """A table of rows, as dicts, and their classes; None is a missing number."""
    values = {}
    for name in rows[0]:
        column = [row[name] for row in rows]
        words = any(isinstance(value, str) for value in column)
        values[name] = np.array([value or "" for value in column], object) if words else np.array([np.nan if value is None else value for value in column], np.float64)
    return Domain(values, np.array(labels))


def text(path):
    opened = gzip.open(path, "rt", encoding="utf-8", errors="replace") if str(path).endswith(".gz") else open(path, encoding="utf-8", errors="replace")
    with opened as f:
        return f.read()


ENTRY = re.compile(r"^\S+ \(([^)\n]+)\) ([^;\n]+); *urgency=(\w+)[^\n]*\n(.*?)^ -- [^<\n]*<([^>\n]*)>  ?([^\n]+)", re.MULTILINE | re.DOTALL)
OTHERS = re.compile(r"team upload|non-?maintainer|\bnmu\b|\bqa upload", re.IGNORECASE)


def upload(version, suite, urgency, body, address, date):
    """What an entry of a change log says, and who made it; None without a date."""
    try:
        at = email.utils.parsedate_to_datetime(date)
    except ValueError:
        return None
    if at.tzinfo is None:
        return None
    whose = OTHERS.search(body)
    label = "maintainer" if whose is None else "team" if whose[0].lower().startswith("team") else "others"
    body = "\n".join(line for line in body.split("\n") if not OTHERS.search(line))
    revision = re.search(r"-(\d+)([^-]*)$", version)
    return at.year, label, {
        "lines": float(body.count("\n  ")), "words": float(len(body.split())), "bugs": float(len(re.findall(r"#\d{4,}", body))),
        "urgency": urgency.lower(), "suite": suite.split()[0], "host": address.split("@")[-1].lower(), "weekday": at.strftime("%a"),
        "hour": float(at.hour), "zone": at.utcoffset().total_seconds() / 3600, "revision": float(revision[1]) if revision else None, "sub_revision": YES[bool(revision and revision[2])],
        "repacked": YES["dfsg" in version or "+ds" in version], "upstream": YES["upstream" in body.lower()], "policy": YES[bool(re.search("standards|policy", body, re.IGNORECASE))],
        "security": YES["CVE" in body], "by_name": YES["[" in body], "translation": YES[bool(re.search("translation|debconf", body, re.IGNORECASE))],
    }


def uploads():
    """Entries of packages' change logs by length, bugs, hour and host; whether the maintainer, a team or somebody else made it is the class. Before 2010, and since 2017."""
    found = [upload(*entry) for path in sorted(glob.glob("/usr/share/doc/*/changelog.Debian.gz")) for entry in ENTRY.findall(text(path))]
    found = [one for one in found if one]
    for_years = ([one for one in found if one[0] < 2010], [one for one in found if one[0] >= 2017])
    parts = (society.evenly(domain([row for _, _, row in part], [label for _, label, _ in part]), each, 701, i) for i, (part, each) in enumerate(zip(for_years, (600, 500))))
    yield Task("before-after", "gap", 1, *parts)


def tags():
    """Tags of a checker of packages by their check, name and explanation; how severe they are is the class, in three."""
    rows, labels = [], []
    for path in sorted((deb.unpacked("lintian") / "usr/share/lintian/tags").glob("**/*.tag")):
        fields = dict(re.findall(r"^([A-Za-z-]+): *(.*(?:\n[ \t].*)*)", text(path), re.MULTILINE))
        said, check = fields.get("Explanation", ""), fields["Check"].split("/")
        rows.append({
            "area": check[0], "subject": check[1] if len(check) > 1 else "", "depth": float(len(check)), "name_parts": float(fields["Tag"].count("-") + 1), "name_length": float(len(fields["Tag"])),
            "words": float(len(said.split())), "paragraphs": float(said.count("\n .\n") + 1), "codes": float(said.count("<code>")), "references": float(len(fields.get("See-Also", "").split())),
            "must": float(len(re.findall(r"\bmust\b|required", said))), "should": float(len(re.findall(r"should|recommend", said))), "may": float(len(re.findall(r"\bmay\b|might|possibl|consider", said))),
            "please": float(len(re.findall("please", said, re.IGNORECASE))), "experimental": YES["Experimental" in fields], "renamed": YES["Renamed-From" in fields],
        })
        labels.append(fields["Severity"] if fields["Severity"] in ("error", "warning") else "minor")
    return tables.tasks(702, society.evenly(domain(rows, labels), 400, 702, 0), [("shares", (0.5, 0.65, 0.35))])


FAMILIES = {"wy": "wyse", "wyse": "wyse", "tvi": "televideo", "xterm": "xterm", "att": "att", "hp": "hp", "vt": "dec", "screen": "screen", "ncr": "ncr", "ansi": "ansi", "tek": "tektronix"}


def terminal(content):
    """A compiled description (term(5)): flags, numbers and strings, as far as they are there."""
    magic, names, flags, numbers, strings, table = struct.unpack("<6H", content[:12])
    at, wide = 12 + names, 4 if magic == 0o1036 else 2
    flag = content[at:at + flags]
    at += flags + (names + flags) % 2
    number = np.frombuffer(content[at:at + wide * numbers], "<i4" if wide == 4 else "<i2")
    at += wide * numbers
    place = np.frombuffer(content[at:at + 2 * strings], "<i2")
    said = content[at + 2 * strings:][:table]

    def string(i):
        return said[place[i]:].split(b"\0")[0] if i < len(place) and place[i] >= 0 else b""

    def value(i):
        return float(number[i]) if i < len(number) and number[i] >= 0 else None

    there = place >= 0
    return {
        "columns": value(0), "tabs": value(1), "lines": value(2), "glitch": value(4), "labels": value(8), "colors": value(13), "flags": float(sum(f == 1 for f in flag)),
        **{name: YES[i < len(flag) and flag[i] == 1] for i, name in ((1, "margins"), (4, "newline_glitch"), (9, "status_line"), (13, "safe_insert"), (14, "safe_standout"), (25, "no_pad"))},
        "strings": float(there.sum()), "keys": float(there[55:160].sum()), "string_length": float(np.round(table / max(there.sum(), 1), 3)), "delays": float(said.count(b"$<")), "escapes": float(np.round(said.count(b"\x1b") / max(there.sum(), 1), 3)),
        "clear": repr(string(5)[:3]), "cursor": repr(string(10)[:3]), "bold": YES[bool(string(27))], "insert": YES[bool(string(52))],
    }


def terminals():
    """Terminals by what they can do and the signs for it; their maker or family is the class."""
    rows, labels, seen = [], [], set()
    for path in sorted((deb.unpacked("ncurses-term") / "usr/share/terminfo").glob("?/*")):
        family, content = FAMILIES.get(re.match(r"[a-z]*", path.name)[0]), path.read_bytes()
        if family and content not in seen:
            seen.add(content)
            rows.append(terminal(content))
            labels.append(family)
    return tables.tasks(703, domain(rows, labels), [("strings", "strings", 2)])


def tablets():
    """Tablets by size, buttons and what they have; the maker's series is the class."""
    rows, labels = [], []
    for path in sorted(glob.glob("/usr/share/libwacom/*.tablet")):
        said = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
        said.read_string(text(path))
        device, features, buttons = (dict(said[name]) if said.has_section(name) else {} for name in ("Device", "Features", "Buttons"))
        rows.append({
            "width": float(device["width"]) if device.get("width") else None, "height": float(device["height"]) if device.get("height") else None, "layout": YES[bool(device.get("layout"))],
            "integrated": device.get("integratedin", ""), "devices": float(len(re.findall("[^;]+", device.get("devicematch", "")))), "bus": device.get("devicematch", "").split(":")[0], "styli": float(len(re.findall("[^;]+", device.get("styli", "")))),
            "buttons": float(features.get("buttons") or 0), **{name: features.get(name, "") for name in ("stylus", "reversible", "touch", "touchswitch", "ring", "numstrips")},
            "lights": float(len(re.findall("[^;]+", features.get("statusleds", "")))), "placed": float(len(buttons)), "comments": float(text(path).count("\n#")),
        })
        labels.append(device.get("class") or "none")
    many = [label for label, n in collections.Counter(labels).items() if n >= 8]
    rows, labels = zip(*((row, label) for row, label in zip(rows, labels) if label in many))
    return tables.tasks(704, domain(rows, labels), [("shares", (0.6, 0.4))])


def continents():
    """Of countries, that in which most of their time zones are."""
    found = collections.defaultdict(collections.Counter)
    for line in text("/usr/share/zoneinfo/zone.tab").split("\n"):
        if line and line[0] != "#":
            country, _, zone = line.split("\t")[:3]
            found[country][zone.split("/")[0]] += 1
    return {country: counts.most_common(1)[0][0] for country, counts in found.items()}


def locales():
    """Locales by how they write numbers, money, dates and addresses; the continent is the class."""
    where, rows, labels = continents(), [], []
    for path in sorted(glob.glob("/usr/share/i18n/locales/*_[A-Z][A-Z]*")):
        said, name = text(path), os.path.basename(path)
        continent = where.get(re.search("_([A-Z]{2})", name)[1])

        def word(key, number=False):
            found = re.search(rf'^{key}\s+"?([^"\n]*)', said, re.MULTILINE)
            return (float(found[1]) if found and re.fullmatch(r"-?\d+", found[1].strip()) else None) if number else found[1].strip() if found else ""

        if continent in ("Africa", "America", "Asia", "Europe"):
            copied = re.search(r'^LC_MONETARY\n(?:%.*\n)*copy\s+"([^"]*)', said, re.MULTILINE)
            rows.append({
                "decimal": word("decimal_point"), "thousands": word("thousands_sep"), "grouping": word("grouping"), "precedes": word("p_cs_precedes", True), "space": word("p_sep_by_space", True), "negative": word("n_sign_posn", True), "fraction": word("frac_digits", True),
                "first_weekday": word("first_weekday", True), "first_workday": word("first_workday", True), "date": word("d_fmt"), "time": word("t_fmt"), "half_days": word("t_fmt_ampm"), "names": word("name_fmt"), "telephone": word("tel_int_fmt"), "exit_prefix": word("int_prefix", True),
                "post": word("postal_fmt"), "money_of": copied[1] if copied else "", "copies": float(len(re.findall(r"^copy ", said, re.MULTILINE))), "variant": YES["@" in name], "lines": float(said.count("\n")),
                "letters": float(np.round(sum(ord(c) > 591 for c in said) / len(said), 4)), "year": float((re.findall(r'^date\s+"(\d{4})', said, re.MULTILINE) or ["nan"])[0]),
            })
            labels.append(continent)
    return tables.tasks(705, domain(rows, labels), [("same",)])


def media():
    """Kinds of media by their endings, marks, ancestors and comments; what they are is the class, in five. Those that are registered, and those whose names begin with x- or vnd."""
    found = ([], [], [], [])
    space = "{http://www.freedesktop.org/standards/shared-mime-info}"
    for one in xml.etree.ElementTree.parse("/usr/share/mime/packages/freedesktop.org.xml").getroot().iter(space + "mime-type"):
        label, name = one.get("type").split("/")
        globs, magics, comments = (list(one.iter(space + tag)) for tag in ("glob", "match", "comment"))
        parent, said = one.find(space + "sub-class-of"), comments[0].text or ""
        ends = [found.get("pattern") for found in globs]
        own = name.startswith(("x-", "vnd."))
        found[2 * own].append({
            "globs": float(len(globs)), "end_length": float(len(ends[0])) if ends else None, "end": ends[0][2:4] if ends else "", "digits": YES[any(c.isdigit() for end in ends for c in end)], "marks": float(len(magics)), "offset": min((float(m.get("offset").split(":")[0]) for m in magics), default=None),
            "aliases": float(len(list(one.iter(space + "alias")))), "parent": parent.get("type") if parent is not None else "", "translations": float(len(comments)), "words": float(len(said.split())), "first_word": said.split()[0].lower() if said else "",
            "name_length": float(len(name)), "parts": float(len(re.split(r"[-.+]", name))), "acronym": YES[one.find(space + "acronym") is not None], "xml": YES["xml" in name],
        })
        found[2 * own + 1].append(label if label in ("application", "audio", "image", "text", "video") else "")
    parts = (r.domain(table.values, table.labels) for table in (domain(*found[i:i + 2]) for i in (2, 0)))
    yield Task("own-registered", "gap", 1, *(society.evenly(part, each, 706, i) for i, (part, each) in enumerate(zip(parts, (130, 120)))))


def runtime():
    """Scripts of an editor by their commands and comments; what they are for is the class."""
    rows, labels = [], []
    for kind in ("syntax", "ftplugin", "indent", "compiler", "keymap", "autoload"):
        for path in sorted(glob.glob(f"/usr/share/vim/vim90/{kind}/**/*.vim", recursive=True)):
            said = text(path)
            lines = [line.strip() for line in said.split("\n") if line.strip()]
            code = [line for line in lines if line[0] != '"']
            year = re.search(r"(?:Last ?Change|Updated?|Date|Revision).*?\b((?:19|20)\d\d)\b", said, re.IGNORECASE)

            def share(pattern):
                return float(np.round(sum(bool(re.match(pattern, line)) for line in code) / max(len(code), 1), 3))

            rows.append({
                "lines": float(np.round(np.log10(1 + len(lines)), 3)), "comments": float(np.round(1 - len(code) / max(len(lines), 1), 3)), "length": float(np.round(np.mean([len(line) for line in code]) if code else 0, 2)),
                "let": share("let |unlet"), "if": share("if |el|en"), "set": share("set|:set"), "functions": share("fu|endf|return|call"), "loops": share("for |while|endfor|endw"), "commands": share("com|command"), "maps": share("[nvixo]?(nore)?map|loadkeymap"), "continued": share(r"\\"),
                "year": float(year[1]) if year else None, "maintainer": (re.findall(r"Maintainer:?\s*(\S+)", said) or [""])[0], "first_word": code[0].split()[0] if code else "", "guard": YES["exists(" in said[:1500]], "cpo": YES["cpo" in said],
                "address": (re.findall(r"[\w.+-]+@[\w-]+\.(?:\w+\.)*(\w+)", said) or [""])[0],
            })
            labels.append(kind)
    return tables.tasks(707, society.evenly(domain(rows, labels), 300, 707, 0), [("lines", "lines", 2)])


@functools.lru_cache(maxsize=None)
def modules():
    """Folders of modules in Go's cache, and whether they are Google's or its projects'."""
    cache = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True).stdout.strip()
    found = sorted(path for path in glob.glob(cache + "/*/**/*@*", recursive=True) if os.path.isdir(path) and "/cache/" not in path and path.count("@") == 1)
    return [(path, bool(re.match(r"golang\.org|google\.golang\.org|k8s\.io|sigs\.k8s\.io|github\.com/(google|golang)", os.path.relpath(path, cache)))) for path in found]


def source(path, folder):
    """What a file in Go is made of, and what it is for."""
    said = text(path)[:300_000]
    lines = said.split("\n")
    code = [line for line in lines if line.strip() and not line.strip().startswith("//")]
    name = os.path.basename(path)
    package = (re.findall(r"^package (\w+)", said, re.MULTILINE) or [""])[0]
    label = "generated" if "Code generated" in said[:3000] or "DO NOT EDIT" in said[:3000] else "test" if name.endswith("_test.go") else "program" if package == "main" else "library"
    funcs = re.findall(r"^func (?:\([^)]*\) )?(\w)", said, re.MULTILINE)

    def per_line(pattern):
        return float(np.round(1000 * len(re.findall(pattern, said)) / len(lines), 2))

    return label, {
        "module": os.path.basename(folder).split("@")[0], "lines": float(np.round(np.log10(len(lines)), 3)), "code": float(np.round(len(code) / len(lines), 3)), "width": float(np.round(np.mean([len(line) for line in code]) if code else 0, 2)), "depth": float(os.path.relpath(path, folder).count("/")),
        "name_length": float(len(name.removesuffix(".go").removesuffix("_test"))), "low_lines": float(name.removesuffix("_test.go").count("_")), "imports": float(len(re.findall(r'^\t"|^import "', said, re.MULTILINE))), "functions": float(len(funcs)), "exported": float(np.round(np.mean([f.isupper() for f in funcs]), 3)) if funcs else None,
        "types": per_line(r"(?m)^type "), "ifs": per_line(r"\bif "), "fors": per_line(r"\bfor "), "returns": per_line(r"\breturn\b"), "errors": per_line(r"\berr\b"), "texts": per_line(r'"[^"\n]*"'), "numbers": per_line(r"\b\d+\b"), "prints": per_line(r"Print|Errorf|Fatal"),
        "licence": next((word for word in ("Apache", "BSD-style", "MIT", "Copyright") if word in said[:1500]), ""), "build": YES["//go:build" in said[:2000] or "// +build" in said[:2000]], "flags": YES["flag." in said], "c": YES['import "C"' in said],
    }


def sources():
    """Files in Go by their lines; whether they are tests, generated, a program's or a library's is the class. Google's and its projects' modules, and others'."""
    random = np.random.default_rng(708)
    found = ([], []), ([], [])
    for folder, google in modules():
        paths = sorted(glob.glob(folder + "/**/*.go", recursive=True))
        for i in sorted(random.permutation(len(paths))[:90]):
            label, row = source(paths[i], folder)
            found[not google][0].append(row)
            found[not google][1].append(label)
    yield Task("google-others", "gap", 1, *(society.evenly(domain(*part), 400, 708, i) for i, part in enumerate(found)))


LICENCES = {"LGPL": r"LGPL|GNU Lesser|GNU Library", "GPL": r"GPL|GNU General", "MIT": r"Expat|MIT|X11", "BSD": r"BSD", "Apache": r"Apache", "Artistic": r"Artistic"}


def licences():
    """What packages say of who holds their copyright, and where they are from; the licence of most of their files is the class."""
    rows, labels, seen = [], [], set()
    for path in sorted(glob.glob("/usr/share/doc/*/copyright")):
        said = text(path)[:100_000]
        stanzas = re.findall(r"^Files:[ \n]+\*\s*\n(.*?)(?:\n\n|\Z)", said, re.MULTILINE | re.DOTALL)
        licence = re.search(r"^Licen[sc]e: *(.*)", stanzas[0], re.MULTILINE) if stanzas else None
        label = next((name for name, pattern in LICENCES.items() if licence and re.match(pattern, licence[1], re.IGNORECASE)), None)
        if label is None or said in seen:
            continue
        seen.add(said)
        holders = re.sub(r"^.*?Copyright:", "", stanzas[0].split("License:")[0], flags=re.DOTALL)
        years = [int(year) for year in re.findall(r"\b(?:19|20)\d\d\b", holders)]
        name = path.split("/")[-2]
        rows.append({
            "stanzas": float(len(re.findall(r"^Files:", said, re.MULTILINE))), "holders": float(len([line for line in holders.split("\n") if line.strip()])), "first_year": float(min(years)) if years else None, "last_year": float(max(years)) if years else None,
            "source": (re.findall(r"^Source: *\n? *\S*?://(?:www\.)?([^/\s]+)", said, re.MULTILINE) or [""])[0].lower(), "contact": (re.findall(r"^Upstream-Contact:[^@\n]*@([\w.-]+)", said, re.MULTILINE) or [""])[0].lower(), "upstream": YES["Upstream-Name" in said], "comment": YES["\nComment:" in said],
            "organisation": next((word for word in ("Foundation", "Inc", "Team", "University", "Ltd", "contributors", "authors", "developers") if word.lower() in holders.lower()), ""), "addresses": float(holders.count("@")), "name": re.match(r"[a-z]+[0-9]?", name)[0] if "-" in name or name.startswith("lib") else "", "ending": name.split("-")[-1] if "-" in name else "",
            "library": YES[name.startswith("lib")], "name_length": float(len(name)), "debian_years": float(len(set(re.findall(r"\b20\d\d\b", said)))),
        })
        labels.append(label)
    return tables.tasks(709, society.evenly(domain(rows, labels), 260, 709, 0), [("shares", (0.5, 0.65, 0.35, 0.6))])


def options(config):
    """Options of a configuration, with their menu: rows and whether they are built in, a module or off."""
    found, menu = {}, ""
    for line in lzma.open(config, "rt"):
        said = re.match(r"(?:# )?CONFIG_(\w+)(?:=([ym])$| is not set)", line)
        if said:
            parts = said[1].split("_")
            found[said[1]] = ({"first": parts[0], "second": parts[1] if len(parts) > 1 else "", "last": parts[-1], "parts": float(len(parts)), "length": float(len(said[1])), "digits": float(sum(c.isdigit() for c in said[1])), "menu": menu, "menu_word": menu.split()[-1] if menu else "", "menu_words": float(len(menu.split()))}, {"y": "built in", "m": "module"}.get(said[2], "off"))
        elif re.match(r"# \w", line) and not line.startswith(("# end of", "# CONFIG", "# Automatically")):
            menu = line[2:].strip()
    return found


def kernels():
    """Options of a kernel by their names and menus; whether they are built in, a module or off is the class. A kernel for computers, and one for clouds with other options."""
    folder = deb.unpacked("linux-config-6.1") / "usr/src/linux-config-6.1"
    usual, cloud = (options(folder / f"config.amd64_none_{flavour}.xz") for flavour in ("amd64", "cloud-amd64"))
    odd = {name: i % 2 for i, name in enumerate(sorted(usual.keys() | cloud.keys()))}
    for_domains = ([pair for name, pair in part.items() if odd[name] == which] for which, part in enumerate((usual, cloud)))
    yield Task("computers-clouds", "gap", 1, *(society.evenly(domain(*zip(*part)), 650, 710, i) for i, part in enumerate(for_domains)))
