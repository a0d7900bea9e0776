package train

import (
	"math"

	"iwda/experiments/checkpoint"
	"iwda/experiments/store"
)

// instruments are what is read at a step that shows how training goes, and changes nothing.
type instruments struct {
	featureNorm, logitNorm             float64 // root mean square over the rows of ‖z‖ and of the logits
	networkGradient, alignmentGradient float64 // norms, before any limit
	discriminatorAccuracy              store.Optional[float64]
}

// rowNorm is the root mean square of the Euclidean norms of rows, of the sum of the squares
// of their elements.
func rowNorm(squares float64, rows int) float64 {
	return math.Sqrt(squares / float64(rows))
}

// addTo adds them to the sums of the steps since an evaluation.
func (i instruments) addTo(sums *checkpoint.Instruments) {
	sums.FeatureNorm += i.featureNorm
	sums.LogitNorm += i.logitNorm
	sums.NetworkGradient += i.networkGradient
	sums.Steps++
	if i.discriminatorAccuracy.Measured {
		sums.DiscriminatorAccuracy += i.discriminatorAccuracy.Value
		sums.DiscriminatorGradient += i.alignmentGradient
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
