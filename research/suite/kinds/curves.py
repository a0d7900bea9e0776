"""Arrays: clothes, news, movements, tissues, phonemes, readings of names, scales of amino acids, birds of two lands, single cells."""
import gzip
import re

import numpy as np

from draws import Domain, Task
from kinds import deb, r, signs, society, systems, tables, written


def clothes():
    """Pictures of clothes as 14 × 14 pixels; what they are is the class, in ten."""
    folder = next(deb.unpacked("dataset-fashion-mnist").glob("usr/share/**/t10k-images-idx3-ubyte.gz")).parent
    pixels, names = (np.frombuffer(gzip.open(folder / f"t10k-{part}-ubyte.gz").read(), np.uint8, offset=start) for part, start in (("images-idx3", 16), ("labels-idx1", 8)))
    values = pixels.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196).astype(np.float32) / 255
    called = np.array(["shirt", "trousers", "pullover", "dress", "coat", "sandal", "blouse", "sneaker", "bag", "boot"])
    return tables.tasks(1031, society.evenly(Domain(values, called[names]), 90, 1031, 0), [("shares", (0.6, 0.35, 0.5, 0.65, 0.4))])


def news():
    """News of an agency in 256 words; whether they are about corn, another grain or something else is the class, the first two of them rare."""
    found = {}
    for name in ("Grain", "Corn"):
        for part in ("train", "test"):
            columns = written.weka(f"Reuters{name}-{part}")
            found |= {text: name.lower() if label == 1 else found.get(text, "other") for text, label in zip(columns["Text"], columns["class-att"])}
    texts = np.array(sorted(found), object)
    domain = society.evenly(Domain(texts, np.array([found[text] for text in texts])), 1100, 1032, 0)
    for task in tables.tasks(1032, domain, [("shares", (0.6, 0.4, 0.5))]):
        yield Task(task.name, task.group, 1, *signs.counts(task.source, task.target, 256, stop_words="english", token_pattern=r"[a-z]{3,}"))


def mlr(name):
    """Rows and classes of a task that R's package mlr carries."""
    columns = deb.frame("mlr", name + ".task", f'{name}.task[["env"]][["data"]]')
    label = next(key for key in columns if key in ("X1", "classlearn") and len(np.unique(columns[key])) <= 5)
    return r.array(r.domain(columns, r.as_words("class", columns[label]), [label]))


def movements():
    """A hand that draws a gun or only points, at 150 moments; which is the class."""
    return tables.tasks(1033, mlr("gunpoint"), [("shares", (0.65, 0.35))])


def phonemes():
    """Spoken sounds by 150 frequencies; which of five they are is the class."""
    return tables.tasks(1034, mlr("phoneme"), [("same",)])


def tissues():
    """Parts of bodies by 500 genes; which of seven they are is the class, one of them rare."""
    columns = r.frame("dslabs", "tissue_gene_expression", "data.frame(tissue_gene_expression$x, of=tissue_gene_expression$y)")
    return tables.tasks(1035, r.array(r.domain(columns, "of")), [("same",)])


NAMES = {"s": "surname", "p": "place", "f": "woman", "m": "man"}


def readings():
    """Japanese names as one reads them in 256 of their letters' groups; what they name is the class, in four. Those that are written with characters, and those that are written by sound."""
    said = (deb.unpacked("enamdict") / "usr/share/edict/enamdict").read_bytes().decode("euc_jp", errors="replace")
    domains = []
    for i, (pattern, each) in enumerate(((r"^\S+ \[\S+\] /\(([spfm])\) ([A-Z][a-z']+)/$", 160), (r"^\S+ /\(([spfm])\) ([A-Z][a-z']+)/$", 130))):
        found = {}
        for kind, name in re.findall(pattern, said, re.MULTILINE):
            found.setdefault(name.lower(), set()).add(kind)
        names = np.array(sorted(name for name, kinds in found.items() if len(kinds) == 1), object)
        domains.append(society.evenly(Domain(names, np.array([NAMES[min(found[name])] for name in names])), each, 1036, i))
    yield Task("characters-sound", "gap", 1, *signs.counts(*domains, 256, analyzer="char_wb", ngram_range=(1, 3)))


SCALES = {"helix": r"helix|helical", "sheet": "sheet|strand|extended", "turn": r"turn|coil|loop|bend", "water": "hydropho|hydropath|transfer|partition|polarity|accessib|buried|bury", "size": "volume|size|bulk|radius|weight|steric"}


def scales():
    """Scales of the twenty amino acids, each relative to its own mean and deviation; what they measure, by their titles, is the class, in five. Until 1983, and later."""
    expression = 'data.frame(t(sapply(aaindex, function(a) a$I)), title=sapply(aaindex, function(a) a$D), printed=sapply(aaindex, function(a) a$J))'
    columns = deb.frame("seqinr", "aaindex", expression)
    titles, printed = columns.pop("title"), columns.pop("printed")
    year = np.array([int((re.findall(r"\((1[89]\d\d|20\d\d)\)", said) or ["0"])[-1]) for said in printed])
    called = [[label for label, pattern in SCALES.items() if re.search(pattern, title, re.IGNORECASE)] for title in titles]
    label = np.array([one[0] if len(one) == 1 else "" for one in called])
    values = np.stack(list(columns.values()), axis=1)
    values = np.nan_to_num((values - np.nanmean(values, axis=1, keepdims=True)) / np.maximum(np.nanstd(values, axis=1, keepdims=True), 1e-9)).astype(np.float32)
    parts = (np.flatnonzero((label != "") & rows) for rows in ((year > 0) & (year <= 1983), year > 1983))
    yield Task("before-after", "gap", 1, *(Domain(values[rows], label[rows]) for rows in parts))


def warblers():
    """Places by 51 birds that were seen there; how high the plants grow is the class, in six. Provence, and Corsica."""
    columns = deb.frame("ade4", "avimedi", "data.frame(avimedi$fau, of=as.character(avimedi$plan$str), land=as.character(avimedi$plan$reg))")
    yield Task("provence-corsica", "gap", 1, *(r.array(r.domain(columns, "of", ["land"], rows=columns["land"] == land)) for land in ("Pr", "Co")))


def myoblasts():
    """Single cells by 200 genes, the logarithms of what each has read; how long they have grown is the class, in four."""
    deb.unpacked("r-bioc-hsmmsinglecell")
    cells = r.frame("HSMMSingleCell", "HSMM_sample_sheet", library=deb.LIBRARY)
    few = "local({x <- log1p(HSMM_expr_matrix); as.data.frame(t(x[order(-apply(x, 1, var))[1:200], ]))})"
    columns = r.frame("HSMMSingleCell", "HSMM_expr_matrix", few, library=deb.LIBRARY)
    return tables.tasks(1039, r.array(r.domain(columns, r.as_words("hours", cells["Hours"]))), [("shares", (0.6, 0.4, 0.55, 0.35))])
