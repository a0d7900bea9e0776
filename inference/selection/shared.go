package selection

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// priorDivergence is KL(p̄ ‖ q), p̄ the mean prediction on the target, q its estimated
// class shares, floored at 1e-12.
var priorDivergence = Criterion{
	Name: "prior-divergence", Cost: "n·k",
	About: "KL divergence of the predicted class shares from the estimated ones",
	Fails: "if it is used alone: it only guards against candidates with implausible class shares",
	needs: []need{targetRows, targetShares},
	value: func(in Input) (float64, error) {
		const floor = 1e-12
		divergence := 0.0
		for class, p := range columnMeans(softmax(in.TargetLogits, 1)) {
			if p > 0 {
				divergence += p * math.Log(p/max(in.TargetShares[class], floor))
			}
		}
		return divergence, nil
	},
}

// ensembleAgreement is EnsV: the share of target rows on which the candidate predicts what
// the ensemble of all candidates does.
var ensembleAgreement = Criterion{
	Name: "ensv", Higher: true, Cost: "n·k per candidate",
	About: "the share of target rows on which the candidate agrees with all candidates together (EnsV)",
	Fails: "if most candidates make the same mistakes",
	needs: []need{targetRows, ensembleVotes},
	value: func(in Input) (float64, error) { return agreement(in.TargetLogits, in.Votes), nil },
}

// Vote returns the class of the largest mean probability of each target row over the
// candidates, whose logits (n×k) are all of the same rows. Different shapes, or no
// candidate, are an error.
func Vote(logits []*mat.Dense) ([]int, error) {
	if len(logits) == 0 {
		return nil, fmt.Errorf("selection: a vote without candidates")
	}
	var sum mat.Dense
	sum.CloneFrom(softmax(logits[0], 1))
	n, k := sum.Dims()
	for i, z := range logits[1:] {
		if rows, columns := z.Dims(); rows != n || columns != k {
			return nil, fmt.Errorf("selection: candidate %d has %d×%d logits, the first one %d×%d", i+1, rows, columns, n, k)
		}
		sum.Add(&sum, softmax(z, 1))
	}
	return predictions(&sum), nil
}

// Predicted returns the mean probabilities of the classes over rows of logits (n×k), and the
// mean of each row's largest probability.
func Predicted(logits *mat.Dense) (shares []float64, certainty float64) {
	p := softmax(logits, 1)
	rows, _ := p.Dims()
	for i := range rows {
		certainty += floats.Max(p.RawRowView(i)) / float64(rows)
	}
	return columnMeans(p), certainty
}
