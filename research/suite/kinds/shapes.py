"""Arrays: letters of writing systems, names of places, recipes of drums, genes of viruses and of cattle, terms, answers of servers, pictures of lands, mayonnaise, soils."""
import collections
import gzip
import re

import numpy as np
from PIL import Image, ImageFont

import draws
from draws import Domain, Task, by_class
from kinds import deb, fonts, r, records, signs, society, systems, tables

WRITING = {"Latin": ("", 0x41, 0x24F), "Greek": ("", 0x391, 0x3FF), "Cyrillic": ("", 0x400, 0x481), "Armenian": ("Armenian", 0x531, 0x587), "Hebrew": ("Hebrew", 0x5D0, 0x5EA), "Devanagari": ("Devanagari", 0x904, 0x939), "Bengali": ("Bengali", 0x985, 0x9B9), "Gurmukhi": ("Gurmukhi", 0xA05, 0xA39), "Tamil": ("Tamil", 0xB85, 0xBB9), "Telugu": ("Telugu", 0xC05, 0xC39), "Malayalam": ("Malayalam", 0xD05, 0xD39), "Georgian": ("Georgian", 0x10D0, 0x10FF), "Ethiopic": ("Ethiopic", 0x1200, 0x137C), "Thai": ("Thai", 0xE01, 0xE2E), "Sinhala": ("Sinhala", 0xD85, 0xDC6)}


def writing():
    """Letters of fifteen writing systems as 12 × 12 pixels; the system is the class. One style, bold and not, and another."""
    folder, domains = deb.unpacked("fonts-noto-core") / "usr/share/fonts/truetype/noto", []
    for style, weights, each, seed in (("Sans", ("Regular", "Bold"), 90, 0), ("Serif", ("Regular",), 60, 1)):
        values, labels, random = [], [], np.random.default_rng([841, seed])
        for label, (name, first, last) in WRITING.items():
            for weight in weights:
                font = ImageFont.truetype(str(folder / f"Noto{style}{name}-{weight}.ttf"), 64)
                missing = bytes(font.getmask("\U000e0fff"))
                for code in range(first, last + 1):
                    if chr(code).isalpha() and bytes(font.getmask(chr(code))) != missing:
                        drawn = fonts.glyph(font, chr(code), random.normal(0, 3))
                        if drawn is not None:
                            values.append(drawn)
                            labels.append(label)
        domains.append(society.evenly(Domain(np.stack(values), np.array(labels)), each, 841, seed))
    yield Task("sans-serif", "gap", 1, *domains)


LANDS = ["France", "Greece", "Japan", "Romania", "Germany", "Italy", "Philippines", "Brazil", "India", "Estonia", "Mexico", "Turkey"]


def places():
    """Names of places in 256 of their trigrams; the country is the class, in twelve. Large places, and small ones."""
    columns = deb.frame("maps", "world.cities")
    parts = []
    for seed, upper in enumerate((True, False)):
        rows = np.zeros(len(columns["pop"]), bool)
        for land in LANDS:
            of = columns["country.etc"] == land
            rows |= of & ((columns["pop"] >= np.median(columns["pop"][of])) == upper)
        names = np.array([str(name).lower() for name in columns["name"]], object)
        parts.append(society.evenly(Domain(names[rows], columns["country.etc"][rows].astype(str)), 160 - 20 * seed, 842, seed))
    yield Task("large-small", "gap", 1, *signs.counts(*parts, 256, analyzer="char_wb", ngram_range=(1, 3)))


STRUCK = {"kick": r"kick|bass|\bbd|^k\d|\bk_", "snare": r"snare|\bsd|^s\d|rim", "hat": r"hat|\bhh|open|closed", "tom": r"tom|conga|bongo", "metal": r"cymb|ride|crash|bell|clave|block", "hand": r"clap|tamb|shak|marac|snap"}
FOLDERS = {"acoustic", "electro", "linn", "misc", "misc_bass", "misc_claps", "misc_electro", "misc_hats", "misc_perc", "jorgensohn", "latin", "r_n_b", "magnetboy"}


def beats():
    """Recipes of drums, each some 90 numbers; what they sound like is the class, in six. Sounds that people made up, and those that follow machines."""
    found = ([], []), ([], [])
    for path in sorted((deb.unpacked("lmms-common") / "usr/share/lmms/samples/drumsynth").glob("*/*.ds")):
        called = [label for label, pattern in STRUCK.items() if re.search(pattern, path.stem.lower())]
        if len(called) == 1:
            numbers = {}
            for section in re.split(r"^\[", systems.text(path), flags=re.MULTILINE)[1:]:
                for key, value in re.findall(r"^(\w+)=([-\d., ]+)", section, re.MULTILINE):
                    said = [float(v) for v in re.findall(r"-?\d+(?:\.\d+)?", value)]
                    numbers[section.split("]")[0], key] = said[:6] if key.startswith(("Envelope", "FilterEnv")) else said[:1]
            part = found[path.parent.name not in FOLDERS]
            part[0].append(numbers)
            part[1].append(called[0])
    counted = collections.Counter((name, i) for numbers in found[0][0] for name, said in numbers.items() for i in range(len(said)))
    names = sorted(name for name, n in counted.items() if n >= 0.5 * len(found[0][0]))
    domains = []
    for part in found:
        values = np.array([[numbers.get(name, [])[i] if i < len(numbers.get(name, [])) else 0.0 for name, i in names] for numbers in part[0]])
        domains.append(Domain((np.sign(values) * np.log1p(np.abs(values))).astype(np.float32), np.array(part[1])))
    yield Task("made-machines", "gap", 1, *domains)


def genotypes(name, *others):
    """Counts of a data set's alleles, and further columns, by expressions of R."""
    said = ", ".join(f"of_{key}={expression}" for key, expression in others)
    columns = deb.frame("adegenet", name, f'data.frame(attr({name}, "tab"), {said}, check.names=FALSE)')
    keys = [f"of_{key}" for key, _ in others]
    values = np.stack([column for key, column in columns.items() if key not in keys], axis=1).astype(np.float32)
    return np.nan_to_num(values), {key: columns[key] for key in keys}


def viruses():
    """Influenza's places that differ, as counts of letters; the winter is the class, in six. Those found in America and Europe, and in Asia."""
    values, said = genotypes("H3N2", ("year", 'attr(H3N2, "other")$epid'), ("country", 'attr(H3N2, "other")$x$country'))
    asia = np.isin(said["of_country"], ["Japan", "China", "Taiwan", "South Korea", "Nepal", "Mongolia", "Thailand", "Singapore", "Malaysia", "Philippines", "Viet Nam", "India", "Hong Kong"])
    winter = np.array([f"winter {int(year)}" for year in said["of_year"]])
    yield Task("west-asia", "gap", 1, *(society.evenly(Domain(values[rows], winter[rows]), each, 844, i) for i, (rows, each) in enumerate(((~asia, 260), (asia, 160)))))


def cattle():
    """Cattle by their genes at thirty places, as counts; the breed is the class, in fifteen."""
    values, said = genotypes("microbov", ("breed", 'attr(microbov, "other")$breed'))
    few = np.random.default_rng([845, 0]).permutation(values.shape[1])[:80]
    domain = Domain(values[:, np.sort(few)], said["of_breed"].astype(str))
    source, target = (domain.take(rows) for rows in by_class(domain.labels, (0.6, 0.4, 0.65, 0.35, 0.5), np.random.default_rng([845, 1])))
    yield Task("shares", "label-shift", 1, source, target)


SUBJECTS = ["language", "hardware", "networking", "operating system", "programming", "company", "person", "data", "mathematics", "jargon", "communications", "standard"]


def terms():
    """What a dictionary of computing says of terms, in 256 words; what they belong to is the class. Long entries, and short ones."""
    said = gzip.open(deb.unpacked("dict-foldoc") / "usr/share/dictd/foldoc.dict.dz", "rt", encoding="utf-8", errors="replace").read()
    texts, labels = [], []
    for subjects, text in re.findall(r"^[^ \n].*\n\n? +<([^>\n]*)>([^\n]*(?:\n(?: .*)?)*)", said, re.MULTILINE):
        names = [name for name in SUBJECTS if name in [one.strip() for one in subjects.split(",")]]
        if len(names) == 1:
            texts.append(re.sub(r"[{}\d]|\(.*?\)", " ", text))
            labels.append(names[0])
    texts, labels = np.array(texts, object), np.array(labels)
    long = np.array([len(text.split()) for text in texts]) >= 45
    shared = [label for label in np.unique(labels) if min((long & (labels == label)).sum(), (~long & (labels == label)).sum()) >= 30]
    parts = (society.evenly(Domain(texts[rows], labels[rows]), 180, 846, i) for i, rows in enumerate((long & np.isin(labels, shared), ~long & np.isin(labels, shared))))
    yield Task("long-short", "gap", 1, *signs.counts(*parts, 256, stop_words="english"))


SERVICES = ["http", "telnet", "ftp", "smtp", "http-proxy", "pop3", "upnp", "ssh", "imap", "sip", "rtsp", "domain"]


def servers():
    """Patterns of what servers answer in 256 of their trigrams; the service is the class, in twelve, some of them rare."""
    texts, labels = [], []
    for service, text in re.findall(r"^(?:soft)?match (\S+) m(.*?)(?: p/| i/| cpe:|$)", systems.text(deb.unpacked("nmap-common") / "usr/share/nmap/nmap-service-probes"), re.MULTILINE):
        if service in SERVICES:
            texts.append(re.sub("|".join(map(re.escape, sorted(SERVICES, key=len, reverse=True))), " ", text.lower()))
            labels.append(service)
    domain = society.evenly(Domain(np.array(texts, object), np.array(labels)), 420, 847, 0)
    shares = tuple(np.random.default_rng([847, 1]).permutation(np.linspace(0.3, 0.7, len(set(domain.labels)))))
    source, target = (domain.take(rows) for rows in by_class(domain.labels, shares, np.random.default_rng([847, 2])))
    yield Task("shares", "label-shift", 1, *signs.counts(source, target, 256, analyzer="char", ngram_range=(1, 3)))


def lands():
    """Pictures of a game's lands as 8 × 8 pixels in colour with what shines through; what they show is the class. All pictures of one land, in its variants, are in one domain."""
    values, labels, units = [], [], []
    folder = deb.unpacked("wesnoth-1.16-data") / "usr/share/games/wesnoth/1.16/data/core/images/terrain"
    for path in sorted(folder.glob("*/**/*.png")):
        label = path.relative_to(folder).parts[0]
        if label in ("castle", "cave", "chasm", "flat", "forest", "frozen", "hills", "mountains", "sand", "swamp", "village", "walls", "water", "bridge", "interior", "unwalkable"):
            values.append(np.asarray(Image.open(path).convert("RGBA").resize((8, 8), Image.BOX), np.float32).ravel() / 255)
            labels.append({"walls": "wall", "unwalkable": "chasm"}.get(label, label))
            units.append(label + re.sub(r"-?\d+|-(?:tile|ne|nw|se|sw|n|s|long|medium|small)\b", "", path.stem))
    labels = np.array(labels)
    rows = draws.at_most(labels, 160, np.random.default_rng([848, 0]))
    domain = Domain(np.stack(values)[rows], labels[rows])
    yield records.drawn("shares", "label-shift", 1, domain, np.array(units)[rows], (0.6, 0.4, 0.5, 0.65, 0.35), np.random.default_rng(848))


def mayonnaise():
    """Mayonnaise by 351 of its colours, each three times; which of six oils it is made of is the class."""
    columns = deb.frame("pls", "mayonnaise", "data.frame(unclass(mayonnaise$NIR), oil=mayonnaise$oil.type)")
    label = np.array([f"oil {int(oil)}" for oil in columns.pop("oil")])
    values = np.stack(list(columns.values()), axis=1).astype(np.float32)
    return [records.drawn("same", "none", 1, Domain(values, label), np.arange(len(label)) // 3, (0.5,), np.random.default_rng(849))]



def soils():
    """Soils by what they consist of, in 68 measures; the country is the class, in three."""
    columns = r.frame("VIM", "chorizonDL")
    label = np.array(["", "Finland", "Norway", "Russia"])[columns["*COUN"].astype(int)]
    names = [name for name, values in columns.items() if values.dtype == np.float64 and not np.isnan(values).any() and name not in ("*ID", "XCOO", "YCOO", "*COUN", "*ASP", "LITO", "TOPC", "ELEV")][:90]
    values = np.stack([np.log(np.maximum(columns[name], 1e-4)) if columns[name].min() > 0 else columns[name] for name in names], axis=1).astype(np.float32)
    iron = values[:, names.index("Fe")]
    return tables.tasks(850, Domain(values, label), [("iron", iron, 2)])
