"""A Python process from its start to the end of the first training step.

usage: start_peer.py [DIGITS]
Imports PyTorch, reads MNIST and USPS from the folder, as `iwrun` finds them there, makes
one step of DANN and says so. Without a folder the images are random. An iwrun worker
evaluates the network on the target's test set before its first step; this does not.
"""
import bz2
import gzip
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

from peer import digits_step


def mnist(folder):
    with gzip.open(os.path.join(folder, "train-images-idx3-ubyte.gz")) as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(os.path.join(folder, "train-labels-idx1-ubyte.gz")) as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return torch.from_numpy(images / np.float32(127.5) - 1), torch.from_numpy(labels.astype(np.int64))


def usps(path):
    with bz2.open(path) as file:
        values = np.array(file.read().replace(b":", b" ").split(), dtype=np.float32)
    images = torch.from_numpy(values.reshape(-1, 513)[:, 2::2].copy()).view(-1, 1, 16, 16)
    return F.interpolate(images, (28, 28), mode="bilinear", align_corners=False)


def main(folder=None):
    torch.set_num_threads(1)
    if folder:
        images, labels = mnist(folder)
        step = digits_step("dann", images, labels, usps(os.path.join(folder, "usps.bz2")))
        usps(os.path.join(folder, "usps.t.bz2"))
    else:
        step = digits_step("dann")
    step(0)
    print("step", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
