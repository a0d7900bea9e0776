// Package selection chooses among trained models without labels of the target.
//
// A [Criterion] maps what one candidate says of held-out source rows, which have labels,
// and of target rows, which have none, to a number ([Criterion.Value]); the candidate with
// the best number is chosen ([Criterion.Best]). A candidate is an epoch of a run, a run, a
// method or a setting.
//
// Under label shift most published criteria reward equal class shares and so choose wrongly:
// every criterion says when it fails. The default is [ClassWeightedRisk],
//
//	IWV-y = (1/n) Σ_i w_{y_i} ℓ_i,
//
// the class-weighted cross-entropy of the held-out source rows, which estimates the target's
// risk where P(x|y), or the distribution of the features given y, is that of the source. Its
// weights must come from one model that all candidates share, fixed beforehand: estimated
// from the candidate itself, a collapsed classifier explains itself perfectly.
//
// Among the epochs of a run the default is [GuardedRisk], which leaves the last epoch for that of
// the lowest risk only where the difference is clear.
//
// Parts that are random or trained, such as clusters or a classifier of domains, are
// arguments of a criterion and functions of their own ([Clusters], [DomainWeights]), so
// that each formula can be tested alone.
//
// Everything is float64, without libtorch; nothing is random: the same input gives the same
// bits. Entropies and losses are in natural logarithms.
package selection
