"""The quadratic programs of the class weights by cvxopt, called from Python.

usage: qp_peer.py FOLDER CLASSES ITERATIONS
FOLDER/CLASSES.json is what BenchmarkSolveQPs of package weightest writes where
$IWDA_BENCH_PROBLEMS names the folder: the problems with our solutions. An iteration goes from
the statistics to the weights of every problem, as there: P = CᵀC and q = -Cᵀmu by numpy,
cvxopt's matrices, its solver with default tolerances, as in the released code. Ends
with an error where the solutions differ.
"""
import json
import os
import sys

import numpy as np
from cvxopt import matrix, solvers

from timing import report


def solve(confusion, mu, source):
    k = len(mu)
    solution = solvers.qp(
        matrix(confusion.T @ confusion), matrix(-confusion.T @ mu),
        matrix(-np.eye(k)), matrix(np.zeros(k)), matrix(source).T, matrix(1.0))
    return np.array(solution["x"]).ravel()


def check(p):
    """Compares the weights with cvxopt's at tolerances at which it is exact, too. With
    its own, which are what is timed, they are off by up to 2 of 8,000 at 345 classes."""
    with_default = dict(solvers.options)
    solvers.options.update(abstol=1e-13, reltol=1e-10, feastol=1e-9)
    w = solve(p["confusion"], p["mu"], p["source"])
    solvers.options.clear()
    solvers.options.update(with_default)
    difference, largest = np.abs(w - p["weights"]).max(), p["weights"].max()
    if not difference <= 1e-5 * largest:
        sys.exit(f"{len(w)} classes: the weights differ by {difference}; the largest is {largest}")


def main(folder, classes, iterations):
    solvers.options["show_progress"] = False
    with open(os.path.join(folder, classes + ".json")) as file:
        problems = [{name: np.array(values) for name, values in p.items()} for p in json.load(file)]
    for p in problems:
        check(p)

    def work(_):
        for p in problems:
            solve(p["confusion"], p["mu"], p["source"])

    report(work, iterations, len(problems))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
