package floor

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// BenchmarkOf is that of logits of as many rows as are taken.
func BenchmarkOf(b *testing.B) {
	for _, k := range []int{2, 10, 65} {
		b.Run(fmt.Sprintf("%d classes", k), func(b *testing.B) {
			random, n := rand.New(rand.NewPCG(1, 2)), MostRows(k, k)
			logits := func() (m *mat.Dense, labels, predicted []int) {
				m = mat.NewDense(n, k, nil)
				for i := range n {
					row := m.RawRowView(i)
					for j := range row {
						row[j] = random.NormFloat64()
					}
					row[i%k] += 3
					labels, predicted = append(labels, i%k), append(predicted, floats.MaxIdx(row))
				}
				return m, labels, predicted
			}
			weights := make([]float64, n)
			floats.AddConst(1, weights)
			source, labels, h := logits()
			target, _, predicted := logits()
			for b.Loop() {
				if _, err := Of(k, Source{Features: source, Labels: labels, Predicted: h, Weights: weights}, Target{Features: target, Predicted: predicted}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
