// Package heading names the columns of the files that are written for users, and the keys of JSON
// that say the same: one name for one thing.
package heading

// The names. Shares and probabilities are fractions of 1, intervals of 95% unless they say otherwise.
const (
	ID             = "id"
	Label          = "label"
	Class          = "class"           // of a file with a line a class
	PredictedClass = "predicted_class" // of a row
	Probability    = "probability"     // of the predicted class
	Set            = "set"             // of classes that a row may have

	SourceShare     = "source_share"
	TargetShare     = "target_share" // estimated
	TargetShareLow  = TargetShare + Low
	TargetShareHigh = TargetShare + High
	Weight          = "weight" // the target's share over the source's
	WeightLow       = Weight + Low
	WeightHigh      = Weight + High

	ShareRejected   = "share_rejected"   // yes if the target's share is not to be believed
	MeanProbability = "mean_probability" // uncorrected, over the target's rows
	PredictedShare  = "predicted_share"  // of the target's rows
	Recall          = "recall"           // of a class, in the target
	Precision       = "precision"
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
