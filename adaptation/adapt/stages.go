package adapt

import (
	"fmt"
	"slices"

	"iwda/adaptation/judge"
	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/internal/printable"
	"iwda/nets/architecture"
)

// stages are the order in which runs are made, in two parts: those that are needed in any case, and those that can
// predict only if the first of all runs, by what it says of the target, has their list do so.
type stages struct {
	runs  []plan.Run
	sure  int // of these, without a second part all
	lists config.Selection

	decided bool
	absent  []string     // methods that cannot predict, and are not made
	shared  judge.Shared // what the first run says
}

// stagesOf returns those of runs, of which a selection chooses, if the linear classifier is the first that aligns
// nothing, and so decides. Runs of both lists are needed, and those of neither, which somebody has added.
func stagesOf(runs []plan.Run, how config.Selection) stages {
	lists := judge.Lists(how, func(methods []string) bool { return len(anyOf(runs, methods)) > 0 })
	s := stages{runs: longestFirst(runs), sure: len(runs), lists: lists}
	first := slices.IndexFunc(runs, func(run plan.Run) bool { return !judge.Aligns(run.ID.Method) })
	if how.Rule != "" || lists.ColumnsMoved == nil || first < 0 || runs[first].ID != s.runs[0].ID ||
		!slices.Contains(how.SameMeaning, runs[first].ID.Method) {
		return s
	}
	perhaps := func(run plan.Run) bool {
		return run.ID != runs[first].ID && slices.Contains(lists.SameMeaning, run.ID.Method) != slices.Contains(lists.ColumnsMoved, run.ID.Method)
	}
	all := slices.Clone(s.runs)
	s.runs = slices.DeleteFunc(s.runs, perhaps)
	s.sure = len(s.runs)
	s.runs = append(s.runs, slices.DeleteFunc(all, func(run plan.Run) bool { return !perhaps(run) })...)
	return s
}

// anyOf returns the runs of some methods.
func anyOf(runs []plan.Run, methods []string) []plan.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(run plan.Run) bool { return !slices.Contains(methods, run.ID.Method) })
}

// lengths says how many runs are made, and how long they are.
func (s stages) lengths() string {
	if s.sure == len(s.runs) {
		return plan.Lengths(s.runs)
	}
	var counts []string
	for _, list := range [][]string{s.lists.SameMeaning, s.lists.ColumnsMoved} {
		counts = append(counts, fmt.Sprint(s.sure+len(anyOf(s.runs[s.sure:], list))))
	}
	return fmt.Sprintf("at most %s; %s decides whether %s", plan.Lengths(s.runs), s.runs[0].ID.Method, printable.Or(slices.Compact(counts)))
}

// needed tells whether a run can predict, or was added by somebody; once the first has ended.
func (p *Plan) needed(run plan.Run) bool {
	p.stages.decide(p.results())
	return !slices.Contains(p.stages.absent, run.ID.Method)
}

// decide finds, once, which list predicts. If the first run has failed, or says nothing, all may have to.
func (s *stages) decide(results string) {
	if s.decided || s.sure == len(s.runs) {
		return
	}
	s.decided = true
	candidates, _ := candidatesOf(results, s.runs[:1]) // none, which is an error, if it has failed
	compared, _, err := judge.New(candidates)
	if err != nil || compared.TestShift() != nil {
		return
	}
	s.shared = compared.Shared
	predict, _, _ := compared.Decide(s.lists)
	for _, run := range s.runs[s.sure:] {
		if !slices.Contains(predict, run.ID.Method) {
			s.absent = append(s.absent, run.ID.Method)
		}
	}
}

// longestFirst returns the runs in the order in which several of them at a time end first:
// those that take longest begin.
func longestFirst(runs []plan.Run) []plan.Run {
	work := func(run plan.Run) int {
		if run.Config.Network.Name == string(architecture.Linear) {
			return 3 // in a moment, and a first answer
		}
		method, _ := config.ParseMethod(run.ID.Method) // that of a planned run is known
		switch {
		case run.Config.WithoutSteps(), method.Alignment.Properties().Joint: // a forest of a large array, as the latter
			return 2
		case method.Alignment == config.NoAlignment:
			return 0
		}
		return 1
	}
	ordered := slices.Clone(runs)
	slices.SortStableFunc(ordered, func(a, b plan.Run) int { return work(b) - work(a) })
	return ordered
}
