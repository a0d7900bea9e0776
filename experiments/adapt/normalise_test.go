package adapt

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/datasets/normalise"
)

// classOf draws a class, as frequent as the shares say.
func classOf(random *rand.Rand, shares []float64) (class int) {
	for u := random.Float64(); class < len(shares)-1 && u > shares[class]; class++ {
		u -= shares[class]
	}
	return class
}

// rowsOf returns rows of normal columns around the centres of their classes, which are as
// frequent as the shares say, then stretched and moved.
func rowsOf(t *testing.T, seed uint64, n int, centres [][]float64, shares []float64, stretch, move float64) *datasets.Features {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 5))
	var values []float32
	labels := make([]int, n)
	for i := range labels {
		labels[i] = classOf(random, shares)
		for _, centre := range centres[labels[i]] {
			values = append(values, float32(stretch*(centre+random.NormFloat64())+move))
		}
	}
	set, err := datasets.NewFeatures("rows", values, datasets.KnownLabels(labels), []string{"a", "b", "c"}[:len(centres)])
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// unitsAtRest draws rows of rectified units, nine of ten of which are at rest: random
// projections of five normal classes.
func unitsAtRest(t *testing.T, network, seed uint64, n int, shares []float64) *datasets.Features {
	t.Helper()
	const inputs, units = 12, 60
	fixed, random := rand.New(rand.NewPCG(network, 4)), rand.New(rand.NewPCG(seed, 3))
	centres, weights := make([]float64, len(shares)*inputs), make([]float64, inputs*units)
	for i := range centres {
		centres[i] = 1.1 * fixed.NormFloat64()
	}
	for i := range weights {
		weights[i] = fixed.NormFloat64()
	}
	values, labels := make([]float32, 0, n*units), make([]int, n)
	for i := range labels {
		labels[i] = classOf(random, shares)
		x := make([]float64, inputs)
		for j := range x {
			x[j] = centres[labels[i]*inputs+j] + random.NormFloat64()
		}
		for unit := range units {
			sum := -7.0
			for j, v := range x {
				sum += v * weights[j*units+unit]
			}
			values = append(values, float32(max(sum, 0)))
		}
	}
	set, err := datasets.NewFeatures("units", values, datasets.KnownLabels(labels), []string{"a", "b", "c", "d", "e"})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A map under which the target's rows are far less likely is not taken, whatever the test
// says.
func TestUnlikelyMap(t *testing.T) {
	for seed := range uint64(3) {
		source := unitsAtRest(t, seed, 1, 1500, []float64{0.2, 0.2, 0.2, 0.2, 0.2})
		target := unitsAtRest(t, seed, 2, 1500, []float64{0.04, 0.08, 0.13, 0.25, 0.5})
		if got := agreement(source, target); got.Way != normalise.Standard || !strings.Contains(got.Because, "far less likely") {
			t.Errorf("seed %d: %+v", seed, got)
		}
	}
}

// Columns that depend on each other closely, as those of embeddings do, are matched although
// the map's determinant counts each of them.
func TestDependentColumnsAreMatched(t *testing.T) {
	const copies = 20
	repeated := func(set *datasets.Features) *datasets.Features {
		var values []float32
		row := make([]float32, 4)
		for i := range set.Len() {
			set.CopyRow(row, i)
			for range copies {
				values = append(values, row...)
			}
		}
		wide, err := datasets.NewFeatures("wide", values, datasets.LabelsOf(set), set.ClassNames())
		if err != nil {
			t.Fatal(err)
		}
		return wide
	}
	centres := [][]float64{{2, 0, 0, 1}, {0, 2, 0, 1}, {0, 0, 2, -1}}
	for seed := range uint64(3) {
		source := repeated(rowsOf(t, 2*seed, 900, centres, []float64{0.33, 0.33, 0.34}, 1, 0))
		target := repeated(rowsOf(t, 2*seed+1, 900, centres, []float64{0.6, 0.3, 0.1}, 1, 0))
		if got := agreement(source, target); got.Way != normalise.Matched {
			t.Errorf("seed %d: %+v", seed, got)
		}
	}
}

// Columns that are moved and stretched while shares change are matched, also where hardly
// anything is to be seen of either; classes that stand elsewhere are not, and what cannot be
// tested is standardised as well.
func TestNormalisation(t *testing.T) {
	centres := [][]float64{{4, 0, 0, 2}, {0, 4, 0, 2}, {0, 0, 4, -2}}
	// The second and the third class stand between those of the source.
	elsewhere := [][]float64{{4, 0, 0, 2}, {0, 2, 2, 0}, {2, 0, 2, 0}}
	before, after := []float64{0.7, 0.2, 0.1}, []float64{0.1, 0.2, 0.7}
	for seed := range uint64(3) {
		source := rowsOf(t, 2*seed, 2000, centres, before, 1, 0)
		for name, c := range map[string]struct {
			target *datasets.Features
			want   string
		}{
			"like the source":               {rowsOf(t, 2*seed+1, 2000, centres, before, 1, 0), normalise.Matched},
			"other shares":                  {rowsOf(t, 2*seed+1, 2000, centres, after, 1, 0), normalise.Matched},
			"other shares, moved":           {rowsOf(t, 2*seed+1, 2000, centres, after, 3, -7), normalise.Matched},
			"classes elsewhere":             {rowsOf(t, 2*seed+1, 2000, elsewhere, before, 1, 0), normalise.Standard},
			"classes elsewhere and shifted": {rowsOf(t, 2*seed+1, 2000, elsewhere, after, 1, 0), normalise.Standard},
		} {
			if got := agreement(source, c.target); got.Way != c.want {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
	for rows, few := range map[int]bool{3*fewestOfAClass - 1: true, 3 * fewestOfAClass: false} {
		large, small := rowsOf(t, 7, 500, centres, before, 1, 0), rowsOf(t, 8, rows, centres, before, 1, 0)
		for _, domains := range [][2]*datasets.Features{{large, small}, {small, large}} {
			got := agreement(domains[0], domains[1])
			if few && got.Way != normalise.Standard || few != strings.Contains(got.Because, "takes at least 120 rows") {
				t.Errorf("%d and %d rows: %+v", domains[0].Len(), domains[1].Len(), got)
			}
			// A fifth of 120 rows, of three classes, is too few for the test.
			if untold := !few && domains[0] == small; untold != strings.Contains(got.Because, "and could not") {
				t.Errorf("%d and %d rows: %+v", domains[0].Len(), domains[1].Len(), got)
			}
		}
	}
	lacking := rowsOf(t, 9, 240, centres, []float64{0.5, 0.5, 0}, 1, 0)
	if got := agreement(lacking, lacking); got.Way != normalise.Standard || !strings.Contains(got.Because, `could not be tested (normalise: class "c" has no row`) {
		t.Errorf("a class without rows: %+v", got)
	}
	for _, c := range []struct{ columns, classes int }{{mostValues + 1, 2}, {mostCoefficients/200 + 1, 200}} {
		names := make([]string, c.classes)
		for class := range names {
			names[class] = strconv.Itoa(class)
		}
		set, err := datasets.NewFeatures("wide", make([]float32, 3*c.columns), datasets.KnownLabels([]int{0, 1, 0}), names)
		if err != nil {
			t.Fatal(err)
		}
		if got := agreement(set, set); got.Way != normalise.Standard || !strings.Contains(got.Because, "so many values") {
			t.Errorf("%d columns and %d classes: %+v", c.columns, c.classes, got)
		}
	}
}
