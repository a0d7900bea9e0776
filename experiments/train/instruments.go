package train

import (
	"math"

	"iwda/experiments/checkpoint"
	"iwda/experiments/store"
	"iwda/torch"
)

// instruments are what is read at a step that shows how training goes, and changes nothing.
// Where several processes make a run, norms of rows and the discriminator's accuracy are
// those of this process's share of the batch.
type instruments struct {
	featureNorm, logitNorm float64 // root mean square over the rows of ‖z‖ and of the logits
	gradients              gradientNorms
	discriminatorAccuracy  store.Optional[float64]
}

// readStep reads them off a step that was made, together with the predictions for the
// rows of the batch.
func readStep(f stepOutputs, batch torch.Tensor, l stepLosses, norms gradientNorms) (predictions []float32, read instruments) {
	torch.NoGrad(func() {
		values := fetch(batch, f.features.Square().Sum(), f.logits.Square().Sum())
		rows := f.features.Shape()[0]
		predictions, read = values[0], instruments{
			featureNorm: rowNorm(values[1][0], rows), logitNorm: rowNorm(values[2][0], rows),
			gradients: norms, discriminatorAccuracy: l.discriminatorAccuracy,
		}
	})
	return predictions, read
}

// rowNorm is the root mean square of the Euclidean norms of rows, of the sum of the squares
// of their elements.
func rowNorm(squares float32, rows int) float64 {
	return math.Sqrt(float64(squares) / float64(rows))
}

// fetch copies tensors of float32 to the host, all of them at once: on a GPU each copy
// waits for everything that was asked of it before.
func fetch(tensors ...torch.Tensor) [][]float32 {
	flat, values := make([]torch.Tensor, len(tensors)), make([][]float32, len(tensors))
	for i, t := range tensors {
		flat[i] = t.Detach().Reshape(-1)
	}
	all := torch.ToSlice[float32](torch.Cat(0, flat...))
	for i, t := range flat {
		n := t.Len()
		values[i], all = all[:n:n], all[n:]
	}
	return values
}

// addTo adds them to the sums of the steps since an evaluation.
func (i instruments) addTo(sums *checkpoint.Instruments) {
	sums.FeatureNorm += i.featureNorm
	sums.LogitNorm += i.logitNorm
	sums.NetworkGradient += i.gradients.network
	sums.Steps++
	if i.discriminatorAccuracy.Measured {
		sums.DiscriminatorAccuracy += i.discriminatorAccuracy.Value
		sums.DiscriminatorGradient += i.gradients.alignment
		sums.DiscriminatorSteps++
	}
}

// setMeans sets the means of the sums in a line of metrics; none is measured where there
// were no steps.
func setMeans(m *store.Metrics, sums checkpoint.Instruments) {
	if n := float64(sums.Steps); n > 0 {
		m.FeatureNorm = store.Measured(sums.FeatureNorm / n)
		m.LogitNorm = store.Measured(sums.LogitNorm / n)
		m.NetworkGradient = store.Measured(sums.NetworkGradient / n)
	}
	if n := float64(sums.DiscriminatorSteps); n > 0 {
		m.DiscriminatorAccuracy = store.Measured(sums.DiscriminatorAccuracy / n)
		m.DiscriminatorGradient = store.Measured(sums.DiscriminatorGradient / n)
	}
}
