package weightest

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/simd"
)

// logLoss is the mean over rows of -log softmax(s∘z + b)_y. Its parameters x are those
// of a form: one s or k, then k biases or none. With p the probabilities of a row and
// φ_a (k) the derivative of s∘z + b by x_a, which is z, z_j e_j or e_j,
//
//	gradient_a = mean of c_a - φ_a[y],   c_a = p·φ_a,
//	Hessian_ab = mean of Σ_j p_j φ_a[j] φ_b[j] - c_a c_b.
//
// (Σ b)²/2k is added, which is 0 at the optimum and makes b unique.
type logLoss struct {
	classes int
	logits  *panels
	labelled
	spread  float64    // root mean square of the logits less their row means
	scratch *sync.Pool // of lossPanels, for the groups of an evaluation
}

// labelled is what the labels say.
type labelled struct {
	labels []int
	own    []float64 // the logit of each row's label
	counts []float64 // rows by label, length k
	sums   []float64 // of own by label, length k
}

func newLabelled(k int, labels []int, own []float64) labelled {
	l := labelled{labels, own, make([]float64, k), make([]float64, k)}
	for i, label := range labels {
		l.counts[label]++
		l.sums[label] += own[i]
	}
	return l
}

func newLogLoss(logits []float64, labels []int, k int) *logLoss {
	own := make([]float64, len(labels))
	for i, label := range labels {
		own[i] = logits[i*k+label]
	}
	l := &logLoss{
		classes:  k,
		logits:   newPanels(logits, k, nil, nil),
		labelled: newLabelled(k, labels, own),
		scratch:  &sync.Pool{New: func() any { return newLossPanel(k) }},
	}
	var square float64
	for first := 0; first < len(logits); first += k {
		row := logits[first : first+k]
		mean := floats.Sum(row) / float64(k)
		var ofRow float64
		for _, z := range row {
			ofRow += (z - mean) * (z - mean)
		}
		square += ofRow / float64(len(logits))
	}
	l.spread = math.Sqrt(square)
	return l
}

// thinned returns the loss of some of the rows.
func (l *logLoss) thinned(step int) *logLoss {
	var labels []int
	var own []float64
	for i := 0; i < len(l.labels); i += step {
		labels, own = append(labels, l.labels[i]), append(own, l.own[i])
	}
	return &logLoss{
		classes: l.classes, logits: l.logits.thinned(step), labelled: newLabelled(l.classes, labels, own),
		spread: l.spread, scratch: l.scratch,
	}
}

// lossState is the loss with its derivatives at x.
type lossState struct {
	x         []float64
	loss      float64
	gradient  []float64
	hessian   *mat.SymDense
	separated bool // every label has the largest entry of its row of s∘z + b
}

func (f form) scales(k int) int {
	if f.vector {
		return k
	}
	return 1
}

func (f form) parameters(k int) int {
	if f.biases {
		return f.scales(k) + k
	}
	return f.scales(k)
}

// split returns s and b, both of length k.
func (f form) split(x []float64, k int) (s, b []float64) {
	s, b = make([]float64, k), make([]float64, k)
	n := f.scales(k)
	for j := range k {
		s[j] = x[min(j, n-1)]
	}
	if f.biases {
		copy(b, x[n:])
	}
	return s, b
}

// evaluate returns the state at x, with the Hessian where it is asked for.
func (l *logLoss) evaluate(f form, x []float64, curvature bool) *lossState {
	k, n := l.classes, f.parameters(l.classes)
	s, b := f.split(x, k)
	states := make([]*lossState, l.logits.groups())
	l.logits.eachGroup(16*k+n*n/2, func(group, first, last int) {
		states[group] = l.evaluateGroup(f, s, b, first, last, curvature)
	})
	state := states[0]
	for _, other := range states[1:] {
		state.loss += other.loss
		state.separated = state.separated && other.separated
		floats.Add(state.gradient, other.gradient)
		addSymmetric(state.hessian, other.hessian)
	}
	state.x = x
	f.subtractLabels(state.gradient, l.labelled)
	rows := float64(len(l.labels))
	state.loss /= rows
	floats.Scale(1/rows, state.gradient)
	state.hessian.ScaleSym(1/rows, state.hessian)
	if f.biases {
		first := f.scales(k)
		total := floats.Sum(b)
		state.loss += total * total / 2 / float64(k)
		for i := first; i < n; i++ {
			state.gradient[i] += total / float64(k)
			for j := i; j < n; j++ {
				state.hessian.SetSym(i, j, state.hessian.At(i, j)+1/float64(k))
			}
		}
	}
	return state
}

// evaluateGroup returns the sums over the rows of some panels.
func (l *logLoss) evaluateGroup(f form, s, b []float64, first, last int, curvature bool) *lossState {
	n := f.parameters(l.classes)
	state := &lossState{gradient: make([]float64, n), hessian: mat.NewSymDense(n, nil), separated: true}
	products := mat.NewSymDense(n, nil)
	panel := l.scratch.Get().(*lossPanel)
	defer l.scratch.Put(panel)
	for i := first; i < last; i++ {
		start, height := l.logits.extent(i)
		panel.exponentials(l.logits, i, s, b)
		state.loss += simd.SumLogs(panel.sum, nil)
		labels, own := l.labels[start:start+height], l.own[start:start+height]
		for row, label := range labels {
			state.loss += panel.largest[row] - s[label]*own[row] - b[label]
		}
		state.separated = state.separated && panel.separated(labels)
		columns := panel.derivatives(f, state)
		if curvature {
			addGram(products, columns)
		}
	}
	products.ScaleSym(-1, products)
	addSymmetric(state.hessian, products)
	return state
}

// subtractLabels subtracts φ_a[y] of every row from the gradient.
func (f form) subtractLabels(gradient []float64, l labelled) {
	if f.vector {
		floats.Sub(gradient[:len(l.sums)], l.sums)
	} else {
		gradient[0] -= floats.Sum(l.sums)
	}
	if f.biases {
		floats.Sub(gradient[f.scales(len(l.counts)):], l.counts)
	}
}

// lossPanel is one panel of logits with what follows from them.
type lossPanel struct {
	storage       []float64
	logits        [][]float64 // columns of z
	probabilities [][]float64 // columns of exp(s∘z + b - largest), then of p
	scaled        [][]float64 // columns of p∘z, where scales of their own for each class need them
	mean          []float64   // p·z
	largest       []float64   // of s∘z + b in each row
	sum           []float64   // Σ exp(s∘z + b - largest), then its inverse
}

func newLossPanel(k int) *lossPanel {
	return &lossPanel{
		storage: make([]float64, (2*k+3)*panelRows),
		logits:  make([][]float64, k), probabilities: make([][]float64, k), scaled: make([][]float64, k),
	}
}

// exponentials sets the columns of the i-th panel, those of p before they are divided by
// their sum.
func (p *lossPanel) exponentials(logits *panels, i int, s, b []float64) {
	_, height := logits.extent(i)
	k := len(s)
	column := func(n int) []float64 { return p.storage[n*panelRows : n*panelRows+height] }
	p.mean, p.largest, p.sum = column(2*k), column(2*k+1), column(2*k+2)
	for row := range p.largest {
		p.largest[row] = math.Inf(-1)
	}
	for j := range k {
		p.logits[j], p.probabilities[j], p.scaled[j] = logits.column(i, j), column(j), column(k+j)
		simd.Raise(p.largest, p.logits[j], simd.Affine{Scale: s[j], Shift: b[j]})
	}
	clear(p.sum)
	for j, column := range p.probabilities {
		simd.AddExp(column, p.logits[j], p.largest, p.sum, simd.Affine{Scale: s[j], Shift: b[j]})
	}
}

// separated tells whether every label's probability is above all others of its row.
func (p *lossPanel) separated(labels []int) bool {
	for row, label := range labels {
		for j, column := range p.probabilities {
			if j != label && column[row] >= p.probabilities[label][row] {
				return false
			}
		}
	}
	return true
}

// derivatives makes probabilities of the exponentials, adds Σ c_a to the gradient and
// Σ p_j φ_a[j] φ_b[j] to the Hessian, and returns the columns c_a.
func (p *lossPanel) derivatives(f form, state *lossState) [][]float64 {
	k := len(p.logits)
	first := f.scales(k)
	columns := make([][]float64, 0, f.parameters(k))
	for row, sum := range p.sum {
		p.sum[row] = 1 / sum
	}
	clear(p.mean)
	for j, column := range p.probabilities {
		moments := simd.Normalise(column, p.sum, p.logits[j], p.mean)
		scale := min(j, first-1)
		state.gradient[scale] += moments.First
		add(state.hessian, scale, scale, moments.Second)
		if f.biases {
			state.gradient[first+j] += moments.Sum
			add(state.hessian, scale, first+j, moments.First)
			add(state.hessian, first+j, first+j, moments.Sum)
		}
	}
	if f.vector {
		for j, column := range p.probabilities {
			simd.Multiply(p.scaled[j], column, p.logits[j])
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

func add(m *mat.SymDense, i, j int, value float64) { m.SetSym(i, j, m.At(i, j)+value) }
