"""Arrays: sounds of a synthesizer, genders of words, names of vendors, genes, peoples, remedies, fighters of a game."""
import gzip
import re

import numpy as np
from PIL import Image

import draws
from draws import Domain, Task, by_class
from kinds import deb, signs, society, systems, tables, units

SOUNDS = {"bass": r"bass|\bsub", "keys": r"piano|\bep\b|rhod|clav|keys|harpsi", "strings": r"string|violin|cello|orchestra", "organ": r"organ|hammond|drawbar", "brass": r"brass|horn|trump|sax|tuba", "bell": r"bell|chime|vibra|glock|marimba", "pad": r"pad\b|pads|pad\d|choir|voice|vox|warm", "lead": r"lead|solo"}


def presets():
    """Settings of a synthesizer, numbers and, of those that choose, one of several columns; what they sound like, by their names, is the class, in eight. One author's, and another's."""
    found = ([], []), ([], [])
    for path in sorted((deb.unpacked("amsynth") / "usr/share/amsynth/banks").glob("*.bank")):
        if path.name.startswith(("Brian", "Patrik")):
            for stanza in systems.text(path).split("<preset> <name> ")[1:]:
                name, *lines = stanza.split("\n")
                name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
                called = [label for label, pattern in SOUNDS.items() if re.search(pattern, name)]
                numbers = dict(line.split(" ")[1:3] for line in lines if line.startswith("<parameter> "))
                if len(called) == 1:
                    part = found[path.name.startswith("Patrik")]
                    part[0].append({key: float(value) for key, value in numbers.items()})
                    part[1].append(called[0])
    names = sorted(set.intersection(*(set(numbers) for part in found for numbers in part[0])))
    values = [np.array([[numbers[name] for name in names] for numbers in part[0]], np.float32) for part in found]
    codes = [i for i in range(len(names)) if (values[0][:, i] == values[0][:, i].round()).all() and len(np.unique(values[0][:, i])) > 2]
    said = [np.hstack([np.delete(part, codes, axis=1), *(part[:, [i]] == np.unique(values[0][:, i]) for i in codes)]).astype(np.float32) for part in values]
    kept = np.flatnonzero(said[0].std(axis=0) > 0)
    yield Task("one-another", "gap", 1, *(society.evenly(Domain(part[:, kept], np.array(labels)), 130, 941, i) for i, (part, (_, labels)) in enumerate(zip(said, found))))


def genders():
    """German nouns in 256 of their letters' groups, ends marked; the gender is the class, in three. Short nouns, and long ones."""
    said = gzip.open(deb.unpacked("dict-freedict-deu-eng") / "usr/share/dictd/freedict-deu-eng.dict.dz", "rt", encoding="utf-8", errors="replace").read()
    found = dict(re.findall(r"^([A-ZÄÖÜ][a-zäöüß]{2,}) /[^/\n]*/ <(masc|fem|neut), n, sg>", said, re.MULTILINE))
    nouns = np.array(sorted(found), object)
    labels, long = np.array([found[noun] for noun in nouns]), np.array([len(noun) for noun in nouns])
    parts = (society.evenly(Domain(np.array([noun.lower() for noun in nouns[rows]], object), labels[rows]), each, 942, i) for i, (rows, each) in enumerate(((long <= 7, 500), (long >= 12, 400))))
    yield Task("short-long", "gap", 1, *signs.counts(*parts, 256, analyzer="char_wb", ngram_range=(2, 3)))


COUNTRIES = {"US": "America", "CN": "China", "DE": "Germany", "JP": "Japan", "KR": "Korea", "FR": "France", "IT": "Italy", "GB": "Britain", "SE": "Sweden", "NL": "Netherlands", "ES": "Spain", "IN": "India"}


def vendors():
    """Names of companies that make what has an address in a network, in 256 of their trigrams; the country is the class, in twelve. Those with many addresses, and those with few."""
    domains = []
    for i, (file, each) in enumerate((("oui", 170), ("oui36", 130))):
        said = systems.text(deb.unpacked("ieee-data") / f"usr/share/ieee-data/{file}.txt").replace("\r", "")
        pairs = {name.strip().lower(): COUNTRIES.get(country) for name, country in re.findall(r"\(base 16\)\t+(.+)\n(?:\t+.*\n)*?\t+([A-Z]{2})\n(?=\n|\Z)", said)}
        names = np.array(sorted(name for name, country in pairs.items() if country), object)
        domains.append(society.evenly(Domain(names, np.array([pairs[name] for name in names])), each, 943, i))
    both = set(domains[0].values)
    domains[1] = domains[1].take(np.flatnonzero([name not in both for name in domains[1].values]))
    yield Task("many-few", "gap", 1, *signs.counts(*domains, 256, analyzer="char_wb", ngram_range=(1, 3)))


def genes():
    """Genes of yeast at 73 moments of four experiments; when in a cell's life they are read is the class, in five."""
    parts = [deb.frame("kohonen", "yeast", f"data.frame(yeast${name})") for name in ("alpha", "cdc15", "cdc28", "elu")]
    label = deb.frame("kohonen", "yeast", "data.frame(phase=yeast$class)")["phase"].astype(str)
    values = np.stack([column for part in parts for column in part.values()], axis=1)
    domain = Domain(np.nan_to_num(values).astype(np.float32), label)
    source, target = (domain.take(rows) for rows in by_class(label, (0.5, 0.35, 0.6, 0.65, 0.4), np.random.default_rng(944)))
    yield Task("shares", "label-shift", 1, source, target)


def peoples():
    """People by their genes at some of 678 places, as counts; the part of the world is the class, in seven, one of them rare. Each people is in one domain."""
    expression = 'local({a <- attributes(eHGDP); few <- a$loc.fac %in% levels(factor(a$loc.fac))[1:30]; data.frame(attr(eHGDP, "tab")[, few], of_people=as.integer(a$pop), of_part=a$other$popInfo$Region[as.integer(a$pop)])})'
    columns = deb.frame("adegenet", "eHGDP", expression)
    label, people = columns.pop("of_part").astype(str), columns.pop("of_people").astype(int)
    values = np.nan_to_num(np.stack(list(columns.values()), axis=1)).astype(np.float32)
    few = np.sort(np.random.default_rng([945, 0]).permutation(np.flatnonzero((values > 0).sum(axis=0) >= 20))[:160])
    yield units.apart("shares", *units.even(Domain(values[:, few], label), people, 230, 945), (0.6, 0.4, 0.5, 0.65, 0.35), 945)


def remedies():
    """Molecules by 180 measures; whether they stop an enzyme of inflammation is the class."""
    columns = deb.frame("caret", "cox2", "data.frame(cox2Descr, of=cox2Class)")
    label = columns.pop("of").astype(str)
    kept = [name for name, values in columns.items() if len(np.unique(values)) > 20 and not np.isnan(values).any()]
    values = np.stack([columns[name] for name in kept], axis=1).astype(np.float32)
    weight = columns["QikProp_MW"]
    rows = draws.at_most(label, 170, np.random.default_rng([946, 0]))
    return tables.tasks(946, Domain(values[rows], label[rows]), [("weight", weight[rows], 2)])


RACES = {"drakes": "drake", "dwarves": "dwarf", "elves-wood": "elf", "human-loyalists": "soldier", "human-magi": "mage", "human-outlaws": "outlaw", "merfolk": "merfolk", "nagas": "naga", "orcs": "orc", "undead-skeletal": "skeleton", "saurians": "saurian"}


def fighters():
    """Pictures of a game's fighters as 8 × 8 pixels in colour with what shines through; what they are is the class, in eleven. All pictures of one fighter are in one domain."""
    values, labels, who = [], [], []
    folder = deb.unpacked("wesnoth-1.16-data") / "usr/share/games/wesnoth/1.16/data/core/images/units"
    for name, label in RACES.items():
        for path in sorted((folder / name).glob("**/*.png")):
            values.append(np.asarray(Image.open(path).convert("RGBA").resize((8, 8), Image.BOX), np.float32).ravel() / 255)
            labels.append(label)
            who.append(f"{name}/{re.split('[-+.0-9]', path.relative_to(folder / name).as_posix())[0].split('/')[0]}")
    domain, who = units.even(Domain(np.stack(values), np.array(labels)), who, 140, 947)
    yield units.apart("shares", domain, who, (0.6, 0.4, 0.5, 0.65, 0.35), 947)
