"""The tables that scikit-learn carries, but for that of Boston's houses, which it advises against."""
import numpy as np
import sklearn.datasets

from draws import Domain, Task, along, along_all, by_class, by_level, halves


def table(loaded):
    return {name.replace(" ", "_"): loaded.data[:, i].astype(np.float64) for i, name in enumerate(loaded.feature_names)}


def classes(loaded):
    return Domain(table(loaded), np.array([str(loaded.target_names[k]) for k in loaded.target]))


def cut(values, names):
    """Names by quantiles of values: low, middle, high."""
    return np.array(names)[np.searchsorted(np.quantile(values, np.arange(1, len(names)) / len(names)), values)]


def tasks(number, domain, plans):
    """Tasks of plans: name, then shares by class, or a column (its name, or its values) and a slope, or
    a list of columns' names and a slope, or the name of a column of words, or nothing."""
    for seed, (name, *plan) in enumerate(plans, 1):
        random = np.random.default_rng([number, seed])
        if not plan:
            group, rows = "none", halves(len(domain), random)
        elif isinstance(plan[0], tuple):
            group, rows = "label-shift", by_class(domain.labels, plan[0], random)
        elif len(plan) == 1:
            group, rows = "covariate", by_level(domain.values[plan[0]], random)
        elif isinstance(plan[0], list):
            group, rows = "covariate", along_all([domain.values[name] for name in plan[0]], random, plan[1])
        else:
            group, rows = "covariate", along(domain.values[plan[0]] if isinstance(plan[0], str) else plan[0], random, plan[1])
        yield Task(name, group, seed, *(domain.take(part) for part in rows))


def cancer():
    domain = classes(sklearn.datasets.load_breast_cancer())
    return tasks(21, domain, [("same",), ("shares", (0.8, 0.35)), ("radius", "mean_radius", 3), ("smoothness", "mean_smoothness", np.inf), ("texture", "mean_texture", np.inf)])


def plants():
    """Wines of three growers and irises of three species; the first without its last column, with which all is too easy."""
    wine, iris = (classes(loaded()) for loaded in (sklearn.datasets.load_wine, sklearn.datasets.load_iris))
    del wine.values["proline"]
    yield from tasks(22, wine, [("wine-shares", (0.35, 0.6, 0.8)), ("wine-ash", "alcalinity_of_ash", 3)])
    yield from tasks(23, iris, [("iris-shares", (0.8, 0.6, 0.3)), ("iris-width", "sepal_width_(cm)", np.inf)])


def diabetes():
    """Progress of a disease in three classes from ten measures of the patients."""
    loaded = sklearn.datasets.load_diabetes(scaled=False)
    domain = Domain(table(loaded), cut(loaded.target, ["slow", "middle", "fast"]))
    domain.values["sex"] = np.where(domain.values["sex"] > 1, "two", "one")
    return tasks(25, domain, [("shares", (0.8, 0.5, 0.3)), ("age", "age", np.inf), ("pressure", "bp", 4)])
