"""Writes three collections of digits, MNIST, USPS and scikit-learn's, into the working directory: rows of 16 x 16 values
for mlp.yaml and images of 28 x 28 for lenet.yaml. A collection "low" has 30% of the digits 0 to 4, "high" 30% of 5 to 9.

IWDA_DATA=... python3 digits.py"""
import bz2
import gzip
import os

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

ROOT = os.environ.get("IWDA_DATA", "data") + "/digits/"
READERS = {".gz": gzip.open, ".bz2": bz2.open, "": open}


def content(name):
    end = next(end for end in READERS if os.path.exists(ROOT + name + end))
    with READERS[end](ROOT + name + end, "rb") as file:
        return file.read()


def mnist(rows):
    images = np.frombuffer(content("train-images-idx3-ubyte"), np.uint8, offset=16).reshape(-1, 28, 28) / 255
    return images[:rows], np.frombuffer(content("train-labels-idx1-ubyte"), np.uint8, offset=8)[:rows]


def usps(name):
    rows = [line.split() for line in content(name).decode().splitlines()]
    images = np.array([[float(value.split(":")[1]) for value in row[1:]] for row in rows]).reshape(-1, 16, 16)
    return (images + 1) / 2, np.array([int(float(row[0])) - 1 for row in rows])


def kept(labels, fewer):
    return ~np.isin(labels, fewer) | (np.random.default_rng(1).random(len(labels)) < 0.3)


def images(folder, images, labels, fewer):
    for i in np.flatnonzero(kept(labels, fewer)):
        os.makedirs(f"{folder}/{labels[i]}", exist_ok=True)
        pixels = Image.fromarray((255 * images[i]).round().astype(np.uint8))
        pixels.resize((28, 28), Image.BILINEAR).save(f"{folder}/{labels[i]}/{i}.png")


low, high = range(5), range(5, 10)
sklearn = load_digits()
sets = {"mnist": mnist(10000), "usps": usps("usps"), "optdigits": (sklearn.images / 16, sklearn.target)}
for name, (values, labels) in sets.items():
    rows = np.stack([Image.fromarray(v.astype(np.float32)).resize((16, 16), Image.BILINEAR) for v in values]).reshape(len(values), -1)
    for part, fewer in ("low", low), ("high", high), ("whole", ()):
        of = kept(labels, fewer)
        np.savez(f"{name}-{part}.npz", features=rows[of].astype(np.float32), labels=labels[of].astype(np.int64))
images("mnist", *sets["mnist"], low)
images("optdigits", *sets["optdigits"], high)
images("usps", *sets["usps"], ())
images("usps-test", *usps("usps.t"), ())
