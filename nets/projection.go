package nets

import (
	"math"

	"iwda/torch"
)

// RandomProjection replaces the outer product p ⊗ z of CDAN, of size k·d, by
// (z R_z)∘(p R_p)/√m of size m, whose inner products have the same expectation (Long et
// al. 2018). R_z and R_p are drawn once from N(0, 1) and never trained.
type RandomProjection struct {
	features, predictions torch.Tensor // R_z (d × m), R_p (k × m)
}

// NewRandomProjection draws the matrices for features of that size, k classes and m
// outputs from libtorch's generator.
func NewRandomProjection(featureSize, classes, outputs int) *RandomProjection {
	return RandomProjectionOf(torch.RandN(torch.Float32, featureSize, outputs), torch.RandN(torch.Float32, classes, outputs))
}

// RandomProjectionOf returns the projection with R_z (d × m) and R_p (k × m).
func RandomProjectionOf(features, predictions torch.Tensor) *RandomProjection {
	return &RandomProjection{features, predictions}
}

// Forward maps features (rows × d) and predictions (rows × k) to (rows × m).
func (r *RandomProjection) Forward(features, predictions torch.Tensor) torch.Tensor {
	m := r.features.Shape()[1]
	return features.MatMul(r.features).Mul(predictions.MatMul(r.predictions)).Scale(1 / math.Sqrt(float64(m)))
}

// State returns both matrices.
func (r *RandomProjection) State() State {
	return State{{"feature_matrix", r.features, false}, {"prediction_matrix", r.predictions, false}}
}
