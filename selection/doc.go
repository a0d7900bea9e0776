// Package selection chooses among trained models without labels of the target.
//
// A [Criterion] maps what one candidate says of held-out source rows, which have labels,
// and of target rows, which have none, to a number ([Criterion.Value]); the candidate with
// the best number is chosen ([Criterion.Best]). A candidate is a run, a method or a setting.
//
// Under label shift most published criteria reward equal class shares and so choose wrongly:
// every criterion says when it fails. The default, [TargetRisk], is the share of the target's
// predictions that no class shares explain, plus [ClassWeightedRisk],
//
//	IWV-y = (1/n) Σ_i w_{y_i} ℓ_i,
//
// the class-weighted cross-entropy of the held-out source rows, which estimates the target's
// risk where P(x|y), or the distribution of the features given y, is that of the source. Its
// weights must come from one model that all candidates share, fixed beforehand: estimated
// from the candidate itself, a collapsed classifier explains itself perfectly.
//
// Everything is float64, without libtorch; nothing is random: the same input gives the same
// bits. Entropies and losses are in natural logarithms.
package selection
