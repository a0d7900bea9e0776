"""How often the test of `iwrun adapt` rejects what is right, and how often its intervals of class shares hold.

usage: adapted.py [--iwrun build/iwrun] [--draws 100] [--out build/adapted] [-j N]
Classes are normal, around centres of their own. Each draw is adapted to with the linear classifier
alone, whose held-out rows and target rows are predicted by cross-validation, or with the methods
that `adapt` takes. It goes on where it ended, and prints a table.
"""
import argparse
import concurrent.futures
import csv
import json
import pathlib
import random
import shutil
import subprocess

LINEAR = ["methods=[source-only@linear]", "selection.alike=[source-only@linear]", "selection.moved=[]", "seeds=[1]"]
EVEN, SHIFTED = {"cat": 0.5, "dog": 0.3, "owl": 0.2}, {"cat": 0.15, "dog": 0.25, "owl": 0.6}

# Rows of each domain, columns, deviation around centres that are a standard normal, shares of the
# target, settings, and for which part of the draws.
CELLS = {
    "linear, 300 rows, 10 columns": (300, 10, 3, EVEN, LINEAR, 1),
    "linear, 300 rows, 10 columns, shares changed": (300, 10, 3, SHIFTED, LINEAR, 1),
    "linear, 2,000 rows, 8 columns": (2000, 8, 2, EVEN, LINEAR, 1),
    "linear, 2,000 rows, 64 columns": (2000, 64, 5, EVEN, LINEAR, 1),
    "linear, 2,000 rows, 64 columns, shares changed": (2000, 64, 5, SHIFTED, LINEAR, 1),
    "as it comes, 1,000 rows, 8 columns": (1000, 8, 2, EVEN, [], 0.2),
    "as it comes, 1,000 rows, 8 columns, shares changed": (1000, 8, 2, SHIFTED, [], 0.2),
}


def draw(rows, columns, deviation, shares, seed, folder):
    """Writes a source and a target, and returns the classes of the target."""
    generator = random.Random(seed)
    centres = {name: [generator.gauss(0, 1) for _ in range(columns)] for name in EVEN}
    header = [f"e{i}" for i in range(columns)]
    drawn = []
    for of in (EVEN, shares):
        labels = generator.choices(list(of), list(of.values()), k=rows)
        drawn.append([[name] + [f"{generator.gauss(m, deviation):.4f}" for m in centres[name]] for name in labels])
    with open(folder / "source.csv", "w", newline="") as file:
        csv.writer(file).writerows([["label"] + header] + drawn[0])
    with open(folder / "target.csv", "w", newline="") as file:
        csv.writer(file).writerows([header] + [row[1:] for row in drawn[1]])
    return [row[0] for row in drawn[1]]


def adapt(iwrun, place, cell, seed):
    """Adapts to a draw, and returns what came of it."""
    rows, columns, deviation, shares, settings, _ = CELLS[cell]
    folder = place / "draws" / f"{list(CELLS).index(cell)}-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    truth = draw(rows, columns, deviation, shares, seed, folder)
    line = [iwrun, "adapt", folder / "source.csv", folder / "target.csv", "-o", folder / "out", "--quiet", "--threads", "1", "-j", "1"]
    for setting in settings:
        line += ["--set", setting]
    subprocess.run(line, check=True)
    outcome = json.loads((folder / "out" / "outcome.json").read_text())
    with open(folder / "out" / "classes.csv", newline="") as file:
        intervals = {row["class"]: (float(row["target_share_low"]), float(row["target_share_high"])) for row in csv.DictReader(file)}
    shutil.rmtree(folder)
    held = [low <= truth.count(name) / rows <= high for name, (low, high) in intervals.items()]
    return {"cell": cell, "seed": seed, "p": outcome["label_shift"].get("p"), "held": sum(held), "classes": len(held)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iwrun", default="build/iwrun")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/adapted"))
    parser.add_argument("-j", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "draws.jsonl"
    done = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    missing = [(cell, seed) for cell in CELLS for seed in range(1, 1 + round(options.draws * CELLS[cell][-1]))
               if not any(d["cell"] == cell and d["seed"] == seed for d in done)]  # fmt: skip
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool, open(kept, "a") as file:
        calls = [pool.submit(adapt, options.iwrun, options.out, *which) for which in missing]
        for call in concurrent.futures.as_completed(calls):
            done.append(call.result())
            file.write(json.dumps(done[-1]) + "\n")
            file.flush()
    print("| | draws | p < 0.05 | p < 0.01 | intervals that hold |\n| --- | ---: | ---: | ---: | ---: |")
    for cell in CELLS:
        found = [d for d in done if d["cell"] == cell]
        if found:
            rejected = [sum(d["p"] is not None and d["p"] < level for d in found) for level in (0.05, 0.01)]
            held, classes = sum(d["held"] for d in found), sum(d["classes"] for d in found)
            print(f"| {cell} | {len(found)} | {rejected[0]} | {rejected[1]} | {100 * held / classes:.1f}% |")


if __name__ == "__main__":
    main()
