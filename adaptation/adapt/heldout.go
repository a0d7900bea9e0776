package adapt

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/adaptation/judge"
	"iwda/experiments/model"
)

// heldOutRows count the source's rows by their true class and the one that a network predicts which was not trained on
// them, over all networks that predict.
type heldOutRows [][]int

// HeldOutOutcome is how the networks that predict, each by itself, do on the source's rows that were
// held out from it.
type HeldOutOutcome struct {
	Networks int     `json:"networks"`
	Rows     int     `json:"rows"` // of all networks together
	Accuracy float64 `json:"accuracy"`
}

// lookAtHeldOut returns what the candidates of the chosen runs say.
func lookAtHeldOut(choice judge.Choice, models []model.Metadata, candidates []judge.Candidate) (heldOutRows, error) {
	k := candidates[0].Classes
	h := make(heldOutRows, k)
	for class := range h {
		h[class] = make([]int, k)
	}
	for _, i := range choice.Predicting() {
		calibrated, err := models[i].Probabilities(candidates[i].HeldOut, nil)
		if err != nil {
			return nil, err
		}
		for row, p := range slices.Collect(slices.Chunk(calibrated, k)) {
			h[candidates[i].HeldOutLabels[row]][floats.MaxIdx(p)]++
		}
	}
	return h, nil
}

// outcome is what is recorded of it.
func (h heldOutRows) outcome(networks int) HeldOutOutcome {
	all, right := HeldOutOutcome{Networks: networks}, 0
	for class, row := range h {
		right += row[class]
		for _, n := range row {
			all.Rows += n
		}
	}
	all.Accuracy = float64(right) / float64(all.Rows)
	return all
}
