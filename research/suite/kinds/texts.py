"""Texts as numbers: hashed n-grams weighted by rarity, and their leading principal directions."""
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline


def directions(source, target, columns=64, **hashing):
    """The texts of both domains in rows × columns each; no label enters."""
    counts = HashingVectorizer(n_features=2 ** 15, alternate_sign=False, norm=None, **hashing)
    reduced = make_pipeline(counts, TfidfTransformer(sublinear_tf=True), TruncatedSVD(columns, random_state=1))
    values = reduced.fit_transform([*source, *target]).astype(np.float32)
    return values[:len(source)], values[len(source):]
