package adapt

import (
	"math/rand/v2"
	"slices"

	"iwda/datasets"
)

// sample is some rows of both domains, of which the report shows what becomes of them.
type sample struct {
	source, target *datasets.Features
	rows           []int // of the target, ascending
}

// Bounds of a sample: rows of a domain, and values of both, but for the fewest rows.
const (
	mostSampled   = 2000
	fewestSampled = 250
	sampledValues = 4e6
)

// drawSample draws the rows of a sample, by a seed of its own.
func drawSample(source, target datasets.Set) (s sample, err error) {
	most := min(mostSampled, max(fewestSampled, sampledValues/2/datasets.Size(source.Shape())))
	random := rand.New(datasets.Stream(1, "rows of a report"))
	draw := func(from datasets.Set) (*datasets.Features, []int, error) {
		rows := drawRows(from.Len(), most, random)
		values := make([]float32, len(rows)*datasets.Size(from.Shape()))
		datasets.CopyRows(values, from, rows)
		set, err := datasets.NewFeatures(from.Name(), values, datasets.LabelsOf(from).Subset(rows), source.ClassNames())
		return set, rows, err
	}
	if s.source, _, err = draw(source); err != nil {
		return sample{}, err
	}
	s.target, s.rows, err = draw(target)
	return s, err
}

// drawRows draws at most so many of n rows, ascending.
func drawRows(n, most int, random *rand.Rand) []int {
	rows := random.Perm(n)[:min(n, most)]
	slices.Sort(rows)
	return rows
}

// take returns what takes the predictions of all the target's rows in their order, and has a
// picture keep the classes of those in the sample.
func (s sample) take(classes []string, into *picture) func(id, class string, probability float64) {
	number := map[string]int{}
	for i, name := range classes {
		number[name] = i
	}
	row, left := 0, s.rows
	return func(_, class string, _ float64) {
		if len(left) > 0 && left[0] == row {
			into.predicted, left = append(into.predicted, number[class]), left[1:]
		}
		row++
	}
}
