// Package evaluation says how often predictions are right, by a few rows with labels that were
// drawn at random from all that were predicted. Nothing is assumed of the classifier or of where
// the rows come from.
//
// [Accuracy] is the estimate for one classifier, [Compare] that of the difference between two, and
// [Share] that for some of the labelled rows, as those of a class.
package evaluation

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Moments are those of what is expected of all rows, labelled or not. The zero value is of none.
type Moments struct {
	Rows    int
	mean    float64
	squares float64 // summed squares of deviations from the mean
}

// Add adds a row (Welford 1962).
func (m *Moments) Add(expected float64) {
	m.Rows++
	deviation := expected - m.mean
	m.mean += deviation / float64(m.Rows)
	m.squares += deviation * (expected - m.mean)
}

// Mean is a prediction-powered estimate of the mean outcome of all rows.
type Mean struct {
	Value  float64
	Lambda float64 // how far what is expected is relied on, from 0 to 1
	// Expected is the variance that comes from the rows whose outcome is expected, Labelled that
	// from those with labels, by the variance of samples.
	Expected, Labelled float64
}

// Powered estimates the mean outcome of all N rows from n of them with labels, by prediction-powered
// inference with a tuned λ (Angelopoulos, Duchi and Zrnic 2023, PPI++), of outcomes c and what is
// expected without labels, f:
//
//	λ·mean(f of all) + mean(c − λf)
//
// It is unbiased whatever f is worth, as λ only decides how much it helps. There must be two rows.
func Powered(outcomes, expected []float64, all Moments) Mean {
	n, rows := float64(len(outcomes)), float64(all.Rows)
	pooled := all
	for _, f := range expected {
		pooled.Add(f)
	}
	m := Mean{}
	if variance := pooled.squares / float64(pooled.Rows-1); variance > 0 {
		covariance := stat.Covariance(outcomes, expected, nil) * (n - 1) / n
		m.Lambda = min(1, max(0, covariance/(variance*(1+n/rows))))
	}
	residuals := make([]float64, len(outcomes))
	floats.AddScaledTo(residuals, outcomes, -m.Lambda, expected)
	mean, variance := stat.MeanVariance(residuals, nil)
	m.Value = m.Lambda*all.mean + mean
	m.Expected, m.Labelled = m.Lambda*m.Lambda*all.squares/rows/rows, variance/n
	return m
}
