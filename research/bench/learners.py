"""The four learners of tables beside scikit-learn's: processor time of a fit, and log-loss of held-out rows.

usage: OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 learners.py [--program build/learners] [--time 5]
CGO_ENABLED=0 go build -o build/learners ./research/bench/learners makes the program. It prints two tables:
of 5,000 rows of 30 columns, that many times one after the other, and of ten tables with five seeds.
scikit-learn's are as they come: LogisticRegressionCV, RandomForestClassifier, HistGradientBoostingClassifier
and MLPClassifier.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier

warnings.filterwarnings("ignore")
THEIRS = {
    "linear": lambda seed: LogisticRegressionCV(max_iter=1000),
    "forest": lambda seed: RandomForestClassifier(100, random_state=seed),
    "boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "perceptron": lambda seed: MLPClassifier(random_state=seed),
}


def generated(rows, columns, informative, classes, seed, noise=0.01):
    return datasets.make_classification(2 * rows, columns, n_informative=informative, n_classes=classes, flip_y=noise, random_state=seed)


TABLES = {name: lambda name=name: getattr(datasets, "load_" + name)(return_X_y=True) for name in ("breast_cancer", "wine", "iris", "digits")}
TABLES |= {
    "500 × 20, 3 classes": lambda: generated(500, 20, 8, 3, 1),
    "2,000 × 30, noise": lambda: generated(2000, 30, 10, 2, 2, 0.1),
    "100 × 12": lambda: generated(100, 12, 5, 2, 5),
    "moons": lambda: datasets.make_moons(1000, noise=0.3, random_state=0),
    "quantiles": lambda: datasets.make_gaussian_quantiles(n_samples=2000, n_features=6, n_classes=4, random_state=0),
    "5,000 × 30, 3 classes": lambda: generated(5000, 30, 12, 3, 0),
}


def halves(x, y):
    """Rows to learn from, which standardise both, and rows to be judged by."""
    order = numpy.random.RandomState(0).permutation(len(y))
    x, y, half = x[order], y[order], len(y) // 2
    deviation = x[:half].std(0)
    x = ((x - x[:half].mean(0)) / numpy.where(deviation > 0, deviation, 1)).astype(numpy.float32)
    return (x[:half], y[:half]), (x[half:], y[half:])


def ours(program, learnt, held, seeds):
    with tempfile.TemporaryDirectory() as folder:
        names = [pathlib.Path(folder) / name for name in ("learnt.csv", "held.csv")]
        for name, (x, y) in zip(names, (learnt, held)):
            numpy.savetxt(name, numpy.c_[x, y], delimiter=",", fmt="%.8g")
        return json.loads(subprocess.run([program, *names, str(seeds)], check=True, capture_output=True).stdout)


def theirs(name, learnt, held, seed):
    start = time.process_time()
    model = THEIRS[name](seed).fit(*learnt)
    cpu = time.process_time() - start
    return cpu, log_loss(held[1], model.predict_proba(held[0]), labels=numpy.unique(numpy.r_[learnt[1], held[1]]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/learners")
    parser.add_argument("--time", type=int, default=5)
    options = parser.parse_args()
    print("| 5,000 × 30 | classes | ours, s | scikit-learn's, s |\n| --- | --- | ---: | ---: |")
    for classes in (2, 3):
        learnt, held = halves(*generated(5000, 30, 12, classes, 0))
        sums = numpy.zeros(2)
        found = [(ours(options.program, learnt, held, 1), {name: theirs(name, learnt, held, seed)[0] for name in THEIRS}) for seed in range(options.time)]
        for name in THEIRS:
            pair = numpy.array([min(a[name]["cpu"] for a, _ in found), min(b[name] for _, b in found)])
            sums += pair
            print(f"| {name} | {classes} | {pair[0]:.2f} | {pair[1]:.2f} |", flush=True)
        print(f"| all | {classes} | {sums[0]:.2f} | {sums[1]:.2f} |", flush=True)
    print("\n| table | learner | ours: mean (deviation), worst | scikit-learn's |\n| --- | --- | --- | --- |")
    for table, make in TABLES.items():
        learnt, held = halves(*make())
        found = ours(options.program, learnt, held, 5)
        for name in THEIRS:
            losses = [theirs(name, learnt, held, seed)[1] for seed in range(1 if name == "linear" else 5)]
            cells = [f"{numpy.mean(of):.4f} ({numpy.std(of):.4f}), {max(of):.4f}" for of in (found[name]["loss"], losses)]
            print(f"| {table} | {name} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
