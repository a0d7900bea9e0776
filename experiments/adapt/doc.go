// Package adapt goes from two domains of files, a labelled source and a target without labels,
// to predictions for the target ([Run]). It looks at both domains ([Look]), writes the
// experiment file that follows, with the reasons as comments ([Data.Experiment]), trains it as
// any other, has package judge choose among its runs without a label of the target, and leaves
// the chosen models, their predictions, the class shares that they found, a report, and
// [Outcome] as outcome.json.
//
// All of it can be done by hand: the file is one that iwrun takes, and its results lie in
// the usual folders.
package adapt
