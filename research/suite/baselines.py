"""What scikit-learn makes of a task: four classifiers, with either domain's statistics, as they are and corrected for class shares."""
import csv
import time
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

LEVELS = 50  # of a column of words; further ones have no column
CLASSIFIERS = {
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "boosting": lambda: HistGradientBoostingClassifier(random_state=1),
    "perceptron": lambda: MLPClassifier((256,), random_state=1),
    "forest": lambda: RandomForestClassifier(random_state=1),  # later than the halves before the seventh
}
STATISTICS = ["source", "own"]  # of the source for both domains, or each domain's own


def read_csv(path):
    """Columns by name, as texts."""
    with open(path, newline="", encoding="utf-8") as f:
        header, *rows = csv.reader(f)
    return dict(zip(header, map(np.array, zip(*rows))))


def are_numbers(texts):
    try:
        np.array([text for text in texts if text], float)
    except ValueError:
        return False
    return True


def encoded(source, target):
    """Columns of texts to rows × values of both: the source's median where a number is missing, and a
    column that says so; a column for each of the most frequent words, missing ones among them."""
    parts = []
    for name, of_source in source.items():
        columns = of_source, target[name]
        if all(map(are_numbers, columns)):
            columns = [np.array([float(text) if text else np.nan for text in texts]) for texts in columns]
            missing = [np.isnan(column) for column in columns]
            median = 0.0 if missing[0].all() else np.nanmedian(columns[0])
            parts.append([np.where(m, median, column)[:, None] for m, column in zip(missing, columns)])
            if any(m.any() for m in missing):
                parts.append([m[:, None].astype(float) for m in missing])
        else:
            words, counts = np.unique(of_source, return_counts=True)
            words = words[np.argsort(-counts, kind="stable")[:LEVELS]]
            parts.append([(column[:, None] == words).astype(float) for column in columns])
    return [np.hstack(side).astype(np.float32) for side in zip(*parts)]


def load(folder):
    """Source rows, their classes' places, target rows and the classes' names of a task's folder."""
    if (folder / "source.npz").exists():
        with np.load(folder / "source.npz") as source, np.load(folder / "target.npz") as target:
            return source["features"], source["labels"].astype(np.int64), target["features"], source["class_names"]
    source, target = read_csv(folder / "source.csv"), read_csv(folder / "target.csv")
    names, labels = np.unique(source.pop("label"), return_inverse=True)
    x, z = encoded(source, target)
    return x, labels, z, names


def standardised(x, of):
    """By the mean and deviation of each column of `of`; a column that never changes there is only moved."""
    deviation = of.std(axis=0)
    return ((x - of.mean(axis=0)) / np.where(deviation > 1e-6, deviation, 1)).astype(np.float32)


def domains(x, z):
    """Source and target rows under each of STATISTICS; the source's are the same."""
    return standardised(x, x), {"source": standardised(z, x), "own": standardised(z, z)}


def corrected(probabilities, prior, iterations=1000):
    """Probabilities corrected for the target's class shares, which are found by expectation
    maximisation (Saerens, Latinne and Decaestecker 2002) from those that training had."""
    shares = prior
    for _ in range(iterations):
        weighted = probabilities * (shares / prior)
        weighted /= weighted.sum(axis=1, keepdims=True)
        before, shares = shares, weighted.mean(axis=0)
        if np.abs(shares - before).sum() < 1e-6:
            break
    return weighted


def predictions(x, labels, z, seconds):
    """Yields each baseline's name and its predictions on the target, as classes' places; seconds gets
    those of each classifier."""
    prior = np.bincount(labels) / len(labels)
    source, targets = domains(x, z)
    for name, make in CLASSIFIERS.items():
        start = time.time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            classifier = make().fit(source, labels)
        for statistics in STATISTICS:
            p = np.clip(classifier.predict_proba(targets[statistics]).astype(np.float64), 1e-12, None)
            yield f"{name}/{statistics}", p.argmax(axis=1)
            yield f"{name}/{statistics}/em", corrected(p, prior).argmax(axis=1)
        seconds[name] = time.time() - start
