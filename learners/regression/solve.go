package regression

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"iwda/internal/conjugate"
	"iwda/internal/evenly"
	"iwda/internal/parallel"
	"iwda/internal/simd"
	"iwda/learners"
	"iwda/learners/internal/softmax"
)

// blockRows is how many rows a block has: with hundreds of columns, it stays in the processor's cache.
const blockRows = 64

func blocks(rows int) int { return (rows + blockRows - 1) / blockRows }

// block is columns of some rows, one after the other, and one more of ones.
type block struct {
	rows    int
	columns []float64
}

// blockOf is that of rows (n×d), at most blockRows.
func blockOf(wide []float64, d int) block {
	rows := len(wide) / d
	x := block{rows, slices.Repeat([]float64{1}, rows*(d+1))}
	simd.Transpose(x.columns, wide, rows, d, rows, d)
	return x
}

func widen(values []float32) []float64 {
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	return wide
}

// logits sets those of vectors of weights, each with its bias, one after the other.
func (b block) logits(z, vectors []float64) {
	simd.CombineAll(z[:len(vectors)/(len(b.columns)/b.rows)*b.rows], b.columns, vectors, b.rows)
}

// problem is the regression of some rows. It looks for vectors of weights with a bias, one a class, or one
// of class 1 of two, as that of class 0 is its negative.
type problem struct {
	n, d, k, vectors int
	labels           []int
	blocks           []block
	gram             []float64   // XᵀX/n with the ones
	deviations       []float64   // of whether a row is of a vector's class
	probabilities    [][]float64 // of each block, k×rows, where value was asked for last
	basis            [][]float64 // of the rows, if they are few: columns are coordinates along it; see basisOf
	threads          int
	work             float64 // products of values and weights since newProblem
}

// newProblem is that of those of rows whose numbers are learnt.
func newProblem(rows learners.Rows, learnt []int, threads int) *problem {
	p := &problem{n: len(learnt), d: rows.Columns(), k: rows.Classes, vectors: rows.Classes, labels: evenly.Pick(rows.Labels, learnt), threads: threads}
	if 2*p.n < p.d {
		rows = rows.Part(learnt)
		p.basis, rows.Values = basisOf(rows.Values, p.d)
		p.d, learnt = len(p.basis), evenly.All(p.n)
	}
	if p.k == 2 {
		p.vectors = 1
	}
	values := make([][]float64, max(1, threads)) // of a block
	p.blocks = make([]block, blocks(p.n))
	p.probabilities = make([][]float64, len(p.blocks))
	parallel.Each(threads, len(p.blocks), func(worker, b int) {
		wide := values[worker][:0]
		for _, row := range learnt[b*blockRows : min(p.n, (b+1)*blockRows)] {
			for _, v := range rows.Values[row*p.d : (row+1)*p.d] {
				wide = append(wide, float64(v))
			}
		}
		p.blocks[b], values[worker] = blockOf(wide, p.d), wide
		p.probabilities[b] = make([]float64, p.k*p.blocks[b].rows)
	})
	for y := p.k - p.vectors; y < p.k; y++ {
		share := 1 / float64(p.k) // as if one more row were of all classes
		for _, of := range p.labels {
			if of == y {
				share++
			}
		}
		share /= float64(p.n + 1)
		p.deviations = append(p.deviations, math.Sqrt(share*(1-share)))
	}
	return p
}

// basisOf returns an orthonormal basis of rows (n×d), fewer than columns, and their coordinates along it. The weights
// at the minimum are combinations of rows, so that as many columns as rows are enough to find them. One of zeros has one
// vector too.
func basisOf(values []float32, d int) (basis [][]float64, coordinates []float32) {
	const negligible = 1e-7 // what float32 rounds
	for row := range slices.Chunk(values, d) {
		rest := widen(row)
		length := floats.Norm(rest, 2)
		for range 2 { // the second time against rounding
			for _, b := range basis {
				floats.AddScaled(rest, -floats.Dot(rest, b), b)
			}
		}
		if left := floats.Norm(rest, 2); left > negligible*length {
			floats.Scale(1/left, rest)
			basis = append(basis, rest)
		}
	}
	if basis == nil {
		basis = [][]float64{make([]float64, d)}
	}
	for row := range slices.Chunk(values, d) {
		wide := widen(row)
		for _, b := range basis {
			coordinates = append(coordinates, float32(floats.Dot(wide, b)))
		}
	}
	return basis, coordinates
}

// whole returns vectors of weights of the rows' own columns.
func (p *problem) whole(at []float64) (whole []float64) {
	if p.basis == nil {
		return at
	}
	for v := range slices.Chunk(at, p.d+1) {
		weights := make([]float64, len(p.basis[0]))
		for j, b := range p.basis {
			floats.AddScaled(weights, v[j], b)
		}
		whole = append(append(whole, weights...), v[p.d])
	}
	return whole
}

// inGroups adds up what work returns, and writes, of each block. Groups of blocks depend on their number
// alone, and so the bits of the sums.
func (p *problem) inGroups(sums []float64, work func(sums []float64, b int, scratch []float64) float64) (value float64) {
	groups := min(8, len(p.blocks))
	values, parts := make([]float64, groups), make([][]float64, groups)
	parallel.Each(p.threads, groups, func(_, g int) {
		parts[g] = make([]float64, len(sums))
		scratch := make([]float64, (p.k+2)*blockRows)
		for b := len(p.blocks) * g / groups; b < len(p.blocks)*(g+1)/groups; b++ {
			values[g] += work(parts[g], b, scratch)
		}
	})
	clear(sums)
	for g := range parts {
		value += values[g]
		floats.Add(sums, parts[g])
	}
	floats.Scale(1/float64(p.n), sums)
	return value / float64(p.n)
}

// value returns F, and writes its gradient. It sets the probabilities.
func (p *problem) value(at, gradient []float64, c float64) float64 {
	value := p.inGroups(gradient, func(gradient []float64, b int, scratch []float64) (loss float64) {
		x, q, first := p.blocks[b], p.probabilities[b], b*blockRows
		n := x.rows
		z := scratch[:p.k*n]
		clear(z[:(p.k-p.vectors)*n])
		x.logits(z[(p.k-p.vectors)*n:], at)
		loss = softmax.Loss(q, z, p.labels[first:first+n], scratch[p.k*n:])
		copy(z, q)
		softmax.Slopes(z, p.labels[first:first+n])
		p.project(gradient, b, z)
		return loss
	})
	penalty := 1 / (c * float64(p.n))
	for v := 0; v < len(at); v += p.d + 1 {
		floats.AddScaled(gradient[v:v+p.d], penalty, at[v:v+p.d])
		value += penalty / 2 * floats.Dot(at[v:v+p.d], at[v:v+p.d])
	}
	return value
}

// curvature writes the product of a step and the second derivatives of F where value was asked for last.
func (p *problem) curvature(into, step []float64, c float64) {
	p.work += float64(p.n) * float64(len(step))
	p.inGroups(into, func(into []float64, b int, scratch []float64) float64 {
		x, q := p.blocks[b], p.probabilities[b]
		n := x.rows
		z, mean := scratch[:p.k*n], scratch[p.k*n:(p.k+1)*n]
		clear(z[:(p.k-p.vectors)*n])
		x.logits(z[(p.k-p.vectors)*n:], step)
		floats.Mul(z, q)
		clear(mean)
		for y := p.k - p.vectors; y < p.k; y++ {
			floats.Add(mean, z[y*n:(y+1)*n])
		}
		for y := p.k - p.vectors; y < p.k; y++ {
			for i, m := range mean {
				z[y*n+i] -= q[y*n+i] * m
			}
		}
		p.project(into, b, z)
		return 0
	})
	for v := 0; v < len(step); v += p.d + 1 {
		floats.AddScaled(into[v:v+p.d], 1/(c*float64(p.n)), step[v:v+p.d])
	}
}

// project adds the products of a block's columns with factors of its rows (k×rows) to those of the vectors.
func (p *problem) project(sums []float64, b int, factors []float64) {
	x := p.blocks[b]
	simd.ProjectAll(sums, x.columns, factors[(p.k-p.vectors)*x.rows:], x.rows)
}

// axes are coordinates in which F is about as steep in all directions: vectors of weights times a lower
// triangle, where its product with its transpose is the Hessian if all rows were as probable as their
// classes are frequent. That bounds the steps to the minimum, and does not change it.
type axes struct {
	to, from   []float64 // triangles, size×size, row after row
	deviations []float64
}

// mostAxes bounds the columns for which they are computed, by whose cube the time grows.
const mostAxes = 1024

func (p *problem) axes(c float64) *axes {
	size := p.d + 1
	if size > mostAxes {
		return &axes{deviations: p.deviations}
	}
	if p.gram == nil {
		p.setGram()
	}
	largest := slices.Max(p.deviations)
	m := mat.NewSymDense(size, nil)
	for i := range size {
		for j := i; j < size; j++ {
			m.SetSym(i, j, p.gram[i*size+j])
		}
		add := 1e-10 * m.At(i, i)
		if i < p.d {
			add += 1 / (c * float64(p.n) * largest * largest)
		}
		m.SetSym(i, i, m.At(i, i)+add)
	}
	var factors mat.Cholesky
	if !factors.Factorize(m) {
		return &axes{deviations: p.deviations}
	}
	var l, inverse mat.TriDense
	factors.LTo(&l)
	if inverse.InverseTri(&l) != nil {
		return &axes{deviations: p.deviations}
	}
	return &axes{mat.DenseCopyOf(&l).RawMatrix().Data, mat.DenseCopyOf(&inverse).RawMatrix().Data, p.deviations}
}

// setGram sets XᵀX/n, of some of many blocks.
func (p *problem) setGram() {
	const enough = 8 // times as many rows as columns
	size := p.d + 1
	some := evenly.Of(p.blocks, max(1, enough*size/blockRows))
	p.gram = make([]float64, size*size)
	rows := 0
	for _, b := range some {
		simd.AddGram(p.gram, size, slices.Collect(slices.Chunk(b.columns, b.rows)))
		rows += b.rows
	}
	floats.Scale(1/float64(rows), p.gram)
}

// along returns vectors of weights in the coordinates.
func (a *axes) along(at []float64) []float64 { return a.product(at, a.to, false) }

// back returns vectors of weights of coordinates.
func (a *axes) back(v []float64) []float64 { return a.product(v, a.from, true) }

func (a *axes) product(vectors, triangle []float64, divide bool) []float64 {
	out, size := slices.Clone(vectors), len(vectors)/len(a.deviations)
	if triangle != nil {
		simd.CombineAll(out, triangle, vectors, size)
	}
	for v, deviation := range a.deviations {
		if divide {
			deviation = 1 / deviation
		}
		floats.Scale(deviation, out[v*size:(v+1)*size])
	}
	return out
}

// gradient writes that in the coordinates of the gradient in vectors of weights.
func (a *axes) gradient(into, of []float64) {
	size := len(of) / len(a.deviations)
	if a.from == nil {
		copy(into, of)
	} else {
		clear(into)
		simd.ProjectAll(into, a.from, of, size)
	}
	for v, deviation := range a.deviations {
		floats.Scale(1/deviation, into[v*size:(v+1)*size])
	}
}

// solve returns the classifier at the minimum, looked for from a start on.
func (p *problem) solve(ctx context.Context, c float64, start []float64) (Classifier, error) {
	at, err := p.minimum(ctx, c, start, least)
	if err != nil {
		return Classifier{}, err
	}
	return p.classifier(at, c), nil
}

// classifier is that of vectors of weights. Its biases sum to 0: F is the same if all have a number more.
func (p *problem) classifier(at []float64, c float64) Classifier {
	result := Classifier{C: c}
	at = p.whole(at)
	d := len(at)/p.vectors - 1
	if p.k == 2 {
		at = slices.Concat(at, at)
		for i := range at {
			at[i] /= 2
			if i < d+1 {
				at[i] *= -1
			}
		}
	}
	for v := range slices.Chunk(at, d+1) {
		result.Weight, result.Bias = append(result.Weight, v[:d]...), append(result.Bias, v[d])
	}
	floats.AddConst(-stat.Mean(result.Bias, nil), result.Bias)
	return result
}

// How far from 0 the gradient is at the end, in coordinates: its square is about twice what F is above
// its minimum. Strengths are compared where it is near.
const (
	near  = 1e-3
	least = 1e-8
	// mostWork is the number of products of a value and a weight after which near is near enough.
	mostWork = 2e10
)

// minimum returns where F is least, looked for from a start on, nil for 0, until the gradient is as short as
// asked for: by Newton's steps, each by conjugate gradients until it is as good as the gradient is short
// (Dembo, Eisenstat and Steihaug 1982), and halved until F falls.
func (p *problem) minimum(ctx context.Context, c float64, start []float64, shortest float64) ([]float64, error) {
	const rounds = 100
	size := p.vectors * (p.d + 1)
	if start == nil {
		start = make([]float64, size)
	}
	axes := p.axes(c)
	v, next, slope, gradient, own := axes.along(start), make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	value := func(v []float64) float64 { return p.value(axes.back(v), own, c) }
	f := value(v)
	if f > math.Log(float64(p.k)) { // a start of rows without some classes, worse than none
		clear(v)
		f = value(v)
	}
	axes.gradient(gradient, own)
	for range rounds {
		length := floats.Norm(gradient, 2)
		if p.work > mostWork {
			shortest = max(shortest, near)
		}
		if length <= shortest {
			return axes.back(v), nil
		}
		step, err := p.step(ctx, axes, gradient, c, math.Max(math.Min(0.25, length), shortest/2/length))
		if err != nil {
			return nil, err
		}
		falls, rounding := floats.Dot(gradient, step), 1e-14*math.Abs(f)
		share, fell := 1., f
		for ; share > 1e-9; share /= 2 {
			fell = value(floats.AddScaledTo(next, v, share, step))
			if fell <= f+1e-4*share*falls+rounding {
				break
			}
		}
		if share <= 1e-9 || math.IsNaN(fell) {
			break
		}
		axes.gradient(slope, own)
		if f-fell <= rounding && floats.Norm(slope, 2) >= length {
			return axes.back(v), nil // F and the gradient have come to where rounding begins
		}
		v, next, gradient, slope, f = next, v, slope, gradient, fell
	}
	return nil, fmt.Errorf("no minimum for C = %v", c)
}

// step returns the one at which the gradient would be shorter by a factor if F were as curved everywhere as
// where value was asked for last.
func (p *problem) step(ctx context.Context, axes *axes, gradient []float64, c, factor float64) ([]float64, error) {
	const most = 250
	own, downhill := make([]float64, len(gradient)), floats.ScaleTo(make([]float64, len(gradient)), -1, gradient)
	return conjugate.Solve(downhill, nil, factor, most, func(curved, along []float64) error {
		p.curvature(own, axes.back(along), c)
		axes.gradient(curved, own)
		return ctx.Err()
	})
}
