"""iwda.adapt: arrays or data frames of two domains to an Outcome, by iwrun adapt."""

from __future__ import annotations

import json
import operator
import os
import re
import shutil
import tempfile
import warnings
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from . import _data, _process
from ._native import Error
from ._outcome import OUTCOME_FILE, Outcome
from ._words import Words

def adapt(
    X_source: Any,
    y: Any,
    X_target: Any,
    *,
    ids: Any = None,
    groups: Any = None,
    methods: Optional[Sequence[str]] = None,
    seed: int = 0,
    device: str = "auto",
    steps: Optional[int] = None,
    label_shift: bool = False,
    form: Optional[str] = None,
    needs: Sequence[str] = (),
    sets: Optional[float] = None,
    decimal: Optional[str] = None,
    folder: "Union[str, os.PathLike[str], None]" = None,
    progress: bool = True,
    **settings: Any,
) -> Outcome:
    """Predicts the classes of a target without labels from a labelled source.

    Runs ``iwrun adapt``: several methods are trained, and those that nothing speaks against
    predict together. No label of the target is needed.

    Parameters
    ----------
    X_source, X_target : array, tensor or data frame, rows × columns
        Arrays are finite numbers, such as embeddings. Data frames may hold words and missing
        values too; the target's columns are found by their names. X_source may be a list of several,
        of the same columns.
    y : array of one label a row of X_source
        Whole numbers, words or truth values. Predictions are of the same kind. A series has
        the index of X_source, if that is a data frame. Of several sources, a list of as many.
    ids : array, optional
        What the target's rows are called. Without it, the column ``id`` of a data frame says so,
        or else its index. Rows of arrays and of a fresh index are numbered from 0, and so are
        those whose index has levels, or values missing or twice: there is a warning then.
    groups : str or pair of arrays, optional
        Which rows belong together, such as the visits of a patient: the name of a column of the data
        frames, or one array for the rows of X_source and one for those of X_target, either of which
        may be None. They are held out together, and count as one in intervals. Of several sources, the first
        is a list of as many arrays; a group that two of them have is one. Without it, such rows are looked
        for, and ``""`` says that none belong together.
    methods : list of str, optional
        Methods in the place of those that suit the data, such as ``["source-only@linear"]``.
    seed : int
        Another one draws other held-out rows, batches and initial weights.
    device : str
        ``"cpu"``, ``"cuda"``, ``"cuda:N"``, or ``"auto"`` for a GPU if there is one.
    steps : int, optional
        Train each run for so many steps.
    label_shift : bool
        You know that only the class shares differ. Otherwise the data decide.
    form : str, optional
        ``"table"``: each column has its own meaning, the same in both domains. ``"array"``: all may have moved
        together, as those of embeddings. Without it, fewer than 48 columns are a table.
    needs : list of str
        What you need of the predictions, such as ``["accuracy >= 0.9", "recall(sepsis) >= 0.8"]``:
        :attr:`Outcome.needs` has the answers.
    sets : float, optional
        0.8, 0.9, 0.95 or 0.99: :attr:`Outcome.sets` says which classes each row may have, among which its
        own is with that probability, in each class, whatever the class shares are. For tables.
    decimal : str, optional
        The decimal sign of numbers that are texts, ``","`` or ``"."``, if the numbers do not say it.
    folder : path, optional
        Where everything is kept. An adaptation that was interrupted goes on there. Without a
        folder, a temporary one is removed when the Outcome is.
    progress : bool
        Show what the program says, on standard error.
    **settings
        Keys of the experiment file, with ``__`` in the place of dots: ``train__validation=0.3``,
        or ``**{"train.validation": 0.3}``.

    Returns
    -------
    Outcome

    Raises
    ------
    ValueError
        If the data or settings are wrong; the message says where.
    iwda.Error
        If something else fails.

    Examples
    --------
    >>> import numpy as np, iwda
    >>> random = np.random.default_rng(1)
    >>> y, hidden = random.choice(["cat", "dog"], 400, p=[0.7, 0.3]), random.choice(["cat", "dog"], 300, p=[0.2, 0.8])
    >>> def rows(labels):
    ...     return random.normal(size=(len(labels), 5)) + 3 * (labels == "dog")[:, None]
    >>> outcome = iwda.adapt(rows(y), y, rows(hidden), steps=300, progress=False)
    >>> bool((outcome.predictions == hidden).mean() > 0.95)
    True
    >>> bool(outcome.shares["target_share"]["dog"] > 0.7)
    True
    """
    parts = _data.parts_of(X_source, "X_source")
    sources, target = {name: _data.rows_of(rows, name) for name, rows in parts.items()}, _data.rows_of(X_target, "X_target")
    labels = _data.Labels(y, sources)
    given = None if ids is None else _data.to_numpy(ids)
    if given is not None and given.shape != (len(target),):
        raise ValueError(f"ids has the shape {given.shape}; X_target has {len(target)} rows, and wants one id each")
    _data.check_same_rows(ids, "ids", target, "X_target")
    for name, source in sources.items():
        if isinstance(source, _data.Frame) != isinstance(target, _data.Frame):
            raise ValueError(f"one of {name} and X_target is a data frame, or has words, and the other is an array of numbers; give both in one form")
        if isinstance(source, np.ndarray) and isinstance(target, np.ndarray) and source.shape[1] != target.shape[1]:
            raise ValueError(f"{name} has {source.shape[1]} columns, X_target {target.shape[1]}")
    names = target.ids("X_target") if given is None and isinstance(target, _data.Frame) else given
    grouped = _grouped(groups, sources, target)
    if methods is not None:
        settings["methods"] = list(methods)
    seed = _whole(seed, "seed")
    options = ["--device", device] + ([] if steps is None else ["--steps", str(_whole(steps, "steps"))])
    options += ["--label-shift"] if label_shift else []
    if form not in (None, "table", "array"):
        raise ValueError(f"form is {form!r}; want 'table' or 'array'")
    options += [] if form is None else ["--" + form]
    options += [word for need in needs for word in ("--need", need)]
    options += [] if sets is None else ["--sets", str(sets)]
    options += [] if decimal is None or isinstance(target, np.ndarray) else ["--decimal", decimal]
    called = {}
    for key, value in settings.items():
        options += ["--set", f"{key.replace('__', '.')}={json.dumps(value, default=_plain, ensure_ascii=False)}"]
        called["--set " + options[-1]] = key
    place = tempfile.mkdtemp(prefix="iwda-") if folder is None else os.path.abspath(folder)
    try:
        os.makedirs(place, exist_ok=True)
        files = {
            _data.write(os.path.join(place, f"source{i + 1 if i else ''}"), source, name=name, labels=labels.part(name), groups=grouped[name]): name
            for i, (name, source) in enumerate(sources.items())
        }
        arguments = ["adapt", "-o", place, *_data.named(target), *options]
        for file in files:
            arguments += ["--source", file]
        file = _data.write(os.path.join(place, "target"), target, name="X_target", ids=names, groups=grouped["X_target"])
        files[file] = "X_target"
        arguments += ["--target", file]
        if groups is not None:
            arguments += ["--group-column", groups if isinstance(groups, str) else _data.GROUP_NAME]
        words = Words(files, called)
        if seed != 0 and "seeds" not in settings:
            usual = _usual_seeds(arguments + ["-o", os.path.join(place, "none")], words)
            arguments += ["--set", f"seeds={[s + seed * len(usual) for s in usual]}"]
        _run(arguments + ["--probabilities"], os.path.join(place, OUTCOME_FILE), progress, words)
        return Outcome(place, classes=labels.classes, ids=names, _temporary=folder is None)
    except BaseException:
        if folder is None:
            shutil.rmtree(place, ignore_errors=True)
        raise


def _grouped(groups: Any, sources: Dict[str, _data.Rows], target: _data.Rows) -> Dict[str, Any]:
    """The groups of the rows of all domains that are to be written beside them, None for none."""
    domains = {**sources, "X_target": target}
    if groups is None or isinstance(groups, str):
        if groups and not isinstance(target, _data.Frame):
            raise ValueError(f"groups is {groups!r}, but arrays have no columns: give two arrays, of the groups of X_source and of X_target")
        return dict.fromkeys(domains)
    if not isinstance(groups, (tuple, list)) or len(groups) != 2 or all(of is None for of in groups):
        raise ValueError("groups wants the name of a column, or two arrays: the groups of X_source and of X_target")
    first = [groups[0]] if "X_source" in sources else [None] * len(sources) if groups[0] is None else list(groups[0])
    if len(first) != len(sources):
        raise ValueError(f"groups has {len(first)} arrays for {len(sources)} sources; want one, or None, for each")
    found: Dict[str, Any] = {}
    for of, (name, rows) in zip(first + [groups[1]], domains.items()):
        array = None if of is None else _data.to_numpy(of)
        if array is not None and array.shape != (len(rows),):
            raise ValueError(f"the groups of {name} have the shape {array.shape}; it has {len(rows)} rows, and wants one group each")
        _data.check_same_rows(of, "groups", rows, name)
        found[name] = array
    return found


def _run(arguments: List[str], outcome: str, progress: bool, words: Words) -> None:
    """Runs iwrun adapt. Runs that failed are a warning if the others predict."""
    before = _written(outcome)
    try:
        _process.run("iwrun", arguments, progress=progress, words=words)
    except Error as why:
        if _written(outcome) == before:
            raise
        warnings.warn(f"some runs failed, and the others predict: {why}", stacklevel=3)


def _usual_seeds(arguments: List[str], words: Words) -> List[int]:
    """Those of the experiment file for the data, if the folder has none yet."""
    experiment = _process.run("iwrun", arguments + ["--dry-run"], progress=False, words=words)
    found = re.search(r"^seeds: \[([-0-9, ]+)\]", experiment, re.MULTILINE)
    if found is None:
        raise Error(f"iwrun adapt --dry-run printed no seeds: {experiment[:200]}")
    return [int(text) for text in found[1].split(",")]


def _whole(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}; want a whole number") from None


def _plain(value: Any) -> Any:
    """A value of NumPy's as one that JSON has."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return os.fspath(value)


def _written(path: str) -> Optional[int]:
    try:
        return os.stat(path).st_mtime_ns
    except FileNotFoundError:
        return None
