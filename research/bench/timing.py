"""What the peers share: how they time, and how they say what they measured."""
import json
import time


def report(work, iterations, operations=1, **checks):
    """Prints the median milliseconds of work(i), divided by its operations, as JSON.

    The checks are numbers that the other side computes too and that must agree.
    """
    for i in range(max(1, iterations // 10)):
        work(i)
    times = []
    for i in range(iterations):
        start = time.perf_counter()
        work(i)
        times.append(time.perf_counter() - start)
    print(json.dumps({"ms": sorted(times)[len(times) // 2] * 1e3 / operations, **checks}))
