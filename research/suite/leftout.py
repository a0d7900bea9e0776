"""Chooses how a table's classifiers vote with one kind left out at a time, and judges by that kind.

usage: leftout.py [--label NAME] [--own NAME] [--out build/suite]
Reads what run.py kept of `iwrun adapt` under --label, and under --own of the same with
`-- --set network.normalise=standard`. Where columns contradict that only class shares changed, votes are made anew
from the logits that runs leave, with each of DRAWN, OWN and LEVELS; other tables are as they are. Prints, for what the
other kinds choose by the sum of mean accuracy and mean balanced accuracy, for what is shipped, and for votes alone, the
goals of the halves.
"""
import argparse
import collections
import itertools
import json
import pathlib
import struct

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

import tasks

DRAWN = (0, 0.25, 0.5, 0.75, 1)  # how far votes are drawn to equal ones
OWN = (0, 0.15, 0.25, 1 / 3, 0.5)  # the votes of classifiers with each domain's own statistics
LEVELS = (0.001, 0.01, 0.05)  # below which no selection along one column explains the others
SETTINGS = list(itertools.product(DRAWN, OWN, LEVELS))
SHIPPED, ALONE = (0.5, 0.25, 0.01), (0, 0, 0.01)
CLASSIFIERS, WITH_OWN = ("linear", "perceptron", "forest", "boosting"), ("linear", "boosting")
THREE = ("logistic/source", "forest/source", "boosting/source")
TYPES = {"F32": np.float32, "F64": np.float64, "I64": np.int64, "I32": np.int32}


def tensors(path):
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    return {name: np.frombuffer(data[slice(*of["data_offsets"])], TYPES[of["dtype"]]).reshape(of["shape"]) for name, of in header.items() if name != "__metadata__"}


def read(folder):
    """What classifiers left, by their names, and the p-value of a selection along one column, None without."""
    made, p = {}, None
    for path in folder.glob("runs/**/outputs.safetensors"):
        name = path.parents[1].name.removeprefix("source-only@")
        made[name] = tensors(path)
        if name == "linear":
            columns = json.loads((path.parent / "result.json").read_text())["without_labels"].get("columns", {})
            p = columns.get("selected_p", 0.0) if "selected" in columns else None
    return made, p


def temperature(made):
    """By which logits are divided so that held-out labels are likely, with the calibration's penalty."""
    logits, labels = made["heldout_logits"].astype(float), made["heldout_labels"]
    loss = lambda a: -log_softmax(logits * np.exp(a), axis=1)[np.arange(len(labels)), labels].sum() + 8 * a * a
    return np.exp(-minimize_scalar(loss, bounds=(-3, 3), method="bounded").x)


def most_likely(likelihoods):
    """The weights of a mean of rows × classifiers under which rows are most likely; those below 0.01 are 0."""
    weights = np.full(likelihoods.shape[1], 1 / likelihoods.shape[1])
    for _ in range(3000):
        parts = likelihoods * weights
        before, weights = weights, (parts / parts.sum(axis=1, keepdims=True)).mean(axis=0)
        if np.abs(weights - before).max() < 1e-7:
            break
    weights[weights < 0.01] = 0
    return weights / weights.sum()


def scores(probabilities, truth):
    right = probabilities.argmax(axis=1) == truth
    return 100 * right.mean(), 100 * np.mean([right[truth == y].mean() for y in np.unique(truth)])


def by_setting(folder, own, names, truth):
    """Accuracy and balanced accuracy under each of SETTINGS; None if runs are missing."""
    made, p = read(folder)
    if not all(name in made for name in CLASSIFIERS):
        return None
    scale = {name: temperature(made[name]) for name in CLASSIFIERS}
    of = lambda outputs, name: softmax(outputs["target_logits"].astype(float) / scale[name], axis=1)
    likelihoods = []
    for name in CLASSIFIERS:
        outputs, rows = made[name], np.argsort(made[name]["heldout_rows"])
        said = softmax(outputs["heldout_logits"].astype(float) / scale[name], axis=1)
        likelihoods.append(said[np.arange(len(said)), outputs["heldout_labels"]][rows])
    votes = most_likely(np.maximum(np.array(likelihoods).T, 1e-30))
    source = np.array([of(made[name], name) for name in CLASSIFIERS])
    others = read(own)[0] if own.exists() else {}
    moved = [of(others[name], name) for name in WITH_OWN if name in others]
    place = {name: i for i, name in enumerate(names)}
    truth = np.array([place.get(name, -1) for name in truth])
    found = {}
    for drawn, part, level in SETTINGS:
        key = drawn, part if moved and p is not None and p < level else 0
        if key not in found:
            mean = np.tensordot((1 - drawn) * votes + drawn / len(votes), source, axes=1)
            if key[1]:
                mean = (1 - part) * mean + part * np.mean(moved, axis=0)
            found[key] = scores(mean, truth)
        yield found[key]


class Table:
    def __init__(self, line, result, label, out, own):
        self.kind, self.group = line["kind"], line["group"]
        name = f"{line['kind']}/{line['name']}"
        made, self.baselines = result["adapt"][label], result["baselines"]
        as_it_is = made["accuracy"], made["balanced"]
        said = made["outcome"]["decisions"]
        self.scores = np.array([as_it_is] * len(SETTINGS))
        because = json.dumps(made["outcome"])
        if made["outcome"]["correction"] == 0 and ("correction would be wrong" in because or "columns may have moved" in because):
            folder = out / "adapt" / label / name
            names = [one["class"] if isinstance(one, dict) else one for one in made["outcome"]["classes"]]
            found = list(by_setting(folder, out / "adapt" / own / name, names, np.load(out / "truth" / f"{name}.npy").astype(str)) or [])
            if found:
                self.scores = np.array(found)


def goals(tables, chosen, title):
    print(f"\n{title}\n\n| | tables | beside the best baseline | within a point of logistic regression | worst | of the best of three | worst |\n| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for score, key in enumerate(("accuracy", "balanced")):
        for group in (None, "none", "label-shift", "covariate", "gap"):
            of = [i for i, t in enumerate(tables) if group in (None, t.group)]
            ours = chosen[of, score]
            names = tables[0].baselines[key]
            all_of = {name: np.array([tables[i].baselines[key][name] for i in of]) for name in names}
            best = max(all_of, key=lambda name: all_of[name].mean())
            linear, three = ours - all_of[THREE[0]], ours - np.max([all_of[name] for name in THREE], axis=0)
            print(f"| {group or 'all'}, {key} | {len(of)} | {ours.mean():.1f}, {ours.mean() - all_of[best].mean():+.1f} ({best}) | {100 * np.mean(linear >= -1):.0f}% | {linear.min():.1f} | {100 * np.mean(three >= -1):.0f}% | {three.min():.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--label", default="adapt")
    parser.add_argument("--own", default="own")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/suite"))
    of = parser.parse_args()
    tables = []
    for line in tasks.manifest():
        path = of.out / "results" / line["kind"] / f"{line['name']}.json"
        result = json.loads(path.read_text()) if line["table"] and path.exists() else {}
        if "outcome" in result.get("adapt", {}).get(of.label, {}) and "baselines" in result:
            tables.append(Table(line, result, of.label, of.out, of.own))
    all_scores = np.array([t.scores for t in tables])
    kinds = np.array([t.kind for t in tables])
    left_out, choices = np.zeros((len(tables), 2)), collections.Counter()
    for kind in np.unique(kinds):
        best = all_scores[kinds != kind].mean(axis=0).sum(axis=1).argmax()
        choices[SETTINGS[best]] += 1
        left_out[kinds == kind] = all_scores[kinds == kind, best]
    print(f"{len(tables)} tables of {len(choices) and sum(choices.values())} kinds; drawn, own, level as other kinds choose them: {dict(choices)}")
    goals(tables, left_out, "Chosen by other kinds")
    goals(tables, all_scores[:, SETTINGS.index(SHIPPED)], "As it is shipped")
    goals(tables, all_scores[:, SETTINGS.index(ALONE)], "Votes alone")


if __name__ == "__main__":
    main()
