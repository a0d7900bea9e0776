package calibration

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/simd"
	"iwda/weightest/internal/panels"
)

// lossPanel is one panel of logits with what follows from them.
type lossPanel struct {
	storage       []float64
	logits        [][]float64 // columns of z
	probabilities [][]float64 // columns of exp(s∘z + b - bound), then of p
	scaled        [][]float64 // columns of p∘z, where scales of their own for each class need them
	mean          []float64   // p·z
	bound         []float64   // of s∘z + b in each row, from above
	sum           []float64   // Σ exp(s∘z + b - bound), then its inverse
}

func newLossPanel(k int) *lossPanel {
	return &lossPanel{
		storage: make([]float64, (2*k+3)*panels.Height),
		logits:  make([][]float64, k), probabilities: make([][]float64, k), scaled: make([][]float64, k),
	}
}

// widestBiases is a range of biases that exponentials bear without their row's largest.
const widestBiases = 300

// exponentials sets the columns of the i-th panel, those of p before they are divided by
// their sum. Where all classes have one scale, not negative, the largest logit and the
// largest bias bound s∘z + b closely enough; elsewhere its own largest is sought.
func (p *lossPanel) exponentials(l *logLoss, i int, s, b []float64) {
	start, height := l.logits.Extent(i)
	k := len(s)
	column := func(n int) []float64 { return p.storage[n*panels.Height : n*panels.Height+height] }
	p.mean, p.bound, p.sum = column(2*k), column(2*k+1), column(2*k+2)
	for j := range k {
		p.logits[j], p.probabilities[j], p.scaled[j] = l.logits.Column(i, j), column(j), column(k+j)
	}
	if most := floats.Max(b); s[0] >= 0 && floats.Min(s) == floats.Max(s) && most-floats.Min(b) <= widestBiases {
		for row, z := range l.largest[start : start+height] {
			p.bound[row] = s[0]*z + most
		}
	} else {
		for row := range p.bound {
			p.bound[row] = math.Inf(-1)
		}
		for j, z := range p.logits {
			simd.Raise(p.bound, z, simd.Affine{Scale: s[j], Shift: b[j]})
		}
	}
	clear(p.sum)
	for j, column := range p.probabilities {
		simd.AddExp(column, p.logits[j], p.bound, p.sum, simd.Affine{Scale: s[j], Shift: b[j]})
	}
}

// separated tells whether every label's probability is above all others of its row.
func (p *lossPanel) separated(labels []int) bool {
	own := make([]float64, len(labels))
	for row, label := range labels {
		own[row] = p.probabilities[label][row]
	}
	for j, column := range p.probabilities {
		for row, value := range column {
			if value >= own[row] && labels[row] != j {
				return false
			}
		}
	}
	return true
}

// normalise makes probabilities of the exponentials, and adds their moments; times weights of
// the rows, unless these are nil.
func (p *lossPanel) normalise(moments []simd.Moments, weights []float64) {
	for row, sum := range p.sum {
		p.sum[row] = 1 / sum
	}
	if weights != nil {
		floats.Mul(p.sum, weights)
	}
	clear(p.mean)
	for j, column := range p.probabilities {
		moments[j].Add(simd.Normalise(column, p.sum, p.logits[j], p.mean))
	}
}

// derivatives returns the columns c_a.
func (p *lossPanel) derivatives(f form) [][]float64 {
	columns := make([][]float64, 0, f.parameters(len(p.logits)))
	if f.vector {
		for j, column := range p.probabilities {
			floats.MulTo(p.scaled[j], column, p.logits[j])
		}
		columns = append(columns, p.scaled...)
	} else {
		columns = append(columns, p.mean)
	}
	if f.biases {
		columns = append(columns, p.probabilities...)
	}
	return columns
}
