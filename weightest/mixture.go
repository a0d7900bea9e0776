package weightest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/simd"
	"iwda/weightest/internal/panels"
)

// mixture is the likelihood of rows f under class shares q, where classes stands for
// those with a prior.
type mixture struct {
	prior   []float64
	classes []int          // with a prior above 0
	rows    *panels.Panels // of these classes; newMixture keeps those that count
	counts  []float64      // of these rows
	total   float64        // Σ counts
	many    bool           // more than MostDense classes, of each of which a row counts: no share is 0
	density []float64      // a(x)·q of every row, at
}

// newMixture returns the likelihood of the rows, and of one more of each class that counts so
// often.
func newMixture(rows *Rows, pseudocount int, prior []float64) *mixture {
	k := len(prior)
	m := &mixture{prior: prior}
	for j, mass := range prior {
		if mass > 0 {
			m.classes = append(m.classes, j)
		}
	}
	m.many = pseudocount > 0 && rows.Pseudocounts == nil && len(m.classes) > MostDense
	columns := m.classes
	if len(columns) == k {
		columns = nil
	}
	more, moreCounts := rows.eachClass(pseudocount, prior)
	n := len(rows.Probabilities) / k
	var kept []int
	if rows.Counts != nil || rows.Pseudocounts != nil {
		kept = make([]int, 0, n+len(moreCounts))
	}
	m.counts = make([]float64, 0, n+len(moreCounts))
	keep := func(i int, count float64) {
		if count > 0 {
			if kept != nil {
				kept = append(kept, i)
			}
			m.counts = append(m.counts, count)
			m.total += count
		}
	}
	for i := range n {
		if rows.Counts == nil {
			keep(i, 1)
		} else {
			keep(i, float64(rows.Counts[i]))
		}
	}
	for i, count := range moreCounts {
		keep(n+i, count)
	}
	m.rows = panels.New(rows.Probabilities, more, k, kept, columns)
	m.density = make([]float64, len(m.counts))
	return m
}

// MostLikely returns the weights (k) of a mixture of k parts under which rows are most likely, whose likelihoods by each
// part are row-major m×k, of each row one at least positive. The error wraps ErrNoConvergence.
func MostLikely(k int, likelihoods []float64) ([]float64, error) {
	equal := slices.Repeat([]float64{1 / float64(k)}, k)
	s, err := newMixture(&Rows{Probabilities: likelihoods}, 0, equal).maximise()
	return s.q, err
}

// mixtureState is the mean log-likelihood at q with its gradient, over the classes with
// a prior.
type mixtureState struct {
	q          []float64
	likelihood float64
	gradient   []float64
	violation  float64 // the largest of the conditions at MLLS
}

// evaluate returns the state at q and sets the densities.
func (m *mixture) evaluate(q []float64) mixtureState {
	s := m.differentiate(q)
	s.likelihood = simd.SumLogs(m.density, m.counts) / m.total
	return s
}

// differentiate is evaluate without the likelihood.
func (m *mixture) differentiate(q []float64) mixtureState {
	n := len(m.classes)
	weights := make([]float64, n)
	for a, j := range m.classes {
		weights[a] = q[a] / m.prior[j]
	}
	groups := m.rows.Groups()
	gradients := make([][]float64, groups)
	m.rows.EachGroup(8*n, func(group, first, last int) {
		gradient, factors := make([]float64, n), m.rows.Scratch.Take(panels.Height)
		defer m.rows.Scratch.Give(factors)
		for i := first; i < last; i++ {
			start, height := m.rows.Extent(i)
			density, counts := m.density[start:start+height], m.counts[start:start+height]
			columns := m.rows.Panel(i)
			simd.Combine(density, columns, weights)
			floats.DivTo(factors[:height], counts, density)
			simd.Project(gradient, columns, factors[:height])
		}
		gradients[group] = gradient
	})
	s := mixtureState{q: q, gradient: gradients[0]}
	for _, gradient := range gradients[1:] {
		floats.Add(s.gradient, gradient)
	}
	for a, j := range m.classes {
		s.gradient[a] /= m.total * m.prior[j]
		violation := s.gradient[a] - 1
		if q[a] > 0 {
			violation = math.Abs(violation)
		}
		s.violation = max(s.violation, violation)
	}
	return s
}

// curvature returns the negative Hessian of the mean log-likelihood at the q that was
// evaluated last.
func (m *mixture) curvature() *mat.SymDense {
	n := len(m.classes)
	sums := make([]*mat.SymDense, m.rows.Groups())
	m.rows.EachGroup(n*n/2, func(group, first, last int) {
		sum, storage := mat.NewSymDense(n, nil), m.rows.Scratch.Take((n+1)*panels.Height)
		defer m.rows.Scratch.Give(storage)
		factors := storage[n*panels.Height:]
		scaled := make([][]float64, n)
		for i := first; i < last; i++ {
			start, height := m.rows.Extent(i)
			for row, d := range m.density[start : start+height] {
				factors[row] = math.Sqrt(m.counts[start+row]) / d
			}
			for a := range scaled {
				scaled[a] = storage[a*panels.Height : a*panels.Height+height]
				floats.MulTo(scaled[a], m.rows.Column(i, a), factors[:height])
			}
			panels.AddGram(sum, scaled)
		}
		sums[group] = sum
	})
	for _, sum := range sums[1:] {
		panels.AddSymmetric(sums[0], sum)
	}
	for a, i := range m.classes {
		for b := a; b < n; b++ {
			sums[0].SetSym(a, b, sums[0].At(a, b)/(m.total*m.prior[i]*m.prior[m.classes[b]]))
		}
	}
	return sums[0]
}

// curvatureAt returns the curvature at q (of the classes with a prior) over all k classes, with 0
// for those without a prior.
func (m *mixture) curvatureAt(q []float64) *mat.SymDense {
	m.differentiate(q)
	curvature, all := m.curvature(), mat.NewSymDense(len(m.prior), nil)
	for a, i := range m.classes {
		for b, j := range m.classes[:a+1] {
			all.SetSym(i, j, curvature.At(a, b))
		}
	}
	return all
}

// estimate returns the weights and shares over all k classes.
func (m *mixture) estimate(s mixtureState) Estimate {
	k := len(m.prior)
	result := Estimate{Weights: make([]float64, k), TargetDistribution: make([]float64, k)}
	for a, i := range m.classes {
		result.TargetDistribution[i] = s.q[a]
		result.Weights[i] = s.q[a] / m.prior[i]
	}
	return result
}
