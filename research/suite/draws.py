"""What a task is made of, and how two domains are drawn from rows: by class, by a column, by chance."""
import dataclasses

import numpy as np


@dataclasses.dataclass
class Domain:
    """Rows and their classes' names. values is an array (rows × columns) or, of a table, a dict of
    columns by name: numbers with NaN, or texts with "", where a value is missing."""
    values: object
    labels: np.ndarray

    def take(self, rows):
        values = {name: column[rows] for name, column in self.values.items()} if isinstance(self.values, dict) else self.values[rows]
        return Domain(values, self.labels[rows])

    def __len__(self):
        return len(self.labels)


@dataclasses.dataclass
class Task:
    """group says what differs between the domains: none, label-shift, covariate (rows selected by
    what the columns say, so that P(y|x) is the same) or gap (P(x|y) differs as well)."""
    name: str
    group: str
    seed: int
    source: Domain
    target: Domain


def halves(n, random):
    """Two parts of n rows, by chance."""
    order = random.permutation(n)
    return order[:n // 2], order[n // 2:]


def by_class(labels, shares, random):
    """Source and target rows; of the i-th class in sorted order the share shares[i] goes to the
    source, so that shares differ and P(x|y) doesn't. A list too short is repeated."""
    source, target = [], []
    for i, label in enumerate(np.unique(labels)):
        rows = random.permutation(np.flatnonzero(labels == label))
        n = round(shares[i % len(shares)] * len(rows))
        source.append(rows[:n])
        target.append(rows[n:])
    return random.permutation(np.concatenate(source)), random.permutation(np.concatenate(target))


def by_units(units, labels, shares, random):
    """The same of whole units, of which each has several rows; the first one's class counts."""
    names, first = np.unique(units, return_index=True)
    return [random.permutation(np.flatnonzero(np.isin(units, names[part]))) for part in by_class(labels[first], shares, random)]


def ranks(column, random):
    """The ranks of a column's values, from -1 to 1; equal values in an order by chance."""
    order = np.argsort(np.lexsort((random.random(len(column)), column)))
    return 2 * (order + 0.5) / len(column) - 1


def along(column, random, slope=np.inf):
    """Source and target rows, selected by the rank of a column, from -1 to 1: a row is in the target
    with probability sigmoid(slope · rank). With an infinite slope those above the median are."""
    return selected(ranks(column, random), random, slope)


def along_all(columns, random, slope):
    """The same by the mean of a row's ranks in several columns."""
    return selected(np.mean([ranks(column, random) for column in columns], axis=0), random, slope)


def selected(rank, random, slope):
    exceeds = rank > 0 if np.isinf(slope) else random.random(len(rank)) < 1 / (1 + np.exp(-slope * rank))
    return random.permutation(np.flatnonzero(~exceeds)), random.permutation(np.flatnonzero(exceeds))


def by_level(words, random):
    """Source and target rows, selected by a column of words: a level's odds of being in the source go
    from 1:4 to 4:1 in equal steps of their logarithm, dealt to the levels by chance."""
    steps = np.linspace(-1, 1, len(np.unique(words)))
    return by_class(words, 1 / (1 + 4.0 ** random.permutation(steps)), random)


def redraw(labels, rows, random, concentration=2.0):
    """Up to `rows` rows whose class shares are drawn from a Dirichlet distribution, no share below a
    fifth of an equal one; fewer rows if a class has too few."""
    names, place = np.unique(labels, return_inverse=True)
    shares = random.dirichlet(np.full(len(names), concentration))
    shares = np.maximum(shares, 0.2 / len(names))
    shares /= shares.sum()
    n = min(rows, (np.bincount(place) / shares).min())
    picked = [random.permutation(np.flatnonzero(place == k))[:int(n * shares[k])] for k in range(len(names))]
    return random.permutation(np.concatenate(picked))


def at_most(labels, each, random):
    """Rows, at most `each` of every class."""
    picked = [random.permutation(np.flatnonzero(labels == label))[:each] for label in np.unique(labels)]
    return random.permutation(np.concatenate(picked))
