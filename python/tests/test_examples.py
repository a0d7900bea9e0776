"""The examples in docstrings, and the tutorial."""

import doctest
import importlib
import re
import runpy
import sys
from pathlib import Path

import nbclient
import nbformat
import numpy as np
import pytest

import iwda

from conftest import QUICK

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("name", ["_adapt", "_labelshift", "_model", "_outcome", "_sklearn"])
def test_docstrings(name, adapted, domains):
    rows, labels, target, hidden = domains
    given = {"iwda": iwda, "adapted": adapted, "outcome": iwda.Outcome(adapted), "rows": target, "hidden": hidden}
    result = doctest.testmod(importlib.import_module("iwda." + name), extraglobs=given)
    assert result.attempted > 0 and result.failed == 0


PAGE = ROOT.parent / "docs" / "tutorials" / "python.md"


def alike(text, other, near=0.005):
    """The words are the same, and numbers as near as other roundings in training leave them.

    Noise of a millionth in all rows, ten times what float32 rounds off, moves the tutorial's
    numbers by 0.001 at most. A few times that is allowed, for the other sums of another
    instruction set; what a changed method or estimate moves is more.
    """
    number = r"\d+(?:\.\d+)?"
    if " ".join(re.sub(number, "0", text).split()) != " ".join(re.sub(number, "0", other).split()):
        return False
    pairs = zip(map(float, re.findall(number, text)), map(float, re.findall(number, other)))
    return all(abs(a - b) <= near + 0.002 * max(a, b) for a, b in pairs)


def test_alike():
    shown = "loyal  0.520 (0.476 to 0.568)  5.45; 88.4% of 800"
    assert alike("loyal 0.521 (0.475 to 0.570) 5.46; 88.3% of 800", shown)
    for other in ("loyal 0.503 (0.476 to 0.568) 5.45; 88.4% of 800", "loyal 0.520 (0.476 to 0.568) 5.45; 88.9% of 800", "regular" + shown[5:]):
        assert not alike(other, shown)


def test_tutorial(capsys):
    """The page of the tutorial shows the script and what it prints."""
    page = PAGE.read_text(encoding="utf-8")
    assert f"\n```python\n{(ROOT / 'tutorial.py').read_text(encoding='utf-8')}```\n" in page
    shown = re.search(r"(?ms)^It prints.*?^```\n(.*?)^```$", page).group(1)
    runpy.run_path(str(ROOT / "tutorial.py"))
    said = capsys.readouterr().out
    assert alike(said, shown), said


def blocks(page):
    return re.findall(r"(?ms)^```python\n(.*?)^```$", (ROOT.parent / "docs" / page).read_text(encoding="utf-8"))


def test_ten_lines(capsys):
    """The page on label shift begins with a script and what it prints first."""
    code, shown = re.search(r"(?ms)^```python\n(.*?)^```\n+```\n(.*?)^…$", (ROOT.parent / "docs/explanation/label-shift.md").read_text(encoding="utf-8")).groups()
    exec(code, {})
    said = capsys.readouterr().out
    assert alike("".join(said.splitlines(keepends=True)[: shown.count("\n")]), shown, 0.05), said


@pytest.mark.parametrize("methods", [None, ["source-only@linear"], ["source-only"]])
def test_reuse(methods, adapted, domains, monkeypatch, tmp_path):
    """The code for PyTorch alone reads what an adaptation leaves, of several networks and of one."""
    rows, labels, target, _ = domains
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "iwda_model", raising=False)
    if methods is None:
        Path("adapt-out").symlink_to(adapted)
    else:
        iwda.adapt(rows, labels, target, folder="adapt-out", methods=methods, seeds=[1], **QUICK)
    np.savez("more.npz", features=target)
    Path("iwda_model.py").write_text(blocks("reference/model.md")[0], encoding="utf-8")
    (code,) = blocks("howto/reuse-the-model.md")
    names = {}
    exec(code, names)
    assert np.abs(names["probabilities"].numpy() - iwda.load("adapt-out").predict_proba(target)).max() < 1e-5


@pytest.mark.filterwarnings("ignore")
def test_page(monkeypatch, tmp_path):
    """The other code of the page, block after block, with short trainings."""
    adapt = iwda.adapt
    monkeypatch.setattr(iwda, "adapt", lambda *domains, **how: adapt(*domains, **{"steps": 60, "progress": False, **how}))
    monkeypatch.setattr(iwda.Outcome, "report", lambda self, show=False: self.path("report.html"))
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    labels = random.choice(3, 500)

    def probabilities(labels):
        z = np.exp(2 * random.normal(size=(len(labels), 3)) + 3 * np.eye(3)[labels])
        return z / z.sum(1, keepdims=True)

    names = {"iwda": iwda, "np": np, "random": random, "labels": labels, "source_probabilities": probabilities(labels)}
    names["target_probabilities"] = probabilities(random.choice(3, 400, p=[0.6, 0.3, 0.1]))
    names["tonight"] = names["target_probabilities"]
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 8 and "folder=" in blocks[2]
    for block in blocks[2:3] + blocks[1:2] + blocks[3:]:
        exec(compile(block.replace("steps=600", "steps=60").replace("share(sick)", "share(2)"), str(PAGE), "exec"), names)
    assert set(names["outcome"].predictions) <= {0, 1, 2}
    assert names["found"].shares["target_share"][0] > 0.4


def outputs(notebook):
    """What each cell of code shows, as text."""
    return ["".join(output.get("text", "") or output["data"]["text/plain"] for output in cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]


def test_notebook():
    """The notebook is saved with the outputs that it has: jupyter nbconvert --execute --inplace writes them anew."""
    notebook = nbformat.read(ROOT / "tutorial.ipynb", as_version=4)
    saved = outputs(notebook)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(ROOT)}}).execute()
    for shown, said in zip(saved, outputs(notebook)):
        assert alike(said, shown, 0.02), said
    assert sum(map(bool, saved)) == 5
