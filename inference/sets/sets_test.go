package sets

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"iwda/internal/must"
)

// By hand: of four rows a class, of probabilities 0.2 to 0.8, one may be below the threshold if one in two rows
// may be missed; of 0.7 none.
func TestFit(t *testing.T) {
	probabilities := []float64{0.6, 0.4, 0.2, 0.8, 0.8, 0.2, 0.4, 0.6, 0.9, 0.1}
	labels := []int{0, 0, 0, 0, 1}
	for level, want := range map[float64]float64{0.5: 0.4, 0.59: 0.4, 0.61: 0.2, 0.79: 0.2, 0.81: 0, 0.3: 0.6} {
		got, err := Fit(2, probabilities, labels, nil, level)
		if err != nil || got[0] != want || level <= 0.5 == (got[1] == 0) {
			t.Errorf("level %v: %v, %v, want %v", level, got, err, want)
		}
	}
	// Two rows of one group count half each: the three groups' four rows leave one group, or both rows.
	for level, want := range map[float64]float64{0.5: 0.4, 0.4: 0.6, 0.24: 0.6} {
		if got, err := Fit(2, probabilities, labels, []int{7, 7, 7, 9, 9}, level); err != nil || got[0] > want {
			t.Errorf("level %v in groups: %v, %v", level, got, err)
		}
	}
	thresholds := Thresholds{0.5, 0, 0.3}
	if got := thresholds.Of([]float64{0.5, 0.2, 0.29}); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("the set is %v", got)
	}
	for _, wrong := range []Thresholds{{0.5, 0}, {0.5, math.NaN(), 0}, {0.5, -1, 0}, {0.5, math.Inf(1), 0}} {
		if wrong.Check(3) == nil {
			t.Errorf("%v are no thresholds", wrong)
		}
	}
	if err := thresholds.Check(3); err != nil {
		t.Error(err)
	}
	for _, wrong := range []struct {
		probabilities []float64
		label         int
		level         float64
	}{{[]float64{0.5, 0.5}, 0, 1}, {[]float64{0.5, 0.5}, 2, 0.9}, {[]float64{math.NaN(), 0.5}, 0, 0.9}} {
		if _, err := Fit(2, wrong.probabilities, []int{wrong.label}, nil, wrong.level); err == nil {
			t.Errorf("%+v is no error", wrong)
		}
	}
}

// Sets hold the class as often as they say, in each class, whatever its share in the target is: of rows, and of
// groups of one to twenty that have much in common.
func TestCoverage(t *testing.T) {
	const draws, k, level = 2000, 3, 0.9
	for _, common := range []float64{0, 0.5} {
		random := rand.New(rand.NewPCG(1, 2))
		group := func(class int) (rows [][]float64) {
			size := 1
			if common > 0 {
				size = 1 + random.IntN(20)
			}
			of := random.NormFloat64()
			for range size {
				z := float64(class) + math.Sqrt(common)*of + math.Sqrt(1-common)*random.NormFloat64()
				row, sum := make([]float64, k), 0.0
				for j := range row {
					row[j] = math.Exp(-(z - float64(j)) * (z - float64(j)) / 2)
					sum += row[j]
				}
				for j := range row {
					row[j] /= sum
				}
				rows = append(rows, row)
			}
			return rows
		}
		held, groups := make([]int, k), []int{60, 30, 15}
		for range draws {
			var probabilities []float64
			var labels, of []int
			for class, count := range groups {
				for range count {
					number := len(labels)
					for _, row := range group(class) {
						probabilities, labels, of = append(probabilities, row...), append(labels, class), append(of, number)
					}
				}
			}
			thresholds := must.Have(Fit(k, probabilities, labels, of, level))(t)
			for class := range k {
				rows := group(class)
				if slices.Contains(thresholds.Of(rows[random.IntN(len(rows))]), class) {
					held[class]++
				}
			}
		}
		for class, times := range held {
			// Standard errors are 0.7 points; above the level is at most a row, or a group, of those of the class.
			if share := float64(times) / draws; share < level-0.02 || share > level+1/float64(groups[class]+1)+0.02 {
				t.Errorf("class %d, in common %v: %v", class, common, share)
			}
		}
	}
}
