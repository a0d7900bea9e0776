package evaluation

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/golden"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// moments are those of some values.
func moments(values []float64) (m Moments) {
	for _, v := range values {
		m.Add(v)
	}
	return m
}

// Estimate and interval are those of the published implementation, whose variances divide by the
// number of rows.
func TestGolden(t *testing.T) {
	file := golden.Open(t, "ppi")
	z := distuv.UnitNormal.Quantile(0.975)
	for _, name := range file.Groups() {
		get := func(key string) []float64 { return file.Get(t, name+"/"+key).Data }
		correct := get("correct")
		all := moments(get("unlabelled"))
		got := Powered(correct, get("confidence"), all)
		n := float64(len(correct))
		if got.Lambda < 0 || got.Lambda > 1 {
			t.Errorf("%s: λ is %v", name, got.Lambda)
		}
		near(t, name, got.Value, get("tuned/estimate")[0], 1e-9)
		half := z * math.Sqrt(got.Expected+got.Labelled*(n-1)/n)
		for i, end := range get("tuned/interval") {
			near(t, name+": interval", got.Value+half*[]float64{-1, 1}[i], end, 1e-9)
		}
		// λ is 0 or 1 where the other estimates say so.
		for kind, lambda := range map[string]float64{"classical": 0, "full": 1} {
			if got.Lambda == lambda {
				near(t, name+": "+kind, got.Value, get(kind + "/estimate")[0], 1e-9)
			}
		}
	}
}

// Of rows that all have labels the accuracy is known, however they were drawn.
func TestAllLabelled(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, share := range []float64{0.5, 0.97} {
		var strata []Stratum
		var all Moments
		right := 0.0
		for range 2 {
			s := Stratum{Share: 0.5}
			for range 40 {
				outcome, f := 0.0, random.Float64()
				if random.Float64() < share {
					outcome = 1
				}
				right += outcome
				all.Add(f)
				s.Right, s.Expected = append(s.Right, outcome), append(s.Expected, f)
			}
			strata = append(strata, s)
		}
		got, _ := Accuracy(strata, all)
		near(t, "accuracy", got.Value, right/80, 1e-12)
		near(t, "low", got.Low, right/80, 1e-12)
		near(t, "high", got.High, right/80, 1e-12)
	}
}

// Few mistakes have Wilson's interval; the numbers are those of R's prop.test(correct = FALSE).
func TestFewMistakes(t *testing.T) {
	outcomes, expected := make([]float64, 50), make([]float64, 50)
	for i := range outcomes {
		outcomes[i], expected[i] = 1, 0.9
	}
	all := moments(expected)
	all.Rows = math.MaxInt32
	got, powered := Accuracy([]Stratum{{1, outcomes, expected}}, all)
	near(t, "none wrong", got.Low, 0.9286524, 1e-6)
	if powered || got.Value != 1 || got.High != 1 {
		t.Errorf("none wrong: %+v, powered: %v", got, powered)
	}
	for i := range 5 {
		outcomes[i] = 0
	}
	got, _ = Accuracy([]Stratum{{1, outcomes, expected}}, all)
	near(t, "five wrong, low", got.Low, 0.7863978, 1e-6)
	near(t, "five wrong, high", got.High, 0.9565242, 1e-6)
}

// Rows of which some count more tell less than as many that count alike.
func TestShare(t *testing.T) {
	even := Share([]float64{1, 1, 1, 0}, []float64{2, 2, 2, 2})
	uneven := Share([]float64{1, 1, 1, 0}, []float64{4, 1, 1, 2})
	near(t, "even", even.Value, 0.75, 1e-12)
	near(t, "uneven", uneven.Value, 0.75, 1e-12)
	if even.High-even.Low >= uneven.High-uneven.Low {
		t.Errorf("%+v of rows of equal weight, %+v of others", even, uneven)
	}
	if all := Share([]float64{1, 1, 1, 0}, []float64{1, 1, 1, 1}); all.Low != 0.75 || all.High != 0.75 {
		t.Errorf("%+v of rows that all have labels", all)
	}
}

// Rows of a stratum that was drawn from more often do not count more for it, and mistakes where
// few rows are leave the accuracy better known than mistakes anywhere do.
func TestStrata(t *testing.T) {
	strata := []Stratum{{Share: 0.9, Right: []float64{1, 1, 1, 1}}, {Share: 0.1, Right: []float64{0, 1, 0, 1, 0, 0}}}
	all := Moments{Rows: 1 << 30}
	got, powered := Accuracy(strata, all)
	near(t, "accuracy", got.Value, 0.9+0.1*2/6, 1e-12)
	if powered || got.Low >= got.Value || got.High <= got.Value {
		t.Errorf("%+v, powered: %v", got, powered)
	}
	many := func(n, right int) (outcomes []float64) {
		outcomes = make([]float64, n)
		for i := range right {
			outcomes[i] = 1
		}
		return outcomes
	}
	there, _ := Accuracy([]Stratum{{Share: 0.9, Right: many(100, 100)}, {Share: 0.1, Right: many(100, 50)}}, all)
	anywhere, _ := Accuracy([]Stratum{{Share: 1, Right: many(200, 190), Expected: many(200, 0)}}, all)
	near(t, "in strata", there.Value, anywhere.Value, 1e-12)
	if there.High-there.Low >= anywhere.High-anywhere.Low {
		t.Errorf("%+v in strata, %+v from all", there, anywhere)
	}
}

// P-values of the sign test are those of R's binom.test. A difference that no label shows is none,
// and may be one all the same.
func TestCompare(t *testing.T) {
	near(t, "6 to 0", signTest(6, 0), 0.03125, 1e-12)
	near(t, "10 to 3", signTest(10, 3), 0.09228515625, 1e-12)
	near(t, "0 to 0", signTest(0, 0), 1, 0)
	const many = 1 << 30 // rows, few of which have labels
	if got := Compare([]Pairs{{1, 40, 0, 0}}, many); got.Value != 0 || got.P != 1 || got.Low >= -0.01 || got.High <= 0.01 {
		t.Errorf("no row tells them apart: %+v", got)
	}
	got := Compare([]Pairs{{1, 40, 8, 0}}, many)
	near(t, "gain", got.Value, 0.2, 1e-12)
	near(t, "p", got.P, 2./256, 1e-12)
	if got.Gained != 8 || got.Lost != 0 || got.Low <= 0 {
		t.Errorf("8 rows of 40 gained: %+v", got)
	}
	// Rows that are gained where few are do not make a difference of all.
	got = Compare([]Pairs{{0.01, 20, 12, 0}, {0.99, 20, 0, 3}}, many)
	if got.Value >= 0 || got.P < 0.05 {
		t.Errorf("%+v", got)
	}
	// Exchanged, the difference is the opposite.
	back := Compare([]Pairs{{0.01, 20, 0, 12}, {0.99, 20, 3, 0}}, many)
	near(t, "exchanged", back.Value, -got.Value, 1e-12)
	near(t, "exchanged, low", back.Low, -got.High, 1e-12)
	near(t, "exchanged, p", back.P, got.P, 1e-12)
}

// Of rows that all have labels the difference is known, and of nearly all nearly; which is better
// is known as soon as the others are too few to undo it.
func TestCompareAllLabelled(t *testing.T) {
	for _, strata := range [][]Pairs{{{1, 60, 8, 2}}, {{0.5, 30, 8, 0}, {0.5, 30, 0, 2}}} {
		got := Compare(strata, 60)
		near(t, "value", got.Value, 0.1, 1e-12)
		near(t, "low", got.Low, 0.1, 1e-12)
		near(t, "high", got.High, 0.1, 1e-12)
		near(t, "p", got.P, 0, 0)
	}
	if got := Compare([]Pairs{{1, 60, 2, 2}}, 60); got.Low != 0 || got.High != 0 || got.P != 1 {
		t.Errorf("no difference: %+v", got)
	}
	few, half := Compare([]Pairs{{1, 60, 8, 2}}, 1<<30), Compare([]Pairs{{1, 60, 8, 2}}, 120)
	near(t, "half of the rows", half.High-half.Low, math.Sqrt(0.5)*(few.High-few.Low), 1e-6)
	if got := Compare([]Pairs{{1, 60, 8, 2}}, 66); got.P < 0.05 {
		t.Errorf("six rows can undo six: %+v", got)
	}
	if got := Compare([]Pairs{{1, 60, 8, 2}}, 65); got.P != 0 {
		t.Errorf("five cannot: %+v", got)
	}
}

// Without the rows that were predicted, an interval would be of width 0.
func TestMoreLabelsThanRows(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic of three labels of no rows")
		}
	}()
	Accuracy([]Stratum{{Share: 1, Right: []float64{1, 0, 1}, Expected: []float64{0.9, 0.6, 0.8}}}, Moments{})
}
