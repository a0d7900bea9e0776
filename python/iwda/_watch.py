"""iwda.watch: class shares and accuracy in batches without labels, with alarms that hold at every look."""

from __future__ import annotations

import json
import os
import tempfile
from os import PathLike
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from . import _data, _process
from ._data import Array
from ._labelshift import prepare
from ._words import Words

_ALARM = 3  # the exit status after an alarm


class Watched:
    """What is known after a batch: :func:`watch` returns it.

    Attributes
    ----------
    record : dict
        All that ``iwrun watch --log`` writes of the last batch.
    shares : data frame by class or, without pandas, structured array
        value, low and high of the batch.
    accuracy : dict or None
        value, low and high in the batch, if class shares are all that changed; None once more did.
    alarms : list of dict
        alarm, evidence_log10, threshold_log10, sounds, and since, the first batch after which it did.
    sounds : bool
        Whether any alarm has sounded.
    """

    def __init__(self, record: Dict[str, Any], classes: Array) -> None:
        self.record = record
        ends = {key: np.array([record["shares"][str(name)][key] for name in classes.tolist()]) for key in ("value", "low", "high")}
        self.shares = _data.table({"class": classes, **ends}, index="class")
        self.accuracy: Optional[Dict[str, float]] = record["accuracy"]
        self.alarms: List[Dict[str, Any]] = record["alarms"]
        self.sounds = any(alarm["sounds"] for alarm in self.alarms)

    def __repr__(self) -> str:
        sounding = [f"ALARM {alarm['alarm']} (since {alarm['since']})" for alarm in self.alarms if alarm["sounds"]]
        return "\n".join([f"{self.record['batch']}: {self.record['rows']} rows", str(self.shares), *sounding])


def watch(
    source_probabilities: Any,
    labels: Any,
    batch_probabilities: Any,
    state: Union[str, "PathLike[str]"],
    *,
    batch: str,
    alarms: Sequence[str] = (),
    level: Optional[float] = None,
    classes: Any = None,
    logits: bool = False,
) -> Watched:
    """Counts a batch of a classifier's probabilities, and says what is known and which alarms sound.

    Parameters
    ----------
    source_probabilities, labels, classes, logits
        Of held-out rows, as :func:`labelshift` takes them: the same with every batch.
    batch_probabilities : array or data frame, n × k
        A batch that was counted is not counted again.
    state : path
        The file of what was counted. It is begun if it is not there.
    batch : str
        A name for the batch, as its date.
    alarms : sequence of str
        As in ``share(sick) > 0.05``, ``accuracy < 0.85``, ``shares changed``. They stand with the
        first batch.
    level : float, optional
        The probability that any alarm ever sounds if nothing is wrong; 0.05.

    Returns
    -------
    Watched
    """
    classes, numbers, source, target = prepare(source_probabilities, labels, batch_probabilities, "batch_probabilities", classes, logits)
    kind = "logits" if logits else "probabilities"
    with tempfile.TemporaryDirectory(prefix="iwda-") as place:
        names = np.array([str(value) for value in classes.tolist()])
        files = [os.path.join(place, name) for name in ("source.npz", "batch.npz", "log.jsonl")]
        np.savez(files[0], labels=numbers, class_names=names, **{kind: source})
        np.savez(files[1], class_names=names, **{kind: target})
        arguments = ["watch", "source.npz", "batch.npz", "--state", os.path.abspath(state), "--batch", batch, "--log", "log.jsonl"]
        for alarm in alarms:
            arguments += ["--alarm", alarm]
        arguments += [] if level is None else ["--level", str(level)]
        words = Words({"source.npz": "source_probabilities", "batch.npz": "batch_probabilities"})
        _process.run("iwrun", arguments, progress=False, cwd=place, words=words, also=_ALARM)
        with open(files[2], encoding="utf-8") as log:
            record = json.loads(log.readlines()[-1])
    return Watched(record, classes)
