package report

import (
	"fmt"
	"slices"

	"iwda/experiments/config"
	"iwda/experiments/report/sheet"
	"iwda/experiments/store"
	"iwda/internal/convert"
)

// kind is a table that an experiment's results give.
type kind struct {
	name  string
	build func(Selection) sheet.Sheet
	empty string // why it shows nothing, if it does not say that itself
}

// kinds holds every kind, in the order in which help lists them.
var kinds = []kind{
	{"accuracy", func(s Selection) sheet.Sheet { return accuracySheet(CompareAccuracies(s), "task") }, ""},
	{"gains", gains, "gains are of methods with weights, in variants with class fractions"},
	{"ablation", ablation(config.EstimatedWeights), notAblated},
	{"ablation-true", ablation(config.OracleWeights), notAblated},
	{"weights", weights, unlabelled},
	{"confusion", confusion, unlabelled},
	{"theory", theorems, unlabelled},
}

const (
	notAblated = "no method of the families of DANN and CDAN is finished on all tasks"
	unlabelled = "no finished run has labels of the target to compare with"
)

// Kinds returns the names of all kinds of tables of one experiment.
func Kinds() []string {
	return convert.Each(kinds, func(k kind) string { return k.name })
}

// Table returns the table of that kind, and for "" the one that sums the experiment up: accuracy, or gains where
// all variants have class fractions. It panics if there is no such kind.
func Table(name string, runs []store.Run, experiment config.Config) sheet.Sheet {
	s := Select(runs, experiment)
	switch {
	case name == "" && len(NamedVariants(experiment)) == 0:
		name = "gains"
	case name == "":
		name = "accuracy"
	}
	i := slices.Index(Kinds(), name)
	if i < 0 {
		panic(fmt.Sprintf("table: no kind of table %q", name))
	}
	built := kinds[i].build(s)
	if len(built.Sections) == 0 && kinds[i].empty != "" {
		built.Notes = append(built.Notes, "Nothing to show: "+kinds[i].empty+".")
	}
	return built
}

// newSheet returns a sheet of the experiment, named by what is shown of it.
func newSheet(s Selection, what string) sheet.Sheet {
	return sheet.Sheet{Experiment: s.Experiment.Experiment, Title: s.Title(what), Notes: slices.Clone(s.Notes)}
}

// oneIf is 1 for true and 0 for false.
func oneIf(condition bool) int {
	if condition {
		return 1
	}
	return 0
}

// Columns have a name for programs and a head for readers, of which one may be empty. Words
// that readers see name their row.

func word[R any](name, head string, of func(R) string) sheet.Column[R] {
	return sheet.Column[R]{Name: name, Head: head, Key: head != "", Value: func(r R) sheet.Value { return sheet.Word(of(r)) }}
}

func count[R any](name, head string, of func(R) int) sheet.Column[R] {
	return sheet.Column[R]{Name: name, Head: head, Value: func(r R) sheet.Value { return sheet.Count(of(r)) }}
}

func number[R any](name, head string, format sheet.Format, of func(R) float64) sheet.Column[R] {
	return sheet.Column[R]{Name: name, Head: head, Format: format, Value: func(r R) sheet.Value { return sheet.Number(of(r)) }}
}

func percent[R any](name, head string, format sheet.Format, of func(R) float64) sheet.Column[R] {
	return sheet.Column[R]{Name: name, Head: head, Format: format, Value: func(r R) sheet.Value { return sheet.Percent(of(r)) }}
}

// scored is the mean of a score with its standard deviation.
func scored[R any](name, head string, of func(R) Score) sheet.Column[R] {
	return sheet.Column[R]{Name: name, Head: head, Format: scoreFormat, Value: func(r R) sheet.Value { return sheet.Percent(of(r).Mean, of(r).Deviation) }}
}

// share is a number of a whole, which is not there where the whole is 0.
func share[R any](head string, of func(R) (part, whole int)) sheet.Column[R] {
	return sheet.Column[R]{Head: head, Format: sheet.Printf("%.0f", "/%.0f"), Value: func(r R) sheet.Value {
		part, whole := of(r)
		if whole == 0 {
			return sheet.Value{}
		}
		return sheet.Number(float64(part), float64(whole))
	}}
}

// The formats of numbers; programs need none.
var (
	noFormat     sheet.Format
	pointsFormat = sheet.Printf("%.2f")
	scoreFormat  = sheet.Printf("%.2f", " ± %.2f")
)

// place is where runs belong that differ only in their seed.
type place struct{ variant, task, method string }

// placeColumns are those of the records of something at a place.
func placeColumns[R any](of func(R) place) []sheet.Column[R] {
	return []sheet.Column[R]{
		word("variant", "", func(r R) string { return of(r).variant }),
		word("task", "", func(r R) string { return of(r).task }),
		word("method", "", func(r R) string { return of(r).method }),
	}
}
