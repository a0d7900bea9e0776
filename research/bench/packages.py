"""Writes features of the descriptions of Debian's packages: text whose classes shift by themselves.

usage: packages.py OLD NEW ROWS SEED OUT
OLD and NEW are folders, one of each of two releases, with the files that their mirrors have of
the section main: Packages.xz (binary-amd64) and Translation-en.xz (i18n). The classes are the
sections, but for the packages of documentation, of which OLD has the most packages, 29 of them.
The source are ROWS packages of OLD, drawn with SEED; the target are those of NEW that OLD does
not have. The features are the 256 leading principal directions of the words of the long
descriptions of both together, weighted by how rare they are; no label enters them.
OUT gets source.npz with labels, target.npz without and target-labelled.npz to measure. What is
made of them is in research/comparisons/normalisation.md.
"""
import collections
import lzma
import pathlib
import re
import sys

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import backbone

CLASSES, COMPONENTS, WORDS, RAREST = 29, 256, 30000, 5
WORD = re.compile(r"[a-z][a-z+#.]+[a-z+#]")


def stanzas(folder, name):
    """The stanzas of a file, as text."""
    return lzma.open(pathlib.Path(folder, name), "rt", encoding="utf-8").read().split("\n\n")


def release(folder):
    """The section and the words of each package."""
    sections = {}
    for stanza in stanzas(folder, "Packages.xz"):
        found = dict(re.findall(r"^(Package|Section): (\S+)", stanza, re.MULTILINE))
        if len(found) == 2:
            sections[found["Package"]] = found["Section"]
    packages = {}
    for stanza in stanzas(folder, "Translation-en.xz"):
        name = re.match(r"Package: (\S+)", stanza)
        if name and name[1] in sections:
            text = stanza.split("Description-en: ", 1)[-1]
            packages[name[1]] = sections[name[1]], WORD.findall(text.lower())
    return packages


def components(documents):
    """n × COMPONENTS leading principal directions of words weighted by rarity, rows of length 1 before."""
    frequency = collections.Counter(word for words in documents for word in set(words))
    columns = {word: i for i, (word, n) in enumerate(frequency.most_common(WORDS)) if n >= RAREST}
    rows, at, values = [], [], []
    for i, words in enumerate(documents):
        for word, n in collections.Counter(words).items():
            if word in columns:
                rows.append(i)
                at.append(columns[word])
                values.append((1 + np.log(n)) * np.log(len(documents) / frequency[word]))
    matrix = scipy.sparse.csr_matrix((values, (rows, at)), (len(documents), len(columns)))
    lengths = np.sqrt(matrix.multiply(matrix).sum(axis=1).A1)
    matrix = scipy.sparse.diags(1 / np.maximum(lengths, 1e-9)) @ matrix
    left, scales, _ = scipy.sparse.linalg.svds(matrix, k=COMPONENTS, random_state=0)
    return (left * scales).astype(np.float32)


def main(old, new, rows, seed, out):
    old, new = release(old), release(new)
    counts = collections.Counter(section for section, _ in old.values())
    del counts["doc"]
    classes = {section: i for i, (section, _) in enumerate(counts.most_common(CLASSES))}
    source = [p for p in old.values() if p[0] in classes]
    target = [p for name, p in new.items() if name not in old and p[0] in classes]
    features = components([words for _, words in source + target])
    labels = np.array([classes[section] for section, _ in source + target])
    n = len(source)
    drawn = np.random.default_rng(int(seed)).permutation(n)[: int(rows)]
    backbone.write(out, (features[drawn], labels[drawn]), (features[n:], labels[n:]))


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
