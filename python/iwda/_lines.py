"""Tables of classes as text: what is printed of an adaptation and of class shares alike."""

from typing import Any, Iterable, List, Mapping, NamedTuple, Tuple

import numpy as np


class Interval(NamedTuple):
    """A number, and the ends of its 95% interval.

    Attributes
    ----------
    value, low, high : float
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


MOST_SHOWN = 30  # classes in a table that is printed

Line = Tuple[str, str, str, str, str]


def number(of_class: Mapping[str, Any], name: str) -> float:
    """A number of a class in JSON, NaN if it is not known."""
    value = of_class.get(name)
    return float("nan") if value is None else float(value)


def class_lines(classes: Any, records: Iterable[Mapping[str, Any]]) -> List[Line]:
    """The table of classes, its head first; of shares that are not to be believed the mean probability."""
    rows = [("class", "source", "target", "weight", "predicted")]
    for value, of in zip(classes.tolist(), records):
        share, low, high = (number(of, "target_share" + end) for end in ("", "_low", "_high"))
        target = f"{share:.3f}" if np.isnan(low) else str(Interval(share, low, high))
        if of.get("share_rejected") in (True, "yes"):
            target = f"{of['mean_probability']:.3f} (mean probability)"
        predicted = f"{of['predicted_share']:.3f}" if "predicted_share" in of else ""
        rows.append((str(value), f"{of['source_share']:.3f}", target, f"{number(of, 'weight'):.2f}", predicted))
    return rows


def aligned(rows: List[Line]) -> str:
    """The table as text, at most so many classes."""
    if len(rows) > MOST_SHOWN + 1:
        rows = rows[: MOST_SHOWN + 1] + [("…", "", "", "", "")]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)
