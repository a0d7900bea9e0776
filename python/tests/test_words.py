"""What programs say, in Python's words."""

import numpy as np
import pandas
import pytest

import iwda
from iwda._words import Words

from conftest import QUICK

ONE = {"methods": ["source-only@linear"], "seeds": [1], **QUICK}


def test_lines_are_rows(tmp_path):
    path = tmp_path / "target.csv"
    path.write_text('id,a\n0,1\n1,"two\nlines"\n2,3\n')
    words = Words({str(path): "X_target"})
    assert words(f"{path} is short") == "X_target is short"
    assert words(f'{path}:1: no column "b"') == 'X_target: no column "b"'
    assert [words(f"{path}:{line}: x") for line in (2, 3, 4, 5)] == [f"X_target: row {row}: x" for row in (0, 1, 1, 2)]
    assert Words({}, {"/tmp/l.csv": "labels"})("/tmp/l.csv:3: x; /tmp/l.csv:3 has y") == "labels: x; labels has y"


def test_words_of_the_command_line():
    words = Words({}, {'--set methods=["foo"]': "methods"})
    for said, want in {
        '--set methods=["foo"]: unknown method': "methods: unknown method",
        "add it, or leave it out with --ignore 'a b'\nmore": "add it, or leave it out\nmore",
        '--device foo: device "foo": want cpu': 'device "foo": want cpu',
        "weightest: no estimator": "no estimator",
    }.items():
        assert words(said) == want


def test_errors(domains, capfd, tmp_path):
    """Neither flags nor files that nobody wrote are named, and nothing is said twice."""
    rows, labels, target, _ = domains
    source, frame = (pandas.DataFrame(values[:, :3]).add_prefix("x") for values in (rows, target))
    high = frame.assign(x1=np.where(np.arange(300) == 7, np.inf, frame["x1"]))
    for want, values, how in (
        ('X_target: there is no column "x0", but X_source has one; the columns of values are "id", "z", "x1", "x2"; add it, rename the column that is the same, or leave it out', frame.rename(columns={"x0": "z"}), {}),
        ('X_target: row 7: column "x1": "inf" is not a float32 number, at most 3.4e38; put NaN there if its value is missing', high, {}),
        ('methods: unknown method "foo"; choose from ', frame, {"methods": ["foo"]}),
        ('train__epoch: unknown key "epoch" in train', frame, {"train__epoch": 3}),
        ('train.epoch: unknown key "epoch" in train', frame, {"train.epoch": 3}),
        ('device "foo": want auto, ', frame, {"device": "foo"}),
        ("steps is 1.5; want a whole number", frame, {"steps": 1.5}),
        ("seed is 'x'; want a whole number", frame, {"seed": "x"}),
        ("X_target has 5 rows; ", frame[:5], {}),
        ("X_source: column 0 has no name", frame, {}),
    ):
        named = source.rename(columns={"x0": " "}) if "no name" in want else source
        with pytest.raises(ValueError) as raised:
            iwda.adapt(named, labels, values, **{**ONE, "progress": True, **how})
        assert str(raised.value).startswith(want)
        assert not any(word in str(raised.value) for word in ("--", "iwrun", "/tmp"))
        shown = capfd.readouterr().err
        assert "iwrun: " not in shown and "--" not in shown and want[:30] not in shown


def test_warnings_and_labels(domains, capfd):
    rows, labels, target, _ = domains
    source, frame = (pandas.DataFrame(values[:, :3]).add_prefix("x") for values in (rows, target))
    outcome = iwda.adapt(source.assign(empty=np.nan), labels, frame.assign(empty=1), **{**ONE, "progress": True})
    assert outcome.warnings == ['Column "empty" of X_source is left out: no row of the source has a value in it.']
    shown = capfd.readouterr().err
    assert 'Column "empty" of X_source is left out' in shown and "1/1 runs" in shown
    with pytest.raises(ValueError, match='^labels: id "x" is not among the 300 rows of the target$'):
        outcome.evaluate({"x": "cat", 1: "dog"})
    with pytest.raises(ValueError, match='^labels: id "2": label "cow" is not a class of the source, which has cat, dog, owl$'):
        outcome.evaluate({2: "cow", 1: "dog"})
