package judge

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/selection"
)

// consistent is the p-value of the test of label shift from which on nothing is found against it:
// well above the level at which a test rejects, as what follows from it costs more if it is wrong.
const consistent = 0.2

// Together chooses methods whose runs predict together, by what the run that aligns nothing
// ([Shared]) says of the target:
//
//   - If the test finds nothing against changed class shares, those that take columns to mean
//     the same in both domains, alike. Rows that were selected otherwise would look the same
//     too, to which no correction is due: the probabilities are corrected halfway.
//   - If it does, or cannot tell, and there are methods that take columns to have moved, those,
//     each corrected for the shares that it estimates.
//   - Otherwise those of alike as they are.
//
// Of the methods those count that have runs, as one of alike must ([Comparison.Has]). All values
// are those of [selection.TargetRisk].
func (c *Comparison) Together(alike, moved []string) (Choice, error) {
	choice, err := c.Choose(selection.TargetRisk.Name, 0)
	if err != nil {
		return Choice{}, err
	}
	names, test, found := alike, c.Shared.Test, "too few rows can tell whether other class shares alone explain the target"
	if test.Tested() {
		found = fmt.Sprintf("other class shares alone do not explain the target (p = %.2g)", test.P)
	}
	switch shift := test.Tested() && test.P >= consistent; {
	case shift:
		choice.Correction = Halfway
		choice.Because = fmt.Sprintf("nothing speaks against columns that mean the same in both domains and other class shares alone (p = %.2g)", test.P)
	case c.Has(moved):
		names, choice.Correction = moved, Full
		choice.Because = found
	default:
		choice.Correction = None
		choice.Because = "columns are taken to mean the same in both domains; " + found
	}
	for i, candidate := range c.Candidates {
		if slices.Contains(names, MethodOf(candidate.Run)) {
			choice.Together = append(choice.Together, i)
		}
	}
	choice.Used = choice.Together[0]
	return choice, nil
}

// Has tells whether one of the methods has a run.
func (c *Comparison) Has(methods []string) bool {
	return slices.ContainsFunc(c.Candidates, func(c Candidate) bool { return slices.Contains(methods, MethodOf(c.Run)) })
}

// Correction is how far probabilities are corrected for the target's class shares.
type Correction int

const (
	Full    Correction = iota // for those that are estimated
	Halfway                   // for the geometric mean of these and the source's
	None
)

// Shares returns those that probabilities are corrected for which speak for some shares (k), if
// others are estimated for the target (k).
func (c Correction) Shares(speaksFor, target []float64) []float64 {
	switch c {
	case None:
		return speaksFor
	case Halfway:
		halfway := make([]float64, len(target))
		for i, q := range target {
			halfway[i] = math.Sqrt(q * speaksFor[i])
		}
		floats.Scale(1/floats.Sum(halfway), halfway)
		return halfway
	}
	return target
}

// Names are those of the methods of the runs that predict together, each once.
func (c Choice) Names() (names []string) {
	for _, i := range c.Together {
		if name := MethodOf(c.Judged[i].Run); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
