"""Writes the files of this folder that NumPy makes: python3 make-numpy.py (NumPy 1.24)."""

import os

import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
# Four rows of three values that float16 holds exactly, its smallest number among them.
values = np.array([[0, 1, -2.5], [0.125, 2**-24, 65504], [3, 4, 5], [-6, 7, 0.0999755859375]])
labels = np.array(["dog", "cat", "", "dog"])
ids = np.array(["a", "é", "c", "d"])

np.savez("half.npz", features=values.astype(np.float16), labels=labels, ids=ids)
np.savez_compressed("single-compressed.npz", features=values.astype(np.float32), labels=labels, ids=ids)
np.savez("double.npz", features=values, labels=np.array([1, 0, -1, 1]), ids=np.array([7, 8, 9, 10]), class_names=np.array(["cat", "dog"]))
np.savez("probabilities.npz", probabilities=np.array([[0.25, 0.75], [1, 0]], np.float32), labels=np.array([1, 0], np.uint8))
np.save("fortran.npy", np.asfortranarray(values))
np.savez_compressed("frame.npz", features=np.asfortranarray(values), labels=labels[:, None], ids=ids[:, None])  # as a data frame's
np.save("big.npy", values.astype(">f4"))
np.savez("objects.npz", features=values, labels=np.array(["dog", None, "cat", 3], dtype=object))
