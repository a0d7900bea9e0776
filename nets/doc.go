// Package nets holds the networks of the paper's experiments: LeNet for digits and
// the domain discriminator with its gradient reversal.
//
// A network maps a batch x to features z = g(x), shape (rows × features), and logits
// h(z), shape (rows × classes). Forward passes take the mode as an argument, so that
// a network has no hidden state but its parameters; their layers are gotorch's
// modules, their operations package torch's.
//
// Parameters carry the names of the released code's state dictionaries and always
// come in the same order. [Load] is strict: every name and shape must fit.
package nets
