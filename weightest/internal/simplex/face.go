package simplex

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

const (
	// proximal is δ, the weight of the proximal term against columns of norm one to
	// √2. It must exceed the rounding errors of a Cholesky factorisation (about
	// k·1e-16) and be small against the squared singular values that matter.
	proximal = 1e-11
	// refinements bounds the proximal steps on one face. A well-conditioned face
	// takes two or three, a singular one stops where the steps no longer shrink.
	refinements = 60
	// stepTolerance ends the refinement: the largest entry that the next proximal step
	// will have, over the largest entry of the solution. Steps shrink linearly, so
	// that the last two foretell the next.
	stepTolerance = 1e-15
	// shrinkage is the factor by which each proximal step must be shorter than the
	// one before; what shrinks less is rounding noise in the null space.
	shrinkage = 0.9
)

// A face is a set of free variables of a program; the others are zero. It
// solves the problem without its bounds:
//
//	min ½‖A u - b‖² - c·u   s.t.   d·u = 1,   u_j = 0 for every j that is not free.
//
// A may lack rank, so that H = AᵀA + δI is factorised and
//
//	u ← argmin ½‖A u - b‖² - c·u + ½δ‖u - u_former‖²
//
// repeated: a proximal-point method, whose limit solves the problem without δ. Where
// A has full rank it is also an iterative refinement, and as the residual is
// computed with A instead of AᵀA, its result has the accuracy of a refined
// factorisation of A.
type face struct {
	*Program
	free []int

	gram      []float64 // k×k; lower triangle of AᵀA, valid where both are known
	known     []bool
	factor    blas64.Triangular
	direction blas64.Vector // H⁻¹ d on the free variables
	step      blas64.Vector
	solution  []float64 // u, length k
	residual  []float64 // b - A u
	gradient  []float64 // c + Aᵀ(b - A u), length k
	lambda    float64   // multiplier of the equality
	storage   []float64
}

func newFace(p *Program) *face {
	k := len(p.Equality)
	return &face{
		Program:   p,
		gram:      make([]float64, k*k),
		known:     make([]bool, k),
		storage:   make([]float64, k*k),
		direction: blas64.Vector{Data: make([]float64, k), Inc: 1},
		step:      blas64.Vector{Data: make([]float64, k), Inc: 1},
		solution:  make([]float64, k),
		residual:  make([]float64, len(p.Target)),
		gradient:  make([]float64, k),
	}
}

// solve computes the solution on the face of the free variables, its gradient and
// its multiplier. At least one free variable must have d_j > 0.
func (f *face) solve(free []int) {
	f.free = free
	f.factorise()
	n := len(free)
	f.direction.N, f.step.N = n, n
	var equality float64 // d·H⁻¹d
	for i, j := range free {
		f.direction.Data[i] = f.Equality[j]
	}
	f.backSolve(f.direction)
	for i, j := range free {
		equality += f.Equality[j] * f.direction.Data[i]
	}

	clear(f.solution)
	f.lambda = 0
	former := math.Inf(1)
	for refinement := range refinements {
		f.evaluate(f.solution)
		missing := 1.0
		for i, j := range free {
			f.step.Data[i] = f.gradient[j] + f.lambda*f.Equality[j]
			missing -= f.Equality[j] * f.solution[j]
		}
		f.backSolve(f.step)
		for i, j := range free {
			missing -= f.Equality[j] * f.step.Data[i]
		}
		lambda := missing / equality
		f.lambda += lambda
		var length, size float64
		for i, j := range free {
			p := f.step.Data[i] + lambda*f.direction.Data[i]
			f.solution[j] += p
			length = max(length, math.Abs(p))
			size = max(size, math.Abs(f.solution[j]))
		}
		if refinement > 0 && (length*length <= stepTolerance*size*former || length > shrinkage*former) {
			break
		}
		former = length
	}
	f.evaluate(f.solution)
}

// evaluate sets the residual and the gradient at u.
func (f *face) evaluate(u []float64) {
	copy(f.residual, f.Target)
	blas64.Gemv(blas.Trans, -1, f.Columns, vector(u), 1, vector(f.residual))
	copy(f.gradient, f.Linear)
	blas64.Gemv(blas.NoTrans, 1, f.Columns, vector(f.residual), 1, vector(f.gradient))
}

// dual returns the multiplier of u_j ≥ 0: not negative at an optimum.
func (f *face) dual(j int) float64 { return -f.gradient[j] - f.lambda*f.Equality[j] }

func (f *face) backSolve(x blas64.Vector) {
	blas64.Trsv(blas.NoTrans, f.factor, x)
	blas64.Trsv(blas.Trans, f.factor, x)
}

// factorise sets the Cholesky factor of H on the free variables. There is one, as the program
// is finite and scaled.
func (f *face) factorise() {
	f.completeGram()
	n, k := len(f.free), len(f.Equality)
	for shift := proximal; ; shift *= 100 {
		h := blas64.Symmetric{N: n, Stride: n, Data: f.storage[:n*n], Uplo: blas.Lower}
		for a, i := range f.free {
			source, row := f.gram[i*k:(i+1)*k], h.Data[a*n:(a+1)*n]
			for b, j := range f.free[:a+1] {
				row[b] = source[j]
			}
			row[a] += shift
		}
		var ok bool
		if f.factor, ok = lapack64.Potrf(h); ok {
			return
		}
	}
}

// completeGram computes the rows and columns of AᵀA of variables that were not free before.
func (f *face) completeGram() {
	k := len(f.Equality)
	for _, j := range f.free {
		if f.known[j] {
			continue
		}
		row := f.gram[j*k : (j+1)*k]
		blas64.Gemv(blas.NoTrans, 1, f.Columns, vector(f.Column(j)), 0, vector(row))
		for i := j + 1; i < k; i++ {
			f.gram[i*k+j] = row[i]
		}
		f.known[j] = true
	}
}
