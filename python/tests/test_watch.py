"""iwda.watch."""

import numpy as np
import pytest

import iwda


def draw(seed, sick, rows=1000):
    random = np.random.default_rng(seed)
    labels = (random.random(rows) < sick).astype(int)
    p = 1 / (1 + np.exp(-2 * (2 * labels - 1) - 1.5 * random.normal(size=rows)))
    return np.column_stack([1 - p, p]), np.array(["well", "sick"])[labels]


def test_watch(tmp_path):
    source, labels = draw(1, 0.3, 3000)
    state, names = tmp_path / "state", ["well", "sick"]
    for night in range(8):
        seen = iwda.watch(source, labels, draw(2 + night, 0.3 if night < 4 else 0.7)[0], state, batch=f"night {night}", classes=names, alarms=["share(sick) > 0.45"])
        assert seen.shares["low"].iloc[1] < (0.3 if night < 4 else 0.7) + 0.05
        assert not (seen.sounds and night < 4)
    assert seen.sounds and seen.alarms[0]["alarm"] == "share(sick) > 0.45" and "ALARM" in repr(seen)
    bits = state.read_bytes()
    again = iwda.watch(source, labels, draw(9, 0.7)[0], state, batch="night 7", classes=names)
    assert again.record == seen.record and state.read_bytes() == bits
    with pytest.raises(ValueError, match="was counted with other rows"):
        iwda.watch(source, labels, draw(99, 0.7)[0], state, batch="night 7", classes=names)
    with pytest.raises(ValueError, match="has the alarms"):
        iwda.watch(source, labels, draw(98, 0.7)[0], state, batch="night 8", classes=names, alarms=["accuracy < 0.5"])
