"""What `iwrun adapt` said of the suite's tasks, beside what is true.

usage: trust.py [--half NAME] [--label NAME] [--out build/suite]
Reads the folders OUT/adapt/LABEL/KIND/NAME that run.py leaves, and prints a table in Markdown: of each
task what was right, the accuracy if only class shares differ, if rows were selected, and at least, each
where it is said; whether the needs were answered right; and the share of rows whose set of classes has
theirs, if run.py was called with `-- --sets 0.9`. Then how often all that holds.
"""
import argparse
import csv
import json
import pathlib

import numpy as np

import tasks

HEADS = ["task", "group", "right", "if only class shares differ", "if rows were selected", "at least", "better than one class?", "a class lost?", "reliable", "sets"]
SHARES, SELECTED, ANYTHING = "only class shares differ", "rows were selected by their values", "nothing is known"
WORTH, NEXT_TO_NONE = 0.02, 0.1  # what a lost class is: inference/trust
FEWEST, LOW = 20, 0.84  # rows of a class whose sets are counted by themselves; coverage below it is told


class Said:
    """A task's outcome beside the truth."""

    def __init__(self, line, outcome, predicted, truth, sets=None):
        self.line, self.name = line, f"{line['kind']}/{line['name']}"
        self.right = float(np.mean(predicted == truth))
        self.cases = {case["if"]: case for case in outcome["cases"]}
        self.answers = [need["answer"] for need in outcome["needs"]]
        self.headline, self.reliable = outcome["headline"], outcome["reliable"]
        names, counts = np.unique(truth, return_counts=True)
        self.better = self.right > counts.max() / len(truth)
        self.lost = [name for name, n in zip(names, counts) if n >= WORTH * len(truth) and np.sum(predicted == name) < NEXT_TO_NONE * n]
        self.covered = None if sets is None else {name: (int(n), float(np.mean([name in sets[i] for i in np.flatnonzero(truth == name)]))) for name, n in zip(names, counts)}
        self.set_size = None if sets is None else float(np.mean([len(one) for one in sets]))

    def accuracy(self, case):
        return self.cases.get(case, {}).get("accuracy", {})

    @property
    def rejected(self):
        """Whether it is said that more than the class shares changed."""
        return bool(self.cases.get(SHARES, {}).get("against"))

    @property
    def interval(self):
        """The accuracy under label shift with its ends; nothing if it has none."""
        said = self.accuracy(SHARES)
        return (said["value"], said["low"], said["high"]) if "low" in said else None

    @property
    def held(self):
        return self.interval and self.interval[1] <= self.right <= self.interval[2]

    @property
    def misleading(self):
        """What is wrong with a headline: an accuracy whose lower end is above the truth, or a tick where a class is lost or one class is as good."""
        low = max((self.accuracy(case)["low"] for case, words in ((SHARES, SHARES), (ANYTHING, "at least")) if words in self.headline), default=0)
        found = [f"at least {100 * low:.1f}% are said, {100 * self.right:.1f}% are right"] if low > self.right else []
        if self.reliable == "yes":
            found += [f"a tick, and a class is lost ({', '.join(self.lost)})"] * bool(self.lost) + ["a tick, and always one class is as good"] * (not self.better)
        return found

    def row(self):
        def percent(v):
            return "" if v is None else f"{100 * v:.1f}"

        shares = f"{percent(self.interval[0])} ({percent(self.interval[1])} to {percent(self.interval[2])}){', rejected' if self.rejected else '' if self.held else ', **wrong**'}" if self.interval else ""
        low = self.accuracy(ANYTHING).get("low")
        answers = [f"{answer}{wrong}" for answer, wrong in zip(self.answers, (", **wrong**" if self.answers[0] == ("no" if self.better else "yes") else "", ", **wrong**" if self.answers[1] == ("no" if not self.lost else "yes") else ""))]
        return [self.name, self.line["group"], percent(self.right), shares, percent(self.accuracy(SELECTED).get("value")), percent(low) + (", **wrong**" if low is not None and low > self.right else ""),
                answers[0], answers[1] + (f" (true: {', '.join(self.lost)})" if self.lost else ""), self.reliable, "" if self.covered is None else percent(np.average([c for _, c in self.covered.values()], weights=[n for n, _ in self.covered.values()]))]


def summary(found):
    """Sentences about what was said of all tasks."""
    for group in tasks.GROUPS:
        of = [one for one in found if one.line["group"] == group]
        if not of:
            continue
        said, plain = [one for one in of if one.interval], [one for one in of if one.interval and not one.rejected]
        yield f"{group}: an accuracy if only class shares differ was said in {len(said)} of {len(of)} tasks, and held in {sum(bool(one.held) for one in said)}; in {len(plain)} nothing was said against it, and {sum(bool(one.held) for one in plain)} of these held."
        covered = [pair for one in of if one.covered for pair in one.covered.values()]
        if covered:
            many = [c for n, c in covered if n >= FEWEST]
            yield f"{group}: sets have the class in {100 * np.average([c for _, c in covered], weights=[n for n, _ in covered]):.1f}% of rows, {100 * np.mean([c for _, c in covered]):.1f}% on average over {len(covered)} classes, below {LOW} in {sum(c < LOW for c in many)} of {len(many)} classes of {FEWEST} rows and more{f', {min(many):.2f} at least' if many else ''}; {np.mean([one.set_size for one in of if one.covered]):.1f} classes in a set."
    floors = [one for one in found if "low" in one.accuracy(ANYTHING)]
    yield f"The floor was above the truth in {sum(one.accuracy(ANYTHING)['low'] > one.right for one in floors)} of {len(floors)} tasks."
    for i, (need, true) in enumerate((("better than always the most frequent class", lambda one: one.better), ("no class lost", lambda one: not one.lost))):
        answers = [(one.answers[i], true(one)) for one in found]
        yield f"{need}: yes in {sum(a == 'yes' for a, _ in answers)}, of which {sum(a == 'yes' and t for a, t in answers)} are so; no in {sum(a == 'no' for a, _ in answers)}, of which {sum(a == 'no' and not t for a, t in answers)} are so; true of {sum(t for _, t in answers)} of {len(found)}."
    wrong = [f"{one.name}: {'; '.join(one.misleading)}" for one in found if one.misleading]
    yield f"Misleading headlines: {len(wrong)} of {len(found)}{'. ' if wrong else ''}{'. '.join(wrong)}."


def read(line, out, label):
    """What was said of a task; nothing if there is no outcome."""
    name = pathlib.Path(line["kind"]) / line["name"]
    folder = out / "adapt" / label / name
    if not (folder / "outcome.json").exists():
        return None
    with open(folder / "predictions.csv", newline="", encoding="utf-8") as f:
        sets = [row.get("set") for row in csv.DictReader(f)]
    sets = [{tasks.plain(one) for one in said.split(" | ")} for said in sets] if None not in sets else None
    return Said(line, json.loads((folder / "outcome.json").read_text()), tasks.predicted_classes(folder / "predictions.csv"), np.load(out / "truth" / f"{name}.npy"), sets)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=tasks.HALVES, default="choosing")
    parser.add_argument("--label", default="adapt")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/suite"))
    arguments = parser.parse_args()
    found = [said for said in (read(line, arguments.out, arguments.label) for line in tasks.manifest() if line["half"] == arguments.half) if said]
    print("| " + " | ".join(HEADS) + " |\n" + "| --- " * len(HEADS) + "|")
    for one in found:
        print("| " + " | ".join(one.row()) + " |")
    print()
    for sentence in summary(found):
        print(f"- {sentence}")


if __name__ == "__main__":
    main()
