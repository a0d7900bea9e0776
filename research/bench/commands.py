"""Data for whole commands, and scikit-learn's classifiers of the kinds that adapt fits to a table.

usage: commands.py data FOLDER ROWS COLUMNS   writes source.npz and target.npz
       commands.py fit FOLDER                 prints the milliseconds of processor time of all fits
"""
import json
import os
import sys
import time
import warnings

import numpy


def data(folder, rows, columns):
    random = numpy.random.RandomState(1)
    centres = random.normal(size=(3, columns)) * 2 / columns**0.5
    os.makedirs(folder)
    for name, shares in (("source", [0.6, 0.3, 0.1]), ("target", [0.2, 0.3, 0.5])):
        labels = random.choice(3, rows, p=shares)
        known = {"labels": labels} if name == "source" else {}
        numpy.savez(os.path.join(folder, name), features=(centres[labels] + random.normal(size=(rows, columns))).astype(numpy.float32), **known)


def fit(folder):
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.neural_network import MLPClassifier

    warnings.filterwarnings("ignore")
    source = numpy.load(os.path.join(folder, "source.npz"))
    x, y = source["features"], source["labels"]
    x = (x - x.mean(0)) / x.std(0)
    start = time.process_time()
    for model in (LogisticRegressionCV(max_iter=1000), RandomForestClassifier(100, random_state=0), HistGradientBoostingClassifier(random_state=0), *(MLPClassifier(random_state=seed) for seed in range(3))):
        model.fit(x, y)
    print(json.dumps({"ms": (time.process_time() - start) * 1e3}))


if sys.argv[1] == "data":
    data(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
else:
    fit(sys.argv[2])
