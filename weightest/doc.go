// Package weightest estimates class weights under label shift: the ratios
// w_y = D_T(y)/D_S(y) of the label distributions of a target and a source domain,
// from a classifier's predictions on both and the labels of the source alone.
//
// # The equations
//
// Let a classifier map an image to probabilities p over k classes. On the source,
// where labels y are known, and on the target, collect
//
//	C[i][j] = P_S(prediction = i, y = j)   (k×k; row = predicted, column = true)
//	mu[i]   = P_T(prediction = i)          (k)
//	D_S[j]  = P_S(y = j)                   (k)
//
// an average of p over all images standing for P(prediction = ·). Where the two
// domains differ in their label distributions only, or the weaker generalised label
// shift holds, the true weights solve C w = mu (Lipton, Wang and Smola 2018; Tachet
// des Combes, Zhao, Wang and Gordon 2020). With estimates of C and mu the solution can
// have negative entries or not exist, so that the 2020 paper solves
//
//	min ½‖mu - C w‖²   s.t.   w ≥ 0,  w·D_S = 1.
//
// # The pieces
//
//   - Accumulator collects C and mu batch by batch while a model trains.
//   - Sample holds the predictions of a finished classifier on held-out source rows
//     and target rows, Sums their sums.
//     Both give the Problem that every estimator reads.
//   - Estimators are values that carry their settings: QP, the paper's quadratic program for
//     C of any rank, BBSE and MLLS, on soft or, inside Hard, on hard predictions.
//     Find knows them by name; another estimator is any type with the methods of Estimator.
//     Ambiguity says what the equations of one leave open.
//   - Correct says what a classifier's probabilities should have been on the target.
//   - Tracker holds the weights of a training run: it starts at one, smooths the
//     estimates, w ← (1-EMA)·estimate + EMA·w, and keeps the former weights while C
//     is too ill-conditioned to tell.
//   - Oracle gives the true weights where the target's labels are known; Distance and
//     EffectiveSampleSize measure weights.
//
// Package calibration fits probabilities to the labels of held-out source rows, before MLLS
// above all; package intervals says how well shares and weights are known; package shifttest
// asks whether anything shifted, and whether more than the class shares did.
//
// An update at the end of an epoch reads
//
//	statistics := weightest.NewAccumulator(classes)
//	tracker, err := weightest.NewTracker(classes, weightest.TrackerSettings{EMA: 0.5})
//	// every step, with the probabilities of its forward pass
//	err = statistics.Add(source, labels, target)
//	// every epoch
//	record, err := tracker.Update(statistics, sourceDistribution)
//
// # Conventions
//
// Everything is float64, vectors have length k, classes count from 0. A class that
// neither domain has gets weight 0. Lengths that do not fit are a mistake in the
// program and panic, except in a Problem, whose parts may come from a file; data that
// make no sense are errors. The same input, with the seed where there is one, gives the
// same bits.
package weightest
