// Package form names the forms of a loss between which a run chooses: those of the
// paper and of its released code. Package losses computes them; this package needs no
// libtorch, so that configurations can be read without it.
package form

// Classification is the form of the classification loss of importance-weighted methods.
type Classification string

const (
	// Balanced weights rows by 1/(k·D_S(y)) alone: the equation in the body of the paper.
	Balanced Classification = "balanced"
	// WeightedBalanced weights them by w_y too: the equation in the paper's appendix.
	WeightedBalanced Classification = "weighted-balanced"
	// ReleasedWeightedBalanced is what the released code computes in its place.
	ReleasedWeightedBalanced Classification = "weighted-balanced-released"
)

// ClassificationNames returns the names of all forms of the classification loss.
func ClassificationNames() []string {
	return []string{string(Balanced), string(WeightedBalanced), string(ReleasedWeightedBalanced)}
}

// MMD is the form of the maximum mean discrepancy: how the mean of a kernel over pairs
// of rows of one domain is taken.
type MMD string

const (
	// Unbiased leaves out the pairs of a row with itself and divides by B(B-1), as the
	// released code does; pairs across the domains are divided by B².
	Unbiased MMD = "released"
	// Biased keeps them and divides by B² throughout: the paper's formula, a squared
	// distance that is never negative.
	Biased MMD = "biased"
)

// MMDNames returns the names of all forms of the MMD.
func MMDNames() []string { return []string{string(Unbiased), string(Biased)} }
