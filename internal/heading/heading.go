// Package heading names the columns of the files that are written for users, and the keys of JSON
// that say the same: one name for one thing.
package heading

import "slices"

// The names. Shares and probabilities are fractions of 1, intervals of 95% unless they say otherwise.
const (
	ID             = "id"
	Label          = "label"
	Class          = "class"           // of a file with a line a class
	PredictedClass = "predicted_class" // of a row
	Probability    = "probability"     // of the predicted class
	Stratum        = "stratum"         // of probabilities, from which a row was drawn
	StratumShare   = "stratum_share"   // of all rows

	SourceShare     = "source_share"
	TargetShare     = "target_share" // estimated
	TargetShareLow  = TargetShare + Low
	TargetShareHigh = TargetShare + High
	Weight          = "weight" // the target's share over the source's
	WeightLow       = Weight + Low
	WeightHigh      = Weight + High
)

// The ends of names: of an interval, and of one that holds those of all classes at once.
const (
	Low       = "_low"
	High      = "_high"
	JointLow  = "_joint_low"
	JointHigh = "_joint_high"
)

// ProbabilityOf is the column with the probabilities of a class.
func ProbabilityOf(class string) string { return ProbabilityStart + class }

// ProbabilityStart is how the names of columns begin that [ProbabilityOf] returns.
const ProbabilityStart = "probability_"

// former are the names that files of version 0.3.0 have.
var former = map[string]string{
	PredictedClass: "class",
	Probability:    "confidence",
	TargetShare:    "estimated_target_share",
}

// Index is the place of a column among those of a file, of this version or a former one; -1 if it
// is not there.
func Index(columns []string, name string) int {
	at := slices.Index(columns, name)
	if old, renamed := former[name]; at < 0 && renamed {
		at = slices.Index(columns, old)
	}
	return at
}

// Former are the columns as a former version named them.
func Former(columns []string) []string {
	columns = slices.Clone(columns)
	for i, name := range columns {
		if old, renamed := former[name]; renamed {
			columns[i] = old
		}
	}
	return columns
}
