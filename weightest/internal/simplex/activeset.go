package simplex

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

const (
	// dualTolerance is the largest negative multiplier that counts as zero, relative
	// to the terms that it is the sum of.
	dualTolerance = 1e-13
	// primalTolerance is the largest negative variable that counts as zero, relative
	// to the largest variable.
	primalTolerance = 1e-14
	// patience is the number of rounds of block pivoting without progress after which
	// the primal method takes over.
	patience = 4
)

// activeSet solves a program.
type activeSet struct {
	*face
	limit, iterations int
	isFree            []bool
	point             []float64 // feasible, in the primal method
}

func newActiveSet(p *Program, limit int) *activeSet {
	return &activeSet{face: newFace(p), limit: limit, isFree: make([]bool, len(p.Equality)), point: make([]float64, len(p.Equality))}
}

// solve makes the solution the optimal u, and reports whether it was found.
func (a *activeSet) solve() bool {
	for j := range a.isFree {
		a.isFree[j] = true
	}
	if !(!a.PrimalOnly && a.blockPivot() || a.primal()) {
		return false
	}
	for j, u := range a.solution {
		a.solution[j] = max(u, 0)
	}
	return true
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

// blockPivot solves face after face, frees every variable whose multiplier is
// negative and fixes every variable that is (Júdice and Pires 1994; Kim and Park
// 2011). It reports whether none is left; it gives up when their number has not
// fallen for some rounds.
func (a *activeSet) blockPivot() bool {
	fewest, left := len(a.Equality)+1, patience
	for a.iterations < a.limit {
		a.solveFace()
		primal, dual := a.primalLimit(), a.dualLimit()
		var wrong int
		for j, free := range a.isFree {
			if free && a.solution[j] < primal || !free && a.dual(j) < dual {
				wrong++
			}
		}
		if wrong == 0 {
			return true
		}
		if wrong < fewest {
			fewest, left = wrong, patience
		} else if left--; left == 0 {
			return false
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

// primal moves from a feasible point towards the solution of its face; a bound in
// the way becomes active, and at the solution of a face the variable with the most
// negative multiplier becomes free. It reports whether an optimum was reached.
//
// As every feasible u has d·u = 1, the bounds that are active and the equality are
// always linearly independent: no point is degenerate but through rounding. Against
// rounding, a variable is freed once only until the objective has fallen.
func (a *activeSet) primal() bool {
	a.startPrimal()
	freed := make([]bool, len(a.Equality))
	entered, lowest := -1, math.Inf(1)
	for a.iterations < a.limit {
		a.solveFace()
		if entered >= 0 && a.solution[entered] <= 0 {
			a.isFree[entered] = false
			a.ensureEquality()
			entered = -1
			continue
		}
		entered = -1
		if a.stepToBound() {
			continue
		}
		for j, u := range a.solution {
			a.point[j] = max(u, 0)
		}
		if value := a.objective(a.solution); value < lowest {
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

// startPrimal sets a feasible point: what block pivoting ended with, its negative
// values cut off, or the best vertex u = e_j/d_j where that is better.
func (a *activeSet) startPrimal() {
	var total float64
	for j, u := range a.solution {
		a.point[j] = max(u, 0)
		total += a.Equality[j] * a.point[j]
	}
	best := math.Inf(1)
	if total > 0 {
		blas64.Scal(1/total, vector(a.point))
		a.evaluate(a.point)
		best = a.objective(a.point)
	}
	corner := make([]float64, len(a.Equality))
	for j, d := range a.Equality {
		if d == 0 {
			continue
		}
		corner[j] = 1 / d
		a.evaluate(corner)
		if value := a.objective(corner); value < best {
			best = value
			copy(a.point, corner)
		}
		corner[j] = 0
	}
	for j, u := range a.point {
		a.isFree[j] = u > 0
	}
}

// stepToBound moves the point towards the solution of the face until the first
// variable reaches zero, fixes it, and reports whether there was one.
func (a *activeSet) stepToBound() bool {
	limit := a.primalLimit()
	fraction := 1.0
	blocked := false
	for _, j := range a.free {
		if u := a.solution[j]; u < limit {
			blocked = true
			fraction = min(fraction, a.point[j]/(a.point[j]-u))
		}
	}
	if !blocked {
		return false
	}
	for _, j := range a.free {
		u, p := a.solution[j], a.point[j]
		if u < limit && p/(p-u) <= fraction {
			a.point[j], a.isFree[j] = 0, false
		} else {
			a.point[j] = p + fraction*(u-p)
		}
	}
	a.ensureEquality()
	return true
}
