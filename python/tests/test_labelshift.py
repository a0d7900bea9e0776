"""iwda.labelshift."""

import numpy as np
import pandas
import pytest

import iwda


def draw(seed, shares, rows=400):
    """Probabilities of a classifier that is often wrong, right under equal shares, and the classes."""
    random = np.random.default_rng(seed)
    labels = random.choice(3, rows, p=shares)
    logits = random.normal(size=(rows, 3)) * 1.5 + 1.5**2 * np.eye(3)[labels]
    values = np.exp(logits - logits.max(1, keepdims=True))
    return values / values.sum(1, keepdims=True), labels


SOURCE, TARGET = (0.4, 0.3, 0.3), (0.1, 0.2, 0.7)


def test_shares():
    (source, labels), (target, hidden) = draw(1, SOURCE), draw(2, TARGET)
    found = iwda.labelshift(source, labels, target)
    truth = np.bincount(hidden) / len(hidden)
    for i, share in enumerate(truth):
        of = {key: found.shares[key][i] for key in ("target_share", "target_share_joint_low", "target_share_joint_high")}
        assert of["target_share_joint_low"] < share < of["target_share_joint_high"]
        assert found.shares["source_share"][i] == pytest.approx((labels == i).mean())
    assert found.p > 0.01 and found.notes and found.verdict
    assert (found.corrected.argmax(1) == hidden).mean() > (target.argmax(1) == hidden).mean()
    low, high = (found.shares["target_share" + end][0] for end in ("_low", "_high"))
    assert f" ({low:.3f} to {high:.3f})" in str(found) and "…" not in str(found)
    narrow = iwda.labelshift(source, labels, target, level=0.5, seed=2)
    assert narrow.shares["target_share_high"][2] < found.shares["target_share_high"][2]
    other = iwda.labelshift(np.log(source), labels, np.log(target), logits=True, estimator="bbse-soft", calibration="none")
    assert other.record["rows"][0]["estimator"] == "bbse-soft" and other.shares["target_share"][2] > 0.5


def test_sets():
    (source, labels), (target, hidden) = draw(1, SOURCE, 2000), draw(2, TARGET, 2000)
    found = iwda.labelshift(source, labels, target, sets=0.9)
    assert found.sets.dtype == bool and found.record["sets"]["rows_by_size"] == np.bincount(found.sets.sum(1), minlength=4).tolist()
    for i in range(3):
        assert found.sets[hidden == i, i].mean() == pytest.approx(0.9, abs=0.06)
    assert iwda.labelshift(source, labels, target).sets is None


def test_names_of_classes():
    (source, labels), (target, _) = draw(1, SOURCE), draw(2, TARGET)
    want = iwda.labelshift(source, labels, target)
    names = np.array(["owl", "-1", "nan"])
    for classes in (names, names.tolist()):
        found = iwda.labelshift(source, names[labels], target, classes=classes)
        assert found.shares.index.tolist() == names.tolist()
        assert np.array_equal(found.shares.to_numpy(), want.shares.to_numpy())
    frames = [pandas.DataFrame(values, columns=names) for values in (source, target)]
    found = iwda.labelshift(frames[0], names[labels], frames[1][names[::-1]])
    assert np.array_equal(found.corrected, want.corrected) and found.classes.tolist() == names.tolist()


def test_order_of_columns():
    (source, labels), (target, _) = draw(1, SOURCE, 2000), draw(2, TARGET)
    names = np.array(["owl", "cat", "dog"])
    with pytest.raises(ValueError, match="labels are words.* classes="):
        iwda.labelshift(source, names[labels], target)
    given = pandas.Categorical(names[labels], categories=names)
    for of in (given, pandas.Series(given)):
        assert iwda.labelshift(source, of, target).shares.index.tolist() == names.tolist()
    with pytest.raises(ValueError, match='most rows predicted as "cat" are labelled "owl"'):
        iwda.labelshift(source, names[labels], target, classes=sorted(names))


def test_wrong_input():
    (source, labels), (target, _) = draw(1, SOURCE), draw(2, TARGET)
    for match, arguments in {
        r"labels has the shape \(399,\)": (source, labels[1:], target),
        "2 classes for 3 columns": (source, labels % 2, target),
        r"target_probabilities has the shape \(400,\)": (source, labels, target[:, 0]),
        "labels and source_probabilities have different indices": (pandas.DataFrame(source, columns=range(3)), pandas.Series(labels).sort_values(), target),
        "source_probabilities: row 0: the probabilities sum to 2, not 1": (source * 2, labels, target),
    }.items():
        with pytest.raises((ValueError, iwda.Error), match=match):
            iwda.labelshift(*arguments)
    with pytest.raises(ValueError, match="label 7 is not a class; there are 0, 1, 2"):
        iwda.labelshift(source, np.where(labels == 1, 7, labels), target, classes=[0, 1, 2])
