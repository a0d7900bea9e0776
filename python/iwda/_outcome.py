"""What came of an adaptation."""

from __future__ import annotations

import html
import json
import os
import shutil
import tempfile
import weakref
import webbrowser
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _data, _process
from ._lines import MOST_SHOWN, Interval, Line, aligned, class_lines, number
from ._model import Model, load
from ._words import Words

OUTCOME_FILE = "outcome.json"
_FORMAT = 4


class Answer(NamedTuple):
    """Whether something that is needed of the predictions is met.

    Attributes
    ----------
    need : str
    answer : str
        ``"yes"``, ``"no"`` or ``"cannot be told"``.
    because : str
    """

    need: str
    answer: str
    because: str


def _is_index(ids: Any) -> bool:
    return hasattr(ids, "nlevels")


def _listed(column: Any) -> List[Any]:
    """The values of a column, days as days."""
    return list(column.tolist() if hasattr(column, "tolist") else np.asarray(column).tolist())


class Evaluation:
    """How many predictions are right, by labels of some rows: :meth:`Outcome.evaluate` returns it.

    Attributes
    ----------
    accuracy : Interval
        The share of all rows of the target whose prediction is right.
    record : dict
        As ``iwrun evaluate -o FILE.json`` writes it: methods, recalls of classes, and more.
    text : str
        The tables that are printed: each method compared with the predictions, and each class.
    """

    def __init__(self, record: Dict[str, Any], text: str) -> None:
        self.record, self.text = record, text
        predictions = record["predictions"]
        self.accuracy = Interval(predictions["value"], predictions["low"], predictions["high"])

    def __repr__(self) -> str:
        return self.text


class Outcome:
    """What came of an adaptation: :func:`iwda.adapt` returns it.

    Parameters
    ----------
    folder : path
        One that ``iwrun adapt`` has finished.
    classes : array, k, optional
        What the classes are called. Without it they are the names in the folder: whole numbers
        if all look like that, truth values if they are True and False, and else texts.
    ids : array or index, n, optional
        What the target's rows are called, in their order, such as ``X_target.index``. Without it
        they are the ids in the folder, in the way that classes are.

    Attributes
    ----------
    folder : pathlib.Path
    record : dict
        All of outcome.json.
    classes : array, k
        The classes, in the order of the columns of probabilities.

    Examples
    --------
    >>> outcome = iwda.Outcome(adapted)  # the folder of a former adaptation
    >>> outcome.predictions[:3]
    array(['dog', 'dog', 'owl'], dtype='<U3')
    >>> outcome.probabilities.columns.tolist()
    ['cat', 'dog', 'owl']
    >>> outcome.reliable in ("yes", "no", "cannot be told")
    True
    """

    def __init__(self, folder: "Union[str, os.PathLike[str]]", *, classes: Any = None, ids: Any = None, _temporary: bool = False) -> None:
        self.folder = Path(folder)
        if _temporary:
            self._removal = weakref.finalize(self, shutil.rmtree, str(folder), ignore_errors=True)
        self._ids = ids if ids is None or _is_index(ids) else _data.to_numpy(ids)
        self.record = self._read_record()
        self._names: List[str] = [c["class"] for c in self.record["classes"]]
        self.classes = _data.kind_of(self._names) if classes is None else classes
        self._classes_given = classes is not None

    def _read_record(self) -> Dict[str, Any]:
        try:
            text = self.path(OUTCOME_FILE).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise FileNotFoundError(f"{self.folder} is no folder that iwrun adapt has finished: it has no {OUTCOME_FILE}") from None
        record: Dict[str, Any] = json.loads(text)
        if record["format"] != _FORMAT:
            raise ValueError(f"{self.path(OUTCOME_FILE)} has the format {record['format']}; this version reads {_FORMAT}: adapt again with the same folder, which trains nothing again, or use the version that wrote it")
        return record

    def path(self, name: str) -> Path:
        """Where a file of the folder is, such as ``"predictions.csv"``."""
        return self.folder / name

    @cached_property
    def _predicted(self) -> Tuple[Any, List[str], Any, Any, Any]:
        """Ids and what they are in files, numbers of the predicted classes, probabilities, and sets if there are any."""
        path = self.path(self.record["files"]["predictions"])
        texts, predicted, probabilities, sets = _data.read_predictions(str(path), self._names)
        ids = _data.kind_of(texts) if self._ids is None else self._ids
        if len(ids) != len(texts):
            raise ValueError(f"{len(ids)} ids; the target of {self.folder} has {len(texts)} rows")
        return ids, texts, np.array(predicted, int), probabilities, sets

    @property
    def ids(self) -> Any:
        """What the target's rows are called, n."""
        return np.asarray(self._predicted[0])

    @property
    def predictions(self) -> Any:
        """The class of each row of the target, n: an array in their order or, if the ids are the
        index of a data frame, a series with that index."""
        ids, _, numbers, _, _ = self._predicted
        classes = self.classes[numbers]
        return import_module("pandas").Series(classes, index=ids, name="predicted_class") if _is_index(ids) else classes

    @property
    def probabilities(self) -> Any:
        """The probability of each class for each row of the target, n × k: a data frame by
        :attr:`ids` with a column for each class or, without pandas, an array."""
        values = self._predicted[3]
        if values.shape[1] == 0:
            raise ValueError(f"{self.folder} has no probabilities of all classes; iwrun adapt --probabilities writes them")
        try:
            pandas = import_module("pandas")
        except ImportError:
            return values
        return pandas.DataFrame(values, index=self._predicted[0], columns=self.classes)

    @property
    def sets(self) -> Any:
        """Which classes each row of the target may have, n × k truth values, if ``sets`` was given."""
        sets = self._predicted[4]
        if not len(sets):
            raise ValueError(f"{self.folder} has no sets of classes; iwda.adapt(…, sets=0.9) or iwrun adapt --sets 0.9 writes them")
        return sets

    def _by_class(self, *names: str) -> Any:
        columns = {name: np.array([number(c, name) for c in self.record["classes"]], float) for name in names}
        return _data.table({"class": self.classes, **columns}, index="class")

    @property
    def shares(self) -> Any:
        """The classes' shares: source_share, target_share with the ends of its 95% interval,
        target_share_low and target_share_high, NaN if there is none, and predicted_share, of the
        predictions; and mean_probability, which stands in the place of target_share where
        record["shares_rejected"] says why that is not to be believed. A data frame by class or,
        without pandas, a structured array."""
        return self._by_class("source_share", "target_share", "target_share_low", "target_share_high", "predicted_share", "mean_probability")

    @property
    def weights(self) -> Any:
        """The classes' weights, target_share over source_share: weight, weight_low and
        weight_high, in the form of :attr:`shares`."""
        return self._by_class("weight", "weight_low", "weight_high")

    @property
    def headline(self) -> str:
        """What is known of the predictions, in a sentence."""
        return str(self.record["headline"])

    @property
    def reliable(self) -> str:
        """Whether all that is needed is met: ``"yes"``, ``"no"`` or ``"cannot be told"``."""
        return str(self.record["reliable"])

    @property
    def needs(self) -> List[Answer]:
        """What was needed, or what usually is, with the answer to each."""
        return [Answer(need["need"], need["answer"], need["because"]) for need in self.record["needs"]]

    @property
    def cases(self) -> Any:
        """What may have happened, with the accuracy that follows from it, low and high, and what
        speaks for and against it. A data frame or, without pandas, a structured array."""
        cases = self.record["cases"]
        numbers = {name: np.array([c["accuracy"].get(name, np.nan) for c in cases], float) for name in ("value", "low", "high")}
        words = {name: np.array([c.get(name, "") for c in cases], object) for name in ("for", "against", "missing")}
        return _data.table({"if": np.array([c["if"] for c in cases], object), **numbers, **words}, index="if")

    @property
    def method(self) -> str:
        """What predicts: a method, or several joined by ``+``."""
        return str(self.record["method"])

    @property
    def warnings(self) -> List[str]:
        """What to know of the data and the runs."""
        domains = {"X_" + name: self.record.get(name, {}) for name in ("source", "target")}
        domains.update({f"X_source[{i}]": of for i, of in enumerate(self.record.get("sources", []))})
        paths = {name: Path(of["path"]) for name, of in domains.items() if "path" in of}
        words = Words({str(path): name for name, path in paths.items() if path.stem.rstrip("0123456789") in ("source", "target") and self.path(path.name).exists()})
        return [words(text) for text in self.record["warnings"]]

    @cached_property
    def model(self) -> Model:
        """What predicts, for more rows of the target."""
        return load(self.path("model"), classes=self.classes if self._classes_given else None)

    @property
    def to_label(self) -> Any:
        """Rows of the target, drawn at random, for you to label: id, predicted_class, probability
        and label, None yet. :meth:`evaluate` takes it once ``label`` is filled in."""
        lines = _data.read_csv(str(self.path("to_label.csv")))
        columns: Dict[str, Any] = {name: list(values) for name, values in zip(next(lines), zip(*lines))}
        columns["id"] = self._ids_of([_data.unescape(text) for text in columns["id"]])
        columns["predicted_class"] = np.array([self._class_of(text) for text in columns["predicted_class"]])
        columns["label"] = np.array([self._class_of(text) if text else None for text in columns["label"]], object)
        if "probability" in columns:
            columns["probability"] = np.array(columns["probability"], float)
        return _data.table({name: values if _is_index(values) else np.asarray(values) for name, values in columns.items()})

    def _ids_of(self, texts: List[str]) -> Any:
        """The ids that are these texts in files."""
        if self._ids is None:
            return _data.kind_of(texts)
        ids, written, _, _, _ = self._predicted
        row = {text: i for i, text in enumerate(written)}
        return ids[[row[text] for text in texts]]

    def _class_of(self, cell: str) -> Any:
        name = _data.unescape(cell)
        return self.classes[self._names.index(name)] if name in self._names else name

    def evaluate(self, labels: Any, *, choose: bool = False, groups: Optional[str] = None, run_module: Any = None) -> Evaluation:
        """Says by labels of some rows how many predictions are right, by ``iwrun evaluate``.

        Parameters
        ----------
        labels : dict, series, data frame, array or path
            Labels by id, also as a series of pandas, whose index has the ids; a frame such as
            :attr:`to_label` with the columns ``id`` and ``label``; an array of one label for each
            row of the target, in their order, with None or NaN for those that are not known; or
            a .csv file. The labelled rows must have been drawn at random.
        choose : bool
            Have the method predict that the labels say is clearly better, if there is one.
        groups : str, optional
            The column of labels, a frame or a file, that says which rows belong together, as the visits of
            a patient, if whole groups were drawn: they count as one in intervals and tests.
        run_module : path, optional
            Run this TorchScript module, with which methods were trained. It is a program: only do so
            if it comes from somebody you trust.

        Returns
        -------
        Evaluation

        Examples
        --------
        >>> drawn = outcome.to_label["id"].tolist()
        >>> evaluation = outcome.evaluate({row: hidden[row] for row in drawn})  # you know their classes
        >>> evaluation.accuracy.low > 0.8
        True
        """
        with tempfile.TemporaryDirectory(prefix="iwda-") as place:
            file, result, called = os.path.join(place, "labels.csv"), os.path.join(place, "evaluation.json"), {}
            if isinstance(labels, (str, os.PathLike)):
                file = os.fspath(labels)
            else:
                _data.write_csv(file, *self._labelled(labels, groups))
                called = {file: "labels"}
            arguments = ["evaluate", "-o", result] + ["--choose"] * choose + ([] if groups is None else ["--group-column", groups]) + ([] if run_module is None else ["--module", os.fspath(run_module)])
            arguments += ["--", str(self.folder), file]
            if hasattr(self, "_removal"):  # a folder whose files nobody looks at
                called.update({str(self.path("predictions.csv")): "the target", str(self.path(OUTCOME_FILE)): "the source"})
            text = _process.run("iwrun", arguments, progress=False, words=Words({}, called))
            with open(result, encoding="utf-8") as written:
                record = json.load(written)
        if choose:
            self.record = self._read_record()
            for name in ("_predicted", "model"):
                self.__dict__.pop(name, None)
        return Evaluation(record, text)

    def _labelled(self, labels: Any, groups: Optional[str]) -> Tuple[List[str], Iterable[Any]]:
        """The names and lines of a file of labels."""
        columns: Dict[str, Any]
        if isinstance(labels, Mapping):
            columns = {"id": list(labels), "label": list(labels.values())}
        elif _data.is_frame(labels) or getattr(getattr(labels, "dtype", None), "names", None):
            there = list(labels.columns) if _data.is_frame(labels) else list(labels.dtype.names)
            if absent := {"id", "label"} - set(there):
                raise ValueError(f"labels has no column {min(absent)!r}; it wants id and label")
            read = {"id", "label", "stratum_share", "predicted_class", groups}
            columns = {name: _listed(labels[name]) for name in there if name in read}
        elif (index := _data.index_of(labels)) is not None:
            if len(index) == len(self.ids) and _data.numbered(index) != _data.numbered(self.ids):
                raise ValueError(
                    "labels is a series, and of its index and the ids of the target's rows one counts from 0 and the other does not: "
                    "give .to_numpy() of it if the labels are in the order of the rows, and dict() of it if its index has their ids"
                )
            columns = {"id": index.tolist(), "label": labels.tolist()}
        else:
            array = _data.to_numpy(labels)
            if array.shape != (len(self.ids),):
                raise ValueError(f"labels has the shape {array.shape}; the target has {len(self.ids)} rows. For some of them give a dict of labels by id")
            columns = {"id": self._predicted[0].tolist(), "label": array.tolist()}
        names = dict(zip(self.classes.tolist(), self._names))
        known = [i for i, label in enumerate(columns["label"]) if not _data.missing(label) and label != ""]
        columns["label"] = [names.get(label, label) for label in columns["label"]]
        if self._ids is not None:
            ids, written, _, _, _ = self._predicted
            text = dict(zip(ids.tolist(), written))
            columns["id"] = [text.get(value, value) for value in columns["id"]]
        cells = {name: [_data.escape(str(values[i])) for i in known] for name, values in columns.items()}
        return list(cells), zip(*cells.values())

    def report(self, *, show: bool = False) -> Path:
        """The path of report.html, which has everything about the runs; ``show`` opens it in a browser."""
        path = self.path("report.html")
        if show:
            webbrowser.open(path.absolute().as_uri())
        return path

    def __getstate__(self) -> Dict[str, Any]:
        self._predicted, self.model  # what is read of the folder, as it may be gone elsewhere
        return {name: value for name, value in self.__dict__.items() if name != "_removal"}

    def _lines(self) -> List[Line]:
        return class_lines(self.classes, self.record["classes"])

    def __repr__(self) -> str:
        return "\n".join([f"{self.record['target']['rows']} rows predicted by {self.method}", self.headline, aligned(self._lines())])

    def _repr_html_(self) -> str:
        head, *rows = self._lines()
        more = len(rows) - MOST_SHOWN
        cells = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows[:MOST_SHOWN]]
        text = f"<p>{html.escape(self.headline)}</p><table><thead><tr>" + "".join(f"<th>{name}</th>" for name in head) + "</tr></thead><tbody>"
        text += "".join(f"<tr>{row}</tr>" for row in cells) + "</tbody></table>"
        return f"<div>{text}{f'<p>and {more} more classes</p>' if more > 0 else ''}</div>"
