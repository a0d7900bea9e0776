package selection_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"iwda/inference/selection"
	"iwda/internal/must"
)

// line is a label-shift problem on a line: three classes two apart, of which the first is
// frequent in the source and rare in the target.
var line = struct{ source, target, centres []float64 }{
	source: []float64{0.7, 0.2, 0.1}, target: []float64{0.1, 0.3, 0.6}, centres: []float64{0, 2, 4},
}

// onLine draws places of those class shares, and their classes.
func onLine(random *rand.Rand, shares []float64, n int) (x []float64, classes []int) {
	for range n {
		u, class := random.Float64(), 0
		for u > shares[class] && class < len(shares)-1 {
			u -= shares[class]
			class++
		}
		x, classes = append(x, line.centres[class]+random.NormFloat64()), append(classes, class)
	}
	return x, classes
}

// knowing returns the logits of places by a classifier that knows the source, times a
// factor.
func knowing(x []float64, sharpness float64) *mat.Dense {
	logits := mat.NewDense(len(x), len(line.source), nil)
	for i, v := range x {
		for class, share := range line.source {
			d := v - line.centres[class]
			logits.Set(i, class, sharpness*(math.Log(share)-d*d/2))
		}
	}
	return logits
}

// Other class shares alone leave nothing unexplained but what few rows leave open; classes
// that a part of the target's rows has left do, by about that part.
func TestUnexplained(t *testing.T) {
	criterion := must.Have(selection.Find("unexplained"))(t)
	random := rand.New(rand.NewPCG(8, 9))
	heldOut, labels := onLine(random, line.source, 20000)
	for _, part := range []float64{0, 0.2, 0.4} {
		target, _ := onLine(random, line.target, 20000)
		for i := range target {
			if random.Float64() < part {
				target[i] = 1.05 // between two classes, where a tenth as many are
			}
		}
		got, err := criterion.Value(selection.Input{SourceLogits: knowing(heldOut, 1), SourceLabels: labels, TargetLogits: knowing(target, 1)})
		if err != nil || got < 0.5*part || got > part+0.02 {
			t.Errorf("%v of the rows elsewhere: %v unexplained, %v", part, got, err)
		}
	}
	// No row of a class, and no prediction of another.
	few := selection.Input{
		SourceLogits: mat.NewDense(2, 3, []float64{9, 1, -9, 2, 8, -9}), SourceLabels: []int{0, 1},
		TargetLogits: mat.NewDense(1, 3, []float64{3, 7, -9}),
	}
	if got, err := criterion.Value(few); err != nil || got < 0 || got > 1 {
		t.Errorf("%v, %v", got, err)
	}
}
