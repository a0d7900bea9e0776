// Package losses holds the losses of the paper as pure functions of tensors: the
// classification losses on the source, the adversarial losses of DANN and CDAN, the
// kernel losses of DAN and JAN, and the importance-weighted forms of each.
//
// Notation, as in the paper: B rows of each domain in a batch, k classes; z are
// features (rows × d), p = softmax(logits) predictions (rows × k), y source labels
// (B, int64), w class weights (k), D_S(y) the source's label distribution (k). In
// batches of both domains the B source rows come first. Every loss is a
// 0-dimensional tensor, and gradients flow through every argument unless its comment
// says otherwise.
//
// An argument rowWeights is w_y of each source row, shape (B), constant to autograd. The
// zero Tensor stands for no weights, which means that all are 1. Shapes that do not fit are a
// mistake in the program and panic.
//
// Package losses/form names the forms of a loss between which a run chooses.
package losses
