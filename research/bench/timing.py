"""What the peers share: how they time, and how they say what they measured."""
import json
import time


def report(work, iterations, operations=1, **checks):
    """Prints the mean milliseconds of work(i), divided by its operations, as JSON.

    The checks are numbers that the other side computes too and that must agree.
    """
    for i in range(max(1, iterations // 10)):
        work(i)
    start = time.perf_counter()
    for i in range(iterations):
        work(i)
    print(json.dumps({"ms": (time.perf_counter() - start) / iterations * 1e3 / operations, **checks}))
