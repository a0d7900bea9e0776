package perceptron

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/evenly"
	"iwda/internal/simd"
	"iwda/learners"
	"iwda/learners/internal/softmax"
)

// network is one with a bias at the end of each unit's weights.
type network struct {
	d, h, k int
	hidden  []float64 // h×(d+1)
	out     []float64 // k×(h+1)
}

func (n network) clone() network {
	n.hidden, n.out = slices.Clone(n.hidden), slices.Clone(n.out)
	return n
}

// newNetwork has weights normal around 0 with the variance 2/(inputs + outputs) (Glorot and Bengio 2010).
func newNetwork(d, h, k int, random *rand.Rand) network {
	n := network{d, h, k, make([]float64, h*(d+1)), make([]float64, k*(h+1))}
	draw := func(weights []float64, in, out int) {
		deviation := math.Sqrt(2 / float64(in+out))
		for i := range weights {
			if i%(in+1) < in {
				weights[i] = deviation * random.NormFloat64()
			}
		}
	}
	draw(n.hidden, d, h)
	draw(n.out, h, k)
	return n
}

// batch is rows on their way through a network, columns of values one after the other.
type batch struct {
	rows         int
	wide         []float64 // rows×d
	x, units, z  []float64 // (d+1)×rows, (h+1)×rows, k×rows; the last column of the first two is of ones
	room, errors []float64 // 2×rows, h×rows
	turned       []float64 // (h+1)×k, the classifier's weights
}

func newBatch(n network, rows int) *batch {
	ones := func(columns int) []float64 { return slices.Repeat([]float64{1}, columns*rows) }
	return &batch{rows: rows, wide: make([]float64, rows*n.d), x: ones(n.d + 1), units: ones(n.h + 1), z: make([]float64, n.k*rows), room: make([]float64, 2*rows), errors: make([]float64, n.h*rows), turned: make([]float64, (n.h+1)*n.k)}
}

// set makes the batch that of some of the rows (n×d).
func (b *batch) set(values []float32, d int, rows []int) {
	for i, row := range rows {
		for j, v := range values[row*d : (row+1)*d] {
			b.wide[i*d+j] = float64(v)
		}
	}
	simd.Transpose(b.x, b.wide, b.rows, d, b.rows, d)
}

// forward sets the units, which rectify changes, and the logits.
func (b *batch) forward(n network, rectify func(units []float64)) {
	units := b.units[:n.h*b.rows]
	simd.CombineAll(units, b.x, n.hidden, b.rows)
	rectify(units)
	simd.CombineAll(b.z, b.units, n.out, b.rows)
}

// rectified makes negative numbers 0.
func rectified(units []float64) {
	for i, v := range units {
		units[i] = max(0, v)
	}
}

// backward sets the gradients of the network's weights of those of the logits. Units that are above 0 have
// been multiplied by a scale.
func (b *batch) backward(n, gradient network, scale float64) {
	clear(gradient.hidden)
	clear(gradient.out)
	simd.ProjectAll(gradient.out, b.units, b.z, b.rows)
	simd.Transpose(b.turned, n.out, n.k, n.h+1, n.k, n.h+1)
	simd.CombineAll(b.errors, b.z, b.turned[:n.h*n.k], b.rows)
	for i, v := range b.units[:len(b.errors)] {
		above := uint64(int64(-math.Float64bits(v)) >> 63) // all bits of a number above 0, none of 0
		b.errors[i] = math.Float64frombits(math.Float64bits(scale*b.errors[i]) & above)
	}
	simd.ProjectAll(gradient.hidden, b.x, b.errors, b.rows)
}

// trainer trains a network.
type trainer struct {
	network
	rows       learners.Rows
	learnt     []int
	s          Settings
	source     *rand.PCG
	random     *rand.Rand
	step, next int // steps made, and the first of the learnt rows that a pass has not seen
	batch      *batch
	gradient   network
	moments    [2]network // of gradients: their mean and that of their squares
	labels     []int
}

func newTrainer(rows learners.Rows, learnt []int, s Settings, source *rand.PCG) *trainer {
	t := &trainer{rows: rows, learnt: learnt, s: s, source: source, random: rand.New(source)}
	t.network = newNetwork(rows.Columns(), s.Hidden, rows.Classes, t.random)
	size := s.Batch
	for size > 8 && len(learnt) < 8*size {
		size /= 2
	}
	t.batch = newBatch(t.network, min(size, len(learnt)))
	t.gradient, t.moments = t.network.clone(), [2]network{t.network.clone(), t.network.clone()}
	for _, m := range t.moments {
		clear(m.hidden)
		clear(m.out)
	}
	t.next = len(learnt)
	return t
}

// round makes the steps of one.
func (t *trainer) round(ctx context.Context, rate float64) error {
	size := t.batch.rows
	for range max(fewestSteps, min(len(t.learnt), mostOfRound)/size) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.next+size > len(t.learnt) {
			t.random.Shuffle(len(t.learnt), func(i, j int) { t.learnt[i], t.learnt[j] = t.learnt[j], t.learnt[i] })
			t.next = 0
		}
		rows := t.learnt[t.next : t.next+size]
		t.next += size
		t.batch.set(t.rows.Values, t.d, rows)
		t.labels = evenly.Pick(t.rows.Labels, rows)
		t.batch.forward(t.network, t.drop)
		softmax.Loss(t.batch.z, t.batch.z, t.labels, t.batch.room)
		softmax.Slopes(t.batch.z, t.labels)
		t.batch.backward(t.network, t.gradient, t.scale())
		t.adam(rate)
	}
	return nil
}

// scale is what units that are kept are multiplied by.
func (t *trainer) scale() float64 { return 1 / (1 - t.s.Dropout) }

// drop makes negative units 0, and others with the probability of dropout.
func (t *trainer) drop(units []float64) {
	dropped, scale := int64(t.s.Dropout*256), t.scale()
	for ; len(units) > 0; units = units[min(8, len(units)):] {
		bytes := t.source.Uint64()
		for i, v := range units[:min(8, len(units))] {
			bits := math.Float64bits(scale * v)
			kept := uint64((dropped - 1 - int64(bytes&255)) >> 63)
			units[i] = math.Float64frombits(bits & kept &^ uint64(int64(bits)>>63))
			bytes >>= 8
		}
	}
}

// adam makes a step against the gradient of the batch's loss.
func (t *trainer) adam(rate float64) {
	const first, second, small = 0.9, 0.999, 1e-8
	t.step++
	size := float64(t.batch.rows)
	rate1, scale2 := rate/(1-math.Pow(first, float64(t.step))), 1/(1-math.Pow(second, float64(t.step)))
	update := func(weights, gradient, mean, squares []float64, width int) {
		for at := 0; at < len(weights); at += width {
			decay := 1 - rate*t.s.Decay
			for i := at; i < at+width; i++ {
				g := gradient[i] / size
				mean[i] = float64(first*mean[i]) + float64((1-first)*g) // not fused, so that bits are the same everywhere
				squares[i] = float64(second*squares[i]) + float64((1-second)*g*g)
				if i == at+width-1 {
					decay = 1 // of a bias
				}
				weights[i] = float64(decay*weights[i]) - rate1*mean[i]/(math.Sqrt(squares[i]*scale2)+small)
			}
		}
	}
	update(t.hidden, t.gradient.hidden, t.moments[0].hidden, t.moments[1].hidden, t.d+1)
	update(t.out, t.gradient.out, t.moments[0].out, t.moments[1].out, t.h+1)
}

// loss is the sum of the cross-entropies of some rows.
func (t *trainer) loss(rows []int) (sum float64) {
	logits := t.network.logits(t.rows.Part(rows).Values, t.d)
	for i, row := range rows {
		of := logits[i*t.k : (i+1)*t.k]
		sum += floats.LogSumExp(of) - of[t.rows.Labels[row]]
	}
	return sum
}

// logits returns those of rows (n×d), n×k.
func (n network) logits(values []float32, d int) []float64 {
	const most = 128
	rows := len(values) / d
	logits := make([]float64, rows*n.k)
	var b *batch
	for first := 0; first < rows; first += most {
		size := min(most, rows-first)
		if b == nil || b.rows != size {
			b = newBatch(n, size)
		}
		all := make([]int, size)
		for i := range all {
			all[i] = first + i
		}
		b.set(values, d, all)
		b.forward(n, rectified)
		simd.Transpose(logits[first*n.k:], b.z, n.k, size, n.k, size)
	}
	return logits
}
