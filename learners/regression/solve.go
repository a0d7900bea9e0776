package regression

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
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

// logits sets those of vectors of weights, each with its bias, one after the other.
func (b block) logits(z, vectors []float64) {
	simd.CombineAll(z[:len(vectors)/(len(b.columns)/b.rows)*b.rows], b.columns, vectors, b.rows)
}

// problem is the regression of some rows. It looks for vectors of weights with a bias, one a class, or one
// of class 1 of two, as that of class 0 is its negative. They are of columns of mean 0 and deviation 1, whatever
// units the rows have, and nearly constant ones have a smaller deviation.
type problem struct {
	n, d, k, vectors int
	labels           []int
	blocks           []block
	mean, scale      []float64   // of each column; blocks have values less the mean, over the scale
	probabilities    [][]float64 // of each block, k×rows, where value was asked for last
	threads          int
	work             float64 // products of values and weights since newProblem
}

// newProblem is that of those of rows whose numbers are learnt.
func newProblem(rows learners.Rows, learnt []int, threads int) *problem {
	p := &problem{n: len(learnt), d: rows.Columns(), k: rows.Classes, vectors: rows.Classes, labels: evenly.Pick(rows.Labels, learnt), threads: threads}
	if p.k == 2 {
		p.vectors = 1
	}
	p.mean, p.scale = make([]float64, p.d), make([]float64, p.d)
	n := float64(p.n)
	for _, row := range learnt {
		for j, v := range rows.Values[row*p.d : (row+1)*p.d] {
			p.mean[j] += float64(v) / n
		}
	}
	for _, row := range learnt {
		for j, v := range rows.Values[row*p.d : (row+1)*p.d] {
			away := float64(v) - p.mean[j]
			p.scale[j] += away * away / n
		}
	}
	for j, variance := range p.scale {
		p.scale[j] = math.Sqrt(max(variance, 1/n))
	}
	values := make([][]float64, max(1, threads)) // of a block
	p.blocks = make([]block, blocks(p.n))
	p.probabilities = make([][]float64, len(p.blocks))
	parallel.Each(threads, len(p.blocks), func(worker, b int) {
		wide := values[worker][:0]
		for _, row := range learnt[b*blockRows : min(p.n, (b+1)*blockRows)] {
			for j, v := range rows.Values[row*p.d : (row+1)*p.d] {
				wide = append(wide, (float64(v)-p.mean[j])/p.scale[j])
			}
		}
		p.blocks[b], values[worker] = blockOf(wide, p.d), wide
		p.probabilities[b] = make([]float64, p.k*p.blocks[b].rows)
	})
	return p
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
	value += p.penalise(gradient, at, c)
	return value
}

// penalise adds the gradient of the penalty, which is of the weights of the rows' own columns, and returns it.
func (p *problem) penalise(gradient, at []float64, c float64) (penalty float64) {
	for v := 0; v < len(at); v += p.d + 1 {
		for j, scale := range p.scale {
			pull := at[v+j] / (c * float64(p.n) * scale * scale)
			gradient[v+j] += pull
			penalty += pull * at[v+j] / 2
		}
	}
	return penalty
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
	p.penalise(into, step, c)
}

// project adds the products of a block's columns with factors of its rows (k×rows) to those of the vectors.
func (p *problem) project(sums []float64, b int, factors []float64) {
	x := p.blocks[b]
	simd.ProjectAll(sums, x.columns, factors[(p.k-p.vectors)*x.rows:], x.rows)
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
	if p.k == 2 {
		at = slices.Concat(at, at)
		for i := range at {
			at[i] /= 2
			if i < p.d+1 {
				at[i] *= -1
			}
		}
	}
	for v := range slices.Chunk(at, p.d+1) {
		bias := v[p.d]
		for j, scale := range p.scale {
			weight := v[j] / scale
			result.Weight = append(result.Weight, weight)
			bias -= float64(weight * p.mean[j]) // not fused, so that bits are the same everywhere
		}
		result.Bias = append(result.Bias, bias)
	}
	floats.AddConst(-stat.Mean(result.Bias, nil), result.Bias)
	return result
}

// How long the gradient is at the end, in columns of deviation 1. Strengths are compared where it is near.
const (
	near  = 1e-4
	least = 1e-9
	// mostWork is the number of products of a value and a weight after which near is near enough.
	mostWork = 2e10
)

// minimum returns where F is least, looked for from a start on, nil for 0, until the gradient is as short as
// asked for: by Newton's steps, each by conjugate gradients until it is as good as the gradient is short
// (Dembo, Eisenstat and Steihaug 1982), and halved until F falls.
func (p *problem) minimum(ctx context.Context, c float64, start []float64, shortest float64) ([]float64, error) {
	const rounds = 100
	size := p.vectors * (p.d + 1)
	v, next, slope, gradient := make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	copy(v, start)
	f := p.value(v, gradient, c)
	if f > math.Log(float64(p.k)) { // a start of rows without some classes, worse than none
		clear(v)
		f = p.value(v, gradient, c)
	}
	for range rounds {
		length := floats.Norm(gradient, 2)
		if p.work > mostWork {
			shortest = max(shortest, near)
		}
		if length <= shortest {
			return v, nil
		}
		step, err := p.step(ctx, gradient, c, math.Max(math.Min(0.25, length), shortest/2/length))
		if err != nil {
			return nil, err
		}
		falls, rounding := floats.Dot(gradient, step), 1e-14*math.Abs(f)
		share, fell := 1., f
		for ; share > 1e-9; share /= 2 {
			fell = p.value(floats.AddScaledTo(next, v, share, step), slope, c)
			if fell <= f+1e-4*share*falls+rounding {
				break
			}
		}
		if share <= 1e-9 || math.IsNaN(fell) {
			break
		}
		if f-fell <= rounding && floats.Norm(slope, 2) >= length {
			return v, nil // F and the gradient have come to where rounding begins
		}
		v, next, gradient, slope, f = next, v, slope, gradient, fell
	}
	return nil, fmt.Errorf("no minimum for C = %v", c)
}

// step returns the one at which the gradient would be shorter by a factor if F were as curved everywhere as
// where value was asked for last. The diagonal of its second derivatives is known about, which bounds the products.
func (p *problem) step(ctx context.Context, gradient []float64, c, factor float64) ([]float64, error) {
	const most, curved = 250, 0.25 // the loss, at most, along a column
	inverse := make([]float64, len(gradient))
	for i := range inverse {
		inverse[i] = 1 / curved
		if j := i % (p.d + 1); j < p.d {
			inverse[i] = 1 / (curved + 1/(c*float64(p.n)*p.scale[j]*p.scale[j]))
		}
	}
	downhill := floats.ScaleTo(make([]float64, len(gradient)), -1, gradient)
	return conjugate.Solve(downhill, inverse, factor, most, func(into, along []float64) error {
		p.curvature(into, along, c)
		return ctx.Err()
	})
}
