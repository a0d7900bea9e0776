package selection_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"iwda/inference/selection"
	"iwda/internal/golden"
)

// candidates returns the inputs of a problem's candidates.
func candidates(t testing.TB, file golden.File, problem string) []selection.Input {
	get := func(key string) golden.Array { return file.Get(t, problem+"/"+key) }
	// of returns candidate m's matrix, or the one that all share.
	of := func(key string, m int) *mat.Dense {
		a := get(key)
		rows, columns := a.Shape[len(a.Shape)-2], a.Shape[len(a.Shape)-1]
		if len(a.Shape) == 2 {
			m = 0
		}
		if rows == 0 {
			return nil
		}
		return mat.NewDense(rows, columns, slices.Clone(a.Data[m*rows*columns:(m+1)*rows*columns]))
	}
	votes := get("ensv_predictions").Ints()
	inputs := make([]selection.Input, get("target_logits").Shape[0])
	for m := range inputs {
		inputs[m] = selection.Input{
			SourceLogits: of("source_logits", m), SourceLabels: get("source_labels").Ints(),
			TargetLogits: of("target_logits", m), Votes: votes,
			ClassWeights: get("class_weights").Data, TargetShares: get("target_label_distribution").Data,
		}
	}
	return inputs
}

// The keys of the golden file of every criterion.
var goldenKeys = map[string]string{
	"iwv-y": "iwcv_label_cross_entropy", "source-accuracy": "source_accuracy", "source-accuracy-macro": "source_accuracy_balanced",
	"prior-divergence": "prior_divergence", "ensv": "ensv", "entropy": "entropy", "im": "im", "bnm": "bnm", "mcc": "mcc_t2.5",
}

// withoutReference are the criteria that nobody else has.
var withoutReference = []string{"unexplained", selection.TargetRisk.Name}

// Every criterion gives the published implementation's value, and a finite value or an
// error that says what is missing where that one gives none.
func TestGolden(t *testing.T) {
	file := golden.Open(t, "selection")
	compared := map[string]int{}
	for _, problem := range file.Groups() {
		for m, input := range candidates(t, file, problem) {
			for _, criterion := range selection.All() {
				if slices.Contains(withoutReference, criterion.Name) {
					continue
				}
				name := fmt.Sprintf("%s/%d/%s", problem, m, criterion.Name)
				got, err := criterion.Value(input)
				reference, ok := file[problem+"/"+goldenKeys[criterion.Name]]
				want := math.NaN()
				if ok {
					want = reference.Data[m]
				}
				if math.IsNaN(want) {
					if err == nil && math.IsNaN(got) || err != nil && !errors.Is(err, selection.ErrMissing) {
						t.Errorf("%s: %v, %v, where the reference has no value", name, got, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v, want %v", name, err, want)
				} else if math.Abs(got-want) > 1e-8*max(1, math.Abs(want)) {
					t.Errorf("%s: %.12f, want %.12f", name, got, want)
				}
				compared[criterion.Name]++
			}
		}
	}
	for _, name := range selection.Names() {
		if compared[name] < 16 && !slices.Contains(withoutReference, name) {
			t.Errorf("%s: compared with %d values only", name, compared[name])
		}
	}
}

// The ensemble's vote is the reference's.
func TestVote(t *testing.T) {
	file := golden.Open(t, "selection")
	for _, problem := range file.Groups() {
		var logits []*mat.Dense
		inputs := candidates(t, file, problem)
		for _, input := range inputs {
			logits = append(logits, input.TargetLogits)
		}
		if got, err := selection.Vote(logits); err != nil || !slices.Equal(got, inputs[0].Votes) {
			t.Errorf("%s: votes %v, %v, want %v", problem, got, err, inputs[0].Votes)
		}
	}
}
