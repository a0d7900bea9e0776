package normalise

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"iwda/datasets"
	"iwda/internal/must"
)

func rowsOf(t *testing.T, set datasets.Set) [][]float32 {
	t.Helper()
	var rows [][]float32
	for i := range set.Len() {
		row := make([]float32, datasets.Size(set.Shape()))
		set.CopyRow(row, i)
		rows = append(rows, row)
	}
	return rows
}

func vectors(t *testing.T, size int, values ...float32) *datasets.Features {
	t.Helper()
	return must.Have(datasets.NewFeatures("made", values, datasets.UnknownLabels(len(values)/size), nil))(t)
}

// The mean of 1, 2, 3 and 6 is 3, their mean squared distance from it 14/4. Columns that
// are constant become 0, also where their mean is no float32 sum.
func TestStandardised(t *testing.T) {
	set := vectors(t, 3, 1, 0.1, 1e8+8, 2, 0.1, 1e8, 3, 0.1, 1e8+8, 6, 0.1, 1e8)
	s := StatisticsOf(set)
	deviation := float32(math.Sqrt(3.5))
	if !slices.Equal(s.Mean, []float32{3, 0.1, 1e8}) && !slices.Equal(s.Mean, []float32{3, 0.1, 1e8 + 8}) {
		t.Errorf("means %v", s.Mean)
	}
	if !slices.Equal(s.Deviation, []float32{deviation, 1, 4}) {
		t.Errorf("deviations %v, want %v, 1 and 4", s.Deviation, deviation)
	}
	for i, row := range rowsOf(t, standardised(set, s)) {
		if want := ([]float32{1, 2, 3, 6}[i] - 3) / deviation; row[0] != want || row[1] != 0 {
			t.Errorf("row %d is %v, want %v and 0", i, row, want)
		}
	}
	// The statistics of what is standardised are 0 and 1.
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]float32, 3000)
	for i := range values {
		values[i] = float32(100*float64(i%3) + (1+float64(i%3))*random.NormFloat64())
	}
	drawn := vectors(t, 3, values...)
	again := StatisticsOf(standardised(drawn, StatisticsOf(drawn)))
	for j := range again.Mean {
		if math.Abs(float64(again.Mean[j])) > 1e-4 || math.Abs(float64(again.Deviation[j])-1) > 1e-4 {
			t.Errorf("column %d: mean %v, deviation %v", j, again.Mean[j], again.Deviation[j])
		}
	}
}

// A column that never changes in one domain is next to nothing in both, and in a set that is
// standardised later; others stay as they are.
func TestLeaveOut(t *testing.T) {
	source := vectors(t, 5, 1, 7, 2, 5, 3, 2, 7, 4, 5, 1e30, 6, 7, 3, 5, -1e30)
	target := vectors(t, 5, 1, 1, 4, 6, 2, 1, 3, 5, 6, 2, 1, 2, 9, 6, 2)
	s, u := StatisticsOf(source), StatisticsOf(target)
	before := StatisticsOf(source)
	// The fourth is constant in both.
	if got := LeaveOut(&s, &u); !slices.Equal(got, []int{0, 1, 4}) {
		t.Fatalf("columns %v", got)
	}
	later := vectors(t, 5, 3, -2, 1, 6, 1e5)
	for name, of := range map[string]struct {
		set datasets.Set
		by  Statistics
	}{"source": {source, s}, "target": {target, u}, "later": {later, u}} {
		for _, row := range rowsOf(t, standardised(of.set, of.by)) {
			for _, j := range []int{0, 1, 4} {
				if math.Abs(float64(row[j])) > 1e-8 {
					t.Errorf("%s: column %d is %v", name, j, row[j])
				}
			}
			if row[3] != 0 {
				t.Errorf("%s: the column that is constant in both is %v", name, row[3])
			}
		}
	}
	if s.Deviation[2] != before.Deviation[2] || s.Mean[2] != before.Mean[2] {
		t.Error("the column that changes in both has other statistics")
	}
}

// The keys are those of the first models; what a fit knows beside the numbers is not kept.
func TestNormalisationAsText(t *testing.T) {
	source, target := vectors(t, 2, 1, 7, 3, 7), vectors(t, 2, 0, 1, 4, 2)
	n := must.Have(Fit(Settings{Way: Standard}, source, target))(t)
	n.Target.Range = Range{[]float32{0, 1}, []float32{4, 2}}
	for want, n := range map[string]Normalisation{
		`{"kind":"none"}`: {Kind: None},
		`{"kind":"standard","target":{"mean":[0.5],"deviation":[2]}}`: Channels([]float32{0.5}, []float32{2}),
		`{"kind":"standard","source":{"mean":[2,7],"deviation":[1,100000000000000000000]},` +
			`"target":{"mean":[2,1.5],"deviation":[2,100000000000000000000],"low":[0,1],"high":[4,2]}}`: n,
	} {
		got, err := json.Marshal(n)
		if err != nil || string(got) != want {
			t.Errorf("%s, want %s; error %v", got, want, err)
		}
	}
}

// With the source's statistics for both domains a row is the same wherever it comes from; a
// column that is constant in the source says nothing.
func TestOfSource(t *testing.T) {
	source := vectors(t, 2, 1, 7, 2, 7, 3, 7)
	target := vectors(t, 2, 3, 8, 1, 9, 1, 7)
	dead := vectors(t, 2, 5, 7, 5, 7)
	selected := vectors(t, 2, 3, 7, 3, 7)
	for _, c := range []struct {
		target datasets.Set
		want   bool
	}{{dead, true}, {selected, false}} {
		n := must.Have(Fit(Settings{Way: OfSource}, source, c.target))(t)
		if left := rowsOf(t, n.OnSource(source))[0][0]; (math.Abs(float64(left)) < 1e-10) != c.want {
			t.Errorf("a column that is constant in the target: %v is left of it in the source", left)
		}
	}
	n := must.Have(Fit(Settings{Way: OfSource}, source, target))(t)
	if n.Source != nil {
		t.Error("the statistics of both domains are the same, and there twice")
	}
	of, on := rowsOf(t, n.OnSource(source)), rowsOf(t, n.OnTarget(target))
	if on[0][0] != of[2][0] || on[1][0] != of[0][0] || on[0][0] != -on[1][0] || math.Abs(float64(on[0][1])) > 1e-10 {
		t.Errorf("%v of the source, %v of the target", of, on)
	}
}
