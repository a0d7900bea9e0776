package store

import "iwda/experiments/checkpoint"

// Result is what result.json holds: a finished run in numbers. Accuracies are
// fractions of 1.
type Result struct {
	ID         string            `json:"id"` // subsampled/usps-mnist/iwdan/seed-1
	Experiment string            `json:"experiment"`
	Variant    string            `json:"variant"`
	Task       string            `json:"task"`
	Method     string            `json:"method"`
	Seed       int64             `json:"seed"`
	ConfigHash string            `json:"config_hash"`
	Versions   map[string]string `json:"versions"`
	Device     string            `json:"device"`
	Machine    string            `json:"machine,omitempty"` // processor, cores, system; may be missing
	Threads    int               `json:"threads,omitempty"` // 0 of a run without steps, which by any number is the same
	// Processes is the number of those that made the run together in former versions, if there were
	// several.
	Processes int `json:"processes,omitempty"`
	// WeightsSHA256 is the hash of the file of pretrained weights; it is missing where
	// there was none.
	WeightsSHA256 string `json:"weights_sha256,omitempty"`
	// DataSHA256 identifies the data that the run was trained and measured on; it may
	// be missing, as from results of former versions.
	DataSHA256 string `json:"data_sha256,omitempty"`
	// Unpublished says what of a published data set is not as it was published, as in "amazon: 310 of 2817
	// images"; it is missing where all is, or nothing is published.
	Unpublished []string `json:"unpublished,omitempty"`

	// BestAccuracy is the highest accuracy of any evaluation. It selects the epoch
	// on target labels, which a user does not have: LastAccuracy is the honest one.
	// None of the accuracies is measured where no row of the test set has a label.
	BestAccuracy      Optional[float64] `json:"best_accuracy,omitzero"`
	BestEpoch         Optional[int]     `json:"best_epoch,omitzero"`
	LastAccuracy      Optional[float64] `json:"last_accuracy,omitzero"`
	MeanClassAccuracy Optional[float64] `json:"mean_class_accuracy,omitzero"` // at the last evaluation
	// CorrectedAccuracy is that of the last evaluation's network whose probabilities are
	// corrected for the class shares that were estimated for the target, as iwrun predict
	// does; it may be missing, as from results of former versions.
	CorrectedAccuracy Optional[float64] `json:"corrected_accuracy,omitzero"`
	// Confusion counts the labelled rows at the last evaluation; row = true class,
	// column = predicted. It is missing where there are none.
	Confusion [][]int `json:"confusion,omitempty"`

	// SourceConfusion is that on the source's training set, as the classifier is at
	// the end; it may be missing, as from results of former versions.
	SourceConfusion [][]int `json:"source_confusion,omitempty"`

	Classes []string `json:"classes"` // in label order
	// Weights are the final class weights of the estimator: methods with estimated
	// weights used them, for all others they are what it would have said.
	Weights []float64 `json:"weights"`
	// TrueWeights, WeightDistance (Euclidean, to them) and JSD, the Jensen-Shannon
	// divergence (natural logarithm) between the label distributions, are missing where no
	// row that is trained on of the target has a label.
	TrueWeights        []float64          `json:"true_weights,omitempty"`
	WeightDistance     Optional[float64]  `json:"weight_distance,omitzero"`
	JSD                Optional[float64]  `json:"jsd,omitzero"`
	LabelDistributions LabelDistributions `json:"label_distributions"`
	// Sources are those of a task with several, for which the numbers above are those of all together: weights
	// give the mean of the target's class shares by each source. It is missing where there is one, or where they
	// count as one.
	Sources []SourceResult `json:"sources,omitempty"`

	// WithoutLabels is what is known of the run without target labels; it is missing where
	// no row of the source was held out and rows of the target's test set have labels.
	WithoutLabels *WithoutLabels `json:"without_labels,omitempty"`

	Steps int `json:"steps"`
	// Restarts are the times at which the run began again because something was not finite,
	// each of which halved its learning rates.
	Restarts        []checkpoint.Restart `json:"restarts,omitempty"`
	Seconds         float64              `json:"seconds"`
	PeakMemoryBytes int64                `json:"peak_memory_bytes"`
}

// SourceResult are the class weights of one of several sources, as in [Result], and its class shares.
type SourceResult struct {
	Name           string            `json:"name"`
	Shares         []float64         `json:"shares"`
	Weights        []float64         `json:"weights"`
	TrueWeights    []float64         `json:"true_weights,omitempty"`
	WeightDistance Optional[float64] `json:"weight_distance,omitzero"`
	JSD            Optional[float64] `json:"jsd,omitzero"`
}

// RunID is what [Result.ID] must say.
func (r Result) RunID() ID {
	return ID{Variant: r.Variant, Task: r.Task, Method: r.Method, Seed: r.Seed}
}

// LabelDistributions are the shares of the classes in the two training sets; the
// target's is missing where no row has a label.
type LabelDistributions struct {
	Source []float64 `json:"source"`
	Target []float64 `json:"target,omitempty"`
}

// WithoutLabels is what can be known of a run without target labels, at the last
// evaluation. Shares are in label order.
type WithoutLabels struct {
	// PredictedShares are the mean probabilities over the target's test rows.
	PredictedShares []float64 `json:"predicted_shares"`
	// EstimatedShares are the target's by the estimated class weights: w_y times the
	// source's share of y, so that they sum to 1; missing before their first update.
	EstimatedShares []float64 `json:"estimated_shares,omitempty"`
	// Certainty is the mean over the same rows of the largest probability.
	Certainty float64 `json:"certainty"`
	// LikelyShares are the target's by maximum likelihood from probabilities calibrated on the
	// held-out rows, and LabelShiftP the p-value of the test that shares are all that changed
	// (shifttest.LabelShiftTest); both may be missing, as where no row was held out, the
	// latter also where there were too few rows to test.
	LikelyShares []float64         `json:"likely_shares,omitempty"`
	LabelShiftP  Optional[float64] `json:"label_shift_p,omitzero"`
	// Columns tell whether these agree under LikelyShares; of a classifier that is solved for.
	Columns *Columns `json:"columns,omitempty"`
	// OwnStatistics is whether each domain was standardised by its own, as if columns had moved.
	OwnStatistics bool `json:"own_statistics,omitempty"`
	// TrainedShares are those for which the network's own probabilities speak, which its loss
	// counted; missing in results of former versions, and if no row was held out.
	TrainedShares []float64 `json:"trained_shares,omitempty"`
	// Calibration is the form that suits the network, of those of package calibration; the empty
	// text is the usual one.
	Calibration string `json:"calibration,omitempty"`
	// Validation tells of the source rows that were held out, if any were.
	Validation *Validation `json:"validation,omitempty"`
}

// Columns are what shifttest.ColumnSums found.
type Columns struct {
	P        float64 `json:"p"`        // of the test that they agree
	Odd      string  `json:"odd"`      // the one that agrees least, by its name or its number from 0
	Distance float64 `json:"distance"` // of their means, the root of its mean square, in the source's deviations
	// Selected is the one along which rows may have been selected, if they disagree, and SelectedP the p-value of the
	// test that they were (shifttest.SelectedAlong); missing of very few or many columns, and where no linear classifier asks.
	Selected  string  `json:"selected,omitempty"`
	SelectedP float64 `json:"selected_p,omitempty"`
}

// Validation is what was measured on rows of the source that training did not see.
type Validation struct {
	Rows     int     `json:"rows"`
	Accuracy float64 `json:"accuracy"`
	Loss     float64 `json:"loss"` // mean cross-entropy, natural logarithm
}

// Metrics is one line of metrics.csv: an evaluation.
type Metrics struct {
	Epoch             int               // epochs completed
	Step              int               // steps completed
	Accuracy          Optional[float64] // on the target's test set, fraction of 1
	MeanClassAccuracy Optional[float64]
	// ClassificationLoss, DomainLoss and TotalLoss are means over the steps since
	// the line before; NaN where there were none.
	ClassificationLoss float64
	DomainLoss         float64
	TotalLoss          float64
	// WeightDistance is that of the weights at this time to the true ones, NaN where
	// these are not known.
	WeightDistance float64
	LearningRate   float64 // of the network in the epoch before
	Seconds        float64 // since the start of the run, evaluations included

	// ValidationAccuracy and ValidationLoss, the mean cross-entropy, are of the source rows
	// that were held out; Certainty is the mean largest probability over the target's
	// test rows.
	ValidationAccuracy, ValidationLoss, Certainty Optional[float64]

	// The instruments, means over the steps since the line before: the root mean square
	// of the rows' norms of features and logits, the norms of the gradients before any
	// limit, and the discriminator's accuracy, on both domains alike; the latter two where
	// there is a discriminator.
	FeatureNorm, LogitNorm                                        Optional[float64]
	NetworkGradient, DiscriminatorGradient, DiscriminatorAccuracy Optional[float64]
	// LargestWeight is the largest of the estimated class weights at this time, and
	// EffectiveSampleSize what they leave of the source, as in WeightUpdate.
	LargestWeight, EffectiveSampleSize Optional[float64]
}

// WeightUpdate is one line of weights.csv: an update of the class weights of a source.
type WeightUpdate struct {
	Epoch, Step         int
	Source              string    // whose weights they are, of a task with several; "" of others
	Weights             []float64 // after the update
	Distance            float64   // to the true weights; NaN where these are not known
	SmallestSingular    float64   // of the confusion matrix; NaN where the estimate failed before
	EffectiveSampleSize float64   // (Σ D_S w)² / Σ D_S w², in (0, 1]
	Note                string    // why the update left the weights alone, if it did
}
