package selection_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"iwda/inference/selection"
	"iwda/internal/golden"
	"iwda/internal/must"
)

// Every criterion has a name of its own, and says what it costs and how it fails.
func TestEveryCriterionIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range selection.All() {
		if c.Name == "" || c.Cost == "" || c.Fails == "" || seen[c.Name] {
			t.Errorf("%+v: a name twice, or a part that is missing", c)
		}
		seen[c.Name] = true
		if found, err := selection.Find(c.Name); err != nil || found.Name != c.Name {
			t.Errorf("%s is not found: %v", c.Name, err)
		}
		_, err := c.Value(selection.Input{})
		if !errors.Is(err, selection.ErrMissing) || !strings.Contains(err.Error(), c.Name) {
			t.Errorf("%s of nothing: %v", c.Name, err)
		}
	}
	must.Refuse(selection.Find("accuracy"))(t, "iwv-y")
}

func TestBest(t *testing.T) {
	higher, lower := selection.Criterion{Higher: true}, selection.Criterion{}
	nan := math.NaN()
	for _, c := range []struct {
		values        []float64
		higher, lower int
	}{
		{[]float64{2, 1, 3, 3, 1}, 2, 1},
		{[]float64{nan, 1, nan, 2}, 3, 1},
		{[]float64{nan}, -1, -1},
		{nil, -1, -1},
	} {
		if h, l := higher.Best(c.values), lower.Best(c.values); h != c.higher || l != c.lower {
			t.Errorf("%v: best %d and %d, want %d and %d", c.values, h, l, c.higher, c.lower)
		}
	}
}

// No criterion depends on the order of the rows.
func TestOrderOfRows(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	input := candidates(t, golden.Open(t, "selection"), "k10d8")[0]
	shuffled := input
	ofSource, ofTarget := random.Perm(len(input.SourceLabels)), random.Perm(len(input.Votes))
	shuffled.SourceLogits, shuffled.SourceLabels = permuted(input.SourceLogits, ofSource), picked(input.SourceLabels, ofSource)
	shuffled.TargetLogits, shuffled.Votes = permuted(input.TargetLogits, ofTarget), picked(input.Votes, ofTarget)
	for _, c := range selection.All() {
		want, err := c.Value(input)
		got, also := c.Value(shuffled)
		if err != nil || also != nil || math.Abs(got-want) > 1e-10*max(1, math.Abs(want)) {
			t.Errorf("%s: %v, %v in another order, want %v, %v", c.Name, got, also, want, err)
		}
	}
}

func permuted(m *mat.Dense, order []int) *mat.Dense {
	rows, columns := m.Dims()
	p := mat.NewDense(rows, columns, nil)
	for i, row := range order {
		p.SetRow(i, m.RawRowView(row))
	}
	return p
}

func picked[T any](values []T, order []int) []T {
	p := make([]T, len(values))
	for i, row := range order {
		p[i] = values[row]
	}
	return p
}

// The class-weighted risk of a source under the right weights is the target's risk: both
// are drawn from the same classes, in other shares.
func TestClassWeightedRiskEstimatesTheTargets(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const n, k = 40000, 3
	source, target := []float64{0.6, 0.3, 0.1}, []float64{0.1, 0.2, 0.7}
	draw := func(shares []float64) (*mat.Dense, []int) {
		logits, labels := mat.NewDense(n, k, nil), make([]int, n)
		for i := range labels {
			for u := random.Float64(); u > shares[labels[i]]; labels[i]++ {
				u -= shares[labels[i]]
			}
			for j := range k {
				logits.Set(i, j, random.NormFloat64())
			}
			logits.Set(i, labels[i], logits.At(i, labels[i])+float64(1+labels[i])/2)
		}
		return logits, labels
	}
	weights := make([]float64, k)
	for c := range weights {
		weights[c] = target[c] / source[c]
	}
	ofSource, labels := draw(source)
	estimate := must.Have(selection.ClassWeightedRisk.Value(selection.Input{SourceLogits: ofSource, SourceLabels: labels, ClassWeights: weights}))(t)
	ofTarget, truth := draw(target)
	risk, err := selection.ClassWeightedRisk.Value(selection.Input{SourceLogits: ofTarget, SourceLabels: truth, ClassWeights: []float64{1, 1, 1}})
	if err != nil || math.Abs(estimate-risk) > 0.03 {
		t.Errorf("estimated %v, the target's %v, %v", estimate, risk, err)
	}
	unweighted, _ := selection.ClassWeightedRisk.Value(selection.Input{SourceLogits: ofSource, SourceLabels: labels, ClassWeights: []float64{1, 1, 1}})
	if math.Abs(unweighted-risk) < 0.1 {
		t.Errorf("without weights %v is as near to %v", unweighted, risk)
	}
}

// A network that says NaN is an error that says where. Parts of other sizes are a mistake in the
// program.
func TestWrongInput(t *testing.T) {
	logits := func(values ...float64) *mat.Dense { return mat.NewDense(len(values)/2, 2, values) }
	for _, criterion := range selection.All() {
		_, err := criterion.Value(selection.Input{TargetLogits: logits(0, 1, 2, math.NaN())})
		if err == nil || !strings.Contains(err.Error(), "TargetLogits: row 1, column 1 is NaN") {
			t.Errorf("a NaN: %s: %v", criterion.Name, err)
		}
	}
	for name, input := range map[string]selection.Input{
		"too few labels":       {SourceLogits: logits(0, 1, 2, 3), SourceLabels: []int{0}},
		"weights of another k": {TargetLogits: logits(0, 1), ClassWeights: []float64{1}},
		"votes of other rows":  {TargetLogits: logits(0, 1), Votes: []int{0, 1}},
		"logits of another k":  {SourceLogits: mat.NewDense(1, 3, nil), SourceLabels: []int{0}, TargetLogits: logits(0, 1)},
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.HasPrefix(said, "selection: the parts do not fit ") {
					t.Errorf("%s: %q", name, said)
				}
			}()
			selection.ClassWeightedRisk.Value(input)
		}()
	}
}

// A network that has collapsed gives classes probabilities that next to vanish, which the nuclear
// norm takes for nothing.
func TestVanishingProbabilities(t *testing.T) {
	for _, least := range []float64{-60, -90, -120, -150, -200, -300, -360, -500, -700} {
		logits := mat.NewDense(40, 10, nil)
		for i := range 40 {
			for j := 1; j < 10; j++ {
				logits.Set(i, j, least-float64((7*i+3*j)%11))
			}
		}
		norm := must.Have(selection.Find("bnm"))(t)
		got, err := norm.Value(selection.Input{TargetLogits: logits})
		if want := math.Sqrt(40) / 40; err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("logits of %v: %v, want %v; %v", least, got, want, err)
		}
	}
}
