// Package simplex solves quadratic programs on a scaled simplex, for matrices of any rank:
//
//	min ½‖A x - b‖² - c·x   s.t.   x ≥ 0, d·x = 1.
//
// The method is block pivoting (all signs that are wrong change at once), and where that does not settle a
// primal active-set method, whose objective never increases. Each free set is solved by a Cholesky
// factorisation with proximal refinement.
package simplex

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// ErrNoConvergence says that an iterative method used up its iterations, or that numbers
// overflowed.
var ErrNoConvergence = errors.New("weightest: no convergence")

// Program is a quadratic program, which is to be scaled: columns of norm about one, and
// coefficients of the equality up to about one. Scale makes one of any units.
type Program struct {
	// Columns are the n columns of A, a row each: n×m.
	Columns  blas64.General
	Target   []float64 // b, length m
	Linear   []float64 // c, length n
	Equality []float64 // d, length n, not negative and not all zero
}

// New returns the program of n variables and m rows with zeros everywhere.
func New(n, m int) *Program {
	return &Program{
		// Room for one more row; see complete.
		Columns:  blas64.General{Rows: n, Cols: m, Stride: m + 1, Data: make([]float64, n*(m+1))},
		Target:   make([]float64, m, m+1),
		Linear:   make([]float64, n),
		Equality: make([]float64, n),
	}
}

// Column returns the j-th column of A, which is the program's own.
func (p *Program) Column(j int) []float64 {
	return p.Columns.Data[j*p.Columns.Stride : j*p.Columns.Stride+p.Columns.Cols]
}

// Solve returns an optimal x, the same at every call if several are. It solves 100 + 10n
// linear systems at most. The error wraps ErrNoConvergence. A program is solved once.
func (p *Program) Solve() (x []float64, err error) {
	x, _, err = p.solve(100 + 10*len(p.Equality))
	return x, err
}

// solve also returns the number of linear systems solved.
func (p *Program) solve(limit int) (x []float64, iterations int, err error) {
	p.complete()
	if !p.isFinite() {
		return nil, 0, fmt.Errorf("%w: the scales of the program's numbers are too far apart", ErrNoConvergence)
	}
	a := &activeSet{face: newFace(p), limit: limit, isFree: make([]bool, len(p.Equality))}
	if !a.solve() {
		return nil, a.iterations, fmt.Errorf("%w in %d iterations with %d variables", ErrNoConvergence, a.iterations, len(p.Equality))
	}
	return a.solution, a.iterations, nil
}

// isFinite reports whether no number of the program is infinite or NaN.
func (p *Program) isFinite() bool {
	for _, numbers := range [][]float64{p.Columns.Data, p.Target, p.Linear, p.Equality} {
		for _, v := range numbers {
			if math.IsInf(v, 0) || math.IsNaN(v) {
				return false
			}
		}
	}
	return true
}

// complete puts one more row below A, a multiple σ of d whose entry of b is σ. As d·x = 1
// for every feasible x that row changes no solution, but A has full column rank wherever
// the solution is unique.
func (p *Program) complete() {
	sigma := 1 / blas64.Nrm2(vector(p.Equality))
	p.Columns.Cols++
	for j, d := range p.Equality {
		column := p.Column(j)
		column[len(column)-1] = sigma * d
	}
	p.Target = append(p.Target, sigma)
}

// magnitude bounds the rounding errors of a gradient whose residual has this norm,
// up to the unit of rounding.
func (p *Program) magnitude(residual float64) float64 {
	size := residual + blas64.Nrm2(vector(p.Target))
	for _, v := range p.Linear {
		size = max(size, math.Abs(v))
	}
	return size
}

// Scaled is a program in variables u in which every column has norm one to √2 and the
// equality's largest coefficient is one, whatever the units of A, b and d:
//
//	x_j = u_j·unit[j].
//
// Variables of which neither d nor A has anything are left out: they are zero.
type Scaled struct {
	*Program
	variables int       // n
	index     []int     // of each u's variable
	unit      []float64 // x_j over u_j
}

// Scale returns the program of A, m×n, with b of length m, c = 0, and d of length n, not
// negative and not all zero.
func Scale(a *mat.Dense, b, d []float64) *Scaled {
	m, n := a.Dims()
	s := &Scaled{variables: n}
	program := New(n, m)
	norms := make([]float64, n)
	for j, mass := range d {
		norm := normalisedColumn(program.Column(len(s.index)), a, j)
		if norm > 0 || mass > 0 {
			s.index = append(s.index, j)
		}
		norms[j] = norm
	}
	program.Columns.Rows = len(s.index)
	program.Linear, program.Equality = program.Linear[:len(s.index)], program.Equality[:len(s.index)]

	var ratio float64 // largest d_j/‖A_j‖ over columns that are not zero
	for j, norm := range norms {
		if norm > 0 {
			ratio = max(ratio, d[j]/norm)
		}
	}
	if ratio == 0 {
		ratio = 1
	}
	s.unit = make([]float64, len(s.index))
	for i, j := range s.index {
		norm := norms[j]
		if norm == 0 {
			norm = d[j] / ratio
		}
		program.Equality[i] = d[j] / norm / ratio
		s.unit[i] = 1 / norm / ratio
	}
	for i, v := range b {
		program.Target[i] = v * ratio
	}
	s.Program = program
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

// Solve returns an optimal x, length n, as Program.Solve does. What rounding leaves of
// d·x = 1 is the caller's to restore.
func (s *Scaled) Solve() (x []float64, err error) {
	u, err := s.Program.Solve()
	if err != nil {
		return nil, err
	}
	x = make([]float64, s.variables)
	for i, j := range s.index {
		x[j] = u[i] * s.unit[i]
	}
	return x, nil
}

func vector(data []float64) blas64.Vector {
	return blas64.Vector{N: len(data), Inc: 1, Data: data}
}
