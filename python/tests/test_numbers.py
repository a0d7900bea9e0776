"""Numbers as people write them."""

import numpy as np
import pytest
from iwda import _numbers

import iwda

pandas = pytest.importorskip("pandas")


@pytest.mark.parametrize(
    "text, decimal, unit, value",
    [
        ("<0.5", "", "", 0.5), ("≥ 12", "", "", 12), ("(12.5)", "", "", -12.5), ("−4", "", "", -4), ("12 345 678", "", "", 12345678), ("1'000.5", "", "", 1000.5),
        ("1,234.5", ".", "", 1234.5), ("1.234,5", ",", "", 1234.5), ("1,5", ",", "", 1.5), ("<1,5", ",", "", 1.5), ("1,234", ".", "", None), ("13:30", "", "", 13.5), ("1:30 pm", "", "", 13.5),
        ("2:59:11", "", "", 2 + 3551 / 3600), ("-5:14", "", "", -5 - 14 / 60), ("−0:7:12", "", "", -0.12),
        ("100:30:00", "", "", 100.5), ("+1:00", "", "", 1), ("25:70", "", "", None), ("4:3", "", "", None), ("90:15", "", "", None), ("-1:75", "", "", None), ("1:20:61", "", "", None),
        ("5,4", ".", "", None), ("7,283,465", ".", "", 7283465), ("true", "", "", 1), ("1_1", "", "", None), ("45.3%", "", "%", 45.3), ("45.3", "", "%", None), ("-$1,200.00", "", "$", -1200), ("($1.50)", "", "$", -1.5),
        ("$32,111", "", "$", 32111), ("€ 6,50", ",", "€", 6.5), ("€ 1.234,50", ",", "€", 1234.5), ("5 kg", "", "kg", 5), ("5 lb", "", "kg", None), ("x", "", "", None), ("2020-01-05", "", "", 18266),
    ],
)  # fmt: skip
def test_forms_of_numbers(text, decimal, unit, value):
    assert _numbers.read(text, decimal, unit) == value


def test_thousands_beside_fractions():
    assert _numbers.without_groups(["1,234", "1.5", "5,4"], ".") == ["1234", "1.5", "5,4"]
    for texts, decimal in ((["1,234", "15"], "."), (["1,234", "1.5"], ""), (["1,234", "1,5"], ",")):
        assert _numbers.without_groups(texts, decimal) == texts


def test_a_model_reads_what_the_program_reads(tmp_path):
    """Units, bounds, times and a text for what is missing, in training and where the model is used, here and in the program."""
    draw = np.random.default_rng(0)
    label = draw.random(400) < 0.5
    level = np.exp(draw.normal(size=400) + label)
    frame = pandas.DataFrame(
        {
            "crp": ["<0.5" if x < 0.5 else f"{x:.2f}" for x in level],
            "income": [f"${20000 + 4000 * x:,.2f}" for x in draw.normal(size=400) + label],
            "at": [f"{h:02d}:{m:02d}" for h, m in zip(draw.integers(0, 24, 400), draw.integers(0, 60, 400))],
            "dose": ["not given" if draw.random() < 0.3 else f"{x:.1f} mg" for x in 5 + draw.normal(size=400) + label],
        }
    )
    outcome = iwda.adapt(frame[:300], label[:300], frame[300:], folder=tmp_path / "out", seeds=[1])
    assert (outcome.predictions == label[300:]).mean() > 0.65
    model = iwda.load(tmp_path / "out")
    np.testing.assert_allclose(model.predict_proba(frame[300:]), outcome.probabilities, atol=1e-5)
    with pytest.raises(ValueError, match="'5.0' is not a number with 'mg'"):
        model.predict(frame[300:].assign(dose="5.0"))
