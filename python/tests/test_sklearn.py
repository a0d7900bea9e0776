"""iwda.Adapter as scikit-learn uses classifiers."""

import os
import subprocess
import sys

import numpy as np
import pandas
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

import iwda

from conftest import draw

QUICK = {"methods": ["source-only@linear"], "steps": 30, "settings": {"seeds": [1]}}

# Those of scikit-learn's own checks that an Adapter does not pass, and why.
EXPECTED_FAILURES = {}


def checks():
    """The checks of whatever version of scikit-learn there is."""
    adapter = iwda.Adapter(**QUICK)
    if "generate_only" in estimator_checks.check_estimator.__code__.co_varnames:
        return [check for _, check in estimator_checks.check_estimator(adapter, generate_only=True)]
    return [check for _, check in estimator_checks.estimator_checks_generator(adapter)]


def name_of(check):
    parts = [check.func.__name__, *(f"{key}={value}" for key, value in check.keywords.items())]
    return " ".join(parts)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("check", checks(), ids=name_of)
def test_checks_of_scikit_learn(check):
    if check.func.__name__ in EXPECTED_FAILURES:
        pytest.xfail(EXPECTED_FAILURES[check.func.__name__])
    check(iwda.Adapter(**QUICK))


def test_target_as_rows_and_by_domain(domains):
    rows, labels, target, hidden = domains
    adapter = iwda.Adapter(**QUICK).fit(rows, labels, X_target=target)
    assert adapter.score(target, hidden) == (adapter.outcome_.predictions == hidden).mean() > 0.8
    order = np.random.default_rng(1).permutation(len(rows) + len(target))
    both, domain = np.concatenate([rows, target])[order], np.repeat([1, -1], [len(rows), len(target)])[order]
    given = np.concatenate([labels, np.full(len(target), "?")])[order]  # of the target nothing is read
    again = iwda.Adapter(**QUICK).fit(both, given, sample_domain=domain)
    assert again.classes_.tolist() == ["cat", "dog", "owl"]
    assert again.outcome_.record["target"]["rows"] == len(target) and again.outcome_.record["source"]["rows"] == len(rows)
    assert again.score(target, hidden) == pytest.approx(adapter.score(target, hidden), abs=0.05)
    with pytest.raises(ValueError, match="give one of them"):
        adapter.fit(both, given, target, sample_domain=domain)
    with pytest.raises(ValueError, match="positive for the source"):
        adapter.fit(both, given, sample_domain=domain * (np.arange(len(domain)) > 0))


def test_without_a_target_the_source_is_its_own(domains):
    rows, labels, _, _ = domains
    adapter = iwda.Adapter(**QUICK).fit(rows, labels)
    assert adapter.outcome_.record["target"]["rows"] == len(rows)
    assert adapter.score(rows, labels) > 0.8


def test_frames(domains):
    rows, labels, target, _ = domains
    source, frame = pandas.DataFrame(rows).add_prefix("x"), pandas.DataFrame(target).add_prefix("x")
    adapter = iwda.Adapter(**QUICK).fit(source, labels, X_target=frame)
    assert adapter.feature_names_in_.tolist() == source.columns.tolist() and adapter.n_features_in_ == 8
    assert np.array_equal(adapter.predict(frame), adapter.predict(frame[source.columns[::-1]]))
    both = pandas.concat([source, frame])
    again = iwda.Adapter(**QUICK).fit(both, np.concatenate([labels, labels]), sample_domain=np.repeat([1, -1], 300))
    assert np.array_equal(adapter.predict_proba(frame), again.predict_proba(frame))
    with pytest.raises(ValueError, match="no column 'x7'"):
        adapter.predict(frame.drop(columns="x7"))


def test_indices(domains):
    """Rows keep theirs, and labels that have another one are refused."""
    rows, labels, target, hidden = domains
    index = np.random.default_rng(1).permutation(600)
    both, truth = pandas.DataFrame(np.concatenate([rows, target]), index=index).add_prefix("x"), pandas.Series(np.concatenate([labels, hidden]), index=index)
    domain = pandas.Series(np.repeat([1, -1], 300), index=index)
    adapter = iwda.Adapter(**QUICK).fit(both, truth, sample_domain=domain)
    assert adapter.outcome_.probabilities.index.tolist() == index[300:].tolist()
    assert adapter.score(both[300:], truth[300:]) == pytest.approx(adapter.outcome_.evaluate(truth[300:]).accuracy.value)
    with pytest.raises(ValueError, match="y and X have different indices"):
        adapter.score(both[300:], truth[300:].sort_index())
    with pytest.raises(ValueError, match="sample_domain and X have different indices"):
        adapter.fit(both, truth, sample_domain=domain.sort_index())


def test_pipelines_and_searches(domains):
    rows, labels, target, hidden = domains
    both, domain = np.concatenate([rows, target]), np.repeat([1, -1], [len(rows), len(target)])
    truth = np.concatenate([labels, hidden])
    pipeline = make_pipeline(StandardScaler(), iwda.Adapter(**QUICK))
    pipeline.fit(both, truth, adapter__sample_domain=domain)
    assert is_classifier(pipeline) and pipeline.score(target, hidden) > 0.8
    search = GridSearchCV(
        iwda.Adapter(**QUICK), {"settings": [{"seeds": [1]}, {"seeds": [1], "train.batch": 32}]},
        cv=StratifiedKFold(2, shuffle=True, random_state=1), error_score="raise",
    )  # fmt: skip
    search.fit(both, truth, sample_domain=domain)
    assert search.best_score_ > 0.8 and len(search.cv_results_["params"]) == 2
    assert search.predict(target).shape == hidden.shape


def test_parameters():
    adapter = iwda.Adapter(seed=3, settings={"train.validation": 0.3})
    assert repr(adapter) == "Adapter(seed=3, settings={'train.validation': 0.3})"
    assert clone(adapter).get_params() == adapter.get_params()
    with pytest.raises(ValueError, match="Valid parameters are: .*'steps'"):
        adapter.set_params(step=3)


def test_without_scikit_learn():
    script = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import iwda\n"
        "try: iwda.Adapter().predict([[1, 2]])\n"
        "except ValueError as why: assert 'not fitted' in str(why)\n"
        "else: raise SystemExit('no error')\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
