"""Makes tables and a figure of the suite's results.

usage: report.py [--half NAME] [--label NAME] [--before NAME] [--out build/suite]
Writes OUT/HALF.md, OUT/HALF.svg and OUT/HALF.json, which has everything that run.py found. The
half is the choosing one unless another is asked for: the others are looked at once. `adapt` is what
run.py keeps under --label, and is compared with that under --before, if there is such.
"""
import argparse
import collections
import json
import pathlib

import numpy as np

import baselines
import figure
import tasks

TWELVE = [f"{c}/{s}{em}" for c in ("logistic", "boosting", "perceptron") for s in baselines.STATISTICS for em in ("", "/em")]
SIMPLE, PEER = "logistic/source", "MCC own"
THREE = [f"{c}/source" for c in ("logistic", "forest", "boosting")]
BEST = {"best of twelve": TWELVE, "best of three": THREE}  # as labels would have picked


def accuracies(result, score="accuracy"):
    """Accuracy, or balanced accuracy, in percent by method of a task; what failed has 0."""
    found = dict(result.get("baselines", {}).get(score, {}))
    found |= {f"MCC {name}": value for name, value in result.get("mcc", {}).get(score, {}).items()}
    for label, made in result.get("adapt", {}).items():
        if score == "balanced":
            found[label] = made.get(score, 0.0)
            continue
        found[label] = made.get("accuracy", 0.0)
        found |= {f"{label}: always {name}": one.get("accuracy", 0.0) for name, one in made.get("candidates", {}).items()}
    return found


class Results:
    """Accuracies of methods on tasks, as far as they are known."""

    def __init__(self, results, score="accuracy"):
        self.lines = [result["task"] for result in results]
        self.names = [f"{line['kind']}/{line['name']}" for line in self.lines]
        self.by_task = [accuracies(result, score) for result in results]
        self.methods = list(dict.fromkeys(name for found in self.by_task for name in found))

    def column(self, method):
        """Of each task; NaN where it was not run. Those of BEST are what labels would have picked."""
        if method in BEST:
            return np.array([max((found[name] for name in BEST[method] if name in found), default=np.nan) for found in self.by_task])
        return np.array([found.get(method, np.nan) for found in self.by_task])

    def chosen(self, test):
        return np.array([test(line) for line in self.lines], bool)


def mean(values):
    values = values[~np.isnan(values)]
    return values.mean() if len(values) else np.nan


def said(value, form=".1f"):
    return "" if np.isnan(value) else format(value, form)


def table(header, rows):
    return ["| " + " | ".join(header) + " |", "| --- |" + " ---: |" * (len(header) - 1), *("| " + " | ".join(row) + " |" for row in rows), ""]


def beside(ours, other, names=None):
    """How one column is beside another: mean difference, the worst and its task, and tasks that are more
    than a point ahead, level and more than a point behind."""
    difference = ours - other
    known = ~np.isnan(difference)
    if not known.any():
        return [""] * 4
    worst = int(np.nanargmin(difference))
    counts = (difference[known] > 1).sum(), (np.abs(difference[known]) <= 1).sum(), (difference[known] < -1).sum()
    cells = [said(difference[known].mean(), "+.1f"), said(difference[worst], "+.1f")]
    return cells + ([names[worst]] if names else []) + [" / ".join(map(str, counts))]


def by_method(r, score="accuracy"):
    """A line a method: means by group, and how it is beside the simplest thing."""
    groups = {group: r.chosen(lambda line: line["group"] == group) for group in tasks.GROUPS}
    groups |= {"tables": r.chosen(lambda line: line["table"]), "all": r.chosen(lambda line: True)}
    rows = []
    for method in [*r.methods, *BEST]:
        column = r.column(method)
        rows.append([method, str((~np.isnan(column)).sum()), *(said(mean(column[rows_of])) for rows_of in groups.values()), *beside(column, r.column(SIMPLE))])
    heads = [f"{group} ({rows_of.sum()})" for group, rows_of in groups.items()]
    return table([f"mean {score}, percent", "tasks", *heads, "beside " + SIMPLE, "worst", "ahead / within 1 / behind"], rows)


def by_kind(r, label):
    """A line a kind: `adapt` beside the simplest thing, the best of twelve and the peer."""
    rows, ours = [], r.column(label)
    kinds = list(dict.fromkeys(line["kind"] for line in r.lines))
    for kind, test in [*((kind, lambda line, kind=kind: line["kind"] == kind) for kind in kinds), ("all", lambda line: True)]:
        chosen = r.chosen(test)
        cells = [kind, str(chosen.sum()), said(mean(ours[chosen]))]
        for other in (SIMPLE, "best of twelve", "MCC own", "MCC source"):
            difference, worst, counts = (beside(ours[chosen], r.column(other)[chosen]) + [""])[:3]
            cells += [said(mean(r.column(other)[chosen])), f"{difference} ({worst})", counts]
        rows.append(cells)
    heads = [head for other in (SIMPLE, "best of twelve", "MCC own", "MCC source") for head in (other, "beside (worst)", "+ / = / −")]
    return table(["kind", "tasks", label, *heads], rows)


def by_task(r, label):
    candidates = [name for name in r.methods if name.startswith(label + ": ")]
    methods = [SIMPLE, "logistic/own", "best of twelve", "MCC source", "MCC own", label, *candidates]
    columns = [r.column(method) for method in methods]
    return table(["task", "group", *methods], [[name, line["group"], *(said(column[i]) for column in columns)] for i, (name, line) in enumerate(zip(r.names, r.lines))])


def judged(r, label, before):
    """What research/suite/README.md asks for, and whether it holds."""
    ours, simple = r.column(label), r.column(SIMPLE)
    gap, shares = (r.chosen(lambda line, group=group: line["group"] == group) for group in ("gap", "label-shift"))
    rows = []

    def ask(what, value, least, above=False):
        holds = value > least if above else value >= least
        rows.append([what, said(value), ("above " if above else "") + format(least, ".1f"), "" if np.isnan(value) else "yes" if holds else "**no**"])

    ask(f"gap: beside {PEER}", mean((ours - r.column(PEER))[gap]), 3)
    if before in r.methods:
        ask(f"gap: beside {before}, if it did not fail", mean((ours - r.column(before))[gap & (r.column(before) > 0)]), 8)
    ask(f"label shift alone: beside {PEER}", mean((ours - r.column(PEER))[shares]), 5)
    known = ~np.isnan(ours - simple)
    ask(f"tasks within 1 point of {SIMPLE}, or better, percent", 100 * mean(((ours - simple)[known] >= -1).astype(float)), 95)
    ask(f"worst beside {SIMPLE}", (ours - simple)[known].min() if known.any() else np.nan, -3)
    best = max(TWELVE, key=lambda name: mean(r.column(name)))
    ask(f"all: beside the best of the twelve on average, {best}", mean(ours - r.column(best)), 0, above=True)
    gradients = ours[r.chosen(lambda line: line["kind"] == "gradients")]
    if len(gradients):
        ask("digits' gradients, mean of five draws", mean(gradients), 95)
    return table(["asked", "found", "at least", "holds"], rows)


def goals(r, even, label):
    """What research/suite/seventh.md and the plans after it ask for, by accuracy (r) and by balanced accuracy (even)."""
    rows = []
    for score, of in (("", r), (", balanced", even)):
        ours, single = of.column(label), [name for name in of.methods if "/" in name or name.startswith("MCC ")]
        single = [name for name in single if not np.isnan(of.column(name)).any()]  # those that were run on all

        def best(chosen):
            name = max(single, key=lambda name: of.column(name)[chosen].mean())
            return name, (ours - of.column(name))[chosen].mean()

        def ask(what, value, least, above=False):
            rows.append([what + score, said(value, ".1f" if what.startswith("tasks") else "+.1f"), ("above " if above else "") + str(least), "holds" if (value > least if above else value >= least) else "**fails**"])

        name, value = best(of.chosen(lambda line: True))
        ask(f"all: mean beside the best single baseline, {name}", value, 2)
        for group in tasks.GROUPS:
            name, value = best(of.chosen(lambda line: line["group"] == group))
            ask(f"{group}: mean beside the best there, {name}", value, 0, above=group != "gap")
        for other, share, worst in ((SIMPLE, 95, -5), ("best of three", 80, -8)):
            difference = ours - of.column(other)
            ask(f"tasks within a point of {other}, or better, percent", 100 * np.mean(difference >= -1), share)
            ask(f"the worst beside {other} ({of.names[int(difference.argmin())]})", difference.min(), worst)
        arrays = of.chosen(lambda line: line["group"] == "gap" and not line["table"])
        ask(f"gaps in arrays: mean beside {PEER}", mean((ours - of.column(PEER))[arrays]), 3)
    return table(["asked", "found", "at least", ""], rows)


def collapsed(results, label):
    """Sentences on runs that are in the mean and are right in fewer rows than the median of these by 20 points and more."""
    found = []
    for result in results:
        made = result.get("adapt", {}).get(label, {})
        used = {run: made.get("runs", {}).get(run.split("/", 2)[-1]) for run in made.get("outcome", {}).get("used", [])}
        known = [value for value in used.values() if value is not None]
        found += [f"{result['task']['kind']}/{result['task']['name']}: {run} {value:.1f}, the median {np.median(known):.1f}" for run, value in used.items() if value is not None and value < np.median(known) - 20]
    return [f"- Collapsed, and in the mean: {'; '.join(found) or 'none'}.", ""]


def by_group(r, even, label):
    """A line a group and form: means, and the difference from logistic regression and from the best of three with its deviation and worst."""
    rows = []
    for group in [*tasks.GROUPS, "all"]:
        for form in ("tables", "arrays", "both"):
            chosen = r.chosen(lambda line: group in ("all", line["group"]) and form in ("both", "tables" if line["table"] else "arrays"))
            if not chosen.any():
                continue
            cells = [f"{group}, {form}", str(chosen.sum())]
            for of in (r, even):
                cells += [said(mean(of.column(name)[chosen])) for name in (*THREE, "best of three", label)]
            for other in (SIMPLE, "best of three"):
                difference = (r.column(label) - r.column(other))[chosen]
                cells += [f"{difference.mean():+.1f} ± {difference.std(ddof=1) if len(difference) > 1 else 0:.1f}", f"{difference.min():+.1f}"]
            rows.append(cells)
    heads = [f"{name}{b}" for b in ("", ", b.") for name in ("LR", "forest", "boosting", "best of three", label)]
    return table(["group", "tasks", *heads, "beside LR", "worst", "beside the best of three", "worst"], rows)


def by_line(r, even, label):
    """A line a task, as seventh.md shows them: accuracy / balanced accuracy."""
    methods = [*THREE, "best of three", "best of twelve", "MCC source", "MCC own", label]
    columns = [(r.column(method), even.column(method)) for method in methods]
    cells = [[f"{said(of[i])} / {said(balanced[i])}" if not np.isnan(of[i]) else "" for of, balanced in columns] for i in range(len(r.names))]
    return table(["task", "group", *methods], [[name, line["group"], *row] for name, line, row in zip(r.names, r.lines, cells)])


def notes(results, label):
    """What `adapt` used, failures and time; trust.py has what it said of itself."""
    made = [(result["task"], result["adapt"][label]) for result in results if label in result.get("adapt", {})]
    good = [(task, one) for task, one in made if "outcome" in one]
    if not good:
        return []
    lines = ["Used: " + ", ".join(f"{method} {n}" for method, n in collections.Counter(one["outcome"]["method"] for _, one in good).most_common()) + "."]
    for task, one in made:
        if "failed" in one:
            lines.append(f"Failed: {task['kind']}/{task['name']}: {one['failed'][-1] if one['failed'] else ''}")
    small = [one["wall"] for task, one in good if max(task["source_rows"], task["target_rows"]) <= 1000]
    if small:
        lines.append(f"Seconds with at most 1,000 rows: {np.mean(small):.1f} on average, {max(small):.1f} at most; of all {sum(one['wall'] for _, one in good):.0f}.")
    return ["- " + line for line in lines] + [""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=[*tasks.HALVES, "all"], default="choosing")
    parser.add_argument("--label", default="adapt")
    parser.add_argument("--before", default="0.3.0")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/suite"))
    arguments = parser.parse_args()
    paths = [arguments.out / "results" / line["kind"] / (line["name"] + ".json") for line in tasks.manifest() if arguments.half in ("all", line["half"])]
    results = [json.loads(path.read_text()) for path in paths if path.exists()]
    if not results:
        raise SystemExit("report: no results; run.py makes them")
    r, even = Results(results), Results(results, "balanced")
    lines = [f"# {arguments.half}: {len(results)} of {len(paths)} tasks", "", *by_method(r)]
    if arguments.half in tasks.HALVES[tasks.HALVES.index("seventh"):] and arguments.label in even.methods:
        lines += [*by_method(even, "balanced accuracy"), *goals(r, even, arguments.label), *collapsed(results, arguments.label), *by_group(r, even, arguments.label), *by_line(r, even, arguments.label)]
    if arguments.label in r.methods:
        lines += [*judged(r, arguments.label, arguments.before), *by_kind(r, arguments.label), *notes(results, arguments.label)]
        figure.write(arguments.out / (arguments.half + ".svg"), r, arguments.label)
    lines += by_task(r, arguments.label)
    (arguments.out / (arguments.half + ".md")).write_text("\n".join(lines))
    (arguments.out / (arguments.half + ".json")).write_text(json.dumps(results, indent=1) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
