"""How often what `iwrun adapt` says of rows in groups is true, from files to its last line.

    python3 research/bench/endtoend.py [--iwrun FILE] [--draws 50] [--only TEXT]

Draws files of Gaussian classes of which only the shares differ, with a column that tells groups, adapts with
`--group-column` and `--sets 0.9`, and compares what outcome.json and predictions.csv say with what is true. Prints a
table in Markdown, a row a cell. research/bench/coverage counts more draws of more cells, without learning a classifier.
"""
import argparse
import collections
import csv
import itertools
import json
import pathlib
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Shares of the source and of the target, rows of both, and how far means are from the origin, in deviations.
CLASSES = {
    "two classes": ([0.5, 0.5], [0.8, 0.2], 400, 600, 1.5),
    "three": ([0.4, 0.4, 0.2], [0.1, 0.3, 0.6], 300, 450, 1.05),
    "five": ([0.3, 0.25, 0.2, 0.15, 0.1], [0.1, 0.1, 0.2, 0.3, 0.3], 400, 300, 1.35),
    "10 → 3%": ([0.9, 0.1], [0.97, 0.03], 600, 800, 1.2),
    "5 → 20%": ([0.95, 0.05], [0.8, 0.2], 600, 800, 1.05),
    "5 → 20%, few rows": ([0.95, 0.05], [0.8, 0.2], 150, 800, 1.05),
}
# Rows of a group, and which part of the columns' variance its rows share, of source and target; 1 are copies.
GROUPS = {
    "rows on their own": ((1, 0), (1, 0)), "groups of 4": ((4, 0.5), (4, 0.5)), "groups of 10": ((10, 0.5), (10, 0.5)),
    "target in groups of 10": ((1, 0), (10, 0.5)), "each source row 4 times": ((4, 1), (1, 0)), "each target row 4 times": ((1, 0), (4, 1)),
}
NAMES = "abcdef"


def drawn(random, rows, shares, size, common, far):
    """Rows × columns, classes and groups."""
    columns = max(4, len(shares))
    means = far * np.eye(len(shares), columns)
    x, y, group = [], [], []
    for g in range(rows // size):
        alike = random.normal(size=columns) * np.sqrt(common)
        first = random.choice(len(shares), p=shares)
        for _ in range(size):
            of = first if common == 1 else random.choice(len(shares), p=shares)
            x.append(means[of] + alike + random.normal(size=columns) * np.sqrt(1 - common))
            y.append(of)
            group.append(g)
    return np.array(x), np.array(y), group


def written(path, x, group, domain, labels=None):
    with open(path, "w", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(["group", *(f"c{j}" for j in range(x.shape[1])), *(["label"] if labels is not None else [])])
        for i, row in enumerate(x):
            rows.writerow([f"{domain}{group[i]}", *(f"{v:.5f}" for v in row), *([NAMES[labels[i]]] if labels is not None else [])])


def within(number, value):
    return number["low"] - 1e-9 <= value <= number["high"] + 1e-9


def adapted(iwrun, folder, classes, groups, seed, count):
    source_shares, target_shares, n, m, far = classes
    random = np.random.default_rng([seed, 7])
    x, labels, of = drawn(random, n, source_shares, *groups[0], far)
    z, truth, to = drawn(random, m, target_shares, *groups[1], far)
    written(folder / "source.csv", x, of, "s", labels)
    written(folder / "target.csv", z, to, "t")
    command = [iwrun, "adapt", folder / "source.csv", folder / "target.csv", "-o", folder / "out", "--group-column", "group", "--sets", "0.9", "--label-rows", "0", "--overwrite"]
    if subprocess.run(command, capture_output=True).returncode:
        count["refused"].append(True)
        return
    outcome = json.loads((folder / "out" / "outcome.json").read_text())
    with open(folder / "out" / "predictions.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    predicted = np.array([NAMES.index(row["predicted_class"]) for row in rows])
    shares, _, anything = outcome["cases"]
    right = np.mean(predicted == truth)
    count["rejected"].append(bool(outcome.get("shares_rejected")))
    if "low" in shares.get("accuracy", {}):
        count["accuracy"].append(within(shares["accuracy"], right))
        count["width"].append(100 * (shares["accuracy"]["high"] - shares["accuracy"]["low"]))
    if "low" in anything.get("accuracy", {}):
        count["floor"].append(anything["accuracy"]["low"] > right)
    for one in outcome["classes"]:
        y = NAMES.index(one["class"])
        if "target_share_low" in one:
            count["shares"].append(one["target_share_low"] - 1e-9 <= target_shares[y] <= one["target_share_high"] + 1e-9)
        for name, of_rows in (("recall", truth == y), ("precision", predicted == y)):
            if one.get(name, {}).get("low") is not None and of_rows.any():
                count[name].append(within(one[name], np.mean((predicted == truth)[of_rows])))
    count["sets"] += [NAMES[y] in rows[i]["set"].split() for i, y in enumerate(truth)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iwrun", default=ROOT / "build" / "iwrun")
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--only", default="", help="cells whose name has this text")
    of = parser.parse_args()
    heads = ["accuracy", "width", "shares", "recall", "precision", "floor", "sets", "rejected", "refused"]
    print("| cell | accuracy | width | shares | recalls | precisions | floor too high | sets | rejected | refused |\n| --- |" + " ---: |" * len(heads))
    for (classes, of_classes), (groups, of_groups) in itertools.product(CLASSES.items(), GROUPS.items()):
        cell = f"{classes}, {groups}"
        if of.only not in cell:
            continue
        count = collections.defaultdict(list)
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(of.draws):
                adapted(of.iwrun, pathlib.Path(folder), of_classes, of_groups, seed, count)
        told = [f"{np.mean(count[head]):.1f}" if head == "width" else f"{100 * np.mean(count[head]):.1f}" if count[head] else "–" for head in heads[:-1]]
        print(f"| {cell} | {' | '.join(told)} | {len(count['refused'])} |", flush=True)


if __name__ == "__main__":
    main()
