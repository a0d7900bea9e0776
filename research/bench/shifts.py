"""Writes generated features of two domains that differ in a known way.

usage: shifts.py KIND SHARES ROWS SEED OUT [CLASSES]
Ten classes, or CLASSES, of different means in 64 dimensions, ROWS rows of each domain. KIND is what besides
class shares differs in the target:
  gauss   nothing; Gaussian noise
  tails   nothing; noise of Student's t with four degrees of freedom
  relu    nothing; all goes through a layer of 48 rectified units
  moved   each class has moved in a direction of its own
  turned  the columns are mixed by a matrix of the target's own
  covered class 0 lies where class 1 does in the target
SHARES of the classes, those of even and of odd numbers:
  alike    4:1 in both domains
  target   equal in the source, 1:4 in the target
  reversed 4:1 in the source, 1:4 in the target
OUT gets source.npz with labels, target.npz without and target-labelled.npz to measure. What is
made of them is in research/comparisons/robustness.md and research/comparisons/selection.md.
"""
import sys

import numpy as np

import backbone

KINDS = ["gauss", "relu", "tails", "moved", "turned", "covered"]
SHARES = {"alike": (4, 4), "target": (1, 1 / 4), "reversed": (4, 1 / 4)}  # even over odd, source and target
WIDTH, UNITS = 64, 48
DISTANCE = 3.6  # of a class's mean from 0, on average; the noise has a deviation of 1 in each direction


def shares(even_over_odd, classes):
    p = np.where(np.arange(classes) % 2 == 0, even_over_odd, 1.0)
    return p / p.sum()


class Domains:
    """What both domains are drawn from. All kinds draw the same, whether they need it or not."""

    def __init__(self, kind, classes, random):
        self.kind, self.classes, self.random = kind, classes, random
        mixing = random.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH)
        self.mixing = mixing + 0.7 * np.eye(WIDTH)
        means = random.normal(size=(classes, WIDTH))
        self.means = means * (4.0 if kind == "relu" else DISTANCE) / np.linalg.norm(means, axis=1).mean()
        self.units = random.normal(size=(WIDTH, UNITS)) / np.sqrt(WIDTH), 0.3 * random.normal(size=UNITS)
        moves = random.normal(size=(classes, WIDTH))
        self.moves = moves * (DISTANCE / np.sqrt(8)) / np.linalg.norm(moves, axis=1, keepdims=True)
        self.turned = self.mixing + 0.42 * random.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH)

    def draw(self, shares, rows, target):
        """rows × width values and their classes; a source has three rows of each class."""
        labels = self.random.choice(self.classes, size=rows, p=shares)
        while not target and np.bincount(labels, minlength=self.classes).min() < 3:
            labels = self.random.choice(self.classes, size=rows, p=shares)
        shape = rows, WIDTH
        noise = self.random.standard_t(4, shape) / np.sqrt(2) if self.kind == "tails" else self.random.normal(size=shape)
        means, mixing = self.means, self.mixing
        if target and self.kind == "moved":
            means = means + self.moves
        if target and self.kind == "covered":
            means = np.concatenate([means[1:2], means[1:]])
        if target and self.kind == "turned":
            mixing = self.turned
        x = (means[labels] + noise) @ mixing
        if self.kind == "relu":
            weights, biases = self.units
            x = np.maximum(x @ weights + biases, 0)
        return x.astype(np.float32), labels


def main(kind, among, rows, seed, out, classes=10):
    rows, classes = int(rows), int(classes)
    domains = Domains(kind, classes, np.random.default_rng([int(seed), rows, 1 + KINDS.index(kind)]))
    source, target = SHARES[among]
    backbone.write(out, domains.draw(shares(source, classes), rows, False), domains.draw(shares(target, classes), rows, True))


if __name__ == "__main__":
    if len(sys.argv) not in (6, 7) or sys.argv[1] not in KINDS or sys.argv[2] not in SHARES:
        sys.exit(__doc__)
    main(*sys.argv[1:])
