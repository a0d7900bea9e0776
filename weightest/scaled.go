package weightest

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// scaled is the quadratic program in variables u in which every column has norm one
// to √2 and the equality's largest coefficient is one, whatever the units of C, mu
// and D_S:
//
//	w_j = u_j·unit[j],   min ½‖A u - b‖² - c·u   s.t.   u ≥ 0, d·u = 1.
//
// A is C with scaled columns above one more row, a multiple σ of d whose entry of b
// is σ. As d·u = 1 for every feasible u that row changes no solution, but A has
// full column rank wherever the solution is unique. c is zero but for the released
// right-hand side, which has no residual form.
//
// Classes that neither occur nor have a column of C are left out: their weight is
// zero. classes counts the others.
type scaled struct {
	classes, rows int
	index         []int     // of each variable's class
	norms         []float64 // of every class: ‖C_j‖, or what stands for it where C_j is zero
	unit          []float64 // w_j over u_j
	columns       blas64.General
	target        []float64 // b
	linear        []float64 // c
	equality      []float64 // d
}

func scale(p Problem, rightHandSide RightHandSide) *scaled {
	k := p.Classes()
	s := &scaled{rows: k + 1, norms: make([]float64, k)}
	s.columns = blas64.General{Cols: s.rows, Stride: s.rows, Data: make([]float64, k*s.rows)}
	for j, mass := range p.SourceDistribution {
		norm := normalisedColumn(s.column(s.classes).Data[:k], p.Confusion, j)
		if norm > 0 || mass > 0 {
			s.index = append(s.index, j)
			s.classes++
		}
		s.norms[j] = norm
	}
	n := s.classes
	s.columns.Rows = n

	var ratio float64 // largest D_S[j]/‖C_j‖ over columns that are not zero
	for j, norm := range s.norms {
		if norm > 0 {
			ratio = max(ratio, p.SourceDistribution[j]/norm)
		}
	}
	if ratio == 0 {
		ratio = 1
	}
	s.unit = make([]float64, n)
	s.linear = make([]float64, n)
	s.equality = make([]float64, n)
	for a, j := range s.index {
		if s.norms[j] == 0 {
			s.norms[j] = p.SourceDistribution[j] / ratio
		}
		norm := s.norms[j]
		s.equality[a] = p.SourceDistribution[j] / norm / ratio
		s.unit[a] = 1 / norm / ratio
	}
	sigma := 1 / blas64.Nrm2(vector(s.equality))
	for a := range n {
		s.column(a).Data[k] = sigma * s.equality[a]
	}

	s.target = make([]float64, s.rows)
	s.target[k] = sigma
	switch rightHandSide {
	case LeastSquares:
		for i, mu := range p.TargetPredictions {
			s.target[i] = mu * ratio
		}
	case Released:
		// -q = C mu, and the equality's row adds σ² d to c as b does elsewhere.
		for a, j := range s.index {
			row := blas64.Vector{N: k, Inc: 1, Data: p.Confusion.RawRowView(j)}
			s.linear[a] = blas64.Dot(row, vector(p.TargetPredictions)) * s.unit[a] * ratio * ratio
		}
	}
	return s
}

// normalisedColumn writes the j-th column of the matrix, divided by its norm, and
// returns the norm. A column of zeros stays one.
func normalisedColumn(column []float64, m *mat.Dense, j int) float64 {
	mat.Col(column, j, m)
	largest := floats.Norm(column, math.Inf(1))
	if largest == 0 {
		return 0
	}
	// Squares of what is divided by the largest entry neither overflow nor vanish.
	for i := range column {
		column[i] /= largest
	}
	norm := math.Sqrt(floats.Dot(column, column))
	floats.Scale(1/norm, column)
	return largest * norm
}

func (s *scaled) column(j int) blas64.Vector {
	return vector(s.columns.Data[j*s.rows : (j+1)*s.rows])
}

// weights returns the w, length k, of u.
func (s *scaled) weights(u []float64, k int) []float64 {
	w := make([]float64, k)
	for a, j := range s.index {
		w[j] = u[a] * s.unit[a]
	}
	return w
}

// magnitude bounds the rounding errors of a gradient whose residual has this norm,
// up to the unit of rounding.
func (s *scaled) magnitude(residual float64) float64 {
	size := residual + blas64.Nrm2(vector(s.target))
	for _, v := range s.linear {
		size = max(size, math.Abs(v))
	}
	return size
}
