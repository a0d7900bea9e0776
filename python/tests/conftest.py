import numpy as np
import pytest

import iwda

CLASSES = np.array(["cat", "dog", "owl"])
# Small networks, few steps: what is tested is what stands around the training.
QUICK = {"steps": 30, "progress": False}


def draw(seed, shares, rows=300, width=8, spread=3.0):
    """Rows of three classes, and these."""
    random = np.random.default_rng(seed)
    labels = random.choice(len(CLASSES), rows, p=shares)
    values = random.normal(size=(rows, width)).astype(np.float32)
    values[np.arange(rows), labels] += spread
    return values, CLASSES[labels]


SOURCE, TARGET = (0.5, 0.3, 0.2), (0.2, 0.2, 0.6)


@pytest.fixture(scope="session")
def domains():
    """Rows and labels of a source, rows and hidden labels of a target."""
    return (*draw(1, SOURCE), *draw(2, TARGET))


@pytest.fixture(scope="session")
def adapted(domains, tmp_path_factory):
    """The folder of a finished adaptation to the domains."""
    folder = tmp_path_factory.mktemp("adapted") / "out"
    rows, labels, target, _ = domains
    iwda.adapt(rows, labels, target, folder=folder, seeds=[1, 2], **QUICK)
    return folder
