package selection

import "gonum.org/v1/gonum/stat"

// ClassWeightedRisk is IWV-y, (1/n) Σ_i w_{y_i} ℓ_i over held-out source rows, ℓ the
// cross-entropy: an estimate of the cross-entropy on the target, without bias where the
// weights are right and the two domains differ in their class shares alone, or in features
// that the candidate has aligned class by class.
var ClassWeightedRisk = Criterion{
	Name: "iwv-y", Cost: "n·k",
	About: "importance-weighted validation by class: the mean cross-entropy of held-out source rows, each weighted by how much more frequent its class is in the target",
	Fails: "if the class weights are wrong, or the classes themselves look different in the target",
	needs: []need{sourceRows, classWeights},
	value: func(in Input) (float64, error) {
		losses := crossEntropies(in.SourceLogits, in.SourceLabels)
		for i, label := range in.SourceLabels {
			losses[i] *= in.ClassWeights[label]
		}
		return stat.Mean(losses, nil), nil
	},
}

// TargetRisk is the [ClassWeightedRisk] plus the share of a candidate's predictions on the target
// that changed class shares leave unexplained. The first sees nothing of the target but its
// shares, the second nothing of what is right; a candidate that ignores the target, or that has
// collapsed, is bad by one of them.
var TargetRisk = Criterion{
	Name: "target-risk", Cost: unexplainedShare.Cost,
	About: "iwv-y plus unexplained",
	Fails: ClassWeightedRisk.Fails,
	needs: []need{sourceRows, classWeights, targetRows},
	value: func(in Input) (float64, error) {
		risk, err := ClassWeightedRisk.value(in)
		if err != nil {
			return 0, err
		}
		unexplained, err := unexplainedShare.value(in)
		return risk + unexplained, err
	},
}

// sourceAccuracy is the share of held-out source rows that are classified right.
var sourceAccuracy = Criterion{
	Name: "source-accuracy", Higher: true, Cost: "n·k",
	About: "the share of held-out source rows that are right",
	Fails: "it ignores the target",
	needs: []need{sourceRows},
	value: func(in Input) (float64, error) { return agreement(in.SourceLogits, in.SourceLabels), nil },
}

// sourceAccuracyMacro is the mean, over the classes that occur, of the share of their
// held-out rows that are classified right.
var sourceAccuracyMacro = Criterion{
	Name: "source-accuracy-macro", Higher: true, Cost: "n·k",
	About: "the mean recall of the classes on held-out source rows",
	Fails: "it ignores the target",
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
