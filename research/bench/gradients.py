"""Writes features of digits that were made for neither domain: histograms of oriented gradients.

usage: gradients.py FOLDER SEED TASK OUT
FOLDER holds MNIST's IDX files (gzip) and USPS's usps.bz2. TASK is usps-mnist or mnist-usps; the
source keeps 30% of the digits 0 to 4, and SEED draws which, and 10,000 images of MNIST. Each image
is cut to its ink, scaled to 22 × 22 and blurred; the gradient's direction is shared out between
eight bins, gathered in cells of 4 × 4 pixels, and the row brought to length 1, values above 0.2
cut off, as in Dalal and Triggs (2005). OUT gets source.npz with labels, target.npz without and
target-labelled.npz to measure. research/own-data.md has what iwrun adapt makes of them.
"""
import math
import sys

import numpy as np
import torch
from torch.nn import functional as F

import backbone

BINS, CELL, INK = 8, 4, 22


def blur(x, sigma):
    kernel = torch.exp(-torch.arange(-4, 5) ** 2 / (2 * sigma ** 2))
    kernel = kernel / kernel.sum()
    return F.conv2d(F.conv2d(x, kernel.view(1, 1, 1, 9), padding=(0, 4)), kernel.view(1, 1, 9, 1), padding=(4, 0))


def cut_to_ink(image):
    """1 × 28 × 28 to the same: the square around what is darker than a fifth of the darkest."""
    ink = image[0] > 0.2 * image.max()
    rows, columns = torch.where(ink.any(1))[0], torch.where(ink.any(0))[0]
    part = image[:, rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1]
    height, width = part.shape[1:]
    side, margin = max(height, width), (28 - INK) // 2
    square = torch.zeros(1, 1, side, side)
    top, left = (side - height) // 2, (side - width) // 2
    square[0, :, top:top + height, left:left + width] = part
    return F.pad(F.interpolate(square, (INK, INK), mode="bilinear", align_corners=False)[0], [margin] * 4)


def gradients(images):
    """n × 1 × 28 × 28 to n × 392."""
    x = blur(torch.stack([cut_to_ink(image) for image in images]), 0.8)
    across, down = F.pad(x, (1, 1, 0, 0)), F.pad(x, (0, 0, 1, 1))
    dx, dy = across[:, :, :, 2:] - across[:, :, :, :-2], down[:, :, 2:] - down[:, :, :-2]
    direction, length = torch.atan2(dy, dx), (dx ** 2 + dy ** 2).sqrt()
    bins = []
    for i in range(BINS):
        apart = (direction - 2 * math.pi * i / BINS + math.pi).remainder(2 * math.pi) - math.pi
        bins.append(length * F.relu(1 - apart.abs() * BINS / (2 * math.pi)))
    cells = blur(torch.cat(bins, 1).view(-1, 1, 28, 28), CELL / 2).view(len(x), BINS, 28, 28)
    rows = F.normalize(cells[:, :, CELL // 2::CELL, CELL // 2::CELL].flatten(1))
    return F.normalize(rows.clamp(max=0.2)).numpy()


def main(folder, seed, task, out):
    torch.set_num_threads(1)
    usps, mnist = backbone.read_usps(folder), backbone.read_mnist(folder, int(seed))
    source, target = {"usps-mnist": (usps, mnist), "mnist-usps": (mnist, usps)}[task]
    source = backbone.subsampled(*source, np.random.default_rng(int(seed)))
    backbone.write(out, *((gradients(images), labels) for images, labels in (source, target)))


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[3] not in ("usps-mnist", "mnist-usps"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
