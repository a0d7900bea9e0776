package labels

import "iwda/inference/evaluation"

// Tally counts how many predictions are right where some rows have labels before any is drawn. The
// zero value is of no rows.
type Tally struct {
	all     evaluation.Moments
	stratum evaluation.Stratum
	right   int
}

// Add tells of the next row how sure its prediction is, whether it has a label, and whether the
// prediction is that.
func (t *Tally) Add(confidence float64, labelled, right bool) {
	t.all.Add(confidence)
	if !labelled {
		return
	}
	outcome := 0.0
	if right {
		outcome = 1
		t.right++
	}
	t.stratum.Right, t.stratum.Expected = append(t.stratum.Right, outcome), append(t.stratum.Expected, confidence)
}

// Accuracy is that of the predictions of all rows, as [Evaluate] would estimate it if the labelled
// rows, of which there are so many, were drawn at random; without any there is no estimate.
func (t *Tally) Accuracy() (labels int, a Accuracy) {
	a.Right = t.right
	if labels = len(t.stratum.Right); labels > 0 {
		t.stratum.Share = 1
		a.estimate(evaluation.Scores{Strata: []evaluation.Stratum{t.stratum}, All: t.all}, 1)
	}
	return labels, a
}
