"""The examples in docstrings, and the tutorial."""

import doctest
import importlib
import runpy
from pathlib import Path

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


def test_tutorial(capsys):
    pytest.importorskip("pandas")
    runpy.run_path(str(ROOT / "tutorial.py"))
    said = capsys.readouterr().out
    assert "800 rows predicted by" in said and float(said.split()[-1]) > 0.8


def test_notebook():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    for needed in ("ipykernel", "sklearn", "pandas"):
        pytest.importorskip(needed)
    notebook = nbformat.read(ROOT / "tutorial.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "saved without outputs"
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("Verdict" in output.get("data", {}).get("text/html", "") for output in shown)
