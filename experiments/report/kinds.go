package report

import (
	"fmt"
	"slices"

	"iwda/experiments/config"
	"iwda/experiments/store"
)

// kind is a table that an experiment's results give.
type kind struct {
	name    string
	build   func([]store.Result, config.Config) Sheet
	applies func(config.Config) bool
}

// kinds holds every kind; the first two are what an experiment is about.
var kinds = []kind{
	{"accuracy", func(results []store.Result, e config.Config) Sheet { return BuildTable(results, e).Sheet() }, always},
	{"gains", GainsSheet, hasFractions},
	{"ablation", ablation(config.EstimatedWeights), hasAblation},
	{"ablation-true", ablation(config.OracleWeights), hasAblation},
	{"weights", WeightsSheet, always},
	{"confusion", ConfusionSheet, always},
	{"theory", BoundsSheet, always},
}

func ablation(weights config.WeightSource) func([]store.Result, config.Config) Sheet {
	return func(results []store.Result, e config.Config) Sheet {
		return AblationTable(BuildTable(results, e), weights).Sheet()
	}
}

func always(config.Config) bool { return true }

func hasFractions(experiment config.Config) bool {
	return len(namedVariants(experiment)) < len(experiment.Variants)
}

// Sheets returns every table that shows anything of the experiment's results, that
// of MainKind first.
func Sheets(results []store.Result, experiment config.Config) []Sheet {
	sheets := []Sheet{BuildSheet("", results, experiment)}
	for _, k := range kinds {
		if k.name == MainKind(experiment) || !k.applies(experiment) {
			continue
		}
		if sheet := k.build(results, experiment); len(sheet.Sections) > 0 {
			sheets = append(sheets, sheet)
		}
	}
	return sheets
}

// Kinds returns the names of all kinds of tables of one experiment.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// HasKind reports whether there is a kind of that name.
func HasKind(name string) bool { return slices.Contains(Kinds(), name) }

// MainKind is the kind that sums the experiment up: accuracy, or gains where all
// variants have class fractions.
func MainKind(experiment config.Config) string {
	if len(namedVariants(experiment)) == 0 {
		return "gains"
	}
	return "accuracy"
}

// BuildSheet returns the table of that kind, and of MainKind for "". It panics if
// there is no such kind.
func BuildSheet(name string, results []store.Result, experiment config.Config) Sheet {
	if name == "" {
		name = MainKind(experiment)
	}
	for _, k := range kinds {
		if k.name == name {
			return k.build(results, experiment)
		}
	}
	panic(fmt.Sprintf("report: no kind of table %q", name))
}
