package judge

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/experiments/config"
	"iwda/experiments/store"
)

// Runs that have judged the same source rows have votes: two that are as good equal ones, one that says the same as
// another but worse none. If columns contradict that only class shares changed, votes are drawn halfway to equal ones,
// unless somebody knows better; if no selection along one column explains them, a quarter is of classifiers with each
// domain's own statistics. Beside networks, which have judged rows of their own, they count as one method if they are
// clearly better than the first of them, which otherwise does; a network that predicts otherwise than all has none.
func TestVotes(t *testing.T) {
	candidates, _ := problem(t)
	first := candidates[0]
	n, k := len(first.HeldOutLabels), first.Classes
	first.Run = "full/a-b/source-only@first/seed-1"
	for row := range n {
		first.HeldOutRows = append(first.HeldOutRows, row)
	}
	second, worse := first, first
	second.Run, worse.Run = "full/a-b/source-only@second/seed-1", "full/a-b/source-only@worse/seed-1"
	second.HeldOut, worse.HeldOut = make([]float32, len(first.HeldOut)), slices.Clone(first.HeldOut)
	second.HeldOutRows, second.HeldOutLabels = slices.Clone(first.HeldOutRows), slices.Clone(first.HeldOutLabels)
	for row := range n { // the same rows the other way round
		copy(second.HeldOut[row*k:(row+1)*k], first.HeldOut[(n-1-row)*k:(n-row)*k])
		second.HeldOutRows[row], second.HeldOutLabels[row] = n-1-row, first.HeldOutLabels[n-1-row]
	}
	for row := range n {
		if row%3 == 0 { // wrong, and sure of it
			worse.HeldOut[row*k+(first.HeldOutLabels[row]+1)%k] += 30
		}
	}
	const nearly = 0.01 // as rounding decides how runs that say the same share their votes
	how := config.Selection{SameMeaning: []string{"source-only@first", "source-only@second", "source-only@worse"}}
	choice, err := compared(t, first, second, worse).Together(how)
	if err != nil || !slices.Equal(choice.Together, []int{0, 1}) || math.Abs(choice.Votes[0]-0.5) > nearly || math.Abs(floats.Sum(choice.Votes)-1) > 1e-12 {
		t.Errorf("%v have the votes %v; %v", choice.Together, choice.Votes, err)
	}
	selected := first
	selected.Known = &store.WithoutLabels{Columns: &store.Columns{P: 0.001}}
	for known, votes := range map[bool][]float64{false: {5. / 12, 5. / 12, 1. / 6}, true: {0.5, 0.5}} {
		how.LabelShift = known
		if choice, err = compared(t, selected, second, worse).Together(how); err != nil || !floats.EqualApprox(choice.Votes, votes, nearly) {
			t.Errorf("columns differ, known %v: %v have the votes %v; %v", known, choice.Together, choice.Votes, err)
		}
	}
	how.LabelShift = false
	own := second // by each domain's own statistics
	own.Run, own.Known = "full/a-b/source-only@own/seed-1", &store.WithoutLabels{OwnStatistics: true}
	how.ColumnsMoved = append(slices.Clone(how.SameMeaning), "source-only@own")
	for p, votes := range map[float64][]float64{0.5: {5. / 12, 5. / 12, 1. / 6}, 0.001: {0.75 * 5 / 12, 0.75 * 5 / 12, 0.75 / 6, 0.25}} {
		selected.Known.Columns.Selected, selected.Known.Columns.SelectedP = "age", p
		all := compared(t, selected, second, worse, own)
		if choice, err = all.Together(how); err != nil || !floats.EqualApprox(choice.Votes, votes, nearly) || choice.Correction != None {
			t.Errorf("selected along a column, p = %v: %v have the votes %v, corrected %v; %v", p, choice.Together, choice.Votes, choice.Correction, err)
		}
		said := all.Trust([]string{"a", "b", "c"}, choice.Together, choice.Votes, None).Cases[1]
		if (said.For == "") != (p < 0.01) || (said.Against == "") != (p > 0.01) {
			t.Errorf("selected along a column, p = %v: for it %q, against it %q", p, said.For, said.Against)
		}
	}
	how.ColumnsMoved = nil
	if !slices.Equal(compared(t, first, second, own).Shared.Target(), compared(t, first, second).Shared.Target()) {
		t.Error("a classifier with each domain's own statistics speaks of the target's class shares")
	}
	network := first
	network.HeldOutRows = nil
	if together, beside := compared(t, first, second), compared(t, first, second, named(network, "mcc")); together.Shared.Run != "all classifiers together" || beside.Shared.Run != first.Run {
		t.Errorf("%s speaks of classifiers, %s beside a network", together.Shared.Run, beside.Shared.Run)
	}
	var networks []Candidate
	for _, run := range []string{"source-only/seed-1", "source-only/seed-2", "mcc/seed-1", "mcc/seed-2"} {
		network.Run = "full/a-b/" + run
		networks = append(networks, network)
	}
	far := &networks[3]
	far.Target = slices.Clone(far.Target)
	for row := range slices.Chunk(far.Target, k) {
		row[0], row[1] = row[1], row[0]
	}
	how.SameMeaning = append(how.SameMeaning, "source-only", "mcc")
	const third, each = 1. / 3, 2. / 9
	for name, c := range map[string]struct {
		classifiers []Candidate
		together    []int
		votes       []float64
	}{
		"clearly better than the first": {[]Candidate{worse, first, second}, []int{1, 2, 3, 4, 5}, []float64{third / 2, third / 2, each, each, each}},
		"no better than the first":      {[]Candidate{first, second, worse}, []int{0, 3, 4, 5}, []float64{third, each, each, each}},
		"one":                           {[]Candidate{second}, []int{0, 1, 2, 3}, []float64{third, each, each, each}},
	} {
		if choice, err = compared(t, append(c.classifiers, networks...)...).Together(how); err != nil || !slices.Equal(choice.Together, c.together) || !floats.EqualApprox(choice.Votes, c.votes, nearly) {
			t.Errorf("%s: %v have the votes %v; %v", name, choice.Together, choice.Votes, err)
		}
	}
}

func named(c Candidate, method string) Candidate {
	c.Run = "full/a-b/" + method + "/seed-1"
	return c
}

// Runs that have judged source rows without learning from them are corrected as far as such rows are right most often
// with the target's shares, and less by what no mixture of classes explains; in full if somebody knows.
func TestCorrectedAsFarAsItPays(t *testing.T) {
	candidates, _ := problem(t)
	first := candidates[0]
	first.Run = "full/a-b/source-only@first/seed-1"
	for row := range first.HeldOutLabels {
		first.HeldOutRows = append(first.HeldOutRows, row)
	}
	first.Known = &store.WithoutLabels{Columns: &store.Columns{P: 0.5}}
	how := config.Selection{SameMeaning: []string{"source-only@first"}}
	corrected := func(unexplained float64, known bool) Correction {
		t.Helper()
		c := compared(t, first)
		c.Judged[0].Unexplained = unexplained
		how.LabelShift = known
		choice, err := c.Together(how)
		if err != nil || c.Shared.Changed >= clearlyChanged {
			t.Fatalf("%v; classes are as probable, p = %v", err, c.Shared.Changed)
		}
		return choice.Correction
	}
	all := corrected(0, false)
	shared := compared(t, first).Shared
	right := shared.right(all, shared.Target())
	for step := range 11 {
		far := Correction(step) / 10
		if other := shared.right(far, shared.Target()); other > right {
			t.Errorf("corrected %v %v of the rows are right, %v %v", all, right, far, other)
		}
	}
	if half := corrected(0.5, false); all == None || math.Abs(float64(half-all/2)) > 0.005+1e-9 {
		t.Errorf("%v if all is explained, %v if half is", all, half)
	}
	if nothing, known := corrected(1, false), corrected(1, true); nothing != None || known != Full {
		t.Errorf("if nothing is explained %v, if it is known %v", nothing, known)
	}
}
