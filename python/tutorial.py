# A table of customers of last year, whose class is known, and of this year, when it is not.
import numpy as np
import pandas as pd

import iwda

random = np.random.default_rng(7)
kinds = np.array(["casual", "regular", "loyal"])


def customers(count, shares):
    kind = random.choice(3, count, p=shares)
    frame = pd.DataFrame({
        "visits": random.poisson([2, 6, 14], (count, 3))[np.arange(count), kind],
        "spent": random.gamma(3, [8, 15, 25], (count, 3))[np.arange(count), kind].round(2),
        "channel": np.where(random.random(count) < 0.3 + 0.2 * kind, "app", "web"),
    })
    frame.loc[random.random(count) < 0.05, "spent"] = np.nan  # some values are missing
    return frame, kinds[kind]


last_year, labels = customers(1000, [0.6, 0.3, 0.1])
this_year, hidden = customers(800, [0.2, 0.3, 0.5])  # hidden is what nobody knows yet

outcome = iwda.adapt(last_year, labels, this_year)
print(outcome)  # what is known, and the classes' shares with intervals
print(outcome.probabilities.head(3).round(3))

drawn = outcome.to_label  # fifty rows, drawn at random, for somebody to look at
drawn["label"] = hidden[drawn["id"]]
print(outcome.evaluate(drawn).accuracy)

next_month, truth = customers(200, [0.2, 0.3, 0.5])
print((outcome.model.predict(next_month) == truth).mean())
