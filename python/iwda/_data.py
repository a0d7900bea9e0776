"""What callers hand over - arrays, tensors, data frames, labels - and the files of it that the programs read."""

from __future__ import annotations

import copy
import csv
import datetime
import os
import re
import warnings
import zipfile
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple, Union

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_npy: Any = np.lib.format  # without types
_LINES = 4096  # of a data frame that are made cells of at a time
_TIMES = (datetime.time, datetime.timedelta)  # and what is derived of them, as pandas' Timedelta
_CHUNK_BYTES = 8 << 20  # of an array that are converted, checked and written at a time


@dataclass
class Frame:
    """A table whose columns have names, and may hold words and missing values."""

    names: List[str]
    columns: List[Array]
    index: Any = None  # that of pandas, if there is one

    def __len__(self) -> int:
        return len(self.columns[0])

    def take(self, rows: Array) -> "Frame":
        return Frame(self.names, [column[rows] for column in self.columns], None if self.index is None else self.index[rows])

    def ids(self, name: str) -> Any:
        """What the rows are called: their column of ids or, if they have none, an index that is
        not just their numbers from 0. None if they have neither, with a warning if the index
        cannot say which row is which."""
        for of, column in zip(self.names, self.columns):
            if of in ID_NAMES:
                return column
        if self.index is None or numbered(self.index):
            return None
        if why := _no_ids(self.index):
            warnings.warn(f"{name}: {why}; rows are numbered from 0. {name}.reset_index(drop=True) does the same, and ids= gives others", stacklevel=4)
            return None
        return self.index


Rows = Union[Array, Frame]


def to_numpy(values: Any) -> Array:
    """An array of anything that can be one; tensors are detached and fetched from their device."""
    if hasattr(values, "detach") and hasattr(values, "cpu"):
        values = values.detach().cpu()
        values = (values.float() if str(values.dtype) == "torch.bfloat16" else values).numpy()
    if hasattr(values, "toarray"):
        raise TypeError("sparse matrices are not taken; make an array of it with .toarray()")
    return np.asarray(values)


def index_of(values: Any) -> Any:
    """The index of a data frame or a series of pandas, None of anything else."""
    if isinstance(values, Frame):
        return values.index
    index = getattr(values, "index", None)
    return index if hasattr(index, "nlevels") and hasattr(index, "equals") else None


def numbered(ids: Any) -> bool:
    """Whether ids are just the numbers of rows, from 0."""
    array = np.asarray(ids)
    return array.dtype.kind in "iu" and np.array_equal(array, np.arange(len(array)))


def _no_ids(index: Any) -> str:
    """Why an index of pandas has no id for each row, nothing if it has."""
    if index.nlevels > 1:
        return f"its index has {index.nlevels} levels"
    seen: Set[str] = set()
    for row, value in enumerate(index.tolist()):
        text = str(value)
        if missing(value) or not text.strip():
            return f"row {row} has no value in the index"
        if text in seen:
            return f"its index has {value!r} twice"
        seen.add(text)
    return ""


def check_same_rows(values: Any, name: str, rows: Any, of: str) -> None:
    """Raises ValueError if both have an index of pandas, of as many rows, and not the same one."""
    mine, other = index_of(values), index_of(rows)
    if mine is None or other is None or len(mine) != len(other) or mine.equals(other):
        return
    pairs = enumerate(zip(mine.tolist(), other.tolist()))
    row, (a, b) = next((pair for pair in pairs if pair[1][0] != pair[1][1]), (0, (mine[0], other[0])))
    raise ValueError(
        f"{name} and {of} have different indices, as in row {row}, {a} and {b}: give {name}.loc[{of}.index] "
        f"if the index says which belong together, and {name}.to_numpy() if their order does"
    )


def parts_of(values: Any, name: str) -> Dict[str, Any]:
    """The rows of each domain by its name: of several if these are a list of data frames, or of arrays of two dimensions."""
    if isinstance(values, (list, tuple)) and len(values) > 0 and all(len(getattr(rows, "shape", ())) == 2 for rows in values):
        return {f"{name}[{i}]": rows for i, rows in enumerate(values)}
    return {name: values}


def is_frame(values: Any) -> bool:
    return hasattr(values, "columns") and hasattr(values, "__getitem__") and not isinstance(values, np.ndarray)


def rows_of(values: Any, name: str) -> Rows:
    """The rows of a data frame, or of an array of two dimensions. Messages call it by its name."""
    if isinstance(values, Frame):
        return values
    if is_frame(values):
        frame = Frame([str(column) for column in values.columns], [np.asarray(values[column]) for column in values.columns], index_of(values))
        _check_size(name, len(frame.columns[0]) if frame.columns else 0, len(frame.columns))
        if twice := sorted({column for column in frame.names if frame.names.count(column) > 1}):
            raise ValueError(f"{name} has two columns {twice[0]!r}")
        return frame
    array = to_numpy(values)
    if array.ndim != 2:
        raise ValueError(f"{name} has the shape {array.shape}; want rows × values. Reshape your data: .reshape(-1, 1) makes a column, .reshape(1, -1) a row")
    _check_size(name, *array.shape)
    if array.dtype.kind == "c":
        raise ValueError(f"{name}: Complex data not supported; want real numbers")
    if array.dtype.kind not in "biuf":
        for j, column in enumerate(array.T):
            check_no_times(column, name, str(j))
        try:
            if array.dtype.kind != "M":
                return array.astype(float)
        except ValueError:  # words
            pass
        except TypeError:
            if not any(isinstance(value, datetime.date) for value in array.ravel().tolist()):
                raise
        return Frame([f"column {j}" for j in range(array.shape[1])], list(array.T))
    return array


def _time_in(column: Array, *more: type) -> str:
    """The type of times of the day, spans, or more of a column, such as timedelta64[ns]; nothing if there are none."""
    if column.dtype.kind == "m" or more and column.dtype.kind == "M":
        return str(column.dtype)
    if column.dtype.kind == "O":
        for value in column.tolist():
            if isinstance(value, (*_TIMES, *more)) or type(value).__name__ in ("Period", "timedelta64"):
                return type(value).__name__
    return ""


def check_no_times(column: Array, name: str, of: str) -> None:
    """Raises ValueError if a column holds times of the day or spans, which have no one form as text. Dates have."""
    if kind := _time_in(column):
        raise ValueError(f"{name}: column {of} holds {kind}, which is not read: make a number of it that means the same in both domains, such as an hour or an age in days, or leave it out")


def days(text: str) -> Optional[float]:
    """The days since 1970 of a date in one of the forms that the programs read; None of other texts."""
    match = re.match(
        r"(\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d|\d\d\.\d\d\.\d{4}|\d\d-[a-z]{3}-\d{4}"
        r"|[a-z]+ \d\d?, \d{4}$|\d\d? [a-z]+ \d{4}$)(.*)$",
        text.strip(),
        re.I,
    )
    if not match:
        return None
    for form in ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d-%b-%Y", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y"):
        try:
            date = datetime.datetime.strptime(match[1], form).date().isoformat()
            at = datetime.datetime.fromisoformat(date + _clock(match[2]))
        except ValueError:
            continue
        zoned = at if at.tzinfo else at.replace(tzinfo=datetime.timezone.utc)
        return (zoned - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) / datetime.timedelta(days=1)
    return None


def _clock(text: str) -> str:
    """A time of the day as Python reads it, with six digits after a point and +00:00 for Z."""
    text = re.sub("Z$", "+00:00", text)
    return re.sub(r"\.(\d{1,9})", lambda match: "." + match[1][:6].ljust(6, "0"), text)


def _check_size(name: str, rows: int, columns: int) -> None:
    if rows == 0 or columns == 0:
        what = f"0 {'feature' if rows else 'sample'}(s)"
        raise ValueError(f"{name} has {what} (shape=({rows}, {columns})) while a minimum of 1 is required.")


def chunks(array: Array, name: str, origins: Optional[Array] = None, kind: str = "<f4") -> Iterator[Array]:
    """The rows of an array as float32 in C order, or of another kind, a few at a time; what is no number raises ValueError.

    If there are origins, they are taken off the values before in float64.
    """
    step = max(1, _CHUNK_BYTES // (4 * max(1, array.shape[1])))
    for first in range(0, len(array), step):
        with np.errstate(over="ignore"):
            part = array[first : first + step]
            chunk = np.ascontiguousarray(part if origins is None or not len(origins) else part.astype(float) - origins, kind)
            finite = np.isfinite(chunk.astype(np.float32, copy=False))
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            value = "NaN" if np.isnan(chunk[row, column]) else "infinity, or too large for float32"
            raise ValueError(
                f"{name}: row {first + row}, column {column}: {value}; values of arrays must be finite numbers, "
                "columns of data frames may have missing ones"
            )
        yield chunk


def _needs_double(array: Array) -> bool:
    """Whether float32 holds too little of a column, as of seconds since 1970: 1,000 steps or fewer
    between its first and last decile, of which it does not hold each as it is."""
    if array.dtype.kind not in "iuf" or array.dtype.itemsize < 4 or array.dtype == np.float32:
        return False
    some = np.sort(array[:: max(1, len(array) // 512)].astype(float), 0)
    with np.errstate(over="ignore", invalid="ignore"):
        tenth = len(some) // 10
        low, high = some[tenth], some[-1 - tenth]
        low, high = np.where(low == high, some[0], low), np.where(low == high, some[-1], high)
        steps = np.spacing(np.maximum(np.abs(low), np.abs(high)).astype(np.float32))
        return bool(((high - low < 1000 * steps) & (some.astype(np.float32) != some).any(0)).any())


def _labels(labels: Any, name: str, source: Rows, of: str) -> Array:
    """The labels of the rows of a source, all of which must have one."""
    array = to_numpy(labels)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or len(array) != len(source):
        raise ValueError(f"{name} has the shape {array.shape}; {of} has {len(source)} rows, and wants one label each")
    check_same_rows(labels, name, source, of)
    if kind := _time_in(array, datetime.date):
        raise ValueError(f"{name} holds {kind}; labels are whole numbers, words or truth values")
    unknown = [i for i, label in enumerate(array.tolist()) if missing(label)] if array.dtype.kind in "fO" else []
    if unknown:
        raise ValueError(f"{name}: row {unknown[0]} has no label ({array[unknown[0]]}); leave out rows of the source whose class is not known")
    return array


class Labels:
    """The labels of sources: classes of all, in order, with a name for the programs each."""

    def __init__(self, labels: Any, sources: Dict[str, Rows]) -> None:
        given = [labels] if len(sources) == 1 and "X_source" in sources else labels
        if not isinstance(given, (list, tuple)) or len(given) != len(sources):
            raise ValueError(f"X_source has the rows of {len(sources)} sources: y wants a list of as many arrays of labels")
        arrays = [_labels(of, name.replace("X_source", "y"), rows, name) for of, (name, rows) in zip(given, sources.items())]
        ends = np.cumsum([len(array) for array in arrays])
        self._parts = {name: slice(end - len(array), end) for name, end, array in zip(sources, ends, arrays)}
        alike = len({array.dtype.kind for array in arrays}) == 1
        array = np.concatenate(arrays if alike else [of.astype(object) for of in arrays])
        if array.dtype.kind == "f" and len(fractions := array[np.mod(array, 1) != 0]):
            raise ValueError(f"Unknown label type: continuous. y has the value {fractions[0]}; labels are whole numbers, words or truth values")
        try:
            self.classes, self.numbers = np.unique(array, return_inverse=True)
        except TypeError as why:
            raise ValueError(f"y has labels of several kinds: {why}") from why
        if len(self.classes) == 1:
            raise ValueError(f"y has one class, {self.classes.tolist()[0]!r}; there must be two or more to tell apart")
        self.names = [_name(value) for value in self.classes.tolist()]

    def part(self, name: str) -> "Labels":
        """Those of a source, of the classes of all."""
        part = copy.copy(self)
        part.numbers = self.numbers[self._parts[name]]
        return part

    def survive(self) -> List[str]:
        """Names that are read from a column of texts as they are, in the same order."""
        if all(map(_plain, self.names)) and self.names == _as_sorted(self.names):
            return self.names
        width = len(str(len(self.names) - 1))
        return [f"class {number:0{width}d}: {name}" for number, name in enumerate(self.names)]


def _as_sorted(names: List[str]) -> List[str]:
    """The names of classes as iwrun sorts them: by value if all are whole numbers, as texts if not."""
    if all(re.fullmatch("[+-]?[0-9]+", name) and abs(int(name)) < 2**63 for name in names):
        return sorted(names, key=lambda name: (int(name), name))
    return sorted(names)


def _name(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value))
    return value.decode() if isinstance(value, bytes) else str(value)


def _plain(name: str) -> bool:
    """Whether a cell with that text is a label, and of the class of that name."""
    whole, point, zeros = name.partition(".")
    return (
        name == name.strip() and name.lower() not in ("", "-1", "<na>", "nan")
        and not (point and not zeros.strip("0") and whole.lstrip("+-").isdigit())
    )


def missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, NaT, pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas' NA has no truth value
        return type(value).__name__ == "NAType"


def write(path: str, rows: Rows, *, name: str, labels: Optional[Labels] = None, ids: Any = None, groups: Optional[Array] = None) -> str:
    """Writes rows into path with the end that suits them, .npz or .csv, in one step; returns the file.

    A file that is there stays as it is if it holds the same, and raises ValueError if not.
    """
    path += ".csv" if isinstance(rows, Frame) else ".npz"
    growing = path + ".tmp"
    texts = None if groups is None else np.array(["" if missing(of) else str(of) for of in groups.tolist()])
    try:
        if not isinstance(rows, Frame):
            _write_array(growing, rows, name, labels, ids, texts)
        elif texts is None:
            _write_frame(growing, rows, name, labels, ids)
        elif GROUP_NAME in rows.names:
            raise ValueError(f"{name} has a column {GROUP_NAME!r} and groups are given, too: name it with groups={GROUP_NAME!r}, or drop it")
        else:
            _write_frame(growing, Frame(rows.names + [GROUP_NAME], rows.columns + [texts], rows.index), name, labels, ids)
        if os.path.exists(path):
            if not _same(growing, path):
                raise ValueError(f"{path} holds other rows than {name}: choose another folder, or remove this one")
        else:
            os.replace(growing, path)
    finally:
        if os.path.exists(growing):
            os.remove(growing)
    return path


def _same(first: str, second: str) -> bool:
    if os.path.getsize(first) != os.path.getsize(second):
        return False
    with open(first, "rb") as a, open(second, "rb") as b:
        return all(x == y for x, y in zip(iter(lambda: a.read(_CHUNK_BYTES), b""), iter(lambda: b.read(_CHUNK_BYTES), b"")))


def _write_array(path: str, rows: Array, name: str, labels: Optional[Labels], ids: Optional[Array], groups: Optional[Array]) -> None:
    arrays: Dict[str, Array] = {}
    kind = "<f8" if _needs_double(rows) else "<f4"
    if labels is not None:
        arrays = {"labels": labels.numbers.astype("<i4"), "class_names": np.array(labels.names)}
    if ids is not None:
        arrays["ids"] = ids if ids.dtype.kind in "iu" else np.array(list(map(str, ids.tolist())))
    if groups is not None:
        arrays[GROUP_NAME] = groups
    with zipfile.ZipFile(path, "w") as archive:
        with archive.open(zipfile.ZipInfo("features.npy"), "w", force_zip64=True) as file:
            _npy.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": rows.shape})
            for chunk in chunks(rows, name, kind=kind):
                file.write(chunk.data.cast("B"))
        for key, array in arrays.items():
            with archive.open(zipfile.ZipInfo(key + ".npy"), "w", force_zip64=True) as file:
                _npy.write_array(file, array, allow_pickle=False)


# Columns that are no values, by the name that they have.
LABEL_NAMES, ID_NAMES, GROUP_NAME = ("labels", "label"), ("ids", "id"), "group"


def _write_frame(path: str, frame: Frame, name: str, labels: Optional[Labels], ids: Any) -> None:
    for j, (column, values) in enumerate(zip(frame.names, frame.columns)):
        if not column.strip():
            raise ValueError(f"{name}: column {j} has no name")
        if column in LABEL_NAMES:
            raise ValueError(f"{name} has a column {column!r}, which stands for labels: drop it, or give it another name")
        if column in ID_NAMES and ids is not None and ids is not values:
            raise ValueError(f"{name} has a column {column!r} and ids are given, too: drop one of both")
        check_no_times(values, name, f'"{column}"')
    own = any(column in ID_NAMES for column in frame.names)
    texts = [] if labels is None else [escape(text) for text in labels.survive()]

    def lines() -> Iterator[Sequence[Any]]:
        for first in range(0, len(frame), _LINES):
            part = slice(first, first + _LINES)
            cells = [_texts(column[part]) if of in ID_NAMES else column_cells(column[part]) for of, column in zip(frame.names, frame.columns)]
            if not own:
                cells.insert(0, range(len(frame))[part] if ids is None else _texts(ids[part]))
            if labels is not None:
                cells.append([texts[number] for number in labels.numbers[part]])
            yield from zip(*cells)

    write_csv(path, ["id"] * (not own) + frame.names + ["label"] * (labels is not None), lines())


def named(rows: Rows) -> List[str]:
    """Flags that name the columns of labels and ids of a file that :func:`write` wrote, as others
    may have names that look like it."""
    if not isinstance(rows, Frame):
        return ["--label-column", "labels"]
    return ["--label-column", "label", "--id-column", next((name for name in ID_NAMES if name in rows.names), "id")]


def _texts(values: Any) -> List[str]:
    return [escape(str(value)) for value in values.tolist()]


def write_csv(path: str, names: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(lines)


def column_cells(column: Array) -> Sequence[Any]:
    """The cells of a column of a data frame; what is missing is empty."""
    if column.dtype.kind in "biuf":
        return list(column.tolist())  # NaN is a missing value for the programs, too
    if column.dtype.kind == "M":
        return ["" if text == "NaT" else text for text in np.datetime_as_string(column).tolist()]
    return ["" if missing(value) else value if isinstance(value, (int, float)) else str(value) for value in column.tolist()]


_FORMULA = tuple("=+-@\t\r")


def escape(text: str) -> str:
    """A text as a cell of an id or a class: behind an apostrophe if spreadsheets would take it for a formula."""
    bare = text.lstrip("'")
    if not bare.startswith(_FORMULA) or bare == text and _is_number(text):
        return text
    return "'" + text


def unescape(cell: str) -> str:
    bare = cell.lstrip("'")
    return cell[1:] if bare != cell and bare.startswith(_FORMULA) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def kind_of(texts: List[str]) -> Array:
    """Texts as what they were, as far as they show it: whole numbers, truth values, or texts."""
    if texts and all(re.fullmatch("0|-?[1-9][0-9]{0,17}", text) for text in texts):
        return np.array([int(text) for text in texts])
    if texts and set(texts) <= {"False", "True"}:
        return np.array([text == "True" for text in texts])
    return np.array(texts)


def read_csv(path: str) -> Iterator[List[str]]:
    """The lines of a .csv file, the first of which names the columns."""
    with open(path, encoding="utf-8", newline="") as file:
        yield from csv.reader(file)


def read_predictions(path: str, names: List[str]) -> Tuple[List[str], List[int], Array, Array]:
    """Ids, numbers of the predicted classes, probabilities of all classes if they are there, n × k, and
    which classes each row may have, n × k, if there are sets, of a .csv file of predictions."""
    lines = read_csv(path)
    header = next(lines)
    of_class, of_set = header.index("predicted_class"), len(header) - (header[-1] == "set")
    first = next((i for i, name in enumerate(header) if name.startswith("probability_")), len(header))
    number = {name: i for i, name in enumerate(names)}
    ids, predicted, probabilities, members = [], [], [], []
    for line in lines:
        ids.append(unescape(line[0]))
        predicted.append(number[unescape(line[of_class])])
        probabilities.append(np.array(line[first:of_set], np.float32))
        members += [[name in unescape(cell).split(" | ") for name in names] for cell in line[of_set:]]
    return ids, predicted, np.array(probabilities), np.array(members)


def table(columns: Dict[str, Array], index: Optional[str] = None) -> Any:
    """Columns of one length as a pandas.DataFrame or, without pandas, as a structured array."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        made = np.empty(len(next(iter(columns.values()))), [(name, values.dtype) for name, values in columns.items()])
        for name, values in columns.items():
            made[name] = values
        return made
    frame = pandas.DataFrame(columns)
    return frame if index is None else frame.set_index(index)
