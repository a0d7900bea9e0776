"""Adaptation in scikit-learn's manner, without scikit-learn until it asks."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from importlib import import_module
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _data
from ._adapt import adapt
from ._data import Frame, Rows


class Adapter:
    """A classifier that is adapted to a target without labels, in scikit-learn's manner.

    It can be cloned, searched over and put into pipelines. Its parameters are those of
    :func:`iwda.adapt`.

    Parameters
    ----------
    methods : list of str, optional
        Methods in the place of those that suit the data.
    seed : int
        Another one draws other held-out rows, batches and initial weights.
    device : str
        ``"cpu"``, ``"cuda"``, ``"cuda:N"``, or ``"auto"`` for a GPU if there is one.
    steps : int, optional
        Train each run for so many steps.
    label_shift : bool
        You know that only the class shares differ. Otherwise the data decide.
    settings : dict, optional
        Keys of the experiment file and their values.
    folder : path, optional
        Where everything is kept; a temporary one that is removed with :attr:`outcome_` if None.
    progress : bool
        Show what the program says, on standard error.

    Attributes
    ----------
    outcome_ : Outcome
        Headline, class shares, report and the rest.
    model_ : Model
        What predicts.
    classes_ : array, k
    n_features_in_ : int
    feature_names_in_ : array of str
        If it was fitted to data frames.

    Examples
    --------
    >>> import numpy as np, iwda
    >>> random = np.random.default_rng(1)
    >>> y, hidden = random.choice(2, 400, p=[0.7, 0.3]), random.choice(2, 300, p=[0.2, 0.8])
    >>> X, X_target = (random.normal(size=(len(c), 5)) + 3 * c[:, None] for c in (y, hidden))
    >>> adapter = iwda.Adapter(steps=300).fit(X, y, X_target=X_target)
    >>> bool(adapter.score(X_target, hidden) > 0.95)
    True
    """

    _estimator_type = "classifier"

    def __init__(
        self,
        *,
        methods: Optional[Sequence[str]] = None,
        seed: int = 0,
        device: str = "auto",
        steps: Optional[int] = None,
        label_shift: bool = False,
        settings: Optional[Mapping[str, Any]] = None,
        folder: "Union[str, os.PathLike[str], None]" = None,
        progress: bool = False,
    ) -> None:
        self.methods = methods
        self.seed = seed
        self.device = device
        self.steps = steps
        self.label_shift = label_shift
        self.settings = settings
        self.folder = folder
        self.progress = progress

    def fit(self, X: Any, y: Any, X_target: Any = None, *, sample_domain: Any = None) -> "Adapter":
        """Trains on a labelled source and a target without labels.

        Parameters
        ----------
        X : array or data frame
            Rows of the source and, with sample_domain, of the target.
        y : array
            Labels of the rows of X. Those of the target's rows are not read.
        X_target : array or data frame, optional
            Rows of the target. Without it, and without sample_domain, the source is its own
            target: nothing is adapted to.
        sample_domain : array of numbers, optional
            Of each row of X, positive for the source, negative for the target, as in skada.
            It passes through pipelines and splits, as X_target does not.
        """
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        rows, labels = _data.rows_of(X, "X"), _data.to_numpy(y)
        if labels.ndim == 2 and labels.shape[1] == 1:
            warnings.warn("A column-vector y was passed when a 1d array was expected", _sklearn_class("DataConversionWarning", UserWarning), stacklevel=2)
        _data.check_same_rows(y, "y", rows, "X")
        target: Any = rows
        if sample_domain is not None:
            if X_target is not None:
                raise ValueError("X_target and sample_domain both say what the target is; give one of them")
            domains = _data.to_numpy(sample_domain)
            if domains.shape != (len(rows),) or (domains == 0).any():
                raise ValueError(f"sample_domain has the shape {domains.shape}; want a number for each of {len(rows)} rows, positive for the source, negative for the target")
            _data.check_same_rows(sample_domain, "sample_domain", rows, "X")
            rows, labels, target = _take(rows, domains > 0), labels[domains > 0], _take(rows, domains < 0)
        elif X_target is not None:
            target = _data.rows_of(X_target, "X_target")
        self.outcome_ = adapt(
            rows, labels, target, methods=self.methods, seed=self.seed, device=self.device,
            steps=self.steps, label_shift=self.label_shift, folder=self.folder, progress=self.progress, **(self.settings or {}),
        )  # fmt: skip
        self.model_ = self.outcome_.model
        self.classes_ = self.outcome_.classes
        self.__dict__.pop("feature_names_in_", None)
        self.n_features_in_ = len(rows.names) if isinstance(rows, Frame) else rows.shape[1]
        if isinstance(rows, Frame):
            self.feature_names_in_ = np.array(rows.names, object)
        return self

    def predict(self, X: Any) -> Any:
        """The class of each row of X, n."""
        likeliest = self.predict_proba(X).argmax(1)
        return self.classes_[likeliest]

    def predict_proba(self, X: Any) -> Any:
        """The probabilities of the classes for each row of X, n × k, as for rows of the target."""
        if not hasattr(self, "model_"):
            raise _sklearn_class("NotFittedError", ValueError)("This Adapter is not fitted yet: call fit first")
        rows = _data.rows_of(X, "X")
        if not isinstance(rows, Frame) and rows.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {rows.shape[1]} features, but Adapter is expecting {self.n_features_in_} features as input")
        return self.model_.predict_proba(rows)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the rows of X whose class is that in y."""
        _data.check_same_rows(y, "y", X, "X")
        return float(np.average(self.predict(X) == _data.to_numpy(y), weights=sample_weight))

    @classmethod
    def _parameters(cls) -> List[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **parameters: Any) -> "Adapter":
        """Sets parameters, and returns the adapter."""
        for name, value in parameters.items():
            if name not in self._parameters():
                raise ValueError(f"Invalid parameter {name!r} for Adapter. Valid parameters are: {self._parameters()}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = inspect.signature(type(self).__init__).parameters
        changed = (f"{name}={value!r}" for name, value in self.get_params().items() if value != usual[name].default)
        return f"Adapter({', '.join(changed)})"

    def _more_tags(self) -> Dict[str, Any]:
        """What scikit-learn before 1.6 asks."""
        return {"requires_y": True}

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks from 1.6 on."""
        utils = import_module("sklearn.utils")
        return utils.Tags(
            estimator_type="classifier", target_tags=utils.TargetTags(required=True),
            classifier_tags=utils.ClassifierTags(), input_tags=utils.InputTags(),
        )  # fmt: skip


def _take(rows: Rows, which: Any) -> Rows:
    return rows.take(which) if isinstance(rows, Frame) else rows[which]


def _sklearn_class(name: str, otherwise: Any) -> Any:
    """An exception or a warning of scikit-learn's if that is in use, and else one of Python's."""
    return getattr(sys.modules.get("sklearn.exceptions"), name, otherwise)
