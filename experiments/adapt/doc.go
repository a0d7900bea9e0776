// Package adapt goes from two domains of files, a labelled source and a target without
// labels, to predictions for the target:
//
//   - [Look] reads both domains, as training would, and says what there is;
//   - [Data.Experiment] is the experiment file that follows, with the reasons as
//     comments; it is trained as any other;
//   - [Choose] chooses among its runs without a label of the target, by the rule that
//     the file names, and [Outcome.Write] leaves the chosen models, what they predict, and
//     the class shares that they found.
//
// All of it can be done by hand: the file is one that iwrun takes, and its results lie in
// the usual folders.
package adapt
