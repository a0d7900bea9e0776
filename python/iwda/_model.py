"""Saved models: the folder model/ of an adaptation, and those of iwrun export."""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _data, _numbers
from ._data import Array, Frame

_LATEST_FORMAT = 6
_TYPES = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "|u1", "BOOL": "|b1"}


def load(folder: "Union[str, os.PathLike[str]]", *, classes: Any = None, run_module: "Union[bool, str, os.PathLike[str]]" = False) -> "Model":
    """Reads a saved model.

    Parameters
    ----------
    folder : path
        That of ``iwrun adapt``, ``iwrun export`` or a finished run, or one whose folders
        ``seed-1``, ``seed-2`` and so on are models: these predict together.
    classes : array, optional
        What the classes are called. Without it they are the names in the model: whole numbers
        if all look like that, truth values if they are True and False, and else texts.
    run_module : bool or path
        Run the TorchScript module that the model may have in its folder, or, if this is a path, that
        file. It is a program: only do so if it comes from somebody you trust.

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        If a file is damaged, or was changed, or the models cannot predict together.

    Examples
    --------
    >>> model = iwda.load(adapted)  # the folder of an adaptation
    >>> model.classes.tolist()
    ['cat', 'dog', 'owl']
    >>> model.predict_proba(rows).round(3).shape
    (300, 3)
    """
    return Model([_Member(place, run_module) for place in _members(Path(folder))], classes)


def _members(folder: Path) -> List[Path]:
    for place in (folder, folder / "model"):
        if (place / "model.json").exists():
            return [place]
        seeds = [p for p in (place.iterdir() if place.is_dir() else ()) if re.fullmatch(r"seed--?(0|[1-9]\d*)", p.name)]
        if seeds:
            return sorted(seeds, key=lambda p: int(p.name[5:]))
    raise FileNotFoundError(f"{folder} is no model: it has no model.json, and neither has its folder model")


class Model:
    """A network, or several that predict together: :func:`load` returns it.

    Attributes
    ----------
    classes : array, k
        The classes, in the order of the columns of probabilities.
    columns : list of str or None
        The features of a row, in order, if they have names. Data frames are matched by them.
    shape : tuple of int
        That of a row: (features,), or (channels, height, width) of images.
    """

    def __init__(self, members: "List[_Member]", classes: Any = None) -> None:
        self._members = members
        first = members[0]
        for other in members[1:]:
            for key in ("classes", "input"):
                if other.about[key] != first.about[key]:
                    raise ValueError(f"{first.folder} and {other.folder} cannot predict together: they differ in {key}")
        names: List[str] = first.about["classes"]
        self.classes = _data.kind_of(names) if classes is None else np.asarray(classes)
        if len(self.classes) != len(names):
            raise ValueError(f"{len(self.classes)} classes; the model has {len(names)}: {', '.join(names[:10])}")
        self.columns: Optional[List[str]] = first.about["input"].get("columns")
        self.shape = tuple(first.about["input"]["shape"])
        self._decimal: str = first.about["input"].get("decimal", ".")
        self._origins = np.array(first.about["input"].get("origins", []), float)  # of the values of a row, which are less these

    def predict(self, X: Any, *, shares: Any = "model") -> Any:
        """The class of each row, n: the likeliest by :meth:`predict_proba`."""
        return self.classes[self.predict_proba(X, shares=shares).argmax(1)]

    def predict_proba(self, X: Any, *, shares: Any = "model") -> Array:
        """The probabilities of the classes, n × k, as ``iwrun predict`` has them.

        Parameters
        ----------
        X : array, tensor or data frame
            Rows of the target, as they come: columns are encoded and normalised as in training.
            Images are n × channels × height × width, of bytes or of numbers from 0 to 1.
        shares : str or array, k
            The class shares that the rows are believed to have: ``"model"``, those that the
            target's predictions were corrected for; ``"source"``; ``"uniform"``; ``"estimate"``,
            those of the rows themselves, by maximum likelihood; or numbers, which are scaled to
            a sum of 1.
        """
        batches: Iterable[Array] = self._batches(X)
        if isinstance(shares, str) and shares == "estimate":
            batches = list(batches)
            of = [_likeliest(np.concatenate([m.probabilities(batch) for batch in batches]), m.classifier) for m in self._members]
        else:
            of = [member.shares(shares) for member in self._members]
        votes = np.array([m.about.get("vote", 1.0) for m in self._members])
        made = [sum(m.probabilities(batch, q) * vote for m, q, vote in zip(self._members, of, votes / votes.sum())) for batch in batches]
        return np.concatenate(made)

    def _batches(self, X: Any) -> Iterator[Array]:
        """Rows as float32, in the shape of the network's before normalisation, a few at a time."""
        if len(self.shape) == 3 and not _data.is_frame(X):
            images = _data.to_numpy(X)
            if images.shape[1:] not in (self.shape, self.shape[1:] if self.shape[0] == 1 else self.shape):
                raise ValueError(f"X has the shape {images.shape}; the model takes images, n × {' × '.join(map(str, self.shape))}")
            for batch in _data.chunks(images.reshape(len(images), -1), "X"):
                yield (batch / np.float32(255) if images.dtype == np.uint8 else batch).reshape(-1, *self.shape)
            return
        rows, origins = _data.rows_of(X, "X"), self._origins
        if isinstance(rows, Frame):
            rows, origins = self._numbers(rows), origins[:0]
        if rows.shape[1] != self.shape[0]:
            raise ValueError(f"X has {rows.shape[1]} features, but the model is expecting {self.shape[0]} features as input")
        yield from _data.chunks(rows, "X", origins)

    def _numbers(self, frame: Frame) -> Array:
        encoding = self._members[0].about["input"].get("encoding")
        if encoding is None:
            encoding = [{"column": name, "median": np.nan} for name in self.columns or frame.names]
        if absent := [c["column"] for c in encoding if c["column"] not in frame.names]:
            raise ValueError(f"X has no column {absent[0]!r}, which the model was trained with; there are {', '.join(frame.names[:10])}")
        columns = dict(zip(frame.names, frame.columns))
        for coding in encoding:
            _data.check_no_times(columns[coding["column"]], "X", f'"{coding["column"]}"')
        made: List[Array] = []
        for c in encoding:
            at = sum(part.shape[1] for part in made)
            made.append(_encoded(columns[c["column"]], c, self._origins[at] if len(self._origins) else 0.0, self._decimal))
        return np.concatenate(made, 1)


def _likeliest(probabilities: Array, prior: Array) -> Array:
    """The class shares, k, under which rows are likeliest, by their probabilities, n × k, under
    the shares prior. One row of each class counts beside them, so that no share is 0.

    The likelihood, less n times the sum of shares in the place of the constraint, is
    self-concordant: damped Newton steps stay where it is defined and converge.
    """
    there = prior > 0
    p = prior[there]
    ratios = np.concatenate([probabilities[:, there], np.eye(len(p))]) / p
    q = p / p.sum()
    for _ in range(_EM_STEPS):
        q = q * (ratios / (ratios @ q)[:, None]).mean(0)
    for _ in range(_NEWTON_STEPS):
        slopes = ratios / (ratios @ q)[:, None]
        gradient = slopes.sum(0) - len(slopes)
        step = np.linalg.solve(slopes.T @ slopes, gradient)
        decrement = np.sqrt(max(0.0, float(gradient @ step)))
        q = q + step / (1 + decrement)
        if decrement < 1e-9:
            break
    shares = np.zeros(len(prior))
    shares[there] = q / q.sum()
    return shares


_EM_STEPS, _NEWTON_STEPS = 20, 200  # the former come near in few steps, the latter arrive


def _encoded(column: Array, coding: Mapping[str, Any], origin: float, decimal: str) -> Array:
    """The values, n × some, of a column's cells, numbers less their origin."""
    if column.dtype.kind in "biuf" and "levels" not in coding:
        values = column.astype(float)
        absent = np.isnan(values)
    else:
        texts = [str(cell) for cell in _data.column_cells(column)]
        absent = np.array([text.strip().lower() in _MISSING or text.strip() == coding.get("absent", "") for text in texts])
    if "levels" in coding:
        words = np.array([text.strip() for text in texts])
        made = [(words == level) & ~absent for level in coding["levels"]]
    else:
        if column.dtype.kind not in "biuf":
            values, absent = _read_numbers(texts, absent, coding, decimal)
        made = [np.where(absent, np.float32(coding.get("median", 0)), values - origin)]
    if coding.get("missing"):
        made.append(absent)
    return np.column_stack([part.astype(np.float32) for part in made])


# Texts that stand for a value that is not there.
_MISSING = {"", "nan", "na", "<na>", "n/a", "#n/a", "null", "none", "?", "-", "."}


def _read_numbers(texts: List[str], absent: Array, coding: Mapping[str, Any], decimal: str) -> Tuple[Array, Array]:
    """The numbers, n, in cells of a column of numbers, and which are missing: other text, too, up to one for nine numbers."""
    unit = coding.get("unit", "")
    values = [0.0 if no else _numbers.read(text, decimal, unit) for text, no in zip(_numbers.without_groups(texts, decimal), absent)]
    stray = np.array([value is None for value in values])
    strays, cells = stray.sum(), len(texts) - absent.sum()
    if strays:
        what = f"a number with {unit!r}" if unit else "a number"
        of = f"X: column {coding['column']!r}: row {stray.argmax()}: {texts[stray.argmax()][:100]!r} is not {what}"
        if 9 * strays > cells - strays:
            raise ValueError(f"{of}; {strays} of {cells} cells are not, but in training the column had numbers")
        warnings.warn(f"{of} and counts as missing, one of {strays} such cells", stacklevel=2)
    return np.array([value or 0 for value in values], float), absent | stray


class _Member:
    """One network with what comes before and after it."""

    def __init__(self, folder: Path, run_module: "Union[bool, str, os.PathLike[str]]") -> None:
        self.folder, self.run_module = folder, run_module
        path = folder / "model.json"
        content = path.read_bytes()
        self.about: Dict[str, Any] = json.loads(content)
        if self.about["format"] > _LATEST_FORMAT:
            raise ValueError(f"{path} has the format {self.about['format']}, of a later version; this one reads up to {_LATEST_FORMAT}")
        if seal := self.about.get("seal", ""):
            place = content.index(b'"seal": "') + 9
            if hashlib.sha256(content[:place] + b"0" * 64 + content[place + 64 :]).hexdigest() != seal:
                raise ValueError(f"{path}: its SHA-256 is not the one that it states: it is damaged or was changed; if you changed it, remove its key seal")
        self.classifier = np.asarray(self.about["shares"]["classifier"], float)  # the class shares that its probabilities are under
        self.state = self._state()
        self._module: Any = None

    def _state(self) -> Dict[str, Array]:
        path, prefix = self.folder / "model.safetensors", ""
        if not path.exists():
            path, prefix = self.folder / "checkpoint.safetensors", "network."
        data = path.read_bytes()
        if (sum_ := self.about.get("weights_sha256")) and hashlib.sha256(data).hexdigest() != sum_:
            raise ValueError(f"{path} has not the SHA-256 that model.json states: it is damaged, or belongs to another one")
        start = 8 + int.from_bytes(data[:8], "little")
        return {
            name[len(prefix) :]: np.frombuffer(data[start + t["data_offsets"][0] : start + t["data_offsets"][1]], _TYPES[t["dtype"]]).reshape(t["shape"])
            for name, t in json.loads(data[8:start]).items()
            if name != "__metadata__" and name.startswith(prefix)
        }  # fmt: skip

    def shares(self, said: Any) -> Array:
        """The class shares that probabilities are corrected for."""
        own, k = self.about["shares"], len(self.about["classes"])
        if isinstance(said, str):
            found = {"model": own.get("assumed", own.get("target")), "source": own["source"], "uniform": np.full(k, 1 / k)}
            if said not in found:
                raise ValueError(f"shares is {said!r}; want model, source, uniform, estimate, or {k} numbers")
            if (said := found[said]) is None:
                raise ValueError("the model has no class shares of a target; choose others: source, uniform, estimate, or numbers")
        try:
            shares = np.asarray(said, float)
        except TypeError:
            raise ValueError(f"shares is {said!r}; want {k} numbers, in the order of classes") from None
        if shares.shape != (k,) or not (shares >= 0).all() or not 0 < shares.sum() < np.inf:
            raise ValueError(f"shares has the shape {shares.shape} and the sum {shares.sum()}; want {k} numbers that are not negative")
        return np.asarray(shares / shares.sum())

    def probabilities(self, rows: Array, shares: Optional[Array] = None) -> Array:
        """Those of rows, corrected for class shares if some are given."""
        calibration = self.about.get("calibration") or {"scales": 1.0, "biases": 0.0}
        moved: Any = 0.0
        if shares is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                moved = np.where(shares > 0, np.log(shares / self.classifier), -np.inf)
        z = self._logits(self._normalised(rows)) * calibration["scales"] + calibration["biases"] + moved
        z = np.exp(z - z.max(1, keepdims=True))
        return np.asarray(z / z.sum(1, keepdims=True))

    def _normalised(self, rows: Array) -> Array:
        how = self.about["normalisation"]
        rows = rows.astype(np.float32, copy=False)
        if how["kind"] != "standard":
            return rows
        of = {key: np.asarray(values, np.float32) for key, values in how["target"].items() if key in ("mean", "deviation", "low", "high")}
        if "low" in of:
            rows = rows.clip(of["low"], of["high"])
        each = (-1,) + (1,) * (rows.ndim - 2)
        return np.asarray((rows - of["mean"].reshape(each)) / of["deviation"].reshape(each))

    def _logits(self, rows: Array) -> Array:
        network = self.about["network"]
        if network["name"] in ("forest", "boosting"):
            return self._grown(rows, network["name"], network["trees"])
        if network["name"] not in ("linear", "mlp", "perceptron"):
            if self._module is None:
                from ._torch import Module

                self._module = Module(self.folder, self.about, self.state, self.run_module)
            return np.asarray(self._module(rows), float)
        z = rows.astype(float)
        layers = [f"hidden{i}" for i in range(1, network.get("hidden_layers", 1))] + ["bottleneck"] if network["name"] != "linear" else []
        for layer in layers:
            z = np.maximum(z @ self.state[layer + ".weight"].T.astype(float) + self.state[layer + ".bias"], 0)
        return np.asarray(z @ self.state["classifier.weight"].T.astype(float) + self.state["classifier.bias"])

    def _grown(self, rows: Array, name: str, trees: int) -> Array:
        """The logits of a random forest, or of boosted trees."""
        columns, thresholds, *ways = self.state[name + ".nodes"].T  # where values are at most the threshold, above it, or missing
        after, stays = (np.array([way > np.arange(len(way)) for way in ways]), np.array([way == np.arange(len(way)) for way in ways]))
        if not (after.all(0) | stays.all(0)).all():
            raise ValueError(f"{self.folder}: {name}.nodes go round")
        k = len(self.about["classes"])
        shares = self.state["forest.shares"].astype(float) if name == "forest" else None
        found = np.zeros((len(rows), k)) if shares is None else np.full((len(rows), k), 1 / k)
        for tree in range(trees):
            at, before = np.full(len(rows), tree), None
            while before is None or (at != before).any():
                before, values = at, rows[np.arange(len(rows)), columns[at].astype(int)]
                at = np.where(np.isnan(values), ways[-1][at], np.where(values <= thresholds[at], ways[0][at], ways[1][at])).astype(int)
            if shares is None:
                found[:, 1 if k == 2 else tree % k] += thresholds[at]
            else:
                found += shares[thresholds[at].astype(int)]
        return found if shares is None else np.asarray(np.log(found / (trees + 1)))

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_module": None}
