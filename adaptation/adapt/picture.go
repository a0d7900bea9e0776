package adapt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"iwda/adaptation/predict"
	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/experiments/model"
	"iwda/internal/printable"
	"iwda/weightest"
)

// picture is some rows of both domains in two dimensions, before a network and after it.
type picture struct {
	labels    []int       // of the source's rows, which come first
	predicted []int       // of the target's
	before    *projection // nil of images
	after     *projection // nil if no network with features predicts
	network   string      // the run whose network it is
	what      string      // after is of, as "features (256)"
}

// pictureOf projects the sample, of whose target rows the classes are predicted, before the members and after the
// first network among them; others have no features but the columns.
func (o conclusion) pictureOf(ctx context.Context, p *Plan, members []model.Model, predicted []int) (picture, error) {
	s := p.Data.sample
	of := picture{labels: datasets.LabelsOf(s.source).Classes(), predicted: predicted}
	by, err := normalise.Fit(normalise.Settings{Way: normalise.OfSource}, s.source, s.target)
	if err != nil {
		return picture{}, err
	}
	before := mat.NewDense(s.source.Len()+s.target.Len(), p.Data.Width, nil)
	before.Stack(normalise.Values(by.OnSource(s.source)), normalise.Values(by.OnTarget(s.target)))
	of.before = principal(before)
	at := slices.IndexFunc(members, func(m model.Model) bool { return !m.Architecture.Name.OnRows() })
	if at < 0 {
		return of, nil
	}
	var values []float32
	width := 0
	for _, rows := range []datasets.Set{members[at].Normalisation.OnSource(s.source), members[at].Normalisation.OnTarget(s.target)} {
		part, size, err := predict.Features(ctx, members[at], rows, p.predictOptions())
		if err != nil {
			return picture{}, err
		}
		values, width = append(values, part...), size
	}
	of.after = principal(mat.NewDense(len(values)/width, width, weightest.Widen(values)))
	of.network, of.what = o.Runs[at].ID.String(), printable.Count(width, "feature")
	return of, nil
}

// pictureOfLogits projects what the first network says of both domains' rows, if there are no
// columns to show and a pass of its own through the network would take long.
func (o conclusion) pictureOfLogits() picture {
	c := o.first
	k := c.Classes
	random := rand.New(datasets.Stream(1, "rows of a report"))
	var values []float32
	draw := func(from []float32, classes []int) (drawn []int) {
		for _, row := range drawRows(len(classes), mostSampled, random) {
			values, drawn = append(values, from[row*k:(row+1)*k]...), append(drawn, classes[row])
		}
		return drawn
	}
	of := picture{network: c.Run, what: fmt.Sprintf("%d logits", k)}
	of.labels = draw(c.HeldOut, c.HeldOutLabels)
	of.predicted = draw(c.Target, o.compared.used)
	of.after = principal(mat.NewDense(len(values)/k, k, weightest.Widen(values)))
	return of
}

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

// take returns what takes the predictions of all the target's rows in their order, and appends the
// classes of those in the sample.
func (s sample) take(classes []string, into *[]int) func(id, class string, probability float64) {
	number := map[string]int{}
	for i, name := range classes {
		number[name] = i
	}
	row, left := 0, s.rows
	return func(_, class string, _ float64) {
		if len(left) > 0 && left[0] == row {
			*into, left = append(*into, number[class]), left[1:]
		}
		row++
	}
}

// projection is rows by their first two principal components.
type projection struct {
	rows      [][2]float64
	explained [2]float64 // the shares of the variance
}

// principal returns the projection of rows of values, which it centres. The subspace is found from
// a random one of a few dimensions more by repeated multiplication (Halko, Martinsson and Tropp
// 2011), at the cost of some passes over the values: components that explain nearly the same may
// be mixed.
func principal(x *mat.Dense) *projection {
	const dimensions, passes = 10, 6
	n, columns := x.Dims()
	total := 0.0
	for j := range columns {
		mean := mat.Sum(x.ColView(j)) / float64(n)
		for i := range n {
			v := x.At(i, j) - mean
			x.Set(i, j, v)
			total += v * v
		}
	}
	size := min(dimensions, n, columns)
	random := rand.New(rand.NewPCG(1, 2))
	basis := mat.NewDense(columns, size, nil)
	basis.Apply(func(int, int, float64) float64 { return random.NormFloat64() }, basis)
	var onto mat.Dense // n × size
	var svd mat.SVD
	for range passes {
		onto.Mul(x, basis)
		svd.Factorize(&onto, mat.SVDThin)
		svd.UTo(&onto)
		basis.Mul(x.T(), &onto)
		svd.Factorize(basis, mat.SVDThin)
		svd.UTo(basis)
	}
	onto.Mul(x, basis)
	svd.Factorize(&onto, mat.SVDThin)
	values := svd.Values(nil)
	svd.UTo(&onto)
	p := &projection{rows: make([][2]float64, n)}
	for c := range min(2, size) {
		if total > 0 {
			p.explained[c] = values[c] * values[c] / total
		}
		for i := range p.rows {
			p.rows[i][c] = values[c] * onto.At(i, c)
		}
	}
	return p
}
