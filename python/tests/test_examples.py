"""The examples in docstrings, and the tutorial."""

import doctest
import importlib
import runpy
from pathlib import Path

import numpy as np
import pytest

import iwda

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("name", ["_adapt", "_labelshift", "_model", "_outcome", "_sklearn"])
def test_docstrings(name, adapted, domains):
    pytest.importorskip("pandas")
    rows, labels, target, hidden = domains
    given = {"iwda": iwda, "adapted": adapted, "outcome": iwda.Outcome(adapted), "rows": target, "hidden": hidden}
    result = doctest.testmod(importlib.import_module("iwda." + name), extraglobs=given)
    assert result.attempted > 0 and result.failed == 0
