package calibration

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"iwda/internal/must"
)

// A row is named if it alone would decide the fit: by a logit that is huge, or far below all if it is
// its label's. Logits of any unit or offset, sure ones, and classes that are ruled out are none.
func TestFindFurthest(t *testing.T) {
	const n, at = 200, 7
	for _, k := range []int{2, 4} {
		clean, labels := randomLogits(rand.New(rand.NewPCG(5, 5)), n, k)
		own, other := labels[at], (labels[at]+1)%k
		for name, test := range map[string]struct {
			change func(logits []float64)
			class  int // -1: none is named
		}{
			"as they are":                     {func([]float64) {}, -1},
			"another class is huge":           {func(z []float64) { z[at*k+other] = 1e30 }, other},
			"the label is huge":               {func(z []float64) { z[at*k+own] = 1e20 }, own},
			"the label is far below":          {func(z []float64) { z[at*k+own] = -1e9 }, own},
			"another class is ruled out":      {func(z []float64) { z[at*k+other] = -1e9; z[at*k+own] = 5 }, -1},
			"wrong by a hundred":              {func(z []float64) { z[at*k+other] = 100 }, -1},
			"similarities":                    {func(z []float64) { scale(z, 1e-3) }, -1},
			"a large unit":                    {func(z []float64) { scale(z, 1e8) }, -1},
			"a large unit, one a hundredfold": {func(z []float64) { z[at*k+other] = 300; scale(z, 1e8) }, -1},
			"a large unit, one huge":          {func(z []float64) { scale(z, 1e8); z[at*k+other] = 1e20 }, other},
			"a large offset": {func(z []float64) {
				for i := range z {
					z[i] += 1e6
				}
			}, -1},
			"all alike": {func(z []float64) { clear(z) }, -1},
		} {
			logits := slices.Clone(clean)
			test.change(logits)
			far := FindFurthest(logits, labels, k)
			switch {
			case test.class < 0 && far == nil:
			case test.class < 0 || far == nil:
				t.Errorf("%d classes, %s: %+v", k, name, far)
			case far.Row != at || far.Class != test.class || far.Logit != logits[at*k+far.Class]:
				t.Errorf("%d classes, %s: %+v, want class %d of row %d", k, name, far, test.class, at)
			}
		}
	}
	if far := FindFurthest([]float32{1e30, 1, 0}, []int{0, 0, 0}, 1); far != nil {
		t.Errorf("of one class: %+v", far)
	}
}

func scale(values []float64, by float64) {
	for i := range values {
		values[i] *= by
	}
}

// A fit that fails, or falls back, because of a single row says which one.
func TestCalibrateNamesTheFurthestRow(t *testing.T) {
	logits, labels := randomLogits(rand.New(rand.NewPCG(15, 1)), 800, 4)
	logits[labels[0]] = 1e30
	must.Refuse(Calibrate("bcts-ridge", logits, labels, 4))(t, "; row 0 gives class 0 the logit 1e+30, 1e+30 away from the row's others, while in half")
	logits[labels[0]], logits[1] = 0, 1e6
	c, err := Calibrate("bcts-ridge", logits, labels, 4)
	if want := "row 0 gives class 1 the logit 1e+06"; err != nil || !strings.HasPrefix(c.Note, want) || strings.Count(c.Note, want) != 1 {
		t.Errorf("%q, %v", c.Note, err)
	}
}
