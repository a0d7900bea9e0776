package labels

import "iwda/inference/evaluation"

// Tally counts how many predictions are right where some rows have labels before any is drawn. The
// zero value is of no rows.
type Tally struct {
	scores evaluation.Scores
	right  int
}

// Add tells of the next row how sure its prediction is, whether it has a label, and whether the
// prediction is that.
func (t *Tally) Add(confidence float64, labelled, right bool) {
	t.scores.All.Add(confidence)
	if !labelled {
		return
	}
	outcome := 0.0
	if right {
		outcome = 1
		t.right++
	}
	t.scores.Right, t.scores.Expected = append(t.scores.Right, outcome), append(t.scores.Expected, confidence)
}

// Accuracy is that of the predictions of all rows, as [Evaluate] would estimate it if the labelled
// rows, of which there are so many, were drawn at random; without any there is no estimate.
func (t *Tally) Accuracy() (labels int, a Accuracy) {
	a.Right = t.right
	if labels = len(t.scores.Right); labels > 0 {
		a.estimate(t.scores, 1)
	}
	return labels, a
}
