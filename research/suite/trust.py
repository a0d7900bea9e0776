"""What `iwrun adapt` said of the suite's tasks, beside what is true.

usage: trust.py [--half choosing|judging|fresh|final|fifth|sixth|redrawn] [--label NAME] [--out build/suite]
Reads the folders OUT/adapt/LABEL/KIND/NAME that run.py leaves, and prints a table in Markdown: of each
task what was right, the expected accuracy with its interval, the second opinion, the floor, and
the verdict; then how often the interval held and the floor was too high.
"""
import argparse
import json
import pathlib

import numpy as np

import tasks

HEADS = ["task", "group", "p", "right", "expected", "by confidence", "at least", "rely on"]


def right(folder, truth):
    """The share of rows that are predicted right."""
    return float(np.mean(tasks.predicted_classes(folder / "predictions.csv") == np.load(truth)))


def percent(v):
    return "" if v is None else f"{100 * v:.1f}"


def row(line, outcome, accuracy):
    expected, p = outcome.get("expected_accuracy"), outcome["label_shift"].get("p")
    said = f"{percent(expected['value'])} ({percent(expected['low'])} to {percent(expected['high'])})" if expected else ""
    return [f"{line['kind']}/{line['name']}", line["group"], "" if p is None else f"{p:.3f}", percent(accuracy), said,
            percent(outcome.get("confident_accuracy")), percent(outcome.get("accuracy_floor")), outcome["verdict"]["reliable"]]


def summary(found):
    """Sentences about (line, outcome, accuracy) of all tasks."""
    given = [(o["expected_accuracy"], a) for _, o, a in found if "expected_accuracy" in o]
    floors = [(line, o["accuracy_floor"], a) for line, o, a in found if "accuracy_floor" in o]
    good = [(line, floor) for line, floor, a in floors if a > 0.8]
    if given:
        held = sum(e["low"] <= a <= e["high"] for e, a in given)
        off = [100 * (e["value"] - a) for e, a in given]
        yield f"Expected accuracy was given in {len(given)} of {len(found)} tasks; the interval held in {held}, and the value was {np.mean(off):+.1f} points from the truth on average, {max(off, key=abs):+.1f} at most."
    yield f"The floor was above the truth in {sum(floor > a for _, floor, a in floors)} of {len(floors)} tasks; where more than 80% were right, it was more than 10 points above guessing in {sum(floor > 1 / line['classes'] + 0.1 for line, floor in good)} of {len(good)}."
    for reliable in ("shares and predictions", "predictions", "shares", "neither"):
        of = [a for _, o, a in found if o["verdict"]["reliable"] == reliable]
        if of:
            yield f"Rely on {reliable}: {len(of)} tasks, {100 * min(of):.1f} to {100 * max(of):.1f}% right."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=tasks.HALVES, default="choosing")
    parser.add_argument("--label", default="adapt")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/suite"))
    arguments = parser.parse_args()
    found = []
    for line in tasks.manifest():
        name = pathlib.Path(line["kind"]) / line["name"]
        folder = arguments.out / "adapt" / arguments.label / name
        if line["half"] == arguments.half and (folder / "outcome.json").exists():
            found.append((line, json.loads((folder / "outcome.json").read_text()), right(folder, arguments.out / "truth" / f"{name}.npy")))
    print("| " + " | ".join(HEADS) + " |\n| --- | --- | ---: | ---: | --- | ---: | ---: | --- |")
    for one in found:
        print("| " + " | ".join(row(*one)) + " |")
    print()
    for sentence in summary(found):
        print(f"- {sentence}")


if __name__ == "__main__":
    main()
