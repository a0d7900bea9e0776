"""Training and evaluation on digits, and training on features, in eager PyTorch, one
thread: what the Go program is measured against.

usage: peer.py WORK ITERATIONS   prints the median milliseconds of one iteration
       peer.py versions          prints the versions, loads what the other peers need
"""
import json
import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from timing import report

BATCH, CLASSES, FEATURES = 64, 10, 500


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.ReLU(),
            nn.Conv2d(20, 50, 5), nn.Dropout2d(0.5), nn.MaxPool2d(2), nn.ReLU())
        self.hidden = nn.Sequential(nn.Linear(800, FEATURES), nn.ReLU(), nn.Dropout(0.5))
        self.classifier = nn.Linear(FEATURES, CLASSES)

    def forward(self, x):
        z = self.hidden(self.convolutions(x).flatten(1))
        return z, self.classifier(z)


class Reversal(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, coefficient):
        ctx.coefficient = coefficient
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.coefficient * grad, None


class MLP(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Dropout(0.5))
        self.classifier = nn.Linear(hidden, CLASSES)

    def forward(self, x):
        z = self.hidden(x)
        return z, self.classifier(z)


def discriminator(inputs, hidden=500, dropout=0.5):
    def layer(inputs):
        return [nn.Linear(inputs, hidden), nn.ReLU()] + ([nn.Dropout(dropout)] if dropout else [])

    d = nn.Sequential(*layer(inputs), *layer(hidden), nn.Linear(hidden, 1), nn.Sigmoid())
    for m in d:
        if isinstance(m, nn.Linear):
            nn.init.xavier_normal_(m.weight)
            nn.init.zeros_(m.bias)
    return d


def plain(z, p):
    return z


def outer_product(z, p):
    return torch.bmm(p.unsqueeze(2), z.unsqueeze(1)).view(len(z), -1)


def common_scale(z):
    """Rows divided by one number, the root of the mean square of all of them."""
    return z * (z.square().mean() + 1e-6).rsqrt()


def digits_step(method, images=None, labels=None, target_images=None, network=None):
    """A training step of a digits method; without images they are random."""
    torch.manual_seed(0)
    if images is None:
        images = target_images = torch.rand(7000, 1, 28, 28) * 2 - 1
        labels = torch.randint(0, CLASSES, (7000,))
    conditional = "cdan" in method
    return training_step(method, images, labels, target_images, network or LeNet(),
                         discriminator(CLASSES * FEATURES if conditional else FEATURES),
                         outer_product if conditional else plain)


def mlp_step(method, form):
    """A training step on random rows of 64 features, with 256 hidden units.

    The discriminator is that of `iwrun adapt`, of 128 units without dropout behind features of
    one scale, or the paper's of 500; for CDAN either sees the outer product.
    """
    torch.manual_seed(0)
    hidden, conditional = 256, "cdan" in method
    rows, labels = torch.randn(7000, 64), torch.randint(0, CLASSES, (7000,))
    inputs, condition = (CLASSES * hidden, outer_product) if conditional else (hidden, plain)
    d = discriminator(inputs)
    if form == "adapt":
        d, of_features = discriminator(inputs, 128, 0), condition
        condition = lambda z, p: of_features(common_scale(z), p)
    return training_step(method, rows, labels, rows, MLP(64, hidden), d, condition)


def training_step(method, rows, labels, target_rows, network, d, condition):
    """A training step of a method, from drawing the batch to both optimisers.

    Batches are drawn with replacement. condition makes the discriminator's inputs of
    features and predictions.
    """
    weighted = method.startswith("iw")
    sgd = dict(lr=0.02, momentum=0.9, weight_decay=5e-4)
    network_sgd, d_sgd = torch.optim.SGD(network.parameters(), **sgd), torch.optim.SGD(d.parameters(), **sgd)
    domain_labels = torch.cat([torch.ones(BATCH, 1), torch.zeros(BATCH, 1)])
    weights, distribution = torch.rand(CLASSES) + 0.5, torch.full((CLASSES,), 0.1)
    confusion, target_predictions = torch.zeros(CLASSES, CLASSES), torch.zeros(CLASSES)

    def step(i):
        source, target = torch.randint(0, len(rows), (BATCH,)), torch.randint(0, len(target_rows), (BATCH,))
        x, y = torch.cat([rows[source], target_rows[target]]), labels[source]
        network_sgd.zero_grad()
        d_sgd.zero_grad()
        z, logits = network(x)
        p = logits.softmax(1)
        if weighted:
            loss = (F.cross_entropy(logits[:BATCH], y, reduction="none") / (CLASSES * distribution[y])).mean()
            with torch.no_grad():
                confusion.t().index_add_(0, y, p[:BATCH])
                target_predictions.add_(p[BATCH:].sum(0))
        else:
            loss = F.cross_entropy(logits[:BATCH], y)
        if method != "source-only":
            inputs = condition(z, p.detach())
            coefficient = 2 / (1 + math.exp(-10 * i / 10000)) - 1
            out = d(Reversal.apply(inputs, coefficient))
            if weighted:
                row_weights = torch.cat([weights[y], torch.ones(BATCH)]).unsqueeze(1)
                loss = loss + F.binary_cross_entropy(out, domain_labels, weight=row_weights)
            else:
                loss = loss + F.binary_cross_entropy(out, domain_labels)
        loss.backward()
        network_sgd.step()
        if method != "source-only":
            d_sgd.step()
        loss.item()

    return step


def evaluate(batch, count=10000, network=None):
    """Classifies that many digits, batch at a time; the released code's loader takes one."""
    torch.manual_seed(0)
    images, labels, network = torch.rand(count, 1, 28, 28), torch.randint(0, CLASSES, (count,)), network or LeNet()

    def run(_):
        network.eval()
        right = 0
        with torch.no_grad():
            for first in range(0, count, batch):
                _, logits = network(images[first:first + batch])
                right += (logits.argmax(1) == labels[first:first + batch]).sum().item()
        network.train()

    return run


def tenth_of_epoch(method):
    """A tenth of an epoch of usps-mnist: 94 steps, then 1,000 images one at a time."""
    network = LeNet()
    step, test = digits_step(method, network=network), evaluate(1, 1000, network)

    def run(i):
        for j in range(94):
            step(94 * i + j)
        test(i)

    return run


WORKS = {"evaluate-one": lambda: evaluate(1), "evaluate-batch": lambda: evaluate(500)}
for name in ["source-only", "dann", "iwdan", "cdan", "iwcdan"]:
    WORKS["step-" + name] = lambda name=name: digits_step(name)
    WORKS["epoch-" + name] = lambda name=name: tenth_of_epoch(name)
    for form in ["adapt", "paper"]:
        WORKS[f"mlp-{form}-{name}"] = lambda name=name, form=form: mlp_step(name, form)


def versions():
    import cvxopt
    import numpy
    import PIL
    import scipy
    import torchvision
    print(json.dumps({"PyTorch": torch.__version__, "torchvision": torchvision.__version__, "Pillow": PIL.__version__,
                      "numpy": numpy.__version__, "cvxopt": cvxopt.__version__, "SciPy": scipy.__version__}))


def main():
    torch.set_num_threads(1)
    if sys.argv[1] == "versions":
        versions()
    else:
        report(WORKS[sys.argv[1]](), int(sys.argv[2]))


if __name__ == "__main__":
    main()
