package calibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/must"
)

// The loss and its derivatives row by row, as the comment of logLoss writes them: also
// where scales are negative, which a line search may try, and where biases are so far apart
// that the largest logit is not that of the largest sum.
func TestLogLossAgainstItsDefinition(t *testing.T) {
	const k, n = 5, 700
	r := rand.New(rand.NewPCG(41, 1))
	logits, labels := randomLogits(r, n, k)
	for i := 0; i < n; i += 4 { // classes of different shares
		labels[i] = 0
	}
	loss := must.Have(newLogLoss(logits, labels, k))(t)
	for _, f := range forms[1:] {
		for name, change := range map[string]func(scales, biases []float64){
			"as they come":    func(_, _ []float64) {},
			"negative scales": func(s, _ []float64) { floats.Scale(-400, s) },
			"large scales":    func(s, _ []float64) { floats.Scale(400, s) },
			"biases apart":    func(_, b []float64) { floats.Scale(100, b) },
			"both far apart":  func(s, b []float64) { floats.Scale(1000, s); floats.Scale(5000, b) },
		} {
			x := make([]float64, f.parameters(k))
			first := f.scales(k)
			for a := range x {
				x[a] = r.NormFloat64()
				if a < first {
					x[a] = 0.2 + math.Abs(x[a])
				}
			}
			change(x[:first], x[first:])
			got := loss.evaluate(f, x, true)
			want := logLossByRows(f, x, logits, labels, k)
			name = f.name + ", " + name
			if !(math.Abs(got.loss-want.loss) <= 1e-12*(1+want.loss)) {
				t.Errorf("%s: loss %v, by rows %v", name, got.loss, want.loss)
			}
			if !floats.EqualApprox(got.gradient, want.gradient, 1e-12*(1+floats.Norm(want.gradient, math.Inf(1)))) {
				t.Errorf("%s: gradient %v, by rows %v", name, got.gradient, want.gradient)
			}
			if !mat.EqualApprox(got.hessian, want.hessian, 1e-12*(1+mat.Max(want.hessian))) {
				t.Errorf("%s: Hessian\n%v\nby rows\n%v", name, mat.Formatted(got.hessian), mat.Formatted(want.hessian))
			}
			if without := loss.evaluate(f, x, false); without.loss != got.loss || !floats.Equal(without.gradient, got.gradient) {
				t.Errorf("%s: loss and gradient without the Hessian are others", name)
			}
		}
	}
}

func logLossByRows(f form, x, logits []float64, labels []int, k int) *lossState {
	s, b := f.split(x, k)
	n, first, rows := len(x), f.scales(k), float64(len(labels))
	state := &lossState{gradient: make([]float64, n), hessian: mat.NewSymDense(n, nil)}
	for i, label := range labels {
		z := logits[i*k : (i+1)*k]
		p := make([]float64, k)
		floats.MulTo(p, s, z)
		floats.Add(p, b)
		sum := floats.LogSumExp(p)
		state.loss += (sum - p[label]) / rows
		for j := range p {
			p[j] = math.Exp(p[j] - sum)
		}
		// derivatives[a][j] is φ_a[j].
		derivatives, means := mat.NewDense(n, k, nil), make([]float64, n)
		for j := range k {
			derivatives.Set(min(j, first-1), j, z[j])
			if f.biases {
				derivatives.Set(first+j, j, 1)
			}
		}
		for a := range n {
			means[a] = floats.Dot(p, derivatives.RawRowView(a))
			state.gradient[a] += (means[a] - derivatives.At(a, label)) / rows
		}
		for a := range n {
			for c := range a + 1 {
				products := make([]float64, k)
				floats.MulTo(products, derivatives.RawRowView(a), derivatives.RawRowView(c))
				add(state.hessian, a, c, (floats.Dot(p, products)-means[a]*means[c])/rows)
			}
		}
	}
	if f.biases {
		total := floats.Sum(b)
		state.loss += total * total / 2 / float64(k)
		for a := first; a < n; a++ {
			state.gradient[a] += total / float64(k)
			for c := first; c <= a; c++ {
				add(state.hessian, a, c, 1/float64(k))
			}
		}
	}
	if f.shrunk {
		m := penalised(labels, k)
		var mb mat.VecDense
		mb.MulVec(m, mat.NewVecDense(k, b))
		onScale := 1 / (scaleDeviation * scaleDeviation * rows)
		state.loss += onScale / 2 * (x[0] - 1) * (x[0] - 1)
		state.gradient[0] += onScale * (x[0] - 1)
		add(state.hessian, 0, 0, onScale)
		factor := 1 / (biasDeviation * biasDeviation * rows)
		state.loss += factor / 2 * mat.Dot(mat.NewVecDense(k, b), &mb)
		for a := range k {
			state.gradient[first+a] += factor * mb.AtVec(a)
			for c := range a + 1 {
				add(state.hessian, first+a, first+c, factor*m.At(a, c))
			}
		}
	}
	return state
}

// penalised is the projection onto what is orthogonal to (1, …, 1) and to the logarithms of
// the labels' shares, half a row added to each: I - U(UᵀU)⁻¹Uᵀ.
func penalised(labels []int, k int) *mat.Dense {
	u := mat.NewDense(k, 2, nil)
	for j := range k {
		rows := 0.5
		for _, label := range labels {
			if label == j {
				rows++
			}
		}
		u.SetRow(j, []float64{1, math.Log(rows / float64(len(labels)))})
	}
	var solved, m mat.Dense
	if err := solved.Solve(u, eye(k)); err != nil { // (UᵀU)⁻¹Uᵀ
		panic(err)
	}
	m.Mul(u, &solved)
	m.Sub(eye(k), &m)
	return &m
}

func eye(k int) *mat.Dense {
	m := mat.NewDense(k, k, nil)
	for j := range k {
		m.Set(j, j, 1)
	}
	return m
}
