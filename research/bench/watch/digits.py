"""Real batches for iwrun watch: a logistic regression on half of MNIST's training digits, held-out
probabilities, and 90 nights of 500 of its test digits whose shares drift; from night 61 on USPS's.

    python3 research/bench/watch/digits.py DATA OUT

DATA has MNIST's four files and usps.bz2, usps.t.bz2. OUT gets held-out.csv and night-NN.csv.
"""

import bz2
import gzip
import os
import sys

import numpy as np
from sklearn.linear_model import LogisticRegression

data, out = sys.argv[1:]
random = np.random.default_rng(1)


def mnist(name):
    with gzip.open(os.path.join(data, f"{name}-images-idx3-ubyte.gz")) as f:
        x = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 28, 28) / 255
    with gzip.open(os.path.join(data, f"{name}-labels-idx1-ubyte.gz")) as f:
        y = np.frombuffer(f.read(), np.uint8, offset=8).astype(int)
    return x[:, 4:24, 4:24].reshape(-1, 10, 2, 10, 2).mean((2, 4)).reshape(-1, 100), y  # what USPS shows too, coarsely


def usps(name):
    x, y = [], []
    with bz2.open(os.path.join(data, name), "rt") as f:
        for line in f:
            label, *values = line.split()
            row = np.zeros(256)
            for value in values:
                column, number = value.split(":")
                row[int(column) - 1] = (float(number) + 1) / 2
            x.append(row.reshape(16, 16)), y.append(int(label) - 1)
    x = np.array(x)
    wide = x.repeat(5, 1).repeat(5, 2).reshape(-1, 10, 8, 10, 8).mean((2, 4))  # 16 × 16 to 10 × 10
    return wide.reshape(-1, 100), np.array(y)


x, y = mnist("train")
order = random.permutation(len(y))
train, held = order[:20000], order[20000:30000]
classifier = LogisticRegression(max_iter=60).fit(x[train], y[train])
HEAD = ",".join(f"probability_{digit}" for digit in range(10))


def write(name, rows, labels=None):
    with open(os.path.join(out, name), "w") as f:
        f.write(HEAD + (",label" if labels is not None else "") + "\n")
        for i, row in enumerate(classifier.predict_proba(rows)):
            f.write(",".join(f"{p:.5f}" for p in row) + (f",{labels[i]}" if labels is not None else "") + "\n")


os.makedirs(out, exist_ok=True)
write("held-out.csv", x[held], y[held])
# Other digits than those of training and of the reference, 40,000 of them, and USPS's.
rest = order[30000:]
test = mnist("t10k")
mnist_x, mnist_y = np.concatenate([x[rest], test[0]]), np.concatenate([y[rest], test[1]])
both = [usps("usps.bz2"), usps("usps.t.bz2")]
usps_x, usps_y = np.concatenate([b[0] for b in both]), np.concatenate([b[1] for b in both])
for night in range(1, 91):
    shares = np.full(10, 0.1)
    shares[1] = 0.10 + 0.10 * min(1, max(0, (night - 20) / 20))  # from 10 to 20% between nights 20 and 40
    shares[[0, 2, 3, 4, 5, 6, 7, 8, 9]] = (1 - shares[1]) / 9
    pool_x, pool_y = (usps_x, usps_y) if night > 60 else (mnist_x, mnist_y)
    labels = random.choice(10, 500, p=shares)
    rows = np.array([random.choice(np.flatnonzero(pool_y == label)) for label in labels])
    write(f"night-{night:02d}.csv", pool_x[rows])
    right = (classifier.predict(pool_x[rows]) == labels).mean()
    print(f"night {night}: digit 1 {np.mean(labels == 1):.3f}, accuracy {right:.3f}")
