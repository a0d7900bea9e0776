"""Gives commands data that mean the same, and prints what changes in their answers.

usage: metamorphic.py [--iwrun PATH] [--keep FOLDER]

240 source rows, 160 target rows and 100 new rows of three classes with three numbers and one column of
words. Each relation changes all three tables; `adapt` is given the first two, `predict` its model and
the third, `check-data` the first two, `evaluate` the folder and the classes of 80 target rows,
`labelshift` 300 and 400 rows of probabilities. An answer is compared after names and ids were set back.
"""
import argparse
import csv
import gzip
import io
import json
import math
import pathlib
import random
import re
import subprocess
import tempfile

import numpy as np

CLASSES = ["a", "b", "c"]
NUMBERS = ["x", "y", "z"]
RENAMED = {"a": "zebra", "b": "ant", "c": "m"}
COLUMNS = {"x": "w9", "y": "a b", "z": "Größe", "colour": "hue"}
METHODS = ["--set", "methods=[source-only@linear, source-only@forest, mcc]", "--set", "seeds=[1]", "--steps", "300"]


class Table:
    def __init__(self, names, rows):
        self.names, self.rows = names, rows

    def copy(self):
        return Table(list(self.names), [list(row) for row in self.rows])

    def numbers(self, change):
        t = self.copy()
        for row in t.rows:
            for j, name in enumerate(t.names):
                if name in NUMBERS:
                    row[j] = repr(change(float(row[j])))
        return t

    def ordered(self, names):
        at = [self.names.index(n) for n in names]
        return Table(list(names), [[row[j] for j in at] for row in self.rows])

    def added(self, name, value):
        t = self.copy()
        for row in t.rows:
            row.append(value(dict(zip(self.names, row))))
        t.names.append(name)
        return t

    def renamed(self, columns, cells):
        t = self.copy()
        t.names = [columns.get(n, n) for n in t.names]
        for row in t.rows:
            for j, name in enumerate(t.names):
                if name in ("label", "predicted_class"):
                    row[j] = cells.get(row[j], row[j])
        return t

    def twice(self, own_ids):
        t = self.copy()
        for row in self.rows:
            row = list(row)
            if own_ids and "id" in t.names:
                row[0] += "-again"
            t.rows.append(row)
        return t

    def write(self, path, form):
        out = io.StringIO()
        if form in ("csv", "csv.gz", "tsv"):
            csv.writer(out, delimiter="\t" if form == "tsv" else ",", lineterminator="\n").writerows([self.names] + self.rows)
        elif form == "comma":
            text = lambda name, cell: cell.replace(".", ",") if name in NUMBERS or "probability" in name else cell
            csv.writer(out, delimiter=";", lineterminator="\r\n").writerows([self.names] + [[text(*p) for p in zip(self.names, row)] for row in self.rows])
            form = "csv"
        elif form == "exponent":
            text = lambda name, cell: f"{float(cell):.17e}" if name in NUMBERS or "probability" in name else cell
            csv.writer(out, lineterminator="\n").writerows([self.names] + [[text(*p) for p in zip(self.names, row)] for row in self.rows])
            form = "csv"
        path = f"{path}.{form}"
        if form == "csv.gz":
            pathlib.Path(path).write_bytes(gzip.compress(out.getvalue().encode()))
        elif form == "npz":
            given = [n for n in self.names if n in NUMBERS]
            arrays = {"features": np.array(self.ordered(given).rows, dtype=float), "ids": np.array([row[0] for row in self.rows])}
            if "label" in self.names:
                arrays["labels"] = np.array([row[self.names.index("label")] for row in self.rows])
            np.savez(path, **arrays)
        else:
            pathlib.Path(path).write_text(out.getvalue())
        return path


def domain(r, letter, n, shares):
    rows = []
    for i in range(n):
        c = r.choices(range(3), shares)[0]
        words = ["red", "green", "blue"][c:] + ["blue"]
        rows.append([f"{letter}{i}"] + [repr(r.gauss(m, 1)) for m in ([0, 2, 4][c], [0, 2, 0][c], 0)] + [r.choice(words), CLASSES[c]])
    return Table(["id", *NUMBERS, "colour", "label"], rows)


def probabilities(r, n, shares):
    rows = []
    for _ in range(n):
        c = r.choices(range(3), shares)[0]
        e = [math.exp(r.gauss(2 * (k == c), 1)) for k in range(3)]
        rows.append([repr(v / sum(e)) for v in e] + [CLASSES[c]])
    return Table([f"probability_{c}" for c in CLASSES] + ["label"], rows)


def without(table):
    return table.ordered([n for n in table.names if n != "label"])


def permuted(table, seed=5):
    t = table.copy()
    random.Random(seed).shuffle(t.rows)
    return t


def copied(name):
    return lambda t: t.added(name + "2", lambda row: row[name])


same = lambda t: t
reverse = lambda t: t.ordered(t.names[::-1])
# Each relation: change of the source, change of the target and of new rows, format, whether columns are numbers alone.
RELATIONS = {
    "the same again": (same, same, "csv", False),
    "source rows in another order": (permuted, same, "csv", False),
    "target rows in another order": (same, permuted, "csv", False),
    "columns in another order in both": (reverse, reverse, "csv", False),
    "columns in another order in the target": (same, reverse, "csv", False),
    "classes renamed": (lambda t: t.renamed({}, RENAMED),) * 2 + ("csv", False),
    "columns renamed": (lambda t: t.renamed(COLUMNS, {}),) * 2 + ("csv", False),
    "source rows twice": (lambda t: t.twice(True), same, "csv", False),
    "target rows twice": (same, lambda t: t.twice(True), "csv", False),
    "numbers × 1,024": (lambda t: t.numbers(lambda v: v * 1024),) * 2 + ("csv", False),
    "numbers × 1,000": (lambda t: t.numbers(lambda v: v * 1000),) * 2 + ("csv", False),
    "numbers + 1,000": (lambda t: t.numbers(lambda v: v + 1000),) * 2 + ("csv", False),
    "numbers + 10⁹": (lambda t: t.numbers(lambda v: v + 1e9),) * 2 + ("csv", False),
    "numbers × -1": (lambda t: t.numbers(lambda v: -v),) * 2 + ("csv", False),
    "a constant column": (lambda t: t.added("k", lambda _: "7"),) * 2 + ("csv", False),
    "a copied number": (copied("x"),) * 2 + ("csv", False),
    "a copied word": (copied("colour"),) * 2 + ("csv", False),
    "tabs": (same, same, "tsv", False),
    "gzip": (same, same, "csv.gz", False),
    "decimal commas": (same, same, "comma", False),
    "exponents": (same, same, "exponent", False),
    "numbers alone": (same, same, "csv", True),  # what arrays are compared with
    "arrays": (same, same, "npz", True),
}


class Bench:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        r = random.Random(1)
        self.source, self.target, self.new = domain(r, "s", 240, [.5, .3, .2]), domain(r, "t", 160, [.2, .3, .5]), domain(r, "n", 100, [.3, .3, .4])
        self.held, self.batch = probabilities(r, 300, [.5, .3, .2]), probabilities(r, 400, [.2, .3, .5])

    def call(self, *arguments):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder)
        return done.returncode, done.stdout, done.stderr

    def answers(self, i, relation):
        """What each command says: numbers by name, or a text."""
        source_change, target_change, form, alone = RELATIONS[relation]
        narrow = (lambda t: t.ordered([n for n in t.names if n != "colour"])) if alone else same
        base = self.folder / f"{i:02}"
        base.mkdir()
        source = source_change(narrow(self.source)).write(base / "source", form)
        target = target_change(without(narrow(self.target))).write(base / "target", form)
        new = target_change(without(narrow(self.new))).write(base / "new", form)
        answers = {"check-data": self.checked(source, target)}
        code, _, said = self.call("adapt", source, target, "-o", base / "out", "--quiet", "--device", "cpu", *METHODS)
        answers["adapt"] = said if code else {**read(base / "out/predictions.csv"), **shares(base / "out/classes.csv")}
        code, _, said = self.call("predict", base / "out", new, "-o", base / "new-out.csv", "--device", "cpu")
        answers["predict"] = said if code else read(base / "new-out.csv")
        # The predictions of the first relation, changed as the target, and the classes of half of the rows.
        first = self.folder / "00/out/predictions.csv"
        with open(first, newline="") as f:
            rows = list(csv.reader(f))
        predictions = Table(rows[0], rows[1:])
        renamed = relation == "classes renamed"
        if renamed:
            predictions.names = [re.sub("probability_(.)$", lambda m: "probability_" + RENAMED[m[1]], n) for n in predictions.names]
        label = lambda t: Table(t.names, t.rows[:80]).ordered(["id", "label"])
        plain = form if form in ("csv", "tsv", "csv.gz", "comma", "exponent") else "csv"
        change = target_change if not alone and "copied" not in relation and "×" not in relation and "+" not in relation else same
        if "copied" in relation:
            change = copied("id")
        labels = change(label(self.target)).write(base / "labels", plain)
        code, out, said = self.call("evaluate", change(predictions).write(base / "p", "csv"), labels, "-o", base / "e.json")
        answers["evaluate"] = said if code else flat(json.loads((base / "e.json").read_text()))
        held, batch = self.held, without(self.batch)
        number = {"probability_" + c: "probability_" + RENAMED[c] for c in CLASSES} if renamed else {}
        mine = {"a copied number": copied("probability_a"), "a copied word": same}.get(relation)
        s = (mine or source_change)(held).renamed(number, RENAMED if renamed else {}).write(base / "held", plain)
        t = (mine or target_change)(batch).renamed(number, {}).write(base / "batch", plain)
        code, out, said = self.call("labelshift", s, t, "--format", "csv")
        answers["labelshift"] = said if code else shares(io.StringIO(out))
        return answers

    def checked(self, source, target):
        code, out, said = self.call("check-data", source, target)
        text = said + out
        for path, name in ((source, "SOURCE"), (target, "TARGET")):
            text = text.replace(path, name).replace(pathlib.Path(path).name, name)
        for new, old in [(b, a) for a, b in COLUMNS.items()] + [(b, a) for a, b in RENAMED.items()]:
            text = text.replace(f'"{new}"', f'"{old}"')
        return sorted(re.sub(" +", " ", line).strip() for line in text.splitlines())


def back(name):
    for old, new in RENAMED.items():
        name = old if name == new else name.replace("probability_" + new, "probability_" + old)
    return name.removesuffix("-again")


def read(path):
    found = {}
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            for name, cell in row.items():
                if name != "id":
                    found[back(row["id"]), back(name)] = value(cell)
    return found


def shares(file):
    found = {}
    with (open(file, newline="") if isinstance(file, pathlib.Path) else file) as f:
        for row in csv.DictReader(f):
            for name, cell in row.items():
                if name != "class":
                    found["share", back(row["class"]), name] = value(cell)
    return found


def flat(thing, at=()):
    if isinstance(thing, dict):
        own = tuple(back(str(v)) for k, v in thing.items() if k in ("class", "method"))
        return {k: v for name, below in thing.items() if name not in ("class", "path", "labels", "file") for k, v in flat(below, at + own + (name,)).items()}
    if isinstance(thing, list):
        named = all(isinstance(v, dict) and "class" in v for v in thing)
        return {k: v for i, below in enumerate(thing) for k, v in flat(below, at if named else at + (i,)).items()}
    return {at: thing}


def value(cell):
    try:
        return float(cell)
    except ValueError:
        return back(cell)


def difference(got, want):
    if isinstance(got, str) or isinstance(want, str):
        return "refused: " + str(got).strip().splitlines()[0] if got != want else "bits"
    if isinstance(got, list):
        other = [line for line in got if line not in want]
        return "bits" if got == want else f"{len(other)} of {len(want)} lines"
    parts, words, rows, most, share = [], 0, 0, 0.0, 0.0
    for key, was in want.items():
        now = got.get(key)
        if isinstance(was, str) or now is None or was is None or isinstance(now, str):
            rows += key[-1] == "predicted_class" and now != was
            words += key[-1] != "predicted_class" and now != was
        elif was != now and key[0] == "share":
            share = max(share, abs(was - now))
        elif was != now:
            most = max(most, abs(was - now))
    if rows:
        parts.append(f"{rows} predictions")
    if most:
        parts.append(f"{most:.0e}")
    if share:
        parts.append(f"shares and intervals {share:.0e}")
    if words:
        parts.append(f"{words} other words")
    if set(got) - set(want):
        parts.append(f"{len(set(got) - set(want))} more values")
    return ", ".join(parts) or "bits"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--iwrun", default="build/iwrun")
    parser.add_argument("--keep")
    options = parser.parse_args()
    program = str(pathlib.Path(options.iwrun).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.keep or scratch).resolve()
        folder.mkdir(exist_ok=True)
        bench, commands, seen = Bench(program, folder), ["check-data", "adapt", "predict", "evaluate", "labelshift"], {}
        print("| relation | " + " | ".join(commands) + " |\n| --- |" + " --- |" * len(commands))
        for i, relation in enumerate(RELATIONS):
            seen[relation] = bench.answers(i, relation)
            want = seen["numbers alone" if relation == "arrays" else "the same again"]
            if relation == "numbers alone":
                continue
            print(f"| {relation} | " + " | ".join(difference(seen[relation][c], want[c]) for c in commands) + " |", flush=True)
            for line in seen[relation]["check-data"]:
                if line not in want["check-data"] and options.keep:
                    print("   ", line)


if __name__ == "__main__":
    main()
