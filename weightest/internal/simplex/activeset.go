package simplex

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
)

const (
	// dualTolerance is the largest negative multiplier that counts as zero, relative
	// to the terms that it is the sum of. It must exceed what the proximal term leaves of
	// one where A lacks rank, or variables are freed and fixed in turn.
	dualTolerance = 1e-11
	// primalTolerance is the largest negative variable that counts as zero, relative
	// to the largest variable.
	primalTolerance = 1e-14
	// guessSteps is the number of gradient steps that choose the first free set.
	guessSteps = 10
	// patience is the number of rounds of block pivoting without progress after which
	// the primal method takes over.
	patience = 4
)

// activeSet solves a program.
type activeSet struct {
	*face
	limit, iterations int
	isFree            []bool
}

// solve makes the solution the optimal u, and reports whether it was found.
func (a *activeSet) solve() bool {
	a.guess()
	if !a.pivot() && !a.primal() {
		return false
	}
	for j, u := range a.solution {
		a.solution[j] = max(u, 0)
	}
	return true
}

// guess chooses the first free set: the support after a few projected gradient steps
// (Barzilai and Borwein 1988) on the problem without its equality, which A's last
// row stands for. A step costs two products with A, far less than a factorisation
// of a set too large.
func (a *activeSet) guess() {
	k := len(a.Equality)
	u := slices.Repeat([]float64{1 / float64(k)}, k)
	a.evaluate(u)
	formerPoint, formerGradient := make([]float64, k), make([]float64, k)
	step := 1.0
	for range guessSteps {
		copy(formerPoint, u)
		copy(formerGradient, a.gradient)
		for j := range u {
			u[j] = max(0, u[j]+step*a.gradient[j])
		}
		a.evaluate(u)
		var square, curvature float64
		for j := range u {
			s := u[j] - formerPoint[j]
			square += s * s
			curvature += s * (formerGradient[j] - a.gradient[j])
		}
		if !(curvature > 0) {
			break
		}
		step = square / curvature
	}
	for j, v := range u {
		a.isFree[j] = v > 0
	}
	a.ensureEquality()
}

// ensureEquality frees the variable with the largest coefficient in the equality
// where no free variable has one.
func (a *activeSet) ensureEquality() {
	largest := 0
	for j, d := range a.Equality {
		if a.isFree[j] && d > 0 {
			return
		}
		if d > a.Equality[largest] {
			largest = j
		}
	}
	a.isFree[largest] = true
}

func (a *activeSet) solveFace() {
	a.iterations++
	free := a.free[:0]
	for j, ok := range a.isFree {
		if ok {
			free = append(free, j)
		}
	}
	a.face.solve(free)
}

// dualLimit is the value below which a multiplier is negative.
func (a *activeSet) dualLimit() float64 {
	return -dualTolerance * a.magnitude(blas64.Nrm2(vector(a.residual)))
}

// primalLimit is the value below which a variable is negative.
func (a *activeSet) primalLimit() float64 {
	var largest float64
	for _, j := range a.free {
		largest = max(largest, math.Abs(a.solution[j]))
	}
	return -primalTolerance * largest
}

// pivot solves face after face, frees every variable whose multiplier is negative and fixes every
// variable that is (Júdice and Pires 1994; Kim and Park 2011). It reports whether none is left, and gives up once their
// number has not fallen for some rounds.
func (a *activeSet) pivot() bool {
	fewest, left := len(a.Equality)+1, patience
	for a.iterations < a.limit {
		a.solveFace()
		primal, dual := a.primalLimit(), a.dualLimit()
		wrong := 0
		for j, free := range a.isFree {
			if free && a.solution[j] < primal || !free && a.dual(j) < dual {
				wrong++
				a.isFree[j] = !free
			}
		}
		if wrong == 0 {
			return true
		}
		a.ensureEquality()
		if left--; wrong < fewest {
			fewest, left = wrong, patience
		}
		if left == 0 {
			return false
		}
	}
	return false
}

// primal moves from what pivoting ended with, its negative values cut off, towards the solution of its face; a bound in
// the way becomes active, and at the solution of a face the variable with the most negative multiplier becomes free. It
// reports whether an optimum was reached.
//
// As every feasible u has d·u = 1, the bounds that are active and the equality are always linearly independent: no
// point is degenerate but through rounding. Against rounding, a variable is freed once only until the objective has fallen.
func (a *activeSet) primal() bool {
	k := len(a.Equality)
	point, freed := make([]float64, k), make([]bool, k)
	for j, u := range a.solution {
		point[j], a.isFree[j] = max(u, 0), u > 0
	}
	blas64.Scal(1/blas64.Dot(vector(a.Equality), vector(point)), vector(point))
	entered, lowest := -1, math.Inf(1)
	for a.iterations < a.limit {
		a.solveFace()
		if entered >= 0 && a.solution[entered] <= 0 {
			a.isFree[entered] = false
			entered = -1
			continue
		}
		if entered = -1; a.stepToBound(point) {
			continue
		}
		copy(point, a.solution)
		r := vector(a.residual)
		if value := blas64.Dot(r, r)/2 - blas64.Dot(vector(a.Linear), vector(point)); value < lowest {
			lowest = value
			clear(freed)
		}
		most := a.dualLimit()
		for j, free := range a.isFree {
			if dual := a.dual(j); !free && !freed[j] && dual < most {
				most, entered = dual, j
			}
		}
		if entered < 0 {
			return true
		}
		a.isFree[entered], freed[entered] = true, true
	}
	return false
}

// stepToBound moves the point towards the solution of the face until the first variable reaches zero, fixes it,
// and reports whether there was one.
func (a *activeSet) stepToBound(point []float64) bool {
	limit, fraction, first := a.primalLimit(), 1.0, -1
	for _, j := range a.free {
		if u := a.solution[j]; u < limit && point[j] <= fraction*(point[j]-u) {
			fraction, first = point[j]/(point[j]-u), j
		}
	}
	if first < 0 {
		return false
	}
	for _, j := range a.free {
		point[j] = max(0, point[j]+fraction*(a.solution[j]-point[j]))
	}
	point[first], a.isFree[first] = 0, false
	a.ensureEquality()
	return true
}
