"""Generated classes in 64 dimensions, of bench/shifts.py."""
import os
import sys

import numpy as np

from draws import Domain, Task

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import shifts  # noqa: E402


def generated():
    for seed, (kind, among, group) in enumerate([("gauss", "target", "label-shift"), ("turned", "reversed", "gap"), ("moved", "alike", "gap"), ("tails", "reversed", "label-shift")], 1):
        domains = shifts.Domains(kind, 10, np.random.default_rng([7, seed]))
        drawn = [domains.draw(shifts.shares(shares, 10), 1500, i == 1) for i, shares in enumerate(shifts.SHARES[among])]
        yield Task(f"{kind}-{among}", group, seed, *(Domain(x, y.astype(str)) for x, y in drawn))
