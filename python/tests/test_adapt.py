"""iwda.adapt and what it returns."""

import datetime
import gc
import json
import os
import pickle
import re
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas
import pytest
import scipy.sparse
import torch

import iwda
from iwda import _data

from conftest import CLASSES, QUICK, draw

SEEDS = {"methods": ["source-only@linear"], **QUICK}
ONE = {**SEEDS, "seeds": [1]}


def test_files_and_python_agree(adapted, domains):
    outcome = iwda.Outcome(adapted)
    assert len(outcome.predictions) == len(domains[2])
    assert outcome.ids.tolist() == list(range(len(domains[2])))
    assert np.abs(np.asarray(outcome.probabilities) - outcome.model.predict_proba(domains[2])).max() < 1e-6
    assert np.array_equal(outcome.model.predict(domains[2]), outcome.predictions)
    assert (outcome.predictions == domains[3]).mean() > 0.8
    shares, weights = outcome.shares, outcome.weights
    for name, of in zip(outcome.classes, outcome.record["classes"]):
        assert shares["target_share"][name] == of["target_share"]
        assert shares["target_share_low"][name] <= of["target_share"] <= shares["target_share_high"][name]
        assert weights["weight"][name] == of["weight"]
    assert outcome.report().read_text().startswith("<!")
    assert outcome.headline in repr(outcome) and outcome.reliable in ("yes", "no", "cannot be told") and len(outcome.cases) >= 3


def test_files_of_other_formats(tmp_path):
    """What this version does not read is refused."""
    for other in (2, 99):
        (tmp_path / "outcome.json").write_text(f'{{"format": {other}}}')
        with pytest.raises(ValueError, match=f"has the format {other}; this version reads 4"):
            iwda.Outcome(tmp_path)


KINDS = {
    "integers": np.array([7, 10, -1]),
    "words": np.array(["nan", "=dog", "-1"]),
    "truth values": np.array([False, True]),
    "numbers": np.array([1.0, 2.0, 3.0]),
    "objects": np.array(["a", "b c", "ü"], object),
    "numbers as words": np.array(["1", "2", "10"]),
}


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_any_kind(kind, framed, domains):
    rows, labels, target, hidden = domains
    classes = KINDS[kind]

    def of(labels):
        return classes[np.searchsorted(CLASSES, labels) % len(classes)]

    if framed:
        rows, target = pandas.DataFrame(rows).add_prefix("x"), pandas.DataFrame(target).add_prefix("x")
    outcome = iwda.adapt(rows, of(labels), target, **ONE)
    assert outcome.classes.tolist() == sorted(classes.tolist())
    assert outcome.predictions.dtype == classes.dtype
    assert (outcome.predictions == of(hidden)).mean() > 0.8
    assert np.array_equal(outcome.model.predict(target), outcome.predictions)
    assert list(outcome.probabilities.columns) == list(outcome.shares.index) == sorted(classes.tolist())
    assert all(f"\n{value} " in repr(outcome) for value in classes)
    drawn = outcome.to_label
    drawn["label"] = of(hidden)[drawn["id"]]
    accuracy = outcome.evaluate(drawn).accuracy
    assert accuracy.low <= (outcome.predictions == of(hidden)).mean() <= accuracy.high


@pytest.mark.parametrize("framed", [False, True])
def test_several_sources(framed, domains):
    rows, labels, target, hidden = domains
    of = [np.arange(300) % 3 == i for i in (0, 1)]
    of[1] |= labels == "owl"
    of[0] &= labels != "owl"  # which only the second has
    form = (lambda x: pandas.DataFrame(x).add_prefix("x")) if framed else np.asarray
    sources, ys = [form(rows[some]) for some in of], [labels[some] for some in of]
    patients = ([np.arange(some.sum()) // 2 for some in of], np.arange(300))
    outcome = iwda.adapt(sources, ys, form(target), groups=patients, form="table", **ONE)
    assert (outcome.predictions == hidden).mean() > 0.8 and outcome.classes.tolist() == CLASSES.tolist()
    assert [source["rows"] for source in outcome.record["sources"]] == [len(y) for y in ys]
    with pytest.raises(ValueError, match=r"the rows of 2 sources: y wants a list of as many arrays"):
        iwda.adapt(sources, labels, form(target), **ONE)
    with pytest.raises(ValueError, match=r"^y\[1\] has the shape \(.*\); X_source\[1\] has"):
        iwda.adapt(sources, [ys[0], ys[0]], form(target), **ONE)
    with pytest.raises(ValueError, match="groups has 1 arrays for 2 sources"):
        iwda.adapt(sources, ys, form(target), groups=([None], np.arange(300)), **ONE)
    if framed:
        with pytest.raises(ValueError, match=r'^X_source\[1\]: there is no column "x7", but X_source\[0\] has one'):
            iwda.adapt([sources[0], sources[1].drop(columns="x7")], ys, form(target), **ONE)
    rows_alone = iwda.adapt(list(rows), list(labels), list(target), **ONE)  # a list of rows is one source
    assert "sources" not in rows_alone.record


def test_forms_of_rows(domains):
    rows, labels, target, _ = domains
    want = iwda.adapt(rows, labels, target, **ONE)
    for form in (np.asfortranarray, lambda x: x.astype(float), lambda x: np.repeat(x, 2, 1)[:, ::2], lambda x: x.astype(object)):
        assert np.array_equal(iwda.adapt(form(rows), labels, form(target), **ONE).probabilities, want.probabilities)


def test_tensors(domains):
    rows, labels, target, _ = domains
    want = iwda.adapt(rows, labels, target, **ONE)
    numbers = np.unique(labels, return_inverse=True)[1]
    outcome = iwda.adapt(torch.tensor(rows, requires_grad=True), torch.tensor(numbers), torch.tensor(target), **ONE)
    assert np.array_equal(outcome.probabilities, want.probabilities)
    assert np.array_equal(outcome.model.predict(torch.tensor(target)), np.searchsorted(CLASSES, want.predictions))
    half = torch.tensor(rows).to(torch.bfloat16)
    assert np.array_equal(_data.to_numpy(half), half.float().numpy())
    if torch.cuda.is_available():
        assert np.array_equal(_data.to_numpy(torch.tensor(rows).cuda()), rows)


def test_data_frames(domains):
    rows, labels, target, hidden = domains
    source, frame = pandas.DataFrame(rows).add_prefix("x"), pandas.DataFrame(target).add_prefix("x")
    source["colour"], frame["colour"] = np.where(labels == "owl", "red", "blue"), np.where(hidden == "owl", "red", None)
    source.loc[3, "x1"] = np.nan
    source["Class"], frame["Class"] = np.arange(300) % 2, np.arange(300) % 2  # a value like others
    frame["id"] = [f"=row {i}" for i in range(len(frame))]
    outcome = iwda.adapt(source, pandas.Series(labels), frame[frame.columns[::-1]], **ONE)
    assert outcome.ids.tolist() == frame["id"].tolist()
    assert outcome.probabilities.index.tolist() == frame["id"].tolist()
    assert {"Class", "colour=red", "colour=blue", "x1 is missing"} <= set(outcome.model.columns)
    drawn = outcome.to_label
    assert set(drawn["id"]) <= set(frame["id"])
    evaluation = outcome.evaluate(dict(zip(frame["id"], hidden)))
    assert evaluation.record["labels"] == len(frame)
    assert evaluation.accuracy.value == pytest.approx((outcome.predictions == hidden).mean())


def test_ids(domains):
    rows, labels, target, hidden = domains
    ids = np.array([f"photo {i}" for i in range(len(target))])
    outcome = iwda.adapt(rows, labels, target, ids=ids, **ONE)
    assert outcome.ids.tolist() == ids.tolist()
    assert outcome.evaluate([None if i % 3 else label for i, label in enumerate(hidden)]).record["labels"] == 100


INDICES = {
    "shuffled numbers": lambda n: np.random.default_rng(1).permutation(n),
    "numbers as words": lambda n: [str(i) for i in reversed(range(n))],
    "days": lambda n: pandas.date_range("2024-03-01", periods=n),
    "formulas": lambda n: [f"=row {i} " for i in range(n)],
    "a later range": lambda n: pandas.RangeIndex(100, 100 + n, name="customer"),
}


@pytest.fixture(scope="module")
def frames(domains):
    """The domains as data frames, without indices of their own, and series of their labels."""
    rows, labels, target, hidden = domains
    source, frame = (pandas.DataFrame(values[:, :3]).add_prefix("x") for values in (rows, target))
    return source, pandas.Series(labels), frame, pandas.Series(hidden)


@pytest.mark.parametrize("kind", INDICES)
def test_indices_are_ids(kind, frames):
    """Whoever looks up by the index, in whatever way, gets the accuracy that is true."""
    source, labels, frame, hidden = frames
    index = pandas.Index(INDICES[kind](len(frame)))
    frame, hidden = frame.set_axis(index), hidden.set_axis(index)
    outcome = iwda.adapt(source, labels, frame, **ONE)
    assert outcome.ids.tolist() == np.asarray(index).tolist()
    assert outcome.probabilities.index.identical(index) and outcome.predictions.index.identical(index)
    assert np.array_equal(outcome.predictions, outcome.model.predict(frame))
    right = (outcome.predictions == hidden).mean()
    drawn = outcome.to_label
    assert (outcome.predictions.loc[drawn["id"]].array == drawn["predicted_class"]).all()
    of_drawn = drawn["predicted_class"].array == hidden.loc[drawn["id"]]
    drawn["label"] = hidden.loc[drawn["id"]].array
    accuracy = outcome.evaluate(drawn).accuracy
    assert accuracy.value == pytest.approx(of_drawn.mean()) and accuracy.low <= right <= accuracy.high
    grouped = outcome.evaluate(drawn.assign(patient=np.arange(len(drawn)) // 10), groups="patient").accuracy
    assert grouped.value == accuracy.value and grouped.high - grouped.low > accuracy.high - accuracy.low
    for labels in (hidden.sample(frac=1, random_state=1), dict(hidden), hidden.array):
        assert outcome.evaluate(labels).accuracy.value == pytest.approx(right)
    some = hidden.sample(40, random_state=1)
    assert outcome.evaluate(some).accuracy.value == pytest.approx((outcome.predictions.loc[some.index] == some).mean())
    kept = pickle.loads(pickle.dumps(outcome))
    assert kept.predictions.equals(outcome.predictions)


def test_indices_come_back_from_a_folder(frames, tmp_path):
    source, labels, frame, hidden = frames
    frame = frame.set_axis(np.random.default_rng(1).permutation(len(frame)))
    first = iwda.adapt(source, labels, frame, folder=tmp_path / "out", **ONE)
    again = iwda.Outcome(tmp_path / "out")
    assert again.ids.tolist() == frame.index.tolist() and again.probabilities.equals(first.probabilities)
    again = iwda.Outcome(tmp_path / "out", ids=frame.index)
    assert again.predictions.equals(first.predictions) and again.to_label.equals(first.to_label)
    with pytest.raises(ValueError, match="2 ids; .* has 300 rows"):
        iwda.Outcome(tmp_path / "out", ids=[1, 2]).predictions


def test_indices_that_are_no_ids(frames):
    """They number the rows, or there is a warning, or an error."""
    source, labels, frame, hidden = frames
    n = len(frame)
    outcome = iwda.adapt(source, labels, frame.set_axis(np.arange(n)), **ONE)
    assert isinstance(outcome.predictions, np.ndarray) and outcome.to_label["id"].dtype.kind == "i"
    shuffled = np.random.default_rng(1).permutation(n)
    with pytest.raises(ValueError, match=r"labels is a series, .* one counts from 0 and the other does not: .*\.to_numpy\(\)"):
        outcome.evaluate(hidden.set_axis(shuffled))
    with pytest.raises(ValueError, match='id "x" is not among the 300 rows'):
        outcome.evaluate({"x": "dog", 3: "cat"})
    for match, index in {
        "X_target: its index has 3 twice": np.where(np.arange(n) == 7, 3, np.arange(n)),
        "X_target: its index has '1' twice": pandas.Index([1, "1", *range(2, n)], dtype=object),
        "X_target: row 2 has no value in the index": np.where(np.arange(n) == 2, np.nan, np.arange(n)),
        "X_target: its index has 2 levels": pandas.MultiIndex.from_arrays([np.arange(n), shuffled]),
    }.items():
        with pytest.warns(UserWarning, match=f"{match}; rows are numbered from 0"):
            again = iwda.adapt(source, labels, frame.set_axis(index), **ONE)
        assert again.ids.tolist() == list(range(n)) and np.array_equal(again.predictions, outcome.predictions)
    named = frame.assign(id=[f"row {i}" for i in range(n)]).set_axis(shuffled)
    assert iwda.adapt(source, labels, named, **ONE).ids.tolist() == named["id"].tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = iwda.adapt(source, labels, frame.set_axis([0] * n), ids=shuffled, **ONE)
    assert given.ids.tolist() == shuffled.tolist()
    with pytest.raises(ValueError, match="one counts from 0 and the other does not"):
        given.evaluate(hidden)
    right = (given.predictions == hidden.to_numpy()).mean()
    assert given.evaluate(hidden.to_numpy()).accuracy.value == pytest.approx(right)


def test_labels_of_other_rows(frames):
    """Labels and rows that both have an index have the same."""
    source, labels, frame, _ = frames
    shuffled = np.random.default_rng(1).permutation(len(source))
    moved = source.set_axis(shuffled)
    with pytest.raises(ValueError, match=r"y and X_source have different indices, as in row 0, \d+ and \d+: .*y\.loc\[X_source\.index\].*y\.to_numpy\(\)"):
        iwda.adapt(moved, labels, frame, **ONE)
    with pytest.raises(ValueError, match="y and X have different indices"):
        iwda.Adapter(methods=ONE["methods"], steps=30).fit(moved, labels, X_target=frame)
    with pytest.raises(ValueError, match="ids and X_target have different indices"):
        iwda.adapt(source, labels, frame, ids=pandas.Series(shuffled, index=shuffled), **ONE)
    want = iwda.adapt(source, labels, frame, **ONE)
    for y in (labels.set_axis(shuffled), labels.set_axis(shuffled).to_frame(), labels.to_numpy()):
        assert np.array_equal(iwda.adapt(moved, y, frame, **ONE).predictions, want.predictions)
    assert np.array_equal(iwda.adapt(source.to_numpy(), labels.set_axis(shuffled), frame.to_numpy(), **ONE).ids, want.ids)


def test_wrong_input(domains):
    rows, labels, target, _ = domains
    nan = np.where(np.arange(rows.size).reshape(rows.shape) == 10, np.nan, rows)
    for match, arguments in {
        r"X_source: row 1, column 2: NaN": (nan, labels, target),
        r"X_target: row 1, column 2: NaN": (rows, labels, nan),
        r"X_target: row 0, column 0: infinity": (rows, labels, target * 1e300),
        r"X_source has 8 columns, X_target 7": (rows, labels, target[:, :7]),
        r"y has the shape \(299,\); X_source has 300 rows": (rows, labels[1:], target),
        r"y: row 2 has no label \(nan\)": (rows, np.where(np.arange(300) == 2, np.nan, 1.0), target),
        r"y: row 2 has no label \(None\)": (rows, [None if i == 2 else "a" for i in range(300)], target),
        r"continuous. y has the value 0.5": (rows, np.full(300, 0.5), target),
        r"y has one class, 'cat'": (rows, np.full(300, "cat"), target),
        r"labels of several kinds": (rows, np.array(["a", 1] * 150, object), target),
        r"X_target has the shape \(8,\); want rows × values": (rows, labels, target[0]),
        r"the other is an array": (pandas.DataFrame(rows), labels, target),
        r"column 'label', which stands for labels": (pandas.DataFrame({"label": rows[:, 0]}), labels, pandas.DataFrame({"label": target[:, 0]})),
    }.items():
        with pytest.raises(ValueError, match=match):
            iwda.adapt(*arguments, **ONE)
    with pytest.raises(ValueError, match='unknown key "epoch" in train; did you mean "epochs"'):
        iwda.adapt(rows, labels, target, train__epoch=3, progress=False)
    with pytest.raises((ValueError, iwda.Error), match='^X_source: each class needs at least 3 rows, because some are held out; "dog" has 2'):
        iwda.adapt(rows[:9], np.array(["cat"] * 7 + ["dog"] * 2), target, **ONE)
    with pytest.raises(ValueError, match="300 rows, and wants one id each"):
        iwda.adapt(rows, labels, target, ids=[1, 2], **ONE)
    with pytest.raises(TypeError, match="sparse"):
        iwda.adapt(scipy.sparse.csr_matrix(rows), labels, target, **ONE)


TIMES = {
    "timedelta64[ns]": pandas.to_timedelta(np.arange(300), "D"),
    "Period": pandas.period_range("2000-01", periods=300, freq="M"),
    "time": [datetime.time(i % 24) for i in range(300)],
}


@pytest.mark.parametrize("kind", TIMES)
def test_times_are_refused(kind, frames, adapted):
    """They came through as nanoseconds, or as a word for each."""
    source, labels, frame, _ = frames
    source, frame = (f.assign(when=TIMES[kind]) for f in (source, frame))
    words = re.escape(f'column "when" holds {kind}, which is not read: make a number of it that means the same in both domains, such as an hour or an age in days, or leave it out')
    with pytest.raises(ValueError, match=f"^X_source: {words}"):
        iwda.adapt(source, labels, frame, **ONE)
    with pytest.raises(ValueError, match=f"^X_target: {words}"):
        iwda.adapt(source.assign(when=1), labels, frame, **ONE)
    model = iwda.load(adapted)
    eight = pandas.DataFrame({f"x{j}": np.zeros(300) for j in range(8)}).assign(when=TIMES[kind])
    assert len(model.predict(eight.drop(columns="when"))) == 300
    model.columns = [*eight.columns[:7], "when"]
    with pytest.raises(ValueError, match=f"^X: {words}"):
        model.predict(eight)
    model.columns = list(eight.columns[:8])
    assert len(model.predict(eight)) == 300  # the model does not look at it


def test_times_as_labels(domains):
    rows, labels, target, _ = domains
    times = np.full(300, "2024-03-01", "datetime64[D]")
    for values, kind in ((times, r"datetime64\[D\]"), (times.astype(object), "date")):
        with pytest.raises(ValueError, match=f"y holds {kind}; labels are whole numbers, words or truth values"):
            iwda.adapt(rows, values, target, **ONE)


def test_dates_are_days(tmp_path):
    """Dates of any type and form are numbers of days, in training and where the model is used, here and in the program."""
    draw = np.random.default_rng(0)
    label = draw.random(400) < 0.5
    when = np.datetime64("2019-01-01") + (draw.integers(0, 200, 400) + 150 * label)
    frame = pandas.DataFrame({"when": when.astype("datetime64[ns]"), "noise": draw.normal(size=400)})
    forms = [frame, frame.assign(when=frame.when.dt.tz_localize("UTC")), frame.assign(when=frame.when.dt.date), frame.assign(when=frame.when.dt.strftime("%d.%m.%Y"))]
    outcome = iwda.adapt(frame[:300], label[:300], frame[300:], folder=tmp_path / "out", **ONE)
    assert (outcome.predictions == label[300:]).mean() > 0.75
    model = iwda.load(tmp_path / "out")
    for form in forms:
        np.testing.assert_allclose(model.predict_proba(form[300:]), outcome.probabilities, atol=1e-5)
    with pytest.raises(ValueError, match="'soon' is not a number"):
        model.predict(frame[300:].assign(when="soon"))


@pytest.mark.parametrize(
    "text, days",
    [
        ("2020-01-05", 18266), (" 2020/01/05 ", 18266), ("05.01.2020", 18266), ("05-Jan-2020", 18266), ("Jan 5, 2020", 18266), ("5 january 2020", 18266), ("Jan 5, 2020 06:00", None), ("1969-12-31", -1), ("2020-01-05T06:00", 18266.25), ("2020-01-05 06:00:00.000000000", 18266.25),
        ("2020-01-05T06:00:00Z", 18266.25), ("2020-01-05 06:00:00+06:00", 18266), ("2020-13-01", None), ("1.2.2020", None), ("2020-01-05 x", None), ("2020-01", None), ("", None),
    ],
)  # fmt: skip
def test_forms_of_dates(text, days):
    assert _data.days(text) == days


def test_seed_and_settings(domains, tmp_path):
    rows, labels, target, _ = domains
    drawn = []
    for seed in (0, 1, 2):
        outcome = iwda.adapt(rows, labels, target, seed=seed, train__validation=0.2, **SEEDS)
        drawn.append(outcome.record["seeds"])
        assert "validation: 0.2" in outcome.path("experiment.yaml").read_text()
    assert drawn == [[1], [2], [3]]
    outcome = iwda.adapt(rows, labels, target, seeds=np.array([5, 7]), methods=["source-only"], **QUICK)
    assert outcome.record["seeds"] == [5, 7]
    outcome = iwda.adapt(rows, labels, target, seeds=np.array([5, 7]), **SEEDS)
    assert outcome.record["seeds"] == [5]  # a classifier without steps follows no seed, so it is made once


def test_label_shift(domains):
    rows, labels, target, _ = domains
    outcome = iwda.adapt(rows, labels, target, label_shift=True, **ONE)
    assert outcome.record["correction"] == 1
    assert "you said that only the class shares differ" in outcome.record["decisions"][-1]["because"]


def test_form(domains):
    rows, labels, target, _ = domains
    outcome = iwda.adapt(rows, labels, target, form="table", progress=False)
    assert "source-only@boosting" in outcome.path("experiment.yaml").read_text()
    with pytest.raises(ValueError, match="'table' or 'array'"):
        iwda.adapt(rows, labels, target, form="tree")


def test_sets(domains, adapted):
    source, y, target, hidden = domains
    outcome = iwda.adapt(source, y, target, methods=["source-only@linear"], sets=0.9, progress=False)
    classes = outcome.classes.tolist()
    found = outcome.sets
    assert found.shape == (len(target), len(classes)) and outcome.probabilities.shape == found.shape
    assert np.mean([row[classes.index(label)] for row, label in zip(found, hidden)]) > 0.8
    with pytest.raises(ValueError, match="sets=0.9"):
        iwda.Outcome(adapted).sets


def test_temporary_folder_goes_with_the_outcome(domains):
    rows, labels, target, _ = domains
    outcome = iwda.adapt(rows, labels, target, **ONE)
    folder, model = outcome.folder, outcome.model
    assert folder.exists()
    kept = pickle.loads(pickle.dumps(outcome))
    predictions = outcome.predictions
    del outcome
    gc.collect()
    assert not folder.exists()
    assert np.array_equal(kept.predictions, predictions)
    assert np.array_equal(kept.model.predict(target), predictions)
    assert np.array_equal(model.predict(target), predictions)


def test_temporary_folder_goes_with_a_failure(domains, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ValueError):
        iwda.adapt(domains[0], domains[1], domains[2] * np.nan, **ONE)
    assert not list(tmp_path.iterdir())


def test_folder(domains, tmp_path):
    rows, labels, target, _ = domains
    first = iwda.adapt(rows, labels, target, folder=tmp_path / "out", **ONE)
    again = iwda.adapt(rows, labels, target, folder=tmp_path / "out", **ONE)
    assert repr(again) == repr(first)
    before = {path: path.read_bytes() for path in (tmp_path / "out").glob("*.npz")}
    with pytest.raises(ValueError, match="holds other rows than X_target"):
        iwda.adapt(rows, labels, target + 1, folder=tmp_path / "out", **ONE)
    assert {path: path.read_bytes() for path in (tmp_path / "out").glob("*") if path.suffix in (".npz", ".tmp")} == before
    with pytest.raises(ValueError, match=f"^{tmp_path}/out/runs/.* holds a result.*\n(?s:.*)choose another folder=, or train again after removing this one$"):
        iwda.adapt(rows, labels, target, folder=tmp_path / "out", train__validation=0.4, **ONE)


def test_folder_with_a_seed(domains, tmp_path):
    """The same call goes on, and trains nothing again."""
    rows, labels, target, _ = domains
    first = iwda.adapt(rows, labels, target, folder=tmp_path / "out", seed=3, **SEEDS)
    results = {path: path.stat().st_mtime_ns for path in first.path("runs").rglob("result.json")}
    again = iwda.adapt(rows, labels, target, folder=tmp_path / "out", seed=3, **SEEDS)
    assert repr(again) == repr(first)
    assert results == {path: path.stat().st_mtime_ns for path in again.path("runs").rglob("result.json")}


def test_labels_choose(domains, tmp_path):
    """If all labels are what another method says, that one predicts, corrected for class shares as before."""
    rows, labels, target, _ = domains
    outcome = iwda.adapt(rows, labels, target, folder=tmp_path / "out", methods=["source-only@linear", "mcc@own"], seeds=[1], **QUICK)
    before, predictions, model = outcome.method, outcome.predictions, outcome.model
    other = {"source-only@linear": "mcc@own", "mcc@own": "source-only@linear"}[before]
    run = next(outcome.path("runs").rglob(other)) / "seed-1"
    shares = {name: np.array(k) for name, k in json.loads((run / "model.json").read_text())["shares"].items()}
    weight = outcome.record["correction"]
    corrected = shares["target"] ** weight * shares["classifier"] ** (1 - weight)
    corrected /= corrected.sum()
    said = iwda.load(run).predict(target, shares=corrected)
    evaluation = outcome.evaluate(said, choose=True)
    assert (predictions == said).mean() == pytest.approx(evaluation.accuracy.value) and evaluation.accuracy.value < 0.9
    assert (outcome.method, outcome.record["labels"]["instead"]) == (other, before)
    assert np.array_equal(outcome.predictions, said) and np.array_equal(outcome.model.predict(target), said)
    assert outcome.model is not model


def test_writing_takes_no_second_array(tmp_path):
    """Rows of float32 in C order are written as they are."""
    rows = np.ones((40_000, 256), np.float32)
    tracemalloc.start()
    try:
        _data.write(str(tmp_path / "rows"), rows, name="rows", ids=np.arange(len(rows)))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 0.4 * rows.nbytes
    with np.load(tmp_path / "rows.npz") as written:
        assert np.array_equal(written["features"], rows) and np.array_equal(written["ids"], np.arange(len(rows)))


def test_writing_a_frame_takes_few_lines_at_a_time(tmp_path):
    frame = _data.rows_of(pandas.DataFrame(np.ones((50_000, 20))).add_prefix("x"), "frame")
    tracemalloc.start()
    try:
        path = _data.write(str(tmp_path / "rows"), frame, name="frame")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 0.75 * sum(column.nbytes for column in frame.columns)
    with open(path) as lines:
        assert sum(1 for _ in lines) == 50_001


def test_importing_takes_little():
    """Neither NumPy nor anything larger is imported before it is asked for."""
    script = "import sys, iwda; assert not {'numpy', 'pandas', 'sklearn', 'torch'} & set(sys.modules); iwda.adapt; assert not {'pandas', 'sklearn', 'torch'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


def test_version():
    owner = Path(__file__).resolve().parents[2] / "internal" / "version" / "version.go"
    assert f'const Version = "{iwda.__version__}"' in owner.read_text()


def test_attributes_are_described(adapted, domains):
    """Of all that is returned, by help() of its class."""
    outcome = iwda.Outcome(adapted)
    evaluation = outcome.evaluate(domains[3])
    probabilities = outcome.model.predict_proba(domains[2])
    found = iwda.labelshift(probabilities, domains[3], probabilities, classes=outcome.classes)
    for made in (outcome, evaluation, evaluation.accuracy, outcome.needs[0], outcome.model, found):
        names = getattr(made, "_fields", None) or [name for name in vars(made) if not name.startswith("_") and not hasattr(type(made), name)]
        attributes = type(made).__doc__.split("Attributes\n")[1]
        assert [name for name in names if not re.search(rf"(?m)^    (\w+, )*{name}(, \w+)* :|^    {name}$", attributes)] == []
        for name, value in vars(type(made)).items():
            assert name.startswith("_") or value.__doc__


def test_without_pandas(adapted, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    outcome = iwda.Outcome(adapted)
    assert outcome.probabilities.shape == (300, 3)
    assert outcome.shares["class"].tolist() == outcome.classes.tolist()
    assert outcome.shares["target_share"].sum() == pytest.approx(1)
    drawn = outcome.to_label
    drawn["label"] = "owl"
    assert outcome.evaluate(drawn).record["labels"] == len(drawn)


def test_html(adapted):
    outcome = iwda.Outcome(adapted)
    outcome.classes = np.array(["<b>", "dog", "owl"])
    text = outcome._repr_html_()
    assert "&lt;b&gt;" in text and "<b>" not in text and text.count("<tr>") == 4


def test_numbers_keep_their_digits():
    """Seconds since 1970, of classes a minute apart, which float32 does not tell apart."""
    random = np.random.default_rng(3)
    y, hidden = random.integers(0, 2, 300), random.integers(0, 2, 200)
    rows = [np.column_stack([1.7e9 + 60 * of + random.normal(0, 8, len(of)).round(), random.normal(size=len(of))]) for of in (y, hidden)]
    outcome = iwda.adapt(rows[0], y, rows[1], **ONE)
    frames = [pandas.DataFrame(part, columns=["t", "v"]) for part in rows]
    framed = iwda.adapt(frames[0], y, frames[1], **ONE)
    for predicted in (outcome.predictions, framed.predictions, outcome.model.predict(rows[1]), framed.model.predict(frames[1])):
        assert (np.asarray(predicted) == hidden).mean() > 0.98
