"""learners/boosting beside scikit-learn's HistGradientBoostingClassifier: log-loss, and seconds to fit and predict.

    python3 research/bench/boosting_peer.py [--threads 1 2] [--repeats 5] [--only NAME ...] [--crossed] [--json FILE]

Ten tables. Both learners make 100 rounds of 31 leaves at the rate 0.1 of the same rows, in turns, each fit in a process
of its own, with the same number of threads; ratios are ours to scikit-learn's, of the clock and of user CPU time, the
medians over repeats. Its threads sleep when they wait, for on a machine that others use they would count as work.
"crossed" is the log-loss of ours with the number of rounds that five folds choose.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split

ROOT = Path(__file__).resolve().parents[2]


def covertypes(n, random):
    """Rows like a survey of forests: numbers of which some are skewed, and two words as one-hot columns."""
    numbers = np.column_stack([random.gamma(2, 1, (n, 5)), random.normal(size=(n, 5))]).astype(np.float32)
    area, soil = random.integers(0, 4, n), random.integers(0, 40, n)
    effect = random.normal(size=(40, 7))
    score = effect[soil] + random.normal(size=(4, 7))[area] + np.sin(numbers @ random.normal(size=(10, 7))) * 2
    score += np.outer(numbers[:, 0] > 2, random.normal(size=7)) * 3
    y = (score + random.gumbel(size=score.shape)).argmax(1)
    return np.column_stack([numbers, np.eye(4)[area], np.eye(40)[soil]]), y


def tables():
    """Ten tables by their names: rows and labels."""
    of = lambda name: getattr(datasets, "load_" + name)(return_X_y=True)  # noqa: E731
    made = lambda n, seed, **how: datasets.make_classification(n, random_state=seed, **how)  # noqa: E731
    random = np.random.default_rng(5)
    return {
        "breast cancer": of("breast_cancer"),
        "wine": of("wine"),
        "iris": of("iris"),
        "digits": of("digits"),
        "two classes": made(4000, 1, n_features=30, n_informative=10),
        "five classes": made(6000, 2, n_features=20, n_informative=12, n_classes=5),
        "noisy labels": made(8000, 3, n_features=40, n_informative=15, flip_y=0.2),
        "hastie": datasets.make_hastie_10_2(12000, random_state=4),
        "like covertype": covertypes(20000, random),
        "many rows": made(100000, 6, n_features=20, n_informative=10, n_clusters_per_class=4),
    }


def log_loss(logits, y):
    largest = logits.max(1, keepdims=True)
    return float((np.log(np.exp(logits - largest).sum(1)) + largest[:, 0] - logits[np.arange(len(y)), y]).mean())


def peer(folder):
    """Fits scikit-learn's in this process and prints what ours prints, with its log-loss."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    x, y, x_test, y_test = (np.load(folder / name) for name in ("x.npy", "y.npy", "x_test.npy", "y_test.npy"))
    small = HistGradientBoostingClassifier(max_iter=2, early_stopping=False).fit(x[:50], np.arange(50) % 2)
    small.predict_proba(x[:50])  # whatever is loaded at first use
    fit = Clock()
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=0).fit(x, y)
    fitted = fit.read("fit")
    predict = Clock()
    repeats = max(1, 20000 // len(x_test))
    for _ in range(repeats):
        p = model.predict_proba(x_test)
    predicted = {key: value / repeats for key, value in predict.read("predict").items()}
    loss = -np.log(np.maximum(p[np.arange(len(y_test)), y_test], 1e-300)).mean()
    print(json.dumps({**fitted, **predicted, "loss": float(loss)}))


class Clock:
    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_utime

    def read(self, name):
        return {name: time.perf_counter() - self.wall, name + "_cpu": resource.getrusage(resource.RUSAGE_SELF).ru_utime - self.cpu}


def golden(folder):
    """Writes small tables, of which even rows are learnt from, and the log-loss of odd rows by scikit-learn's."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    random, of = np.random.default_rng(1), tables()
    x = random.normal(size=(600, 6))
    y = (x[:, 0] * x[:, 1] + np.abs(x[:, 2]) + random.normal(size=600) * 0.3 > 0.8).astype(int) + (x[:, 3] > 1)
    x[random.random(x.shape) < 0.15] = np.nan
    losses = {}
    for name, (x, y) in {**{name: of[name] for name in ("iris", "wine", "breast cancer")}, "missing": (x, y)}.items():
        x = np.array([[float(f"{v:.4g}") for v in row] for row in x], np.float32)
        model = HistGradientBoostingClassifier(early_stopping=False, random_state=0).fit(x[::2], y[::2])
        losses[name] = float(-np.log(model.predict_proba(x[1::2])[np.arange(len(y) // 2), y[1::2]]).mean())
        lines = [",".join([f"{v:.4g}" for v in row] + [str(label)]) for row, label in zip(x, y)]
        (folder / (name.replace(" ", "-") + ".csv")).write_text("\n".join(lines) + "\n")
    (folder / "sklearn.json").write_text(json.dumps({name.replace(" ", "-"): round(loss, 6) for name, loss in losses.items()}, indent=1) + "\n")


def measure(program, folder, threads, repeats, flags, crossed):
    x, y, x_test, y_test = (np.load(folder / name) for name in ("x.npy", "y.npy", "x_test.npy", "y_test.npy"))
    for name, values in (("x", x.astype("<f4")), ("y", y.astype("<i4")), ("x_test", x_test.astype("<f4"))):
        values.tofile(folder / (name + ".bin"))
    k = int(y.max()) + 1

    def ours(*more):
        command = [program, f"-columns={x.shape[1]}", f"-classes={k}", f"-threads={threads}", f"-repeats={max(1, 20000 // len(x_test))}", *flags, *more]
        command += [folder / name for name in ("x.bin", "y.bin", "x_test.bin", "logits.bin")]
        environment = {**os.environ, "GOMAXPROCS": str(threads)}
        said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)
        said["loss"] = log_loss(np.fromfile(folder / "logits.bin").reshape(-1, k)[-len(x_test) :], y_test)
        return said

    def theirs():
        command = [sys.executable, __file__, "--peer", folder]
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)

    turns = [(ours("-rounds=100", "-folds=0"), theirs()) for _ in range(repeats)]
    both = [{key: median(turn[side][key] for turn in turns) for key in turns[0][side]} for side in (0, 1)]
    ratios = {key: median(turn[0][key] / max(1e-9, turn[1][key]) for turn in turns) for key in ("fit", "fit_cpu", "predict", "predict_cpu")}
    return {"ours": both[0], "theirs": both[1], "ratios": ratios, "crossed": ours()["loss"] if crossed else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--crossed", action="store_true", help="also with rounds chosen by folds, once per row")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--flags", nargs="*", default=[], help="of our program, as l2=0")
    parser.add_argument("--golden", type=Path, help="write the tables of learners/boosting/testdata to this folder, and end")
    parser.add_argument("--peer", type=Path, help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.peer:
        return peer(o.peer)
    if o.golden:
        return golden(o.golden)
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "boosting"
        subprocess.run(["go", "build", "-o", program, "./research/bench/boosting"], cwd=ROOT, check=True, env={**os.environ, "CGO_ENABLED": "0"})
        print("| table | rows × columns, classes | threads | log-loss | scikit-learn's | crossed | fit | fit, CPU | predict | predict, CPU |")
        print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for table, (x, y) in tables().items():
            if o.only and table not in o.only:
                continue
            y = np.unique(y, return_inverse=True)[1]
            parts = train_test_split(x.astype(np.float32), y, test_size=0.4, random_state=0, stratify=y)
            for values, file in zip(parts, ("x.npy", "x_test.npy", "y.npy", "y_test.npy")):
                np.save(folder / file, values)
            for threads in o.threads:
                m = measure(program, folder, threads, o.repeats, ["-" + flag for flag in o.flags], o.crossed)
                results.append({"table": table, "threads": threads, **m})
                r, crossed = m["ratios"], f"{m['crossed']:.4f}" if o.crossed else "–"
                print(f"| {table} | {parts[0].shape[0]} × {x.shape[1]}, {y.max() + 1} | {threads} | {m['ours']['loss']:.4f} | {m['theirs']['loss']:.4f} "
                      f"| {crossed} | {r['fit']:.2f} | {r['fit_cpu']:.2f} | {r['predict']:.2f} | {r['predict_cpu']:.2f} |", flush=True)  # fmt: skip
    if o.json:
        o.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
