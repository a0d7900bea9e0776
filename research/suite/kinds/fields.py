"""Arrays: microbes of people and of twins, chapters of the Bible, embryos, letters' pictures, words' parts of speech, and the light that fuels let through: data of R's packages, and files of packages."""
import re
import struct
import unicodedata
import zlib

import numpy as np

from draws import Domain, Task
from kinds import deb, r, signs, society, systems, tables, units


def microbes():
    """What lives in people by 200 kinds of bacteria; which of three types it is, is the class. One way of reading, and another."""
    deb.unpacked("r-bioc-phyloseq")
    script = 'local({e <- attributes(enterotype); x <- e$otu_table; d <- e$sam_data; attr(x, "class") <- attr(d, "class") <- NULL; x <- matrix(as.vector(x), nrow(x)); data.frame(t(sqrt(x[order(-rowSums(x))[1:200], ])), of=d$Enterotype, by=as.character(d$SeqTech))})'
    columns = r.frame("phyloseq", "enterotype", script, library=deb.LIBRARY)
    by = columns.pop("by")
    label = r.as_words("type", columns.pop("of"))
    yield Task("one-another", "gap", 1, *(r.array(r.domain(columns, label, rows=by == one)) for one in ("Pyro454", "Illumina")))


BOOKS = {"law": "Gen Exod Lev Num Deut", "history": "Josh Judg Ruth 1Sam 2Sam 1Kgs 2Kgs 1Chr 2Chr Ezra Neh Esth", "songs": "Job Ps Prov Eccl Song", "prophets": "Isa Jer Lam Ezek Dan Hos Joel Amos Obad Jonah Mic Nah Hab Zeph Hag Zech Mal",
         "gospels": "Matt Mark Luke John Acts", "letters": "Rom 1Cor 2Cor Gal Eph Phil Col 1Thess 2Thess 1Tim 2Tim Titus Phlm Heb Jas 1Pet 2Pet 1John 2John 3John Jude"}


def verses(name, module, odd):
    """Chapters of a translation with an odd or an even number."""
    folder, texts, labels = deb.unpacked(name) / "usr/share/sword/modules/texts/ztext" / module, [], []
    of = {book: label for label, books in BOOKS.items() for book in books.split()}
    for part in ("ot", "nt"):
        packed = (folder / f"{part}.bzz").read_bytes()
        for start, size, _ in struct.iter_unpack("<III", (folder / f"{part}.bzs").read_bytes()):
            said = zlib.decompress(packed[start:start + size]).decode("utf-8")
            for book, number, text in re.findall(r'<chapter [^>]*osisID="(\w+)\.(\d+)" sID[^>]*>(.*?)(?=<chapter [^>]*sID|\Z)', said, re.DOTALL):
                if book in of and int(number) % 2 == odd:
                    texts.append(re.sub(r"<note.*?</note>|<title.*?</title>|<[^>]*>", " ", text, flags=re.DOTALL))
                    labels.append(of[book])
    return Domain(np.array(texts, object), np.array(labels))


def chapters():
    """Chapters of the Bible in 256 words; which part they are of is the class, in six. A translation of 1769, and another one of our time."""
    domains = verses("sword-text-kjv", "engKJV2006eb", 1), verses("sword-text-web", "engWEB2015eb", 0)
    yield Task("old-new", "gap", 1, *signs.counts(*domains, 256, stop_words="english", token_pattern=r"[a-z]{3,}"))


def embryos():
    """Cells of mice's embryos by 48 genes; how many cells the embryo has is the class, in six."""
    deb.unpacked("r-bioc-destiny")
    script = 'local({e <- attributes(guo); x <- get("exprs", envir=e$assayData); data.frame(t(x), of=attributes(e$phenoData)$data$num_cells)})'
    columns = r.frame("destiny", "guo", script, library=deb.LIBRARY)
    return tables.tasks(1233, r.array(r.domain(columns, r.as_words("cells", columns["of"]), ["of"])), [("shares", (0.6, 0.5, 0.4, 0.6, 0.4, 0.6))])


SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "ARABIC", "CANADIAN", "CHEROKEE", "GEORGIAN")


def glyphs():
    """Signs of a typeface as 8 × 16 pixels; the script is the class, in seven."""
    values, labels = [], []
    for line in systems.text(deb.unpacked("unifont") / "usr/share/unifont/unifont.hex").split():
        code, _, bits = line.partition(":")
        script = unicodedata.name(chr(int(code, 16)), "").split(" ")[0]
        if len(bits) == 32 and script in SCRIPTS:
            values.append(np.unpackbits(np.frombuffer(bytes.fromhex(bits), np.uint8)).astype(np.float64))
            labels.append(script.title())
    return tables.tasks(1234, society.evenly(Domain(np.array(values), np.array(labels)), 150, 1234, 0), [("shares", (0.6, 0.4, 0.5, 0.65, 0.35, 0.6, 0.5))])


def speechparts():
    """English words by 256 of their letters and groups of these; which part of speech they are is the class, in four."""
    columns = deb.frame("tidytext", "parts_of_speech")
    words, times = np.unique(columns["word"].astype(str), return_counts=True)
    once = set(words[times == 1])
    known = np.array([word in once and re.fullmatch("[a-z]+", word) is not None for word in columns["word"].astype(str)])
    label = np.where(known & np.isin(columns["pos"], ["Noun", "Adjective", "Adverb", "Verb (transitive)"]), columns["pos"], "")
    domain = society.evenly(r.domain({"word": columns["word"]}, label), 260, 1235, 0)
    for task in tables.tasks(1235, Domain(domain.values["word"], domain.labels), [("shares", (0.6, 0.4, 0.35, 0.65))]):
        yield Task(task.name, task.group, 1, *signs.counts(task.source, task.target, 256, analyzer="char_wb", ngram_range=(1, 3)))


def relatives():
    """What lives in twins and their mothers by 130 kinds of bacteria; whether they are lean or heavy is the class."""
    folder = deb.unpacked("r-bioc-dirichletmultinomial") / "usr/lib/R/site-library/DirichletMultinomial/extdata"
    names, *lines = [line.split(",")[1:] for line in systems.text(folder / "Twins.csv").split("\n") if line]
    counts = np.array(lines, float).T
    labels = np.array([{"0": "lean", "1": "heavy"}.get(one, "") for one in systems.text(folder / "TwinStudy.t").split()])
    known = labels != ""
    person = np.array([name.partition(".")[0] for name in names])  # some were asked twice
    return [units.apart("shares", Domain(np.sqrt(counts / counts.sum(axis=1, keepdims=True))[known], labels[known]), person[known], (0.4, 0.6), 1236)]


def heats():
    """Fuels by 231 frequencies of infrared light that they let through; how much heat they give is the class, in two."""
    columns = deb.frame("mlr", "fuelsubset.task", 'data.frame(of=fuelsubset.task[["env"]][["data"]][["heatan"]], fuelsubset.task[["env"]][["data"]][["NIR"]])')
    return tables.tasks(1237, r.array(r.domain(columns, tables.cut(columns["of"], ["little", "much"]), ["of"])), [("same",)])
