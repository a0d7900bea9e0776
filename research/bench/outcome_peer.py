"""A run of IWDAN on the demo's images in eager PyTorch, one thread: whether a run ends well
or in NaN is a question of its seed, and so of how often it does so there.

usage: outcome_peer.py FOLDER
FOLDER/run.json is the run's configuration; source.npz, target.npz and test.npz hold its images as
the network sees them, with labels, of which those of the target are not read. Network, losses, schedules
and quadratic program are those of the Go program; what is drawn, parameters, batches and
dropout, is PyTorch's own. Prints JSON: the accuracy on the test images before the first epoch
and after each, and the loss that was not finite, if there was one.
"""
import json
import math
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F
from cvxopt import solvers

from peer import CLASSES, FEATURES, LeNet, Reversal, discriminator
from qp_peer import solve


def unit_scale(z):
    """Rows with a root mean square of 1."""
    return z * (z.square().mean(1, keepdim=True) + 1e-6).rsqrt()


class ClassWeights:
    """The class weights w, with the statistics of the training passes behind them."""

    def __init__(self, settings, source):
        self.settings, self.source = settings, source
        self.weights, self.updates = np.ones(CLASSES), 0
        self.clear()

    def clear(self):
        self.confusion = torch.zeros(CLASSES, CLASSES, dtype=torch.float64)  # row: predicted class
        self.predictions, self.rows = torch.zeros(CLASSES, dtype=torch.float64), 0

    def observe(self, source, labels, target):
        self.confusion.t().index_add_(0, labels, source.double())
        self.predictions += target.double().sum(0)
        self.rows += len(labels)

    def update(self):
        confusion, predictions = self.confusion.numpy() / self.rows, self.predictions.numpy() / self.rows
        self.clear()
        self.updates += 1
        singular = np.linalg.svd(confusion, compute_uv=False)
        if self.updates <= self.settings["Warmup"] or singular.min() < self.settings["MinSingularValue"]:
            return
        kept = self.settings["EMA"]
        self.weights = (1 - kept) * solve(confusion, predictions, self.source) + kept * self.weights


def accuracy(network, images, labels):
    network.eval()
    with torch.no_grad():
        right = sum((network(part)[1].argmax(1) == of).sum().item() for part, of in zip(images.split(500), labels.split(500)))
    network.train()
    return right / len(labels)


def read(folder, name):
    """Images and labels of a set."""
    file = np.load(os.path.join(folder, name + ".npz"))
    return torch.from_numpy(file["features"]).view(-1, 1, 28, 28), torch.from_numpy(file["labels"])


def train(run, folder):
    (source, labels), (target, _), test = (read(folder, name) for name in ("source", "target", "test"))
    settings, d_settings = run["Train"], run["Discriminator"]
    sgd, schedule, reversal, batch = settings["Optimizer"], settings["Schedule"], d_settings["Reversal"], settings["Batch"]
    torch.manual_seed(run["Seed"])
    network, d = LeNet(), discriminator(FEATURES, d_settings["Hidden"])[:-1]  # to logits
    options = dict(lr=sgd["LR"], momentum=sgd["Momentum"], weight_decay=sgd["WeightDecay"])
    network_sgd, d_sgd = torch.optim.SGD(network.parameters(), **options), torch.optim.SGD(d.parameters(), **options)
    shares = torch.bincount(labels, minlength=CLASSES).double() / len(labels)
    class_weights = ClassWeights(run["Weights"], shares.numpy())
    domains = torch.cat([torch.ones(batch), torch.zeros(batch)])
    accuracies, passes = [accuracy(network, *test)], 0
    for epoch in range(1, settings["Epochs"] + 1):
        network_sgd.param_groups[0]["lr"] = sgd["LR"] * schedule["Factor"] ** (epoch // schedule["Every"])
        for _ in range(max(len(source), len(target)) // batch):
            rows, others = torch.randint(0, len(source), (batch,)), torch.randint(0, len(target), (batch,))
            y = labels[rows]
            z, logits = network(torch.cat([source[rows], target[others]]))
            loss = (F.cross_entropy(logits[:batch], y, reduction="none") / (CLASSES * shares[y].float())).mean()
            if not math.isfinite(loss.item()):
                return accuracies, "classification loss"
            if epoch >= settings["DomainFromEpoch"]:
                passes += 1
                grown = math.exp(-10 * passes / reversal["Iterations"])
                seen = unit_scale(z) if d_settings["Normalise"] == "rows" else z
                out = d(Reversal.apply(seen, 2 / (1 + grown) - 1)).squeeze(1)
                w = torch.cat([torch.from_numpy(class_weights.weights).float()[y], torch.ones(batch)])
                domain = F.binary_cross_entropy_with_logits(out, domains, weight=w)
                if not math.isfinite(domain.item()):
                    return accuracies, "domain loss"
                loss = loss + run["Losses"]["TradeOff"] * domain
            network_sgd.zero_grad()
            d_sgd.zero_grad()
            loss.backward()
            network_sgd.step()
            if epoch >= settings["DomainFromEpoch"]:
                d_sgd.step()
            p = logits.detach().softmax(1)
            class_weights.observe(p[:batch], y, p[batch:])
        class_weights.update()
        accuracies.append(accuracy(network, *test))
    return accuracies, ""


def main(folder):
    torch.set_num_threads(1)
    solvers.options["show_progress"] = False
    with open(os.path.join(folder, "run.json")) as file:
        run = json.load(file)
    accuracies, not_finite = train(run, folder)
    print(json.dumps({"accuracies": accuracies, "not_finite": not_finite}))


if __name__ == "__main__":
    main(sys.argv[1])
