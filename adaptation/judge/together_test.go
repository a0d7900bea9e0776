package judge

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/internal/evenly"
	"iwda/internal/must"
)

// What takes columns to mean the same predicts, corrected unless class shares stay as they are, if nothing
// is found against label shift by the columns or, without them, by the predictions, and if the classifier is as sure
// as it is right; otherwise what takes columns to have moved, or, without such runs, the former as it is.
func TestTogether(t *testing.T) {
	candidates, _ := problem(t)
	named := func(c Candidate, method string) Candidate {
		c.Run = "full/a-b/" + method + "/seed-1"
		c.HeldOut, c.HeldOutLabels = c.HeldOut[:3*2000], c.HeldOutLabels[:2000] // of all 3,000 p is 0.19
		return c
	}
	shifted := []Candidate{named(candidates[0], "source-only"), named(candidates[1], "mcc"), named(candidates[2], "mcc@own")}
	moved := slices.Clone(shifted)
	for i := range moved { // the target's logits are those of other rows
		moved[i].Target = slices.Clone(moved[i].Target)
		for j := 0; j < len(moved[i].Target); j += 9 {
			clear(moved[i].Target[j : j+3])
		}
	}
	compares := func(candidates []Candidate, p, distance float64) []Candidate {
		candidates = slices.Clone(candidates)
		candidates[0].Known = &store.WithoutLabels{Columns: &store.Columns{P: p, Odd: "age", Distance: distance}}
		return candidates
	}
	along := func(candidates []Candidate, p float64) []Candidate {
		candidates[0].Known.Columns.Selected, candidates[0].Known.Columns.SelectedP = "age", p
		return candidates
	}
	same := slices.Clone(shifted) // the target is the held-out rows
	for i := range same {
		same[i].Target = same[i].HeldOut
	}
	type selection = config.Selection
	alike, others := []string{"source-only", "mcc"}, []string{"mcc@own", "absent"}
	for name, c := range map[string]struct {
		of         []Candidate
		moved      []string
		together   []int
		correction Correction
		known      bool
	}{
		"columns agree":       {compares(moved, 0.2, 2), others, []int{0, 1}, Full, false},
		"nothing changed":     {compares(same, 0.2, 0.1), others, []int{0, 1}, None, false},
		"columns differ":      {compares(moved, 0.01, 0.5), others, []int{2}, Full, false},
		"sure":                {compares(same, 0.01, 0.5), others, []int{0, 1}, Halfway, false},
		"sure, but far":       {compares(same, 0.01, 1.5), others, []int{2}, Full, false},
		"one as it is":        {compares(same, 0.01, 0.5), []string{"source-only"}, []int{0, 1}, None, false},
		"and moved":           {along(compares(same, 0.01, 0.5), 0.001), []string{"source-only"}, []int{0}, None, false},
		"and selected":        {along(compares(same, 0.01, 0.5), 0.5), []string{"source-only"}, []int{0, 1}, None, false},
		"label shift":         {shifted, others, []int{0, 1}, Full, false},
		"moved":               {moved, others, []int{2}, Full, false},
		"no run of moved":     {moved, []string{"absent"}, []int{0, 1}, None, false},
		"none of them aligns": {moved, []string{"source-only", "iwcdan@own"}, []int{0, 1}, None, false},
		"nothing for moved":   {moved, nil, []int{0, 1}, None, false},
		"it is known":         {compares(moved, 0.01, 1.5), others, []int{0, 1}, Full, true},
	} {
		how, all := selection{SameMeaning: alike, ColumnsMoved: c.moved, LabelShift: c.known}, compared(t, c.of...)
		choice, err := all.Together(how)
		if err != nil || !slices.Equal(choice.Together, c.together) || choice.Correction != c.correction || choice.Because == "" || choice.Used != c.together[0] {
			t.Errorf("%s: %v, %v, %v; %v", name, choice.Together, choice.Correction, choice.Because, err)
		}
		list, correction, because := compared(t, c.of[0]).Decide(Lists(how, all.Has)) // before the others are made
		for i, of := range c.of {
			if slices.Contains(list, MethodOf(of.Run)) != slices.Contains(c.together, i) || correction != c.correction || because != choice.Because {
				t.Errorf("%s: by the first alone %v predict, corrected %v: %s", name, list, correction, because)
			}
		}
		made := slices.DeleteFunc(slices.Clone(c.of), func(of Candidate) bool { return of.Run != c.of[0].Run && !slices.Contains(list, MethodOf(of.Run)) })
		fewer := compared(t, made...)
		for _, of := range c.of {
			if !fewer.Judges(of.Run) {
				fewer.Absent = append(fewer.Absent, MethodOf(of.Run))
			}
		}
		if again, err := fewer.Together(how); err != nil || !slices.Equal(again.Names(), choice.Names()) || again.Correction != c.correction {
			t.Errorf("%s: without the others %v predict, corrected %v; %v", name, again.Names(), again.Correction, err)
		}
	}
	for _, told := range []bool{true, false} {
		of := compared(t, shifted...)
		if _, err := of.Together(selection{SameMeaning: alike, LabelShift: told}); err != nil || of.Shared.AssumeLabelShift != told {
			t.Errorf("told %v: %v; %v", told, of.Shared.AssumeLabelShift, err)
		}
	}
	if c := compared(t, shifted...); !c.Has([]string{"x", "mcc"}) || c.Has([]string{"x"}) || c.Has(nil) {
		t.Error("Has")
	}
}

// The columns are compared at the level of the test of predictions, which the number of tests sets.
func TestEvidenceAtOneLevel(t *testing.T) {
	s := Shared{Columns: &store.Columns{P: 0.03}}
	for beside, want := range []bool{false, true, true} {
		s.Test.Beside = beside
		if agree, found := s.evidence(); agree != want {
			t.Errorf("%d tests beside: %v, %s", beside, agree, found)
		}
	}
}

// Halfway the odds between two classes are the geometric mean.
func TestCorrection(t *testing.T) {
	p, q := []float64{0.8, 0.2}, []float64{0.1, 0.9}
	half := Halfway.Shares(p, q)
	if odds, want := half[0]/half[1], math.Sqrt(4*(0.1/0.9)); math.Abs(odds-want) > 1e-12 || math.Abs(half[0]+half[1]-1) > 1e-12 {
		t.Errorf("%v", half)
	}
	if !slices.Equal(None.Shares(p, q), p) || !slices.Equal(Full.Shares(p, q), q) {
		t.Error("all or nothing")
	}
}

// One run predicts, all seeds of its method, or runs of several methods, of which one tells the class
// shares. Whoever knows better has all runs of another method predict.
func TestPredicting(t *testing.T) {
	c := Choice{
		Rule: "iwv-y", Used: 1, Judged: []Judgement{{Run: "full/a-b/dann/seed-1"}, {Run: "full/a-b/mcc/seed-1"}, {Run: "full/a-b/mcc/seed-2"}},
		Methods: []Method{{Name: "dann", Runs: []int{0}, Value: 0.5}, {Name: "mcc", Runs: []int{1, 2}, Value: 0.25}, {Name: "bnm", Value: math.NaN()}},
	}
	want := func(what string, predicting, telling []int) {
		t.Helper()
		if !slices.Equal(c.Predicting(), predicting) || !slices.Equal(c.Telling(), telling) {
			t.Errorf("%s: %v predict, want %v; %v tell, want %v", what, c.Predicting(), predicting, c.Telling(), telling)
		}
	}
	want("a run", []int{1}, []int{1})
	c.AllSeeds = true
	want("all seeds", []int{1, 2}, []int{1, 2})
	c.Together = []int{0, 1, 2}
	want("methods together", []int{0, 1, 2}, []int{1, 2})
	must.Fail(t, c.Follow("bnm"), "but the rule iwv-y cannot judge any of its runs")
	if err := c.Follow("dann"); err != nil {
		t.Error(err)
	}
	want("labels chose", []int{0}, []int{0})
}

// Of three runs and more one that agrees with the others on far fewer rows has no vote, and is named.
func TestStrangers(t *testing.T) {
	for _, c := range []struct{ agreements, left []float64 }{
		{[]float64{0.7, 0.42, 0.76, 0.74}, []float64{0.7, 0.76, 0.74}},
		{[]float64{0.7, 0.55, 0.76, 0.74}, []float64{0.7, 0.55, 0.76, 0.74}},
		{[]float64{0.9, 0.1}, []float64{0.9, 0.1}}, // which of two?
		{[]float64{0.1}, []float64{0.1}},
	} {
		var choice Choice
		for i, a := range c.agreements {
			choice.Judged = append(choice.Judged, Judgement{Run: fmt.Sprintf("full/a-b/mcc/seed-%d", i+1), Agreement: a})
		}
		var left []float64
		for _, i := range choice.withoutStrangers(evenly.All(len(c.agreements))) {
			left = append(left, choice.Judged[i].Agreement)
		}
		if !slices.Equal(left, c.left) || len(choice.Problems) != len(c.agreements)-len(left) {
			t.Errorf("%v: %v left, %q", c.agreements, left, choice.Problems)
		}
		if len(choice.Problems) > 0 && choice.Problems[0] != "full/a-b/mcc/seed-2: this run has no vote, as it predicts what all predict together on 42% of the rows, and the others on 74%." {
			t.Error(choice.Problems)
		}
	}
}
