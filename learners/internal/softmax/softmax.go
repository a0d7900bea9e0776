// Package softmax has the loss of classifiers, of logits in columns.
package softmax

import (
	"gonum.org/v1/gonum/floats"

	"iwda/internal/simd"
)

// Loss returns the sum of the cross-entropies of rows, and sets p to their probabilities. These and the logits z,
// which may be p, are a column a class, one after the other. room is for twice as many numbers as there are rows.
func Loss(p, z []float64, labels []int, room []float64) (loss float64) {
	n := len(labels)
	largest, sum := room[:n], room[n:2*n]
	copy(largest, z)
	clear(sum)
	plain := simd.Affine{Scale: 1}
	for at := n; at < len(z); at += n {
		simd.Raise(largest, z[at:at+n], plain)
	}
	for i, y := range labels {
		loss += largest[i] - z[y*n+i]
	}
	for at := 0; at < len(z); at += n {
		simd.AddExp(p[at:at+n], z[at:at+n], largest, sum, plain)
	}
	loss += simd.SumLogs(sum, nil)
	for i := range sum {
		sum[i] = 1 / sum[i]
	}
	for at := 0; at < len(z); at += n {
		floats.Mul(p[at:at+n], sum)
	}
	return loss
}

// Slopes makes probabilities p the gradients of the loss in the logits.
func Slopes(p []float64, labels []int) {
	n := len(labels)
	for i, y := range labels {
		p[y*n+i]--
	}
}
