package selection

import (
	"math/rand/v2"
	"testing"
)

// Of hundreds of classes each has few bins.
func BenchmarkUnexplainedManyClasses(b *testing.B) {
	const k, n, m = 317, 800, 4000
	random := rand.New(rand.NewPCG(1, 2))
	rows := func(n int) (p []float64, labels []int) {
		for range n {
			class, total := random.IntN(k), 0.0
			row := make([]float64, k)
			for j := range row {
				row[j] = random.ExpFloat64()
				if j == class {
					row[j] += 40 * random.Float64()
				}
				total += row[j]
			}
			for j := range row {
				row[j] /= total
			}
			p, labels = append(p, row...), append(labels, class)
		}
		return p, labels
	}
	source, labels := rows(n)
	target, _ := rows(m)
	for b.Loop() {
		unexplained(source, labels, target, k)
	}
}
