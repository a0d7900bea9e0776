"""Handwritten digits of three collections: scikit-learn's, MNIST and USPS (from $IWDA_DATA/digits)."""
import functools
import itertools
import os
import sys

import numpy as np
import sklearn.datasets
import torch
from torch import nn
from torch.nn import functional as F

from draws import Domain, Task, along, halves, redraw

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import backbone  # noqa: E402
import gradients as oriented  # noqa: E402


def folder():
    return os.path.join(os.environ.get("IWDA_DATA", "data"), "digits")


@functools.lru_cache(maxsize=None)
def images(name):
    """n × 1 × 28 × 28 between 0 and 1, and the digits as texts."""
    if name == "uci":
        digits = sklearn.datasets.load_digits()
        small = torch.tensor(digits.images[:, None] / 16, dtype=torch.float32)
        return F.interpolate(small, (28, 28), mode="bilinear", align_corners=False), digits.target.astype(str)
    x, y = backbone.read_mnist(folder()) if name == "mnist" else backbone.read_usps(folder())
    return x, y.astype(str)


@functools.lru_cache(maxsize=None)
def small(name):
    """A collection as 8 × 8 pixels; those of MNIST without the margin that others don't have."""
    x, y = images(name)
    if name == "uci":
        return Domain((sklearn.datasets.load_digits().data / 16).astype(np.float32), y)
    x = x[:, :, 4:24, 4:24] if name == "mnist" else x
    return Domain(F.interpolate(x, (8, 8), mode="area").flatten(1).numpy(), y)


def drawn(domain, rows, random):
    return domain.take(redraw(domain.labels, rows, random))


def pixels():
    for seed, (a, b) in enumerate(itertools.permutations(["uci", "mnist", "usps"], 2), 1):
        random = np.random.default_rng([1, seed])
        yield Task(f"{a}-{b}", "gap", seed, drawn(small(a), 2000, random), drawn(small(b), 2000, random))


def collection():
    for seed, (name, shares) in enumerate([("uci", False), ("mnist", False), ("usps", True), ("mnist", True), ("uci", True)], 1):
        random = np.random.default_rng([2, seed])
        domain = small(name)
        source, target = (domain.take(rows[:2000]) for rows in halves(len(domain), random))
        if shares:
            source, target = drawn(source, 1500, random), drawn(target, 1500, random)
        yield Task(f"{name}-{'shares' if shares else 'same'}", "label-shift" if shares else "none", seed, source, target)


def measures(values):
    """What the strokes of n × 64 pixels are like: ink, slant and size, by moments."""
    x = values.reshape(-1, 8, 8) + 1e-6
    ink = x.sum((1, 2))
    down, across = np.mgrid[:8, :8]
    u = across - (x * across).sum((1, 2))[:, None, None] / ink[:, None, None]
    v = down - (x * down).sum((1, 2))[:, None, None] / ink[:, None, None]
    return {"ink": ink, "slant": -(x * u * v).sum((1, 2)) / (x * v * v).sum((1, 2)),
            "size": (x * u * u).sum((1, 2)) / ink + (x * v * v).sum((1, 2)) / ink, "pixel": values[:, 8 * 3 + 3]}


def strokes():
    for seed, (name, measure, slope) in enumerate([("mnist", "ink", np.inf), ("usps", "slant", np.inf), ("mnist", "size", 4), ("uci", "pixel", 4)], 1):
        random = np.random.default_rng([3, seed])
        domain = small(name)
        domain = domain.take(random.permutation(len(domain))[:3000])
        source, target = along(measures(domain.values)[measure], random, slope)
        yield Task(f"{name}-{measure}", "covariate", seed, domain.take(source), domain.take(target))


def gradients():
    """As bench/gradients.py, five draws: USPS with 30% of the digits 0 to 4, and 10,000 of MNIST."""
    torch.set_num_threads(1)
    for seed in range(61, 66):
        x, y = backbone.subsampled(*backbone.read_usps(folder()), np.random.default_rng(seed))
        target, truth = backbone.read_mnist(folder(), seed)
        yield Task(f"usps-mnist-{seed}", "gap", seed, Domain(oriented.gradients(x), y.astype(str)), Domain(oriented.gradients(target), truth.astype(str)))


def rotated(x, degrees):
    a = np.deg2rad(degrees)
    matrix = torch.tensor([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0]], dtype=torch.float32)
    return F.grid_sample(x, F.affine_grid(matrix.expand(len(x), 2, 3), x.shape, align_corners=False), align_corners=False)


def distorted():
    """MNIST or USPS as 14 × 14 pixels; other images of the same collection, distorted, as target."""
    distortions = {
        "rotated": ("mnist", lambda x: rotated(x, 30)),
        "blurred": ("usps", lambda x: oriented.blur(x, 2.5)),
        "dimmed": ("mnist", lambda x: 0.3 + 0.4 * x + 0.1 * torch.randn(x.shape, generator=torch.Generator().manual_seed(1))),
        "inverted": ("usps", lambda x: 1 - x),
    }
    for seed, (name, (which, distort)) in enumerate(distortions.items(), 1):
        random = np.random.default_rng([4, seed])
        x, y = images(which)
        source, target = halves(len(y), random)
        source, target = source[redraw(y[source], 2000, random)], target[redraw(y[target], 2000, random)]
        domains = (Domain(F.avg_pool2d(part, 2).flatten(1).numpy(), y[rows]) for part, rows in ((x[source], source), (distort(x[target]), target)))
        yield Task(f"{which}-{name}", "gap", seed, *domains)


def trained(x, y, steps=800, seed=1):
    """A LeNet that has learned these digits: images to 64 features."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    body = nn.Sequential(nn.Conv2d(1, 12, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(12, 32, 5), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(512, 64), nn.ReLU())
    head, y = nn.Linear(64, 10), torch.tensor(y.astype(int))
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-3)
    for _ in range(steps):
        rows = torch.randint(len(x), (64,))
        optimizer.zero_grad()
        F.cross_entropy(head(body(x[rows])), y[rows]).backward()
        optimizer.step()
    return lambda part: torch.cat([body(rows).detach() for rows in part.split(500)]).numpy()


def lenet():
    """Features of a LeNet that learned from a third collection, or from rows of its source's that are in neither domain."""
    tasks = [("uci", "usps", "mnist", "gap"), ("usps", "mnist", "mnist", "label-shift"), ("mnist", "mnist", "usps", "gap")]
    for seed, (taught, a, b, group) in enumerate(tasks, 1):
        random = np.random.default_rng([5, seed])
        x, y = images(taught)
        rest, teaching = halves(len(y), random)
        features = trained(x[teaching], y[teaching])
        of_source, of_target = (halves(len(images(name)[1]), np.random.default_rng(9))[side] for name, side in ((a, 0), (b, 1)))
        if taught == a:
            of_source = rest
        domains = []
        for name, rows in ((a, of_source), (b, of_target)):
            x, y = images(name)
            rows = rows[redraw(y[rows], 2500, random)]
            domains.append(Domain(features(x[rows]), y[rows]))
        yield Task(f"{a}-{b}-of-{taught}", group, seed, *domains)
