// Package form names the forms of a loss between which a run chooses: those of the
// paper and of its released code. Package losses computes them; this package needs no
// libtorch, so that configurations can be read without it.
package form

import (
	"fmt"
	"slices"
	"strings"
)

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

var classifications = []Classification{Balanced, WeightedBalanced, ReleasedWeightedBalanced}

// ClassificationNames returns the names that ParseClassification knows.
func ClassificationNames() []string { return names(classifications) }

// ParseClassification returns the form of that name. An unknown name is an error that
// lists the names there are.
func ParseClassification(name string) (Classification, error) {
	return parse("classification loss", name, classifications)
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

var mmds = []MMD{Unbiased, Biased}

// MMDNames returns the names that ParseMMD knows.
func MMDNames() []string { return names(mmds) }

// ParseMMD returns the form of that name. An unknown name is an error that lists the
// names there are.
func ParseMMD(name string) (MMD, error) { return parse("form of the MMD", name, mmds) }

func names[T ~string](forms []T) []string {
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = string(f)
	}
	return names
}

func parse[T ~string](kind, name string, forms []T) (T, error) {
	if slices.Contains(forms, T(name)) {
		return T(name), nil
	}
	return "", fmt.Errorf("losses: no %s %q; there are %s", kind, name, strings.Join(names(forms), ", "))
}
