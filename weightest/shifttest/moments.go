package shifttest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"iwda/weightest/internal/simplex"
)

// moments are the equations b = A q that the target's class shares q satisfy under label
// shift: b are the target's shares of the bins, A's columns those of each source class.
// The bin with most rows, which follows from the others, is left out.
type moments struct {
	classes, bins int
	shares        []float64   // b, length bins
	columns       [][]float64 // A, k×bins
	// The covariance of b - A q is
	//
	//	Ω(q) = (D(b̃) - b̃b̃ᵀ)/m + Σ_y q_y² (D(ã_y) - ã_yã_yᵀ)/n_y,
	//
	// D(·) the diagonal matrix, with b̃ and ã_y to which one row was added that is
	// spread as both domains together are: so Ω is regular whatever bins are empty.
	smoothShares  []float64
	smoothColumns [][]float64
	targetRows    float64
	sourceRows    []float64 // n_y, length k

	// Of the latest evaluation:
	scaled   blas64.General    // the shares a, each times the root of its factor
	factor   blas64.Triangular // L with LLᵀ = Ω
	residual []float64         // b - A q
	solved   []float64         // Ω⁻¹(b - A q)
	gradient []float64         // of J, length k
}

// newMoments returns the equations of the counts, all of whose classes have source rows.
// pooled are the bins' shares in both domains together, none of them 0: those of the
// sample, also where the counts are resampled.
func newMoments(c binnedCounts, pooled []float64) *moments {
	all := len(c.target)
	last := floats.MaxIdx(pooled)
	withoutLast := func(counts []float64, extra float64) []float64 {
		shares := slices.Clone(counts)
		floats.AddScaled(shares, extra, pooled)
		floats.Scale(1/floats.Sum(shares), shares)
		shares[last] = shares[all-1]
		return shares[:all-1]
	}
	m := &moments{
		classes:      len(c.source),
		bins:         all - 1,
		shares:       withoutLast(c.target, 0),
		smoothShares: withoutLast(c.target, 1),
		targetRows:   floats.Sum(c.target),
		residual:     make([]float64, all-1),
		solved:       make([]float64, all-1),
		gradient:     make([]float64, len(c.source)),
	}
	for _, counts := range c.source {
		m.columns = append(m.columns, withoutLast(counts, 0))
		m.smoothColumns = append(m.smoothColumns, withoutLast(counts, 1))
		m.sourceRows = append(m.sourceRows, floats.Sum(counts))
	}
	m.scaled = blas64.General{Rows: m.classes + 1, Cols: m.bins, Stride: m.bins, Data: make([]float64, (m.classes+1)*m.bins)}
	m.factor = blas64.Triangular{N: m.bins, Stride: m.bins, Uplo: blas.Lower, Diag: blas.NonUnit, Data: make([]float64, m.bins*m.bins)}
	return m
}

// minimise returns the q on the simplex with the smallest
//
//	J(q) = (b - Aq)ᵀ Ω(q)⁻¹ (b - Aq),
//
// from where q starts, and J there. Each step is the solution of a quadratic program:
// J's gradient at q with the second derivatives that it has for a constant Ω. It ends
// where J would fall by less than a millionth, or is below the given value already.
func (m *moments) minimise(q []float64, below float64) (float64, error) {
	const steps, tolerance = 200, 1e-6
	value := m.evaluate(q)
	step, trial := make([]float64, m.classes), make([]float64, m.classes)
	for range steps {
		if value < below {
			return value, nil
		}
		target, err := m.solveModel(q)
		if err != nil {
			return 0, err
		}
		floats.SubTo(step, target, q)
		slope := floats.Dot(m.gradient, step)
		// J would fall by half of that on a parabola.
		if -slope <= tolerance*(1+value) {
			return value, nil
		}
		length := 1.0
		for {
			floats.AddScaledTo(trial, q, length, step)
			if next := m.evaluate(trial); next <= value+1e-4*length*slope {
				value = next
				break
			}
			if length /= 2; length < 1e-6 {
				// Nothing but rounding is left.
				return m.evaluate(q), nil
			}
		}
		copy(q, trial)
	}
	return value, nil
}

// evaluate returns J(q) and keeps what its derivatives need.
func (m *moments) evaluate(q []float64) float64 {
	copy(m.residual, m.shares)
	for y, share := range q {
		floats.AddScaled(m.residual, -share, m.columns[y])
	}
	m.factorise(q)
	copy(m.solved, m.residual)
	blas64.Trsv(blas.NoTrans, m.factor, vector(m.solved))
	value := floats.Dot(m.solved, m.solved)
	blas64.Trsv(blas.Trans, m.factor, vector(m.solved))
	for y, share := range q {
		m.gradient[y] = -2 * floats.Dot(m.columns[y], m.solved)
		mean := floats.Dot(m.smoothColumns[y], m.solved)
		var square float64
		for i, a := range m.smoothColumns[y] {
			square += a * m.solved[i] * m.solved[i]
		}
		m.gradient[y] -= 2 * share / m.sourceRows[y] * (square - mean*mean)
	}
	return value
}

// factorise sets the factor of Ω(q), a sum of D(a) - aaᵀ over one-hot vectors' shares a.
func (m *moments) factorise(q []float64) {
	omega := blas64.Symmetric{N: m.bins, Stride: m.bins, Uplo: blas.Lower, Data: m.factor.Data}
	clear(omega.Data)
	add := func(row int, a []float64, factor float64) {
		scaled := m.scaled.Data[row*m.bins : (row+1)*m.bins]
		floats.ScaleTo(scaled, math.Sqrt(factor), a)
		for i, share := range a {
			omega.Data[i*m.bins+i] += factor * share
		}
	}
	for y, share := range q {
		add(y, m.smoothColumns[y], share*share/m.sourceRows[y])
	}
	add(m.classes, m.smoothShares, 1/m.targetRows)
	blas64.Syrk(blas.Trans, -1, m.scaled, 1, omega)
	lapack64.Potrf(omega)
}

// solveModel returns the z on the simplex with the smallest
//
//	½‖L⁻¹(b - A z)‖² - c·z,   LLᵀ = Ω(q), c chosen for the gradient ½∇J(q) at q.
func (m *moments) solveModel(q []float64) ([]float64, error) {
	k := m.classes
	s := simplex.New(k, m.bins)
	for y := range k {
		copy(s.Column(y), m.columns[y])
	}
	blas64.Trsm(blas.Right, blas.Trans, 1, m.factor, s.Columns) // rows are (L⁻¹ a)ᵀ
	var largest float64
	for y := range k {
		largest = max(largest, blas64.Nrm2(vector(s.Column(y))))
	}
	if largest == 0 {
		largest = 1
	}
	copy(s.Target, m.shares)
	blas64.Trsv(blas.NoTrans, m.factor, vector(s.Target))
	floats.Scale(1/largest, s.Target)
	for y := range k {
		floats.Scale(1/largest, s.Column(y))
		s.Equality[y] = 1
		// The gradient of the norm at q is that of J for a constant Ω.
		s.Linear[y] = -(m.gradient[y]/2 + floats.Dot(m.columns[y], m.solved)) / (largest * largest)
	}
	z, err := s.Solve()
	if err != nil {
		return nil, err
	}
	floats.Scale(1/floats.Sum(z), z)
	return z, nil
}

func vector(data []float64) blas64.Vector {
	return blas64.Vector{N: len(data), Inc: 1, Data: data}
}
