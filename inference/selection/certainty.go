package selection

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"iwda/internal/evenly"
)

// wantsEqualShares is how all criteria fail that reward predictions of every class.
const wantsEqualShares = "under label shift: it favours equal class shares in the target"

// entropyCriterion is the mean entropy of the target's predictions.
var entropyCriterion = Criterion{
	Name: "entropy", Cost: "n·k",
	About: "the mean entropy of the target's predictions",
	Fails: "if a network is certain of its mistakes: a classifier that always predicts one class is best",
	needs: []need{targetRows},
	value: func(in Input) (float64, error) { return stat.Mean(rowEntropies(softmax(in.TargetLogits, 1)), nil), nil },
}

// informationMaximisation is the mutual information of rows and predictions,
// H(p̄) - mean H(p), p̄ the mean prediction: log k - KL(p̄ ‖ uniform) - mean H(p).
var informationMaximisation = Criterion{
	Name: "im", Higher: true, Cost: "n·k",
	About: "information maximisation: the entropy of the mean prediction minus the mean entropy",
	Fails: wantsEqualShares,
	needs: []need{targetRows},
	value: func(in Input) (float64, error) {
		p := softmax(in.TargetLogits, 1)
		return stat.Entropy(columnMeans(p)) - stat.Mean(rowEntropies(p), nil), nil
	},
}

// nuclearNorm is BNM (Cui et al. 2020) over all rows, ‖p‖_*/n: the sum of the square
// roots of the eigenvalues of pᵀp, over n. Of more rows than [affordable] it takes those.
var nuclearNorm = Criterion{
	Name: "bnm", Higher: true, Cost: "n·k², of at most 650,000 values",
	About: "batch nuclear norm: the sum of singular values of the predictions over their number (Cui et al. 2020)",
	Fails: wantsEqualShares,
	needs: []need{targetRows},
	value: func(in Input) (float64, error) {
		p := softmax(affordable(in.TargetLogits), 1)
		n, k := p.Dims()
		gram := mat.NewSymDense(k, nil)
		gram.SymOuterK(1, p.T())
		const vanishing = 1e-40 // beside n; blocks of eigenvalues near 0 make gonum panic
		for i, v := range gram.RawSymmetric().Data {
			if v < vanishing {
				gram.RawSymmetric().Data[i] = 0
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(gram, false) {
			return math.NaN(), nil
		}
		norm := 0.0
		for _, value := range eigen.Values(nil) {
			norm += math.Sqrt(max(value, 0))
		}
		return norm / float64(n), nil
	},
}

// classConfusion is MCC (Jin et al. 2020): with P = softmax(logits/T), T = 2.5, and
// weights u = 1 + exp(-H(P)) of mean 1, the part off the diagonal of C = Pᵀ diag(u) P
// whose columns are scaled to sum one, over k. A class that no row gives any
// probability is confused with none. Of more rows than [affordable] it takes those.
var classConfusion = Criterion{
	Name: "mcc", Cost: "n·k², of at most 650,000 values",
	About: "minimum class confusion: the share of predictions that confuse two classes (Jin et al. 2020)",
	Fails: wantsEqualShares,
	needs: []need{targetRows},
	value: func(in Input) (float64, error) {
		const temperature = 2.5
		return confusionBetweenClasses(softmax(affordable(in.TargetLogits), temperature)), nil
	},
}

func confusionBetweenClasses(p *mat.Dense) float64 {
	weights := rowEntropies(p)
	for i, h := range weights {
		weights[i] = 1 + math.Exp(-h)
	}
	floats.Scale(1/stat.Mean(weights, nil), weights)
	n, k := p.Dims()
	var weighted, confusion mat.Dense
	weighted.CloneFrom(p)
	for i := range n {
		floats.Scale(weights[i], weighted.RawRowView(i))
	}
	confusion.Mul(p.T(), &weighted)
	off := 0.0
	for j := range k {
		row := confusion.RawRowView(j) // the matrix is symmetric: the column too
		if total := floats.Sum(row); total > 0 {
			off += (total - row[j]) / total
		}
	}
	return off / float64(k)
}

// affordable returns rows of logits, drawn evenly over their order, of not many more values than
// 10,000 rows of 65 classes have, but as many rows as classes at least: beyond, the square of the
// number of classes makes a criterion cost more than the epoch that it judges.
func affordable(logits *mat.Dense) *mat.Dense {
	const values = 650_000
	rows, k := logits.Dims()
	most := max(values/k, k)
	if rows <= most {
		return logits
	}
	some := mat.NewDense(most, k, nil)
	for i, row := range evenly.Rows(rows, most) {
		some.SetRow(i, logits.RawRowView(row))
	}
	return some
}
