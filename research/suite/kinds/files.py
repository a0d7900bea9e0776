"""Files of the system: their bytes, lines of source code, and a table of manual pages."""
import functools
import glob
import gzip
import os
import re

import numpy as np

from draws import Domain, Task, along, at_most, by_class, halves, redraw
from kinds import texts

GO = "/usr/local/go" if os.path.isdir("/usr/local/go/src") else "/usr/share/go-1.19"


def below(folder, ends, limit=4000):
    """Paths of files, not of links, whose names end so; sorted, and every n-th if they are more than the limit."""
    found = []
    for path, folders, names in os.walk(folder):
        folders.sort()
        found += [os.path.join(path, name) for name in sorted(names) if name.endswith(ends)]
    found = [path for path in found if os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) > 64]
    return found[::-(-len(found) // limit)] if len(found) > limit else found


def read(path, size=200_000):
    with open(path, "rb") as f:
        return f.read(size)


ENDINGS = "py pyc h hpp so a png svg json xml txt gz mo html pl pm js vim go mod conf yaml rst".split()
LIBRARY, SHARE = ("/usr/lib/python3", "/usr/lib/python3.11", "/usr/lib/x86_64-linux-gnu", "/usr/lib/gcc", "/usr/include"), ("/usr/share",)


@functools.lru_cache(maxsize=None)
def files(folders, each=150):
    """Up to `each` files of every ending below the folders, of those that have 30."""
    random = np.random.default_rng(51)
    paths, labels = [], []
    for ending in ENDINGS:
        found = [path for folder in folders for path in below(folder, "." + ending)]
        if len(found) >= 30:
            picked = random.permutation(len(found))[:each]
            paths += [found[i] for i in picked]
            labels += [ending] * len(picked)
    return np.array(paths), np.array(labels)


def histogram(content):
    counts = np.bincount(np.frombuffer(content, np.uint8), minlength=256)
    return np.sqrt(counts / counts.sum()).astype(np.float32)


def of_bytes():
    """Roots of the shares of the 256 bytes; endings are the classes."""
    def task(name, seed, source, target, beginning=200_000):
        shared, random, domains = np.intersect1d(source[1], target[1]), np.random.default_rng([52, seed]), []
        for (paths, labels), size in ((source, 200_000), (target, beginning)):
            kept = random.permutation(np.flatnonzero(np.isin(labels, shared)))
            domains.append(Domain(np.stack([histogram(read(path, size)) for path in paths[kept]]), labels[kept]))
        return Task(name, "gap", seed, *domains)

    def part(rows):
        return paths[rows], labels[rows]

    yield task("library-share", 1, files(LIBRARY), files(SHARE))
    paths, labels = files(SHARE)
    source, target = halves(len(paths), np.random.default_rng([52, 2]))
    yield task("share-beginnings", 2, part(source), part(target), beginning=300)
    paths, labels = (np.concatenate(both) for both in zip(files(LIBRARY, 250), files(SHARE, 250)))
    sizes = np.array([os.path.getsize(path) for path in paths])
    large = sizes > 6000
    enough = [ending for ending in np.unique(labels) if min((large & (labels == ending)).sum(), (~large & (labels == ending)).sum()) >= 25]
    kept = np.isin(labels, enough)
    yield task("small-large", 3, part(np.flatnonzero(kept & ~large)), part(np.flatnonzero(kept & large)))


LANGUAGES = {  # language: endings, a folder for the source, other packages' for the target
    "python": ((".py",), "/usr/lib/python3.11", "/usr/lib/python3/dist-packages/sklearn"),
    "c": ((".h", ".c"), "/usr/include/linux", "/usr/include/x86_64-linux-gnu"),
    "c++": (("",), "/usr/include/c++/12", "/usr/include/torch/csrc"),
    "perl": ((".pm", ".pl"), "/usr/share/perl/5.36.0", "/usr/share/perl5"),
    "go": ((".go",), GO + "/src/net", GO + "/src/cmd/compile"),
    "shell": ((".postinst", ".prerm", ".postrm", ".preinst", ".config"), "/var/lib/dpkg/info", None),
}


@functools.lru_cache(maxsize=None)
def passages(language, target, count=400, lines=8):
    """Passages of so many successive lines, one a file or more where files are few; blank lines left out."""
    ends, *folders = LANGUAGES[language]
    random = np.random.default_rng([53, target])
    if folders[target] is None:  # programs that say they are the shell's
        paths = [path for path in below("/usr/bin", "") if re.match(rb"#!\s*/bin/(ba)?sh", read(path, 20))]
    else:
        paths = below(folders[target], tuple(ends))
    found = []
    for path in paths:
        said = [line.strip() for line in read(path).decode("utf-8", "replace").split("\n") if line.strip()]
        for _ in range(1 + count // len(paths)):
            if len(said) >= lines:
                start = random.integers(len(said) - lines + 1)
                found.append(tuple(said[start:start + lines]))
    return [found[i] for i in random.permutation(len(found))[:count]]


def code():
    """Passages of source code, three or a few lines, in 64 principal directions of their trigrams; languages are the classes."""
    def domain(target, length, part=slice(None)):
        said = [(language, "\n".join(lines[:length])) for language in LANGUAGES for lines in passages(language, target)[part]]
        return Domain(np.array([text for _, text in said], object), np.array([language for language, _ in said]))

    plans = [("packages", "gap", domain(0, 3), domain(1, 3)), ("long-short", "gap", domain(0, 8, slice(0, None, 2)), domain(1, 1, slice(1, None, 2))),
             ("shares", "label-shift", domain(0, 2, slice(0, None, 2)), domain(0, 2, slice(1, None, 2)))]
    for seed, (name, group, source, target) in enumerate(plans, 1):
        random = np.random.default_rng([54, seed])
        source, target = (part.take(redraw(part.labels, 1500, random)) for part in (source, target))
        yield Task(name, group, seed, *texts.directions(source, target, analyzer="char", ngram_range=(1, 3), lowercase=False))


SECTIONS = {"1": "commands", "3": "functions", "5": "formats", "7": "formats", "8": "administration"}
GENERATORS = ["Pod::Man", "Docutils", "docbook", "DocBook", "help2man", "Asciidoctor", "asciidoc", "Sphinx", "mdoc", "scdoc", "ronn", "Doxygen", "pandoc", "txt2man"]


def page(path):
    """What a manual page is made of: counts of its requests, its words and its year."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as f:
        text = f.read(300_000)
    lines = text.split("\n")
    requests = [line[1:].split(" ")[0] for line in lines if line.startswith(".")]
    body = [line for line in lines if line and line[0] not in ".'"]
    words = sum(len(line.split()) for line in body)
    found = re.search(r"^\.(?:TH|Dd) .*?\b((?:19|20)\d\d)\b", text, re.MULTILINE)
    origin = next((name for name in GENERATORS if name in text[:600]), "")
    first = re.search(r"^\.(?:SH|Sh) +\"?(.*?)\"?$", text[text.find("NAME"):], re.MULTILINE)

    def share(*names):
        return np.round(1000 * sum(request in names for request in requests) / len(lines), 2)

    return {
        "lines": np.round(np.log10(len(lines)), 4), "words_a_line": np.round(words / max(len(body), 1), 3), "requests": np.round(len(requests) / len(lines), 4),
        "sections": float(sum(request in ("SH", "Sh") for request in requests)), "subsections": float(sum(request in ("SS", "Ss") for request in requests)),
        "paragraphs": share("PP", "P", "Pp", "LP"), "tagged": share("TP", "It", "IP"), "examples": share("nf", "Bd", "EX"), "bold": share("B", "BR", "BI", "Nm"), "italic": share("I", "IR", "RI", "Ar"),
        "options": np.round(1000 * len(re.findall(r"^(?:\.B|\\fB)?[ \"]*\\-", text, re.MULTILINE)) / len(lines), 2),
        "parentheses": np.round(1000 * text.count("(") / len(text), 3), "name_length": float(len(os.path.basename(path).split(".")[0])),
        "year": float(found[1]) if found else np.nan,
        "origin": {"DocBook": "docbook"}.get(origin, origin), "dialect": "mdoc" if "Sh" in requests else "man", "second_section": first[1].lower()[:20] if first else "",
    }


@functools.lru_cache(maxsize=None)
def manuals_of(seed, generated=None, rows=1200):
    random = np.random.default_rng([55, seed])
    paths = [path for section in SECTIONS for path in below(f"/usr/share/man/man{section}", ".gz", 20_000) if not os.path.basename(path).startswith("gcloud")]
    labels = np.array([SECTIONS[os.path.basename(os.path.dirname(path))[3:]] for path in paths])
    found, kept = [], []
    for i in at_most(labels, 700, random):
        values = page(paths[i])
        if generated is None or (values["origin"] == "Pod::Man") == generated:
            found.append(values)
            kept.append(labels[i])
        if len(kept) == rows:
            break
    values = {name: np.array([row[name] for row in found], object if isinstance(found[0][name], str) else np.float64) for name in found[0]}
    return Domain(values, np.array(kept))


def manuals():
    """Counts and words of manual pages; their sections are the classes."""
    domain = manuals_of(1)
    yield Task("length", "covariate", 1, *(domain.take(rows) for rows in along(domain.values["lines"], np.random.default_rng([56, 1]), 3)))
    domain = manuals_of(2)
    yield Task("options", "covariate", 2, *(domain.take(rows) for rows in along(domain.values["parentheses"], np.random.default_rng([56, 2]))))
    domain = manuals_of(3)
    yield Task("shares", "label-shift", 3, *(domain.take(rows) for rows in by_class(domain.labels, (0.8, 0.5, 0.25), np.random.default_rng([56, 3]))))
    written, by_program = manuals_of(4, False, 700), manuals_of(5, True, 500)
    for part in (written, by_program):
        del part.values["origin"]
    yield Task("written-pod", "gap", 4, written, by_program)
