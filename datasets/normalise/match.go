package normalise

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/datasets"
	"iwda/internal/simd"
)

// Match are the statistics of two domains that make the columns of both agree although
// their class shares differ.
type Match struct {
	// Source are those of the source's rows. Those of the target bring each of its columns
	// to the mean and the deviation that the standardised source has with the classes as
	// frequent as in the target.
	Source, Target Statistics
	// Shares are the target's class shares under which that is so, in label order.
	Shares []float64
}

// The iteration of [NewMatch].
const (
	matchedRows       = 4000 // of either domain that are looked at at once
	matchedIterations = 100
	matchedTolerance  = 1e-4 // of the shares, in the sum of absolute differences
)

// NewMatch finds the target's class shares q and an affine map of each of its
// columns together. A target's own mean and deviation are those of its classes: where these
// are more or less frequent than in the source, standardising by them moves the classes
// apart. For given q the map is the one to the mean and the deviation of the source's rows,
// each weighted by q over its class's share; for a given map, q is one step of expectation
// maximisation (Saerens, Latinne and Decaestecker 2002) with the posteriors of a linear
// discriminant analysis of the source. They alternate from equal shares on, from which it is
// not far to any others, until q rests. No label of the target is read. Every class must
// have a labelled row in the source. Columns that are constant in one domain alone are left
// out, see [LeaveOut].
//
// The discriminant's covariance within classes is that of 4,000 rows at most, drawn evenly
// over their order, as are the rows of the target that q is estimated from; as many more as
// there are columns stand for the same variance in every direction, which keeps it regular.
func NewMatch(source, target datasets.Set) (Match, error) {
	m := Match{Source: StatisticsOf(source), Target: StatisticsOf(target)}
	leftOut := LeaveOut(&m.Source, &m.Target)
	standard := standardised(source, m.Source)
	classes, err := momentsByClass(standard)
	if err != nil {
		return Match{}, err
	}
	discriminant, err := classes.discriminant(datasets.Evenly(standard, matchedRows))
	if err != nil {
		return Match{}, err
	}
	rows := Values(datasets.Evenly(standardised(target, m.Target), matchedRows))
	mixture := func(shares []float64) (mean, deviation []float64) {
		mean, deviation = classes.mixture(shares)
		for _, j := range leftOut {
			mean[j], deviation[j] = 0, 1
		}
		return mean, deviation
	}
	m.Shares = discriminant.likeliestShares(rows, mixture)
	// (x - μ)/σ · deviation + mean, written as (x - μ')/σ'.
	mean, deviation := mixture(m.Shares)
	for j := range mean {
		scale := float64(m.Target.Deviation[j]) / deviation[j]
		m.Target.Mean[j] = float32(float64(m.Target.Mean[j]) - mean[j]*scale)
		m.Target.Deviation[j] = float32(scale)
	}
	return m, nil
}

// classMoments are means and variances of d columns by class, k×d.
type classMoments struct{ means, variances *mat.Dense }

func momentsByClass(set datasets.Set) (classMoments, error) {
	k, row := len(set.ClassNames()), make([]float32, datasets.Size(set.Shape()))
	classes := make([]*columnMoments, k)
	for class := range classes {
		classes[class] = newColumnMoments(len(row))
	}
	for i := range set.Len() {
		if class, known := set.Label(i); known {
			set.CopyRow(row, i)
			classes[class].add(row)
		}
	}
	m := classMoments{mat.NewDense(k, len(row), nil), mat.NewDense(k, len(row), nil)}
	for class, columns := range classes {
		if columns.rows == 0 {
			return classMoments{}, fmt.Errorf("normalise: class %q has no row whose columns could be matched", set.ClassNames()[class])
		}
		floats.Scale(1/columns.rows, columns.squares)
		m.means.SetRow(class, columns.mean)
		m.variances.SetRow(class, columns.squares)
	}
	return m, nil
}

// mixture returns mean and deviation of the columns if the classes have the given shares;
// the deviation of a column that is constant then is 1.
func (m classMoments) mixture(shares []float64) (mean, deviation []float64) {
	_, d := m.means.Dims()
	mean, deviation = make([]float64, d), make([]float64, d)
	for class, share := range shares {
		floats.AddScaled(mean, share, m.means.RawRowView(class))
	}
	for class, share := range shares {
		variance := m.variances.RawRowView(class)
		for j, centre := range m.means.RawRowView(class) {
			deviation[j] += share * (variance[j] + (centre-mean[j])*(centre-mean[j]))
		}
	}
	for j, variance := range deviation {
		if deviation[j] = math.Sqrt(variance); variance == 0 {
			deviation[j] = 1
		}
	}
	return mean, deviation
}

// discriminant are the linear discriminants of the classes, whose score of a row x is
// directions[class, :]·x + offsets[class]: the logarithm of its density, but for a term
// that all classes share.
type discriminant struct {
	directions *mat.Dense // k×d, so that products with rows run along both
	offsets    []float64  // length k
}

func (m classMoments) discriminant(set datasets.Set) (discriminant, error) {
	k, d := m.means.Dims()
	within := Values(set)
	n := 0
	for i := range set.Len() {
		row := within.RawRowView(i)
		if class, known := set.Label(i); known {
			floats.Sub(row, m.means.RawRowView(class))
			n++
		} else {
			clear(row)
		}
	}
	scatter := mat.NewSymDense(d, nil)
	raw := scatter.RawSymmetric()
	simd.AddRowGram(raw.Data, raw.Stride, within.RawMatrix().Data, d)
	// n rows, and d more whose covariance is the mean variance times the identity.
	scatter.ScaleSym(1/float64(n+d), scatter)
	variance := mat.Trace(scatter) / float64(d) * float64(n+d) / float64(max(n, 1))
	if variance == 0 { // each class is one point
		variance = 1
	}
	for j := range d {
		scatter.SetSym(j, j, scatter.At(j, j)+variance*float64(d)/float64(n+d))
	}
	var factor mat.Cholesky
	if !factor.Factorize(scatter) {
		return discriminant{}, fmt.Errorf("normalise: the covariance of %d columns within classes is not positive definite; are some values very large?", d)
	}
	var solved mat.Dense
	if err := factor.SolveTo(&solved, m.means.T()); err != nil {
		return discriminant{}, fmt.Errorf("normalise: the discriminants of %d columns: %w", d, err)
	}
	directions, offsets := mat.DenseCopyOf(solved.T()), make([]float64, k)
	for class := range k {
		offsets[class] = -mat.Dot(m.means.RowView(class), directions.RowView(class)) / 2
	}
	return discriminant{directions, offsets}, nil
}

// scores returns those of rows, n×k, once these (n×d) are brought to the given mean and
// deviation.
func (c discriminant) scores(rows *mat.Dense, mean, deviation []float64) *mat.Dense {
	k, d := c.directions.Dims()
	directions, offsets := mat.NewDense(k, d, nil), mat.NewVecDense(k, slices.Clone(c.offsets))
	for class := range k {
		floats.MulTo(directions.RawRowView(class), c.directions.RawRowView(class), deviation)
	}
	var start mat.VecDense
	start.MulVec(c.directions, mat.NewVecDense(d, mean))
	offsets.AddVec(offsets, &start)
	var scores mat.Dense
	scores.Mul(rows, directions.T())
	for i := range scores.RawMatrix().Rows {
		floats.Add(scores.RawRowView(i), offsets.RawVector().Data)
	}
	return &scores
}

// likeliestShares finds the class shares under which rows are likeliest when they are brought to
// the mean and deviation that belong to the shares, from equal ones on.
func (c discriminant) likeliestShares(rows *mat.Dense, of func(shares []float64) (mean, deviation []float64)) []float64 {
	shares := make([]float64, len(c.offsets))
	floats.AddConst(1/float64(len(shares)), shares)
	for range matchedIterations {
		mean, deviation := of(shares)
		next := c.meanPosterior(rows, mean, deviation, shares)
		change := floats.Distance(next, shares, 1)
		if shares = next; change < matchedTolerance {
			break
		}
	}
	return shares
}

// meanPosterior is the mean over standardised rows (n×d) of the classes' posteriors under
// the shares, once the rows are brought to the given mean and deviation.
func (c discriminant) meanPosterior(rows *mat.Dense, mean, deviation, shares []float64) []float64 {
	scores := c.scores(rows, mean, deviation)
	n, k := scores.Dims()
	posterior, logs := make([]float64, k), make([]float64, k)
	for class, share := range shares {
		logs[class] = math.Log(share)
	}
	for i := range n {
		row := scores.RawRowView(i)
		floats.Add(row, logs)
		softmax(row)
		floats.AddScaled(posterior, 1/float64(n), row)
	}
	return posterior
}

// softmax replaces a row of scores by probabilities.
func softmax(row []float64) {
	total := floats.LogSumExp(row)
	for i, score := range row {
		row[i] = math.Exp(score - total)
	}
}

// Values returns a copy of all rows of a set, n×d.
func Values(set datasets.Set) *mat.Dense {
	row := make([]float32, datasets.Size(set.Shape()))
	values := mat.NewDense(set.Len(), len(row), nil)
	for i := range set.Len() {
		set.CopyRow(row, i)
		for j, v := range row {
			values.Set(i, j, float64(v))
		}
	}
	return values
}
