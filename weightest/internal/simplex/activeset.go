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
	// signs change one by one.
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
	if !a.pivot() {
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

// pivot solves face after face, frees every variable whose multiplier is
// negative and fixes every variable that is. Once their number has not
// fallen for some rounds, the last one of them alone changes in each round until
// it has (Júdice and Pires 1994; Kim and Park 2011). It reports whether none is left.
func (a *activeSet) pivot() bool {
	fewest, left := len(a.Equality)+1, patience
	for a.iterations < a.limit {
		a.solveFace()
		primal, dual := a.primalLimit(), a.dualLimit()
		wrong, last := 0, -1
		for j, free := range a.isFree {
			if free && a.solution[j] < primal || !free && a.dual(j) < dual {
				wrong++
				last = j
			}
		}
		switch {
		case wrong == 0:
			return true
		case wrong < fewest:
			fewest, left = wrong, patience
		default:
			left--
		}
		if left <= 0 {
			a.isFree[last] = !a.isFree[last]
			a.ensureEquality()
			continue
		}
		for j, free := range a.isFree {
			if free {
				a.isFree[j] = a.solution[j] >= primal
			} else {
				a.isFree[j] = a.dual(j) < dual
			}
		}
		a.ensureEquality()
	}
	return false
}
