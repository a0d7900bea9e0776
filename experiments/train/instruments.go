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

// readInstruments reads them off a step that was made.
func readInstruments(f stepOutputs, l stepLosses, norms gradientNorms) (read instruments) {
	torch.NoGrad(func() {
		read = instruments{
			featureNorm: rowNorm(f.features), logitNorm: rowNorm(f.logits),
			gradients: norms, discriminatorAccuracy: l.discriminatorAccuracy,
		}
	})
	return read
}

// rowNorm is the root mean square of the Euclidean norms of the rows of x.
func rowNorm(x torch.Tensor) float64 {
	return math.Sqrt(x.Square().Sum().Item() / float64(x.Shape()[0]))
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
