"""Trains a backbone on digits of two domains without a label of either, and writes its features.

usage: backbone.py FOLDER SEED STEPS OUT
FOLDER holds MNIST's IDX files (gzip) and USPS's usps.bz2. The source is USPS with 30% of the
digits 0 to 4 kept, the target 10,000 images of MNIST. Two random views of an image are to have
features more alike than those of other images of the same domain (SimCLR, Chen et al. 2020): with
images of the other domain among them, telling the domains apart would be rewarded. OUT gets
source.npz with labels, target.npz without, target-labelled.npz to measure, and backbone.pt for
network.name torchscript. research/own-data.md has what iwrun adapt makes of them.
"""
import bz2
import gzip
import os
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

KEPT = 0.3  # of the digits 0 to 4 in the source
TARGET_ROWS = 10000
BATCH = 80  # images of each domain, two views each
TEMPERATURE = 0.3


def read_mnist(folder, seed=1):
    with gzip.open(os.path.join(folder, "train-images-idx3-ubyte.gz")) as f:
        images = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(os.path.join(folder, "train-labels-idx1-ubyte.gz")) as f:
        labels = np.frombuffer(f.read(), np.uint8, offset=8)
    rows = np.random.default_rng(seed).permutation(len(labels))[:TARGET_ROWS]
    return torch.tensor(images[rows] / np.float32(255)), labels[rows].astype(np.int64)


def read_usps(folder):
    images, labels = [], []
    with bz2.open(os.path.join(folder, "usps.bz2"), "rt") as f:
        for line in f:
            label, *pixels = line.split()
            image = np.zeros(256, np.float32)
            for pixel in pixels:
                index, value = pixel.split(":")
                image[int(index) - 1] = float(value)
            images.append((image + 1) / 2)
            labels.append(int(label) - 1)
    images, labels = np.stack(images).reshape(-1, 1, 16, 16), np.array(labels)
    images = F.interpolate(torch.tensor(images), (28, 28), mode="bilinear", align_corners=False)
    return images, labels


def subsampled(images, labels, random):
    """The images without the digits 0 to 4 that a source does not keep."""
    kept = np.ones(len(labels), bool)
    for digit in range(5):
        rows = np.flatnonzero(labels == digit)
        random.shuffle(rows)
        kept[rows[round(KEPT * len(rows)):]] = False
    return images[kept], labels[kept]


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 20, 5), nn.BatchNorm2d(20), nn.MaxPool2d(2), nn.ReLU(),
            nn.Conv2d(20, 50, 5), nn.BatchNorm2d(50), nn.MaxPool2d(2), nn.ReLU(),
            nn.Flatten(), nn.Linear(800, 256), nn.ReLU())

    def forward(self, images):
        return self.layers(images)


def view(x):
    """Turns, stretches, shears and moves images, makes strokes thicker or thinner, blurs, and changes the contrast."""
    n = len(x)

    def uniform(low, high):
        return torch.rand(n) * (high - low) + low

    angle, width, height, shear = uniform(-0.35, 0.35), uniform(0.75, 1.3), uniform(0.75, 1.3), uniform(-0.3, 0.3)
    c, s = torch.cos(angle), torch.sin(angle)
    first = torch.stack([c * width, -s * height + shear, uniform(-0.15, 0.15)], 1)
    second = torch.stack([s * width, c * height, uniform(-0.15, 0.15)], 1)
    grid = F.affine_grid(torch.stack([first, second], 1), x.shape, align_corners=False)
    x = F.grid_sample(x, grid, align_corners=False)
    choice = torch.rand(n)
    thicker, thinner, blurred = choice < 0.25, (choice >= 0.25) & (choice < 0.45), torch.rand(n) < 0.5
    x[thicker] = F.max_pool2d(x[thicker], 3, 1, 1)
    x[thinner] = -F.max_pool2d(-x[thinner], 2, 1, 1)[:, :, :28, :28]
    x[blurred] = F.avg_pool2d(x[blurred], 3, 1, 1)
    x = x.clamp(0, 1) ** uniform(0.5, 2)[:, None, None, None]
    return x / x.amax((1, 2, 3), keepdim=True).clamp(min=0.2)


def contrast(z):
    """The loss of the two views of n images, rows i and n+i: each is to find the other among all."""
    z = F.normalize(z, dim=1)
    similarity = z @ z.t() / TEMPERATURE
    similarity.fill_diagonal_(-1e9)
    n = len(z) // 2
    return F.cross_entropy(similarity, torch.cat([torch.arange(n, 2 * n), torch.arange(n)]))


def train(source, target, steps):
    backbone = Backbone()
    head = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 64))
    optimizer = torch.optim.Adam([*backbone.parameters(), *head.parameters()], lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step in range(steps):
        s, t = (images[torch.randint(len(images), (BATCH,))] for images in (source, target))
        z = head(backbone(torch.cat([view(s.clone()), view(s.clone()), view(t.clone()), view(t.clone())])))
        loss = contrast(z[:2 * BATCH]) + contrast(z[2 * BATCH:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            print(f"step {step}: {loss.item():.3f}", flush=True)
    return backbone.eval()


def write(out, source, target):
    """Writes features and labels of both domains, those of the target also without labels."""
    os.makedirs(out, exist_ok=True)
    np.savez(os.path.join(out, "source.npz"), features=source[0], labels=source[1])
    np.savez(os.path.join(out, "target.npz"), features=target[0])
    np.savez(os.path.join(out, "target-labelled.npz"), features=target[0], labels=target[1])


def main(folder, seed, steps, out):
    torch.set_num_threads(1)
    torch.manual_seed(int(seed))
    source, source_labels = subsampled(*read_usps(folder), np.random.default_rng(0))
    target, target_labels = read_mnist(folder)
    backbone = train(source, target, int(steps))
    with torch.no_grad():
        of_source, of_target = (torch.cat([backbone(part) for part in images.split(500)]).numpy() for images in (source, target))
    write(out, (of_source, source_labels), (of_target, target_labels))
    torch.jit.script(backbone).save(os.path.join(out, "backbone.pt"))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
