"""python3 -m unittest -v test_suite (in this folder): the loss against golden values, where IWDA_GOLDEN names their folder, and what the baselines rest on."""
import os
import pathlib
import tempfile
import unittest

import numpy as np
import torch

import baselines
import draws
import mcc
import run
import tasks
import trust
from kinds import npm, r, society, units


class Loss(unittest.TestCase):
    @unittest.skipUnless("IWDA_GOLDEN" in os.environ, "IWDA_GOLDEN is not set")
    def test_golden(self):
        with np.load(os.path.join(os.environ["IWDA_GOLDEN"], "mcc.npz")) as golden:
            cases = [name for name in golden.files if name.endswith("/loss") and "/mcc-t" in name]
            self.assertTrue(cases)
            for case in cases:
                problem, loss, _ = case.split("/")
                logits = torch.tensor(golden[problem + "/logits"], requires_grad=True)
                value = mcc.class_confusion(logits, float(loss.removeprefix("mcc-t")))
                value.backward()
                self.assertAlmostEqual(value.item(), golden[case].item(), delta=1e-10, msg=case)
                np.testing.assert_allclose(logits.grad, golden[f"{problem}/{loss}/gradient"], atol=1e-10, err_msg=case)

    def test_certain_rows_are_not_confused(self):
        self.assertAlmostEqual(mcc.class_confusion(200 * torch.eye(3)).item(), 0, places=6)


class Baselines(unittest.TestCase):
    def test_shares_of_known_classes_are_found(self):
        random = np.random.default_rng(1)
        prior, shares = np.array([0.5, 0.5]), np.array([0.9, 0.1])
        x = np.where(random.random(20000) < shares[0], -1, 1) + random.normal(size=20000)
        p = 1 / (1 + np.exp(2 * x))
        found = baselines.corrected(np.stack([p, 1 - p], axis=1), prior).mean(axis=0)
        np.testing.assert_allclose(found, shares, atol=0.02)

    def test_missing_values_and_words(self):
        source = {"a": np.array(["1", "", "3"]), "b": np.array(["x", "y", "x"])}
        target = {"b": np.array(["z", "x"]), "a": np.array(["5", "6"])}
        x, z = baselines.encoded(source, target)
        np.testing.assert_array_equal(x, [[1, 0, 1, 0], [2, 1, 0, 1], [3, 0, 1, 0]])
        np.testing.assert_array_equal(z, [[5, 0, 0, 0], [6, 0, 1, 0]])


class Predictions(unittest.TestCase):
    def test_names_like_formulas(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "predictions.csv"
            path.write_text("id,predicted_class\n1,'-2 -110\n2,'n\n3,0 -95\n")
            self.assertEqual(list(tasks.predicted_classes(path)), ["-2 -110", "'n", "0 -95"])


class Draws(unittest.TestCase):
    def test_every_row_is_in_one_domain(self):
        random = np.random.default_rng(1)
        labels, column = random.integers(3, size=200), random.random(200)
        for parts in draws.halves(200, random), draws.by_class(labels, (0.8, 0.2), random), draws.along(column, random), draws.along(column, random, 3), draws.along_all([column, labels], random, 2), draws.by_level(labels.astype(str), random):
            np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(200))

    def test_rows_of_a_unit_stay_together(self):
        units = np.repeat(np.arange(40), 5)
        source, target = draws.by_units(units, np.where(units % 2 == 0, "a", "b"), (0.75, 0.25), np.random.default_rng(1))
        self.assertEqual((len(source), len(target), np.intersect1d(units[source], units[target]).size, (units[source] % 2 == 0).sum()), (100, 100, 0, 75))

    def test_no_unit_is_in_both_domains(self):
        owner = np.repeat(np.arange(60), np.arange(60) % 4 + 1)
        domain = draws.Domain({"owner": owner}, np.where(np.arange(len(owner)) % 5 == 0, "c", np.where(owner % 3 == 0, "a", "b")))
        shared = units.apart("shares", domain, owner, (0.8, 0.2), 1)
        for task in shared, units.by_chance(domain, owner, 1):
            self.assertEqual(len(task.source) + len(task.target), len(domain))
            self.assertFalse(np.intersect1d(task.source.values["owner"], task.target.values["owner"]).size)
        self.assertGreater(np.mean(shared.source.labels == "a"), 2 * np.mean(shared.target.labels == "a"))

    def test_rows_above_the_median_are_the_target(self):
        column = np.random.default_rng(1).random(201)
        source, target = draws.along(column, np.random.default_rng(2))
        self.assertLess(column[source].max(), column[target].min())

    def test_rows_are_selected_along_two_columns(self):
        random = np.random.default_rng(1)
        columns = random.random((2, 4000))
        source, target = draws.along_all(columns, random, 2)
        for column in columns:
            self.assertGreater(column[target].mean(), column[source].mean() + 0.1)

    def test_levels_are_drawn_with_odds_of_one_to_four_to_four_to_one(self):
        words = np.repeat(list("abc"), 100)
        source, target = draws.by_level(words, np.random.default_rng(1))
        self.assertEqual(sorted((words[source] == level).sum() for level in "abc"), [20, 50, 80])
        self.assertEqual(sorted((words[target] == level).sum() for level in "abc"), [20, 50, 80])


class Kinds(unittest.TestCase):
    def test_columns_of_rows_say_what_is_missing(self):
        found = npm.columns([{"US Gross": 3, "Source": None}, {"US Gross": None, "Source": "Remake"}, {"US Gross": "x", "Source": "Remake"}], ["US Gross"], ["Source"])
        np.testing.assert_array_equal(found["us_gross"], [3, np.nan, np.nan])
        self.assertEqual(list(found["source"]), ["", "Remake", "Remake"])

    def test_codes_become_words_that_are_no_numbers(self):
        found = r.as_words("sex", np.array([1.0, np.nan, 2.0]))
        self.assertEqual(list(found), ["sex 1", "", "sex 2"])
        self.assertFalse(baselines.are_numbers(found))

    def test_classes_are_drawn_evenly(self):
        domain = draws.Domain(np.arange(50.0)[:, None], np.repeat(["a", "b"], [40, 10]))
        found = society.evenly(domain, 8, 1)
        self.assertEqual([(found.labels == label).sum() for label in "ab"], [8, 8])
        self.assertTrue(all((found.values[:, 0] < 40) == (found.labels == "a")))


class Trust(unittest.TestCase):
    def test_summary(self):
        def one(predicted, interval, reliable="yes", against="", sets=None):
            case = {"if": trust.SHARES, "accuracy": dict(zip(("value", "low", "high"), interval)), "against": against}
            outcome = {"cases": [case, {"if": trust.ANYTHING, "accuracy": {"low": 0.4}}], "needs": [{"answer": "yes"}, {"answer": "yes"}], "headline": "x% should be right" + (", if only class shares differ" if not against else ""), "reliable": reliable}
            return trust.Said({"kind": "k", "name": "n", "group": "label-shift", "classes": 2}, outcome, np.array(predicted), np.array(["a"] * 6 + ["b"] * 4), sets)

        good = one(["a"] * 5 + ["b"] * 5, (0.85, 0.8, 0.95), sets=[{"a"}] * 8 + [{"a", "b"}] * 2)
        lost = one(["a"] * 10, (0.8, 0.7, 0.9))
        rejected = one(["b"] * 10, (0.8, 0.7, 0.9), "no", "more than the class shares changed (p = 0.01)")
        self.assertEqual((good.held, good.misleading, good.covered), (True, [], {"a": (6, 1.0), "b": (4, 0.5)}))
        self.assertEqual((lost.held, lost.better, lost.lost, len(lost.misleading)), (False, False, ["b"], 3))
        self.assertEqual((rejected.rejected, rejected.lost, rejected.misleading), (True, ["a"], []))
        said = list(trust.summary([good, lost, rejected]))
        self.assertIn("said in 3 of 3 tasks, and held in 1; in 2 nothing was said against it, and 1 of these held", said[0])
        self.assertIn("Misleading headlines: 1 of 3", said[-1])


class Scores(unittest.TestCase):
    def test_each_class_counts_alike_in_balanced_accuracy(self):
        truth = np.array(["a"] * 8 + ["b"] * 2)
        self.assertEqual((run.share(["a"] * 10, truth), run.balanced(["a"] * 10, truth)), (80, 50))


class Manifest(unittest.TestCase):
    def test_each_half_has_tables_gaps_and_none(self):
        lines = tasks.manifest()
        self.assertEqual({line["kind"]: line["half"] for line in lines}, {kind: half for kind, (_, half) in tasks.KINDS.items()})
        units = tasks.HALVES.index("ninth")  # it and those after it ask for tables that have units or none
        for i, half in enumerate(tasks.HALVES):
            mine = [line for line in lines if line["half"] == half]
            self.assertGreaterEqual(3 * sum(line["table"] for line in mine), len(mine))
            gaps = sum(line["group"] == "gap" for line in mine)
            if half != "redrawn" and i < units:  # that one is of label shift alone
                self.assertGreaterEqual(3 * min(gaps, len(mine) - gaps), len(mine))
        self.assertLessEqual(5 * sum(line["kind"] == "generated" for line in lines), len(lines))


if __name__ == "__main__":
    unittest.main()
