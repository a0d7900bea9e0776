"""Texts as numbers: hashed n-grams weighted by rarity, and their leading principal directions."""
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

from draws import Domain


def directions(source, target, columns=64, **hashing):
    """Both domains, of texts, as rows × columns; no label enters."""
    counts = HashingVectorizer(n_features=2 ** 15, alternate_sign=False, norm=None, **hashing)
    reduced = make_pipeline(counts, TfidfTransformer(sublinear_tf=True), TruncatedSVD(columns, random_state=1))
    values = reduced.fit_transform([*source.values, *target.values]).astype(np.float32)
    return Domain(values[:len(source)], source.labels), Domain(values[len(source):], target.labels)
