"""Saved models give the probabilities of iwrun predict."""

import json
import shutil

import numpy as np
import pandas
import pytest
import torch
import torchvision

from PIL import Image

import iwda
from iwda import _data, _process

from conftest import QUICK, SOURCE, TARGET, draw


def predicted(model, file, tmp_path, *options):
    """The probabilities of iwrun predict, n × k."""
    output = tmp_path / "predicted.csv"
    _process.run("iwrun", ["predict", str(model), str(file), "-o", str(output), "--probabilities", "--device", "cpu", *options], progress=False)
    return pandas.read_csv(output).filter(like="probability_").to_numpy()


def compare(folder, rows, tmp_path, **options):
    file = tmp_path / "rows.npz"
    np.savez(file, features=rows)
    flags = [word for name, value in options.items() for word in (f"--{name}", value)]
    want = predicted(folder, file, tmp_path, *flags)
    got = iwda.load(folder).predict_proba(rows, **options)
    assert np.abs(got - want).max() < 1e-6
    assert 0.01 < (want.max(1) < 0.99).mean(), "nearly all probabilities are 0 or 1: they say little"


def more_rows(width, spread):
    return draw(3, TARGET, rows=1000, width=width, spread=spread)[0]


def folders_of(folder):
    """The folders of the model, of all of its members, and of all runs."""
    runs = sorted(path.parent for path in (folder / "runs").rglob("model.json"))
    return [folder, *sorted((folder / "model").glob("seed-*")), *runs]


WAYS = {
    "as it suits": {},
    "none": {"network.normalise": "none"},
    "source": {"network.normalise": "source"},
    "standard": {"network.normalise": "standard"},
    "matched": {"network.normalise": "matched"},
    "clipped": {"network.normalise": "standard", "network.clip": 2},
    "two layers": {"network.layers": 2, "network.features": 64},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_candidate_of_features(way, tmp_path):
    width, spread = 50, 1.5  # columns for all candidates
    (source, labels), (target, _) = draw(1, SOURCE, width=width, spread=spread), draw(2, TARGET, width=width, spread=spread)
    rows = more_rows(width, spread)
    if way == "clipped":
        source[::20, 3], target[::25, 4], rows[::30, 4] = 1000, -1000, 3000
    iwda.adapt(source, labels, target, folder=tmp_path / "out", seeds=[1], **WAYS[way], **QUICK)
    folders = folders_of(tmp_path / "out")
    assert len({path.parent.name for path in folders}) > 4  # candidates
    if way == "clipped":
        assert any("low" in json.loads((path / "model.json").read_text())["normalisation"]["target"] for path in folders[-2:])
    for folder in folders:
        compare(folder, rows, tmp_path)


def test_every_candidate_of_a_table(adapted, tmp_path):
    folders = folders_of(adapted)
    assert any(path.parent.name == "source-only@forest" for path in folders)
    for folder in folders:
        compare(folder, more_rows(8, 1.5), tmp_path)


def test_boosting(domains, tmp_path):
    rows, labels, target, _ = domains
    methods = ["source-only@linear", "source-only@boosting"]
    iwda.adapt(rows, labels, target, folder=tmp_path / "out", methods=methods, seeds=[1], **QUICK)
    compare(next(path for path in folders_of(tmp_path / "out") if path.parent.name == methods[1]), more_rows(8, 1.5), tmp_path)


def test_nodes_that_go_round(adapted, tmp_path):
    """They are refused: no row would come to a leaf."""
    from iwda._model import _Member

    member = _Member(next(path for path in folders_of(adapted) if path.parent.name == "source-only@forest"), False)
    assert member.probabilities(more_rows(8, 1.5)).shape == (1000, 3)
    member.state["forest.nodes"] = member.state["forest.nodes"].copy()
    member.state["forest.nodes"][0, 2:] = [0, 5]
    with pytest.raises(ValueError, match="forest.nodes go round"):
        member.probabilities(more_rows(8, 1.5))


def test_shares_of_ones_own(adapted, tmp_path):
    rows = more_rows(8, 1.5)
    np.savez(tmp_path / "rows.npz", features=rows)
    (tmp_path / "shares.csv").write_text("class,share\nowl,1\ncat,3\ndog,0\n")
    want = predicted(adapted, tmp_path / "rows.npz", tmp_path, "--shares", str(tmp_path / "shares.csv"))
    model = iwda.load(adapted)
    assert np.abs(model.predict_proba(rows, shares=[3, 0, 1]) - want).max() < 1e-6
    for shares in ("source", "uniform", "estimate"):
        compare(adapted, rows, tmp_path, shares=shares)
    with pytest.raises(ValueError, match="want model, source, uniform, estimate, or 3 numbers"):
        model.predict(rows, shares="estimated")
    with pytest.raises(ValueError, match="shares is {'a': 1}; want 3 numbers, in the order of classes"):
        model.predict_proba(rows, shares={"a": 1})
    with pytest.raises(ValueError, match="want 3 numbers"):
        model.predict(rows, shares=[1, 2])


def test_shares_of_the_rows(adapted, tmp_path):
    """They are estimated to the program's digits, also of few rows and if a class is not there."""
    model = iwda.load(adapted)
    rows, labels = draw(4, (0.5, 0.1, 0.4), rows=3000, spread=2.0)
    for some in (rows, rows[:1], rows[labels != "cat"]):
        np.savez(tmp_path / "rows.npz", features=some)
        want = predicted(adapted, tmp_path / "rows.npz", tmp_path, "--shares", "estimate")
        assert np.abs(model.predict_proba(some, shares="estimate") - want).max() < 1e-6
    assert (model.predict(rows, shares="estimate") == labels).mean() > (model.predict(rows) == labels).mean()


def test_words_and_missing_values(tmp_path):
    def frame(seed, shares):
        values, labels = draw(seed, shares)
        random = np.random.default_rng(seed)
        made = pandas.DataFrame(values[:, :3], columns=["a", "b", "c d"])
        made.loc[random.random(len(made)) < 0.1, "b"] = np.nan
        made["colour"] = np.where(random.random(len(made)) < 0.6, labels, random.choice(["=red", "dark, blue", " green "], len(made)))
        made.loc[random.random(len(made)) < 0.1, "colour"] = None
        made["size"] = pandas.array(random.integers(0, 5, len(made)), dtype="Int64")
        made.loc[:3, "size"] = pandas.NA
        made["mixed"] = [i if i % 3 else 2.5 if i % 2 else "word" for i in random.integers(0, 9, len(made))]
        made["yes"] = random.random(len(made)) < 0.5
        made["kind"] = pandas.Categorical(random.choice(["x", "y"], len(made)))
        return made, labels

    (source, labels), (target, _) = frame(1, SOURCE), frame(2, TARGET)
    outcome = iwda.adapt(source, labels, target, folder=tmp_path / "out", **QUICK)
    assert {"colour=owl", "colour=dark, blue", "colour is missing", "b is missing", "size", "mixed=word", "mixed=2.5", "yes", "kind=x"} <= set(outcome.model.columns)
    more, _ = frame(3, TARGET)
    more.loc[5, "colour"] = "never seen"
    file = tmp_path / "more.csv"
    _data._write_frame(str(file), _data.rows_of(more, "more"), "more", None, None)
    want = predicted(tmp_path / "out", file, tmp_path)
    for rows in (more, more[list(more.columns[::-1])], more.astype({"yes": object})):
        assert np.abs(outcome.model.predict_proba(rows) - want).max() < 1e-6
    with pytest.raises(ValueError, match="no column 'kind'"):
        outcome.model.predict(more.drop(columns="kind"))
    more["a"] = more["a"].astype(object)
    more.loc[7:9, "a"] = "wide"
    _data._write_frame(str(file), _data.rows_of(more, "more"), "more", None, None)
    want = predicted(tmp_path / "out", file, tmp_path)
    with pytest.warns(UserWarning, match="column 'a': row 7: 'wide' is not a number and counts as missing, one of 3 such cells"):
        got = outcome.model.predict_proba(more)
    assert np.abs(got - want).max() < 1e-6
    more.loc[: len(more) // 10, "a"] = "wide"
    with pytest.raises(ValueError, match=r"column 'a': row 0: 'wide' is not a number; \d+ of \d+ cells are not, but in training the column had numbers"):
        outcome.model.predict(more)


def test_damage_is_found(adapted, tmp_path):
    _process.run("iwrun", ["export", str(adapted), "-o", str(tmp_path / "copy")], progress=False)
    rows = more_rows(8, 1.5)
    before = iwda.load(adapted).predict_proba(rows)
    assert np.array_equal(iwda.load(tmp_path / "copy").predict_proba(rows), before)
    file = next((tmp_path / "copy").rglob("model.safetensors"))
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match="SHA-256"):
        iwda.load(tmp_path / "copy")
    content[-1] ^= 1
    file.write_bytes(content)
    about = file.parent / "model.json"
    text = about.read_text()
    about.write_text(text.replace('"owl"', '"elk"'))
    with pytest.raises(ValueError, match="damaged or was changed"):
        iwda.load(tmp_path / "copy")
    about.write_text(text.replace(f'"format": {json.loads(text)["format"]}', '"format": 99'))
    with pytest.raises(ValueError, match="a later version"):
        iwda.load(tmp_path / "copy")
    with pytest.raises(FileNotFoundError, match="is no model"):
        iwda.load(tmp_path)


def test_wrong_rows(adapted):
    model = iwda.load(adapted)
    with pytest.raises(ValueError, match="9 features, but the model is expecting 8"):
        model.predict(np.zeros((3, 9)))
    with pytest.raises(ValueError, match="row 1, column 2: NaN"):
        model.predict(np.where(np.arange(24).reshape(3, 8) == 10, np.nan, 1))


class TestPyTorch:
    """Networks that take PyTorch."""

    def test_torchscript(self, tmp_path):
        module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh())
        torch.jit.script(module).save(str(tmp_path / "backbone.pt"))
        (source, labels), (target, _) = draw(1, SOURCE, spread=1.5), draw(2, TARGET, spread=1.5)
        settings = {"network.name": "torchscript", "network.file": str(tmp_path / "backbone.pt")}
        iwda.adapt(source, labels, target, folder=tmp_path / "out", methods=["source-only"], **settings, **QUICK)
        rows = more_rows(8, 1.5)
        np.savez(tmp_path / "rows.npz", features=rows)
        want = predicted(tmp_path / "out", tmp_path / "rows.npz", tmp_path, "--run-module")
        got = iwda.load(tmp_path / "out", run_module=True).predict_proba(rows)
        assert np.abs(got - want).max() < 1e-6
        with pytest.raises(ValueError, match="run_module=True"):
            iwda.load(tmp_path / "out").predict(rows)

    def test_modules_run_if_trusted(self, tmp_path):
        """A module inside the folder runs with True, another one if it is named, and none that was changed."""
        torch.jit.script(torch.nn.Linear(8, 16)).save(str(tmp_path / "backbone.pt"))
        (source, labels), (target, _) = draw(1, SOURCE), draw(2, TARGET)
        settings = {"network.name": "torchscript", "network.file": str(tmp_path / "backbone.pt")}
        iwda.adapt(source, labels, target, folder=tmp_path / "out", methods=["source-only"], **settings, **QUICK)
        run, saved = (next((tmp_path / "out").rglob(name)).parent for name in ("checkpoint.safetensors", "model.safetensors"))
        rows = more_rows(8, 1)
        shutil.copy(tmp_path / "backbone.pt", run)  # which nobody opens
        for trusted in (False, True, saved / "backbone.pt"):
            with pytest.raises(ValueError, match=f"{tmp_path}/backbone.pt is a TorchScript module, .*run_module='{tmp_path}/backbone.pt'"):
                iwda.load(run, run_module=trusted).predict(rows)
        iwda.load(run, run_module=tmp_path / "backbone.pt").predict(rows)
        iwda.load(saved, run_module=saved / "backbone.pt").predict(rows)
        (saved / "backbone.pt").unlink()
        (saved / "backbone.pt").symlink_to(tmp_path / "backbone.pt")
        with pytest.raises(ValueError, match="is a TorchScript module"):
            iwda.load(saved, run_module=True).predict(rows)
        with open(tmp_path / "backbone.pt", "ab") as file:
            file.write(b"more")
        for trusted in (True, tmp_path / "backbone.pt"):
            with pytest.raises(ValueError, match="when the model was trained"):
                iwda.load(saved, run_module=trusted).predict(rows)
        about = json.loads((saved / "model.json").read_text())
        del about["seal"]
        about["network"]["backbone"]["file"] = str(tmp_path / "backbone.pt")
        (saved / "model.json").write_text(json.dumps(about))
        with pytest.raises(ValueError, match="not in the folder"):
            iwda.load(saved, run_module=tmp_path / "backbone.pt").predict(rows)

    def test_lenet(self, tmp_path):
        experiment = tmp_path / "digits.yaml"
        experiment.write_text(
            "experiment: digits\ndataset: {name: glyphs, train_per_class: 20, test_per_class: 10}\ntasks: [clean-warped]\nvariants: [full]\nmethods: [source-only]\n"
            "seeds: [1]\nnetwork: {name: lenet}\ntrain: {epochs: 1, batch: 20, validation: 0.2}\n"
        )
        _process.run("iwrun", ["-c", str(experiment), "-o", str(tmp_path / "runs"), "--device", "cpu"], progress=False)
        run = next((tmp_path / "runs").rglob("model.json")).parent
        images = np.random.default_rng(1).random((1000, 1, 28, 28)).astype(np.float32)
        np.save(tmp_path / "images.npy", images.reshape(1000, -1))
        want = predicted(run, tmp_path / "images.npy", tmp_path)
        model = iwda.load(run)
        assert np.abs(model.predict_proba(images) - want).max() < 1e-6
        assert np.abs(model.predict_proba(images[:, 0]) - want).max() < 1e-6
        assert np.array_equal(model.predict_proba(np.full((1, 28, 28), 255, np.uint8)), model.predict_proba(np.ones((1, 1, 28, 28))))
        with pytest.raises(ValueError, match="n × 1 × 28 × 28"):
            model.predict(images.reshape(1000, -1))

    def test_resnet(self, tmp_path):
        # The same convolutions of float32, in batches of other sizes.
        assert self.adapted_to_images(tmp_path, "--set", "network={name: resnet18, pretrained: none, frozen: false, views: 0}") < 1e-5

    def test_lenet_of_colours(self, tmp_path):
        assert self.adapted_to_images(tmp_path, "--network", "small", side=28) < 1e-5

    def test_frozen_resnet(self, tmp_path):
        """A run's folder has the head alone; the model of the adaptation has all."""
        network = torchvision.models.resnet18()
        torch.save(network.state_dict(), tmp_path / "resnet18.pth")
        weights = f"network={{name: resnet18, pretrained: {tmp_path / 'resnet18.pth'}, frozen: true, views: 2}}"
        assert self.adapted_to_images(tmp_path, "--set", weights) < 1e-5
        run = next((tmp_path / "out").rglob("checkpoint.safetensors")).parent
        with pytest.raises(ValueError, match="resnet18.pth: iwrun export .* -o model"):
            iwda.load(run).predict(np.zeros((1, 3, 20, 20), np.float32))

    def adapted_to_images(self, tmp_path, *network, side=20):
        """How far the probabilities of an adaptation to images are from iwrun predict's."""
        random = np.random.default_rng(1)
        for domain, count in (("source", 24), ("target", 20)):
            for i in range(count):
                pixels = random.integers(0, 60, (24, 24, 3), dtype=np.uint8)
                pixels[..., 2 * (i % 2)] += 120
                folder = tmp_path / domain / ("red", "blue")[i % 2] if domain == "source" else tmp_path / domain
                folder.mkdir(parents=True, exist_ok=True)
                Image.fromarray(pixels).save(folder / f"{i}.png")
        settings = [
            f"dataset={{resize: {side + 4}, crop: {side}, cache: memory}}", "methods=[source-only]", "seeds=[1]",
            "train.steps=8", "train.eval_every=8", "train.batch=8", "train.validation=0.3",
        ]  # fmt: skip
        arguments = ["adapt", str(tmp_path / "source"), str(tmp_path / "target"), "-o", str(tmp_path / "out"), "--device", "cpu", *network]
        _process.run("iwrun", arguments + [word for s in settings for word in ("--set", s)], progress=False)
        images = random.random((1000, 3, side, side)).astype(np.float32)
        np.save(tmp_path / "images.npy", images.reshape(1000, -1))
        want = predicted(tmp_path / "out", tmp_path / "images.npy", tmp_path)
        return np.abs(iwda.Outcome(tmp_path / "out").model.predict_proba(images) - want).max()
