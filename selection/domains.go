package selection

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// DomainWeights returns the density of the target over the source's at each of the rows of
// features (n×d): (n_S/n_T)·P(target)/P(source) by a logistic regression of source (n_S×d)
// against target (n_T×d), which minimises ½‖c‖² + Σ log-loss, the intercept free
// (Sugiyama's importance weights as in DEV). Empty sets, different widths, and a regression
// that does not reach its optimum are errors.
func DomainWeights(source, target, rows *mat.Dense) ([]float64, error) {
	sources, d := source.Dims()
	targets, ofTarget := target.Dims()
	n, ofRows := rows.Dims()
	if ofTarget != d || ofRows != d {
		return nil, fmt.Errorf("selection: features of %d, %d and %d columns", d, ofTarget, ofRows)
	}
	r := logistic{d: d, x: mat.NewDense(sources+targets, d+1, nil), source: sources}
	for i := range sources {
		copy(r.x.RawRowView(i), source.RawRowView(i))
		r.x.Set(i, d, 1)
	}
	for i := range targets {
		copy(r.x.RawRowView(sources+i), target.RawRowView(i))
		r.x.Set(sources+i, d, 1)
	}
	c, err := r.fit()
	if err != nil {
		return nil, err
	}
	weights := make([]float64, n)
	for i := range weights {
		score := floats.Dot(c[:d], rows.RawRowView(i)) + c[d]
		weights[i] = float64(sources) / float64(targets) * math.Exp(-score)
	}
	return weights, nil
}

// logistic is a regression of the first rows of x, the source, against the others. The
// last column of x is one.
type logistic struct {
	x      *mat.Dense
	d      int
	source int
}

// fit returns the coefficients, the intercept last, by Newton's method with halved steps:
// the problem is strictly convex in all but the intercept, and convex in that.
func (r logistic) fit() ([]float64, error) {
	const rounds, tolerance = 100, 1e-10
	n, columns := r.x.Dims()
	c, gradient := make([]float64, columns), make([]float64, columns)
	value, slopes := r.loss(c)
	for range rounds {
		clear(gradient)
		copy(gradient, c[:r.d])
		hessian := mat.NewSymDense(columns, nil)
		for j := range r.d {
			hessian.SetSym(j, j, 1)
		}
		for i := range n {
			row := r.x.RawRowView(i)
			floats.AddScaled(gradient, slopes[i].first, row)
			hessian.SymRankOne(hessian, slopes[i].second, mat.NewVecDense(columns, row))
		}
		if floats.Norm(gradient, math.Inf(1)) < tolerance*float64(n) {
			return c, nil
		}
		var cholesky mat.Cholesky
		var step mat.VecDense
		if !cholesky.Factorize(hessian) || cholesky.SolveVecTo(&step, mat.NewVecDense(columns, gradient)) != nil {
			break
		}
		moved, ok := false, false
		for length := 1.0; length > 1e-10; length /= 2 {
			next := append([]float64(nil), c...)
			floats.AddScaled(next, -length, step.RawVector().Data)
			nextValue, nextSlopes := r.loss(next)
			if nextValue <= value {
				moved, ok = nextValue < value, true
				c, value, slopes = next, nextValue, nextSlopes
				break
			}
		}
		if !ok || !moved { // rounding allows no better
			return c, nil
		}
	}
	return nil, fmt.Errorf("selection: the logistic regression of the domains did not reach its optimum")
}

// slope holds the derivatives of a row's loss by its score.
type slope struct{ first, second float64 }

func (r logistic) loss(c []float64) (value float64, slopes []slope) {
	n, _ := r.x.Dims()
	value = floats.Dot(c[:r.d], c[:r.d]) / 2
	slopes = make([]slope, n)
	for i := range slopes {
		score := floats.Dot(r.x.RawRowView(i), c)
		sign := 1.0
		if i >= r.source {
			sign = -1
		}
		// log(1 + exp(-sign·score)), without overflow
		value += max(0, -sign*score) + math.Log1p(math.Exp(-math.Abs(score)))
		p := 1 / (1 + math.Exp(sign*score)) // of the wrong domain
		slopes[i] = slope{-sign * p, p * (1 - p)}
	}
	return value, slopes
}
