"""Logistic regression, random forest, boosting and their equal mean under label shift, each corrected for the shares.

    python3 research/bench/mixtures.py RESULTS.json [--only TEXT]

On label-shifted tables of scikit-learn's data sets, and on the simulated sets of skada.py. Each learner is a run of
`iwrun adapt` that makes no steps; its probabilities of the target's rows are calibrated on held-out source rows, and
corrected for the class shares that it estimates by itself. RESULTS.json remembers what was measured, and a further call
goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn import datasets

from boosting_peer import covertypes
from skada import NOISE, ROOT, adapt, known, simulated

sys.path.insert(0, str(ROOT / "python"))
import iwda  # noqa: E402

LEARNERS = {"linear": "source-only@linear", "forest": "source-only@forest", "boosting": "source-only@boosting"}


def tables():
    """Tables by their names: rows and labels."""
    of = lambda name: getattr(datasets, "load_" + name)(return_X_y=True)  # noqa: E731
    made = lambda n, seed, **how: datasets.make_classification(n, random_state=seed, **how)  # noqa: E731
    random = np.random.default_rng(5)
    digits, digit = of("digits")
    return {
        "breast cancer": of("breast_cancer"),
        "wine": of("wine"),
        "iris": of("iris"),
        "digits, 30 columns": (digits[:, digits.std(0).argsort()[-30:]], digit),
        "two classes": made(2000, 1, n_features=20, n_informative=8, class_sep=0.7),
        "five classes": made(3000, 2, n_features=20, n_informative=12, n_classes=5),
        "noisy labels": made(2000, 3, n_features=30, n_informative=15, flip_y=0.2),
        "hastie": datasets.make_hastie_10_2(3000, random_state=4),
        "moons": datasets.make_moons(2000, noise=0.35, random_state=6),
        "circles": datasets.make_circles(2000, noise=0.2, factor=0.6, random_state=7),
        "quantiles": datasets.make_gaussian_quantiles(n_samples=2000, n_features=8, n_classes=3, random_state=8),
        "like covertype": covertypes(4000, random),
    }


def shifted(x, y, seed):
    """Half of the rows as they come, and of the other half a third of even classes, or of odd ones."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(y))
    source, target = order[: len(y) // 2], order[len(y) // 2 :]
    target = target[(y[target] % 2 == seed % 2) | (random.random(len(target)) < 0.33 / 1.33)]
    return x[source], y[source], x[target], y[target]


def tasks():
    for name, (x, y) in tables().items():
        y = np.unique(y, return_inverse=True)[1]
        for seed in (0, 1):
            yield f"label shift: {name} {seed}", lambda x=x, y=y, seed=seed: shifted(x, y, seed)
    for shift in NOISE:
        for seed in range(5):
            yield f"{shift} {seed}", lambda shift=shift, seed=seed: simulated(shift, seed)


def measure(x, y, t, u):
    """Accuracies, by the learner's name and whether it was corrected."""
    with tempfile.TemporaryDirectory() as folder:
        methods = "methods=[" + ", ".join(LEARNERS.values()) + "]"
        out, _ = adapt(Path(folder), x, y, t, "--set", methods, "--set", "seeds=[1]")
        result = {}
        for shares in ("model", "source"):
            each = {}
            for name, method in LEARNERS.items():
                place = next(path.parent for path in (out / "runs").rglob("model.json") if path.parent.parent.name == method)
                each[name] = iwda.load(place).predict_proba(t.astype(np.float32), shares=shares)
            each["mean of three"] = sum(each.values()) / 3
            each["linear and forest"] = (each["linear"] + each["forest"]) / 2
            for name, p in each.items():
                result[name + (", corrected" if shares == "model" else "")] = round(100 * float((p.argmax(1) == u).mean()), 2)
        return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--only", default="", help="tasks with this text in their names")
    o = parser.parse_args()
    results = known(o.results)
    for name, draw in tasks():
        if name not in results and o.only in name:
            results[name] = measure(*draw())
            o.results.write_text(json.dumps(results, indent=1) + "\n")
            print(name, results[name], flush=True)
    columns = ["linear", "forest", "boosting", "linear and forest", "mean of three"]
    print("\n| tasks | number | corrected | " + " | ".join(columns) + " | mean behind linear by > 1 |")
    print("| --- | ---: | --- |" + " ---: |" * (len(columns) + 1))
    for group in ["label shift", *NOISE]:
        found = [r for name, r in results.items() if name.startswith(group)]
        for corrected in (", corrected", "") if found else ():
            means = " | ".join(f"{np.mean([r[c + corrected] for r in found]):.1f}" for c in columns)
            behind = sum(r["mean of three" + corrected] < r["linear" + corrected] - 1 for r in found)
            print(f"| {group.replace('_', ' ')} | {len(found)} | {'yes' if corrected else 'no'} | {means} | {behind} |")


if __name__ == "__main__":
    main()
