"""Tables that packages of R carry, read with Rscript, and how rows of them become tasks."""
import csv
import io
import subprocess

import numpy as np

from draws import Domain


def column(texts):
    """Numbers with NaN, or words with "", where a value is missing."""
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return np.array(texts, object)


def as_words(name, codes):
    """Numbers that are mere codes, as words that no reader takes for numbers; "" where one is missing."""
    return np.array(["" if np.isnan(code) else f"{name} {code:g}" for code in codes], object)


def frame(package, dataset, item=None, library=None):
    """Columns by name of a data set of a package, of a library or of those that are installed; item, if the data set has several tables."""
    where = f', lib.loc="{library}"' if library else ""
    script = f'data(list="{dataset}", package="{package}"{where}); write.csv({item or dataset}, row.names=FALSE, na="")'
    try:
        said = subprocess.run(["Rscript", "--vanilla", "-e", script], capture_output=True, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError) as reason:
        raise SystemExit(f"r: {package} has not given {dataset}; the packages stand in the Makefile, at suite_data: {getattr(reason, 'stderr', None) or reason}") from None
    header, *rows = csv.reader(io.StringIO(said, newline=""))
    return {name: column(texts) for name, texts in zip(header, zip(*rows))}


def domain(columns, label, without=(), rows=None):
    """Columns and their classes: a column's name, or texts. Only `rows`, and those that have a class."""
    labels = np.array([str(value) for value in (columns[label] if isinstance(label, str) else label)])
    values = {name: values for name, values in columns.items() if name not in without and name != (label if isinstance(label, str) else None)}
    known = ~np.isin(labels, ["", "nan"])
    return Domain(values, labels).take(np.flatnonzero(known if rows is None else known & rows))


def array(of):
    """Rows × columns of a table of numbers."""
    return Domain(np.stack(list(of.values.values()), axis=1), of.labels)


def some(of, rows, *seed):
    """At most so many rows, by chance."""
    return of.take(np.random.default_rng(seed).permutation(len(of))[:rows])
