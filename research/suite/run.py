"""Runs baselines, the peer and `iwrun adapt` on the suite's tasks and scores them.

usage: run.py [--half NAME] [--only GLOB] [-j N] [--parts baselines,mcc,adapt] [--label NAME] [--iwrun PATH] [--encoded] [-- OPTIONS of adapt]
GLOB matches KIND/NAME. What is done already is not done again, so that an interrupted call goes on:
OUT/results/KIND/NAME.json has all that is known of a task. Those of `iwrun adapt` are kept by label,
beside each other, and its folders lie in OUT/adapt/LABEL/KIND/NAME; --again makes them anew. The
target's classes are read in here and nowhere else, and no accuracy is printed: report.py does that.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import multiprocessing
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402

import baselines  # noqa: E402
import mcc  # noqa: E402
import tasks  # noqa: E402

PARTS = ["baselines", "mcc", "adapt"]


def share(predicted, truth):
    """The share of rows that are right, in percent."""
    return round(100 * float(np.mean(np.asarray(predicted) == truth)), 3)


def balanced(predicted, truth):
    """The mean over the target's classes of the share of their rows that are right, in percent."""
    return round(float(np.mean([share(np.asarray(predicted)[truth == label], label) for label in np.unique(truth)])), 3)


def run_baselines(folder, truth, _):
    x, labels, z, names = baselines.load(folder)
    seconds = {}
    predicted = {name: names[p] for name, p in baselines.predictions(x, labels, z, seconds)}
    return {"accuracy": {name: share(p, truth) for name, p in predicted.items()}, "balanced": {name: balanced(p, truth) for name, p in predicted.items()}, "seconds": seconds}


def run_mcc(folder, truth, _):
    """The peer with either domain's statistics. It is so certain that EM changed no prediction in 70 runs."""
    x, labels, z, names = baselines.load(folder)
    source, targets = baselines.domains(x, z)
    accuracy, even, seconds = {}, {}, {}
    for statistics, target in targets.items():
        start = time.time()
        p = mcc.probabilities(source, labels, target, len(names))
        seconds[statistics] = time.time() - start
        accuracy[statistics], even[statistics] = (score(names[p.argmax(axis=1)], truth) for score in (share, balanced))
    return {"accuracy": accuracy, "balanced": even, "seconds": seconds, "steps": mcc.STEPS}


def read_tensor(path, name):
    """A float32 matrix of a safetensors file."""
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        entry, data = header[name], f.read()
    begin, end = entry["data_offsets"]
    return np.frombuffer(data[begin:end], np.float32).reshape(entry["shape"])


def encoded_files(folder, out):
    """The task as the baselines get it, as files in `out`."""
    x, labels, z, names = baselines.load(folder)
    np.savez(out / "source.npz", features=x, labels=labels, class_names=names)
    np.savez(out / "target.npz", features=z)
    return out / "source.npz", out / "target.npz"


def run_adapt(folder, truth, arguments):
    """`iwrun adapt` as it comes: what it used, each candidate's seeds together by `iwrun predict`, and
    each run's last network by itself. A failure is a result as well."""
    out = arguments.out / "adapt" / arguments.label / folder.parent.name / folder.name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    source, target = encoded_files(folder, out) if arguments.encoded else (next(folder.glob(name + ".*")) for name in ("source", "target"))
    command = [arguments.iwrun, "adapt", "--source", source, "--target", target, "-o", out, "-j", arguments.adapt_jobs, *arguments.options]
    start = time.time()
    with open(out / "log.txt", "w") as log:
        status = subprocess.run(list(map(str, command)), stdout=log, stderr=subprocess.STDOUT, timeout=3600).returncode
    result = {"wall": round(time.time() - start, 2), "options": arguments.options, "encoded": arguments.encoded}
    if status:
        return {**result, "failed": (out / "log.txt").read_text().strip().splitlines()[-3:]}
    predicted = tasks.predicted_classes(out / "predictions.csv")
    result |= {"accuracy": share(predicted, truth), "balanced": balanced(predicted, truth), "candidates": {}, "runs": {}}
    if (out / "outcome.json").exists():  # later than version 0.3.0
        result["outcome"] = json.loads((out / "outcome.json").read_text())
    names = baselines.load(folder)[3]
    for method in sorted({path.parents[1] for path in (out / "runs").glob("**/seed-*/model.json")}):
        csv_file = out / f"predictions-{method.name}.csv"
        said = subprocess.run([str(part) for part in (arguments.iwrun, "predict", method, target, "-o", csv_file)], capture_output=True, text=True)
        result["candidates"][method.name] = {"failed": said.stderr.strip()} if said.returncode else {"accuracy": share(tasks.predicted_classes(csv_file), truth)}
        for path in sorted(method.glob("seed-*/outputs.safetensors")):
            logits = read_tensor(path, "target_logits")
            result["runs"][f"{method.name}/{path.parent.name}"] = share(names[logits.argmax(axis=1)], truth)
    return result


MAKE = {"baselines": run_baselines, "mcc": run_mcc, "adapt": run_adapt}


def known(path, line):
    """What is there of a task; nothing if it is of other data."""
    result = json.loads(path.read_text()) if path.exists() else {}
    return result if result.get("task", line)["digest"] == line["digest"] else {}


def run(line, arguments):
    """All missing parts of a task; what was run. The file is read once more before it is written, as another
    call may have added another part."""
    name = f"{line['kind']}/{line['name']}"
    path = arguments.out / "results" / (name + ".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    truth, done = np.load(arguments.out / "truth" / (name + ".npy")), []
    for part in arguments.parts:
        there = known(path, line).get(part)
        if there is not None and (part != "adapt" or arguments.label in there and not arguments.again):
            continue
        start = time.time()
        made = MAKE[part](arguments.out / "tasks" / name, truth, arguments)
        result = known(path, line) | {"task": line}
        result[part] = {**result.get("adapt", {}), arguments.label: made} if part == "adapt" else made
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(result, indent=1) + "\n")
        new.replace(path)
        done.append(f"{part} {time.time() - start:.0f} s")
    return name, done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=tasks.HALVES)
    parser.add_argument("--only", metavar="GLOB", default="*")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--parts", type=lambda text: text.split(","), default=PARTS)
    parser.add_argument("--label", default="adapt")
    parser.add_argument("--iwrun", default="build/iwrun")
    parser.add_argument("--adapt-jobs", type=int, help="runs of one `iwrun adapt` at a time (default: the cores over -j)")
    parser.add_argument("--encoded", action="store_true", help="numbers for words and missing values, as the baselines get them, for versions of adapt that don't read those")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/suite"))
    parser.add_argument("options", nargs="*", metavar="OPTION")
    arguments = parser.parse_args()
    arguments.adapt_jobs = arguments.adapt_jobs or max(1, (os.cpu_count() or 1) // arguments.jobs)
    for part in arguments.parts:
        if part not in PARTS:
            parser.error(f"no part {part!r}; there are {', '.join(PARTS)}")
    lines = [line for line in tasks.manifest() if arguments.half in (None, line["half"]) and fnmatch.fnmatch(f"{line['kind']}/{line['name']}", arguments.only)]
    failed = 0
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs, multiprocessing.get_context("spawn")) as pool:
        for future in concurrent.futures.as_completed([pool.submit(run, line, arguments) for line in lines]):
            try:
                name, done = future.result()
            except Exception as reason:  # the other tasks go on; a later call makes this one
                failed += 1
                print(f"failed: {reason}", file=sys.stderr, flush=True)
                continue
            if done:
                print(f"{name}: {', '.join(done)}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
