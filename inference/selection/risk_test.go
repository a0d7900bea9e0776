package selection_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/inference/selection"
	"iwda/internal/must"
)

// shifted returns rows of the problem on a line by a classifier that knows the source.
func shifted(sharpness float64) selection.Input {
	random := rand.New(rand.NewPCG(1, 2))
	heldOut, labels := onLine(random, line.source, 3000)
	target, _ := onLine(random, line.target, 5000)
	return selection.Input{SourceLogits: knowing(heldOut, sharpness), SourceLabels: labels, TargetLogits: knowing(target, sharpness)}
}

// The class-weighted risk by shares is their sum over the mean losses of the classes.
func TestClassWeightedRisk(t *testing.T) {
	in := shifted(1)
	q, counts, losses := []float64{0.2, 0.5, 0.3}, make([]float64, 3), make([]float64, 3)
	for i, label := range in.SourceLabels {
		row := in.SourceLogits.RawRowView(i)
		counts[label]++
		losses[label] += floats.LogSumExp(row) - row[label]
	}
	in.ClassWeights = make([]float64, len(q))
	want := 0.0
	for class, share := range q {
		in.ClassWeights[class] = share / counts[class] * float64(len(in.SourceLabels))
		want += share * losses[class] / counts[class]
	}
	if got, err := selection.ClassWeightedRisk.Value(in); err != nil || math.Abs(got-want) > 1e-12 {
		t.Errorf("risk %v, want %v, %v", got, want, err)
	}
}

// The target-risk is the class-weighted risk plus what class shares leave unexplained.
func TestTargetRisk(t *testing.T) {
	in := shifted(1)
	in.ClassWeights = []float64{0.5, 1, 2}
	unexplained := must.Have(selection.Find("unexplained"))(t)
	want := 0.0
	for _, part := range []selection.Criterion{selection.ClassWeightedRisk, unexplained} {
		value := must.Have(part.Value(in))(t)
		want += value
	}
	if got, err := selection.TargetRisk.Value(in); err != nil || got != want || selection.TargetRisk.Higher {
		t.Errorf("target-risk %v, want %v, %v", got, want, err)
	}
}
