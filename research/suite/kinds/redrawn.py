"""Label shift alone, drawn from the sources of tables of kinds that have no such task."""
import csv
import json
import pathlib

import numpy as np

from draws import Domain, Task, by_class

SUITE = pathlib.Path(__file__).parents[1]
TASKS = SUITE.parents[1] / "build/suite/tasks"  # which must have been written
FEWEST, FEWEST_OF_A_CLASS = 100, 15


def read(path):
    """A labelled table as tasks.py writes it."""
    with open(path, newline="", encoding="utf-8") as f:
        columns = dict(zip(next(rows := csv.reader(f)), map(np.array, zip(*rows))))
    labels = columns.pop("label")
    for name, cells in columns.items():
        try:
            columns[name] = np.array([float(cell or "nan") for cell in cells])
        except ValueError:
            columns[name] = cells.astype(object)
    return Domain(columns, labels)


def redrawn():
    """Of each kind the table with most source rows; of its classes 20 to 80% are the source, in an order by chance.
    Tables of few rows are left out."""
    lines = [line for line in json.loads((SUITE / "tasks.json").read_text()) if line["half"] != "redrawn"]
    shifted = {line["kind"] for line in lines if line["group"] == "label-shift"}
    largest = {}
    for line in lines:
        if line["kind"] not in shifted and line["table"] and line["source_rows"] >= max(FEWEST, largest.get(line["kind"], line)["source_rows"]):
            largest[line["kind"]] = line
    for i, (kind, line) in enumerate(largest.items()):
        random = np.random.default_rng([900, i])
        table = read(TASKS / kind / line["name"] / "source.csv")
        if np.unique(table.labels, return_counts=True)[1].min() < FEWEST_OF_A_CLASS:
            continue
        shares = random.permutation(np.linspace(0.2, 0.8, line["classes"]))
        source, target = by_class(table.labels, shares, random)
        yield Task(kind, "label-shift", 900 + i, table.take(source), table.take(target))
