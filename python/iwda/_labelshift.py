"""iwda.labelshift: class shares of data without labels, from a classifier's probabilities."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _data, _process
from ._data import Array
from ._lines import aligned, class_lines
from ._words import Words


class LabelShift:
    """How frequent the classes are in a target: :func:`labelshift` returns it.

    Attributes
    ----------
    record : dict
        All that ``iwrun labelshift --format json`` prints.
    classes : array, k
        The classes, in the order of the columns of probabilities.
    shares : data frame by class or, without pandas, structured array
        source_share, target_share, weight, and the ends of intervals, as in
        target_share_low and target_share_high, weight_joint_low and weight_joint_high.
    headline, reliable : str
        What is known of the corrected predictions, and whether what is needed is met: yes, no or
        cannot be told. record has the cases and needs behind it.
    verdict : str
        Whether changed class shares alone explain the target, as far as the rows can tell.
    p : float
        Of the test whether changed class shares alone explain the target; a small one says
        that they do not. NaN if nothing could be tested.
    notes : list of str
    corrected : array, n × k
        The target's probabilities, calibrated and corrected for the shares.
    sets : array of bool, n × k
        Which classes each row may have, if ``sets`` was given; otherwise None.
    """

    def __init__(self, record: Dict[str, Any], classes: Array, corrected: Array, sets: Optional[Array] = None) -> None:
        self.record, self.classes, self.corrected, self.sets = record, classes, corrected, sets
        rows: List[Dict[str, Any]] = record["rows"]
        numbers = [key for key in rows[0] if key not in ("share_rejected", "estimator", "calibration", "label_shift_p", "class")]
        made = {key: np.array([np.nan if row[key] is None else row[key] for row in rows], float) for key in numbers}
        self.shares = _data.table({"class": classes, **made}, index="class")
        p = rows[0].get("label_shift_p")
        self.p = float("nan") if p is None else float(p)
        self.verdict, self.headline, self.reliable = (str(record.get(key, "")) for key in ("verdict", "headline", "reliable"))
        self.notes: List[str] = record["notes"]

    def __repr__(self) -> str:
        return "\n".join([self.headline, self.verdict, aligned(class_lines(self.classes, self.record["rows"])), *self.notes])


def labelshift(
    source_probabilities: Any,
    labels: Any,
    target_probabilities: Any,
    *,
    classes: Any = None,
    logits: bool = False,
    estimator: Optional[str] = None,
    calibration: Optional[str] = None,
    label_shift: bool = False,
    groups: Any = None,
    needs: Sequence[str] = (),
    sets: Optional[float] = None,
    level: float = 0.95,
    seed: int = 0,
) -> LabelShift:
    """Estimates how frequent the classes are in a target, from a classifier's probabilities.

    Parameters
    ----------
    source_probabilities : array or data frame, m × k
        Of source rows that the classifier was not trained on.
    labels : array, m
        Their classes.
    target_probabilities : array or data frame, n × k
    classes : array, k, optional
        The class of each column. Without it, a data frame's columns are, or the categories of
        a pandas.Categorical, or else the numbers that occur as labels, sorted, which must be k.
    logits : bool
        The values are logits.
    estimator, calibration : str, optional
        Names as ``iwrun labelshift --help`` lists them.
    label_shift : bool
        You know that only the class shares differ.
    groups : pair of arrays, optional
        Which rows belong together, of the source's and of the target's; either may be None.
    needs : list of str
        As those of :func:`adapt`.
    sets : float, optional
        Find the set of classes that each row may have. It has the row's class with this probability
        in each class by itself, such as 0.9, whatever the target's shares are.
    level : float
        The probability that an interval holds the true number.
    seed : int
        Of the resamples behind the intervals.

    Returns
    -------
    LabelShift

    Examples
    --------
    >>> import numpy as np, iwda
    >>> random = np.random.default_rng(1)
    >>> labels, hidden = random.choice(2, 500), random.choice(2, 500, p=[0.9, 0.1])
    >>> def probabilities(labels):  # of a classifier that is often wrong
    ...     z = 2 * random.normal(size=len(labels)) + 2 * (2 * labels - 1)
    ...     return np.column_stack([1 / (1 + np.exp(z)), 1 / (1 + np.exp(-z))])
    >>> found = iwda.labelshift(probabilities(labels), labels, probabilities(hidden))
    >>> bool(found.shares["target_share_low"][0] < (hidden == 0).mean() < found.shares["target_share_high"][0])
    True
    """
    classes, numbers, source, target = prepare(source_probabilities, labels, target_probabilities, "target_probabilities", classes, logits)
    kind = "logits" if logits else "probabilities"
    with tempfile.TemporaryDirectory(prefix="iwda-") as place:
        files = [os.path.join(place, name) for name in ("source.npz", "target.npz", "corrected.csv")]
        names = [str(value) for value in classes.tolist()]
        together = [{} if of is None else {"group": np.array([str(name) for name in _data.to_numpy(of).tolist()])} for of in groups or (None, None)]
        np.savez(files[0], labels=numbers, class_names=names, **{kind: source}, **together[0])
        np.savez(files[1], class_names=names, **{kind: target}, **together[1])
        arguments = ["source.npz", "target.npz", "--corrected", "corrected.csv", "--format", "json"]
        arguments += ["--level", str(level), "--seed", str(seed)]
        arguments += ["--label-shift"] * label_shift + (["--group-column", "group"] if any(together) else [])
        arguments += [] if sets is None else ["--sets", str(sets)]
        arguments += [word for need in needs for word in ("--need", need)]
        for flag, value in (("--estimator", estimator), ("--calibration", calibration)):
            arguments += [] if value is None else [flag, value]
        words = Words({"source.npz": "source_probabilities", "target.npz": "target_probabilities"})
        record = json.loads(_process.run("iwrun", ["labelshift", *arguments], progress=False, cwd=place, words=words))
        _, _, corrected, members = _data.read_predictions(files[2], names)
        return LabelShift(record, classes, corrected, None if sets is None else members)


def prepare(source_probabilities: Any, labels: Any, target_probabilities: Any, name: str, classes: Any, logits: bool) -> Tuple[Array, Array, Array, Array]:
    """The classes, the labels as numbers of classes, and both arrays of values, checked; name is that of the target's."""
    kind = "logits" if logits else "probabilities"
    _data.check_same_rows(labels, "labels", source_probabilities, "source_probabilities")
    if classes is None and _data.is_frame(source_probabilities):
        classes = np.asarray(source_probabilities.columns)
        if _data.is_frame(target_probabilities):
            target_probabilities = target_probabilities[list(source_probabilities.columns)]
    source, target = _values(source_probabilities, "source_probabilities"), _values(target_probabilities, name)
    given = _data.to_numpy(labels)
    if given.shape != (len(source),):
        raise ValueError(f"labels has the shape {given.shape}; source_probabilities has {len(source)} rows, and wants one label each")
    if classes is None and (dtype := getattr(labels, "dtype", None)) is not None and hasattr(dtype, "categories"):
        classes = np.asarray(dtype.categories)
    if classes is None and not np.issubdtype(given.dtype, np.number) and given.dtype != np.bool_:
        raise ValueError("labels are words, which do not say in which order the columns of probabilities stand: name the class of each column with classes=")
    classes = np.unique(given) if classes is None else np.asarray(classes)
    if len(classes) != source.shape[1]:
        raise ValueError(f"{len(classes)} classes for {source.shape[1]} columns of {kind}: name the class of each column with classes=")
    number = {value: i for i, value in enumerate(classes.tolist())}
    if unknown := [value for value in given.tolist() if value not in number]:
        raise ValueError(f"label {unknown[0]!r} is not a class; there are {', '.join(map(str, classes[:10]))}")
    return classes, np.array([number[value] for value in given.tolist()]), source, target


def _values(values: Any, name: str) -> Array:
    array = _data.to_numpy(values)
    if array.ndim != 2:
        raise ValueError(f"{name} has the shape {array.shape}; want rows × classes")
    return array
