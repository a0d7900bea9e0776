"""Debian's packages: what the lists of apt say of them, and what AppStream says of applications."""
import functools
import glob
import re
import subprocess

import numpy as np

from draws import Domain, Task, along, at_most, by_class, halves, redraw
from kinds import texts

LISTS = "/var/lib/apt/lists/"
GROUPS = {  # of sections, which are the classes
    "program": "admin editors games graphics mail net sound utils video web science math gnome kde x11 text",
    "library": "libs oldlibs introspection", "development": "libdevel devel debug", "documentation": "doc",
    "script": "python perl ruby php javascript gnu-r lisp", "compiled": "golang rust haskell ocaml java",
}
GROUP = {section: group for group, sections in GROUPS.items() for section in sections.split()}


def read_lists(pattern):
    found = sorted(glob.glob(LISTS + pattern))
    if not found:
        raise SystemExit(f"packages: no {LISTS}{pattern}; apt-get install apt appstream && apt-get update")
    return "".join(subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path], capture_output=True, check=True, text=True).stdout for path in found)


@functools.lru_cache(maxsize=None)
def stanzas():
    """Packages of the release itself, by name."""
    text = read_lists("*_debian_dists_*_main_binary-*_Packages*")
    packages = {}
    for stanza in text.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z0-9-]+): *(.*(?:\n .*)*)", stanza, re.MULTILINE))
        if fields.get("Section") in GROUP and "-updates" not in stanza:
            packages[fields["Package"]] = fields
    return [packages[name] for name in sorted(packages)]


def number(text):
    return float(text) if text else np.nan


def count(field):
    return float(len(field.split(","))) if field else 0.0


def logarithm(text):
    return np.round(np.log10(1 + number(text)), 4)


def tag(fields, facet):
    found = re.search(facet + r"::([a-z0-9-]+)", fields.get("Tag", ""))
    return found[1] if found else ""


def revision(version):
    found = re.search(r"-(\d+)[^-]*$", version)
    return float(found[1]) if found else np.nan


COLUMNS = {
    "size": lambda f: logarithm(f.get("Size")),
    "installed_size": lambda f: logarithm(f.get("Installed-Size")),
    "depends": lambda f: count(f.get("Depends")),
    "suggests": lambda f: count(f.get("Suggests")) + count(f.get("Recommends")),
    "provides": lambda f: count(f.get("Provides")),
    "breaks": lambda f: count(f.get("Breaks")) + count(f.get("Conflicts")),
    "title_words": lambda f: float(len(f["Description"].split())),
    "name_length": lambda f: float(len(f["Package"])),
    "name_parts": lambda f: float(len(f["Package"].split("-"))),
    "revision": lambda f: revision(f["Version"]),  # none in native packages
    "tags": lambda f: count(f["Tag"]) if "Tag" in f else np.nan,
    "architecture": lambda f: f["Architecture"],
    "multi_arch": lambda f: f.get("Multi-Arch", ""),
    "priority": lambda f: f["Priority"],
    "source_is_name": lambda f: "no" if "Source" in f else "yes",
    "homepage": lambda f: (re.findall(r"//[^/]*?([a-z]+)(?::\d+)?(?:/|$)", f.get("Homepage", "")) or [""])[0],
    "role": lambda f: tag(f, "role"),
    "written_in": lambda f: tag(f, "implemented-in"),
}


def table(packages):
    values = {}
    for name, of in COLUMNS.items():
        column = [of(fields) for fields in packages]
        values[name] = np.array(column, object if isinstance(column[0], str) else np.float64)
    return Domain(values, np.array([GROUP[fields["Section"]] for fields in packages]))


def package_table():
    """Sizes, counts and words of packages; sections in six groups are the classes."""
    def some(packages, seed, rows=1200):
        return table([packages[i] for i in np.random.default_rng([41, seed]).permutation(len(packages))[:rows]])

    everything = stanzas()
    for seed, (name, column, slope) in enumerate([("installed-size", "installed_size", 3), ("title", "title_words", np.inf)], 1):
        domain = some(everything, seed)
        yield Task(name, "covariate", seed, *(domain.take(rows) for rows in along(domain.values[column], np.random.default_rng([42, seed]), slope)))
    domain = some(everything, 3)
    yield Task("shares", "label-shift", 3, *(domain.take(rows) for rows in by_class(domain.labels, (0.8, 0.4, 0.7, 0.5, 0.2), np.random.default_rng([42, 3]))))
    teams = re.compile(r"team|maintainers|group|@lists\.|tracker", re.IGNORECASE)
    domains = [some([fields for fields in everything if bool(teams.search(fields["Maintainer"])) == team], 4 + team, 600) for team in (True, False)]
    yield Task("teams-persons", "gap", 4, *domains)


def english(stanza, key):
    """The words of a text in AppStream's YAML, which has each in many languages; "" without. To parse all of it would take minutes."""
    found = re.search(rf"^{key}:\n(?:  .*\n|\n)*?  C: (.*(?:\n    .*|\n(?=\n))*)", stanza, re.MULTILINE)
    return " ".join(re.findall(r"[^\W\d_]+", re.sub(r"<[^>]*>", " ", found[1]))) if found else ""


@functools.lru_cache(maxsize=None)
def applications():
    """Summary, description and category of the applications that AppStream puts into just one of nine."""
    categories = {"Game", "AudioVideo", "Education", "Science", "Network", "Graphics", "System", "Development", "Office"}
    found = {}
    for stanza in read_lists("*_dep11_Components-*").split("\n---\n"):
        mine = categories & set(re.findall(r"^- (\w+)$", (re.findall(r"^Categories:\n((?:- .*\n)+)", stanza, re.MULTILINE) or [""])[0], re.MULTILINE))
        summary, description = (english(stanza, key) for key in ("Summary", "Description"))
        if "Type: desktop-application" in stanza and len(mine) == 1 and summary and description:
            found[re.search(r"^ID: (.*)$", stanza, re.MULTILINE)[1]] = summary, description, mine.pop()
    return [found[name] for name in sorted(found)]


def descriptions():
    """Summaries and descriptions of applications, and titles of packages, in 64 principal directions of their words."""
    labels = np.array([application[2] for application in applications()])
    for seed, (name, of_source, of_target) in enumerate([("summaries-descriptions", 0, 1), ("descriptions-summaries", 1, 0)], 1):
        parts = halves(len(labels), np.random.default_rng([43, seed]))
        said = (Domain([applications()[i][which] for i in rows], labels[rows]) for rows, which in zip(parts, (of_source, of_target)))
        yield Task(name, "gap", seed, *texts.directions(*said, ngram_range=(1, 2), stop_words="english"))
    random = np.random.default_rng([43, 3])
    packages = stanzas()
    labels = np.array([fields["Section"] for fields in packages])
    kept = np.isin(labels, "python perl games sound science net graphics haskell java fonts rust ruby".split())
    rows = at_most(np.where(kept, labels, "other"), 700, random)
    rows = rows[kept[rows]]
    parts = [part[redraw(labels[part], 2500, random)] for part in (rows[half] for half in halves(len(rows), random))]
    said = (Domain([packages[i]["Description"] for i in part], labels[part]) for part in parts)
    yield Task("titles-shares", "label-shift", 3, *texts.directions(*said, ngram_range=(1, 1)))
