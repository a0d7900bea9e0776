"""Pseudo-balance in arrays (Garg et al. 2023): rows of each batch drawn evenly, source by label and target by predicted class.

usage: pseudobalance.py PART OF [--out build/suite]
Divides the suite's arrays into OF parts, and prints a line of JSON for each of that PART, from 0: task, group, half, and
what was found of each way, accuracy and balanced accuracy in percent, as predicted and as corrected. What is compared,
and what came of it, is in arrays.md.
"""
import argparse
import json
import pathlib

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import baselines
import mcc
import tasks
from leftout import scores

STEPS, WARM, AGAIN = 1500, 200, 50
WAYS = {"as drawn": (False, False), "target": (True, False), "both": (True, True)}


def trained(source, labels, held, target, classes, linear, pseudo, even):
    """Logits of held source rows and of target rows, of a network that learns with MCC on target
    rows; pseudo draws these evenly by predicted class after WARM steps, even the source rows by label."""
    torch.manual_seed(1)
    source, held, target, labels = (torch.as_tensor(part) for part in (source, held, target, labels))
    wide = source.shape[1]
    net = nn.Linear(wide, classes) if linear else nn.Sequential(nn.Linear(wide, mcc.UNITS), nn.ReLU(), nn.Linear(mcc.UNITS, classes))
    optimizer = torch.optim.Adam(net.parameters(), lr=mcc.RATE)
    of_source = 1 / torch.bincount(labels, minlength=classes)[labels].float() if even else torch.ones(len(labels))
    of_target = torch.ones(len(target))
    for step in range(STEPS):
        if pseudo and step >= WARM and step % AGAIN == 0:
            with torch.no_grad():
                said = net(target).argmax(1)
            of_target = 1 / torch.bincount(said, minlength=classes)[said].float()
        s, t = (torch.multinomial(weights, mcc.BATCH, True) for weights in (of_source, of_target))
        loss = F.cross_entropy(net(source[s]), labels[s]) + mcc.class_confusion(net(target[t]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return net(held), net(target)


def calibrated(held, labels, logits, even):
    """Probabilities of logits, divided by the temperature of 0.5 to 20 at which held source rows' labels are
    most likely, each class counting alike if the network saw them so."""
    labels = torch.as_tensor(labels)
    weight = 1 / torch.bincount(labels, minlength=logits.shape[1])[labels].float() if even else torch.ones(len(labels))
    likely = min(np.geomspace(0.5, 20, 30), key=lambda t: float((weight * F.cross_entropy(held / t, labels, reduction="none")).sum()))
    return torch.softmax(logits / likely, dim=1).double().numpy()


def judged(folder, truth):
    """What each way has on an array: statistics/model/way, and [as predicted, corrected]."""
    x, y, z, names = baselines.load(folder)
    names = [str(name) for name in names]
    truth = np.array([names.index(name) if name in names else -1 for name in truth.astype(str)])
    source, domain = baselines.domains(x, z)
    held = np.random.default_rng(1).permutation(len(x)) < max(len(x) // 10, 20)
    prior = np.bincount(y[~held], minlength=len(names)) + 0.5
    found = {}
    for statistics in ("own", "source"):
        for linear in (True, False):
            for way, (pseudo, even) in WAYS.items():
                of_held, of_target = trained(source[~held], y[~held], source[held], domain[statistics], len(names), linear, pseudo, even)
                p = calibrated(of_held, y[held], of_target, even)
                seen = np.full(len(names), 1 / len(names)) if even else prior / prior.sum()
                both = scores(p, truth), scores(baselines.corrected(p, seen), truth)
                found["/".join((statistics, "linear" if linear else "network", way))] = [[round(v, 2) for v in pair] for pair in both]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", type=int)
    parser.add_argument("of", type=int)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/suite"))
    to = parser.parse_args()
    torch.set_num_threads(1)
    for at, task in enumerate(task for task in tasks.manifest() if not task["table"]):
        name = task["kind"] + "/" + task["name"]
        folder = to.out / "tasks" / name
        if at % to.of == to.part and folder.is_dir():
            truth = np.load(to.out / "truth" / (name + ".npy"))
            print(json.dumps({"task": name, "group": task["group"], "half": task["half"], "found": judged(folder, truth)}), flush=True)


if __name__ == "__main__":
    main()
