package selection

import "fmt"

// ClassWeightedRisk is IWV-y, (1/n) Σ_i w_{y_i} ℓ_i over held-out source rows, ℓ the
// cross-entropy: an estimate of the cross-entropy on the target, without bias where the
// weights are right and the two domains differ in their class shares alone, or in features
// that the candidate has aligned class by class.
var ClassWeightedRisk = Criterion{
	Name: "iwv-y", Cost: "n·k",
	Fails: "where the class weights are wrong, or the classes themselves look different in the target",
	needs: []need{sourceRows, classWeights},
	value: func(in Input) (float64, error) {
		losses := crossEntropies(in.SourceLogits, in.SourceLabels)
		for i, label := range in.SourceLabels {
			losses[i] *= in.ClassWeights[label]
		}
		return mean(losses), nil
	},
}

// sourceAccuracy is the share of held-out source rows that are classified right.
var sourceAccuracy = Criterion{
	Name: "source-accuracy", Higher: true, Cost: "n·k",
	Fails: "it is blind to the target",
	needs: []need{sourceRows},
	value: func(in Input) (float64, error) {
		right := 0
		for i, predicted := range predictions(in.SourceLogits) {
			if predicted == in.SourceLabels[i] {
				right++
			}
		}
		return float64(right) / float64(len(in.SourceLabels)), nil
	},
}

// sourceAccuracyMacro is the mean, over the classes that occur, of the share of their
// held-out rows that are classified right.
var sourceAccuracyMacro = Criterion{
	Name: "source-accuracy-macro", Higher: true, Cost: "n·k",
	Fails: "it is blind to the target",
	needs: []need{sourceRows},
	value: func(in Input) (float64, error) {
		k := in.classes()
		right, total := make([]float64, k), make([]float64, k)
		for i, predicted := range predictions(in.SourceLogits) {
			total[in.SourceLabels[i]]++
			if predicted == in.SourceLabels[i] {
				right[predicted]++
			}
		}
		recalls, classes := 0.0, 0.0
		for class, n := range total {
			if n > 0 {
				recalls += right[class] / n
				classes++
			}
		}
		return recalls / classes, nil
	},
}

// weightedRisk is IWCV (Sugiyama, Krauledat and Müller 2007) with the cross-entropy:
// (1/n) Σ_i a_i ℓ_i over held-out source rows, a the density of the target over the
// source's at a row's features.
var weightedRisk = Criterion{
	Name: "iwcv", Cost: "n·k, and a logistic regression on the features",
	Fails: "under label shift: it weighs rows as covariate shift would have it",
	needs: []need{sourceRows, rowWeights},
	value: func(in Input) (float64, error) {
		losses := crossEntropies(in.SourceLogits, in.SourceLabels)
		for i, a := range in.RowWeights {
			losses[i] *= a
		}
		return mean(losses), nil
	},
}

// deepEmbeddedValidation is DEV (You, Wang, Long and Jordan 2019): IWCV with the mean of
// the weights as a control variate, mean(aℓ) + η·mean(a) - η with
// η = -cov(aℓ, a)/var(a), and η = 0 where all weights are equal.
var deepEmbeddedValidation = Criterion{
	Name: "dev", Cost: "n·k, and a logistic regression on the features",
	Fails: "under label shift, as IWCV does, and where the weights are few and large",
	needs: []need{sourceRows, rowWeights},
	value: func(in Input) (float64, error) {
		n := len(in.SourceLabels)
		if n < 2 {
			return 0, fmt.Errorf("%w: it needs at least 2 source rows, for a variance", ErrMissing)
		}
		weighted := crossEntropies(in.SourceLogits, in.SourceLabels)
		for i, a := range in.RowWeights {
			weighted[i] *= a
		}
		meanLoss, meanWeight := mean(weighted), mean(in.RowWeights)
		covariance, variance := 0.0, 0.0
		for i, a := range in.RowWeights {
			covariance += (weighted[i] - meanLoss) * (a - meanWeight)
			variance += (a - meanWeight) * (a - meanWeight)
		}
		if variance == 0 {
			return meanLoss, nil
		}
		eta := -covariance / variance
		return meanLoss + eta*meanWeight - eta, nil
	},
}
