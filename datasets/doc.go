// Package datasets holds what is read from disk or drawn: sets of rows, their
// labels and label distributions, and the random numbers by which rows of them are chosen.
//
// A [Set] is what a training loop reads: rows of normalised float32 values with a label
// each, which may be unknown. Two implementations lie in memory: [Images] keeps the bytes
// of the pixels, so that MNIST's training images cost 47 MB, and [Features] keeps vectors.
// [LoadDigits] reads the digits of the paper from their public files, package table the files
// of other programs, and [DrawGlyphs] draws two domains of digits from fonts and needs no file.
//
// Label shift is made by [Subsample], which keeps a fraction of each class;
// [Labels.Shares] and [JSD] measure it.
//
// Nothing here touches libtorch, and nothing has global state: whatever is random
// follows from a generator that the caller passes, usually a [Stream] of a run's
// seed.
package datasets
