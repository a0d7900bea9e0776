"""Class weights under label shift by numpy and scipy, as published implementations do it.

usage: labelshift_peer.py FOLDER CLASSES published|exact ITERATIONS
FOLDER/labelshift-CLASSES is what BenchmarkLabelShift of package weightest/calibration writes where
$IWDA_BENCH_PROBLEMS names the folder: 10,000 source rows, their labels, 10,000 target rows
and our weights. An iteration goes from logits to weights: bias-corrected temperature
scaling by scipy's L-BFGS-B with a tolerance of 1e-7, loss and gradient by numpy and
scipy's logsumexp on one-hot labels, then the EM algorithm until no class moves by more
than 1e-6, at most 100 times: the operations and, with "published", the stopping rules of
the released code. With "exact" both go on until their weights are those of the optimum.
Ends with an error where these differ from ours.
"""
import os
import sys

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from timing import report

ROWS = 10000


def softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def calibrate(logits, labels, tolerance):
    """Returns T and b of softmax(z/T + b)."""
    k = logits.shape[1]

    def loss(x):
        scores = logits / x[0] + x[1:]
        e = np.exp(scores)
        total = e.sum(axis=1)
        value = np.mean(logsumexp(scores, axis=1) - (scores * labels).sum(axis=1))
        expected = (logits * e).sum(axis=1) / total
        true = (logits * labels).sum(axis=1)
        gradient = np.empty(k + 1)
        gradient[0] = np.mean(true - expected) / x[0] ** 2
        gradient[1:] = np.mean(e / total[:, None] - labels, axis=0)
        return value, gradient

    start = np.concatenate([[1.0], np.zeros(k)])
    bounds = [(1e-3, None)] + [(None, None)] * k
    result = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", tol=tolerance)
    return result.x[0], result.x[1:]


def maximise(target, prior, tolerance, limit):
    q = prior.copy()
    for _ in range(limit):
        joint = target * (q / prior)
        joint /= joint.sum(axis=1, keepdims=True)
        former, q = q, joint.mean(axis=0)
        if np.abs(q - former).max() <= tolerance:
            break
    return q / prior


# Tolerances of L-BFGS-B and of EM, and EM's largest number of rounds.
STOPPING = {"published": (1e-7, 1e-6, 100), "exact": (1e-15, 1e-10, 10000)}


def estimate(source, labels, target, stopping):
    tolerance, em_tolerance, limit = STOPPING[stopping]
    temperature, biases = calibrate(source, labels, tolerance)
    prior = softmax(source / temperature + biases).mean(axis=0)
    return maximise(softmax(target / temperature + biases), prior, em_tolerance, limit)


def main(folder, classes, stopping, iterations):
    k = int(classes)
    values = np.fromfile(os.path.join(folder, "labelshift-" + classes))
    source, labels, target, ours = np.split(values, [ROWS * k, ROWS * (k + 1), ROWS * (2 * k + 1)])
    source, labels, target = source.reshape(ROWS, k), np.eye(k)[labels.astype(int)], target.reshape(ROWS, k)

    difference = np.abs(estimate(source, labels, target, "exact") - ours).max()
    if not difference <= 1e-3:
        sys.exit(f"{k} classes: the weights differ by {difference}")
    report(lambda _: estimate(source, labels, target, stopping), iterations)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
