package config

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/datasets/normalise"
	"iwda/experiments/learningrate"
	"iwda/internal/nearest"
	"iwda/losses/form"
	"iwda/nets/architecture"
	"iwda/selection"
)

// A rule says which values a key takes, in words, and checks one.
type rule struct {
	takes string
	check check
	empty string // the name of the value that no text stands for
}

// A check returns what is wrong with the value of the key at path, or "". It may
// replace the value by its canonical form.
type check func(path string, v reflect.Value) string

// rules holds the rule of every key whose values its type does not already limit.
// What depends on several keys is checked in File.evaluate and File.Resolve.
var rules = map[string]rule{
	"experiment": {takes: folderForm, check: folderName},
	"variants[]": {takes: "full, subsampled, source-NAME, target-NAME", check: variant},
	"methods[]":  methods,
	"seeds[]":    atLeast(0),

	"recipe":              oneOf("recipe", slices.Sorted(maps.Keys(recipes))),
	"selection.rule":      oneOf("rule", selection.Names()),
	"selection.choose":    emptyFor("run", "choice", ChooseMethod),
	"selection.tolerance": shareTaken,
	"selection.alike[]":   methods,
	"selection.moved[]":   methods,
	"selection.joins[]":   methods,

	"dataset.name":              oneOf("data set", catalogue.Names()),
	"dataset.root":              {takes: expanded, check: expandVariables},
	"dataset.fraction":          shareKept,
	"dataset.class_fractions[]": shareKept,
	"dataset.train_per_class":   atLeast(1),
	"dataset.test_per_class":    atLeast(1),

	"dataset.resize":  atLeast(1),
	"dataset.crop":    atLeast(1),
	"dataset.workers": atLeast(1),
	"dataset.cache":   oneOf("cache", images.CacheNames()),

	"network.name":       oneOf("network", architecture.Names()),
	"network.pretrained": {takes: expanded + "; or " + NotPretrained, check: weightsFile},
	"network.file":       {takes: expanded, check: expandVariables},
	"network.features":   atLeast(1),
	"network.layers":     atLeast(1),
	"network.views":      atLeast(0),
	"network.normalise":  emptyFor(normalise.None, "normalisation", normalise.OfSource, normalise.Standard, normalise.Matched, normalise.UnitLength),
	"network.clip":       bound,

	"discriminator.hidden":              atLeast(1),
	"discriminator.dropout":             shareTaken,
	"discriminator.random_projection":   atLeast(0),
	"discriminator.normalise":           emptyFor("none", "normalisation", RowScale, SharedScale),
	"discriminator.reversal.iterations": atLeast(1),

	"losses.classification": oneOf("classification loss", form.ClassificationNames()),
	"losses.mmd":            oneOf("form of the MMD", form.MMDNames()),
	"losses.trade_off":      atLeast(0),

	"train.epochs":                 atLeast(1),
	"train.steps":                  atLeast(1),
	"train.eval_every":             atLeast(1),
	"train.head_rate":              positive,
	"train.batch":                  atLeast(1),
	"train.domain_from_epoch":      atLeast(1),
	"train.eval_batch":             atLeast(1),
	"train.precision":              emptyFor("float32", "precision", BFloat16),
	"train.restarts":               atLeast(0),
	"train.validation":             shareTaken,
	"train.optimizer.lr":           positive,
	"train.optimizer.momentum":     shareTaken,
	"train.optimizer.weight_decay": atLeast(0),
	"train.schedule.name":          oneOf("schedule", learningrate.Names()),
	"train.schedule.every":         atLeast(1),
	"train.schedule.factor":        positive,
	"train.schedule.gamma":         positive,
	"train.schedule.power":         positive,

	"weights.ema":                shareTaken,
	"weights.every":              atLeast(1),
	"weights.warmup":             atLeast(0),
	"weights.min_singular_value": shareTaken,
	"weights.shares[]":           {takes: "numbers that are not negative, or a file", check: func(string, reflect.Value) string { return "" }},
}

// oneOf accepts the names in any case and stores them as they are listed.
func oneOf(kind string, names []string) rule {
	return rule{takes: strings.Join(names, ", "), check: func(path string, v reflect.Value) string {
		for _, name := range names {
			if strings.EqualFold(name, v.String()) {
				v.SetString(name)
				return ""
			}
		}
		return fmt.Sprintf("unknown %s %q; %s", kind, v.String(), nearest.Suggestion(v.String(), names))
	}}
}

// methods takes the names of methods.
var methods = rule{takes: "names of methods, such as iwdan or iwdan@WORD", check: method}

// expanded says what expandVariables does.
const expanded = "a path, in which ${NAME} and ${NAME:-default} stand for variables"

// variable matches ${NAME} and ${NAME:-default}; an unfinished or ill-named one
// matches with an empty NAME.
var variable = regexp.MustCompile(`\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\})?`)

// expandVariables replaces the environment variables in a folder's name. As in a
// shell, an empty variable counts as unset where there is a default.
func expandVariables(path string, v reflect.Value) string {
	problem := ""
	expanded := variable.ReplaceAllStringFunc(v.String(), func(reference string) string {
		parts := variable.FindStringSubmatch(reference)
		name, fallback := parts[1], parts[2]
		value, set := os.LookupEnv(name)
		switch {
		case name == "":
			problem = fmt.Sprintf("%s is %q; a variable is written ${NAME} or ${NAME:-default}", path, v.String())
		case fallback != "" && value == "":
			return fallback[len(":-"):]
		case !set:
			problem = fmt.Sprintf("environment variable %s is not set; set it, or write ${%s:-default} in %s", name, name, path)
		}
		return value
	})
	if problem == "" {
		v.SetString(expanded)
	}
	return problem
}

// weightsFile expands the name of a file, which must not be empty: that is the default
// of networks without pretrained weights.
func weightsFile(path string, v reflect.Value) string {
	problem := expandVariables(path, v)
	if problem == "" && v.String() == "" {
		return fmt.Sprintf("%s is empty; give a file with weights, or %s to train from scratch", path, NotPretrained)
	}
	return problem
}

// emptyFor accepts names, of which one stands for the default: no text.
func emptyFor(standard, kind string, others ...string) rule {
	accepts := oneOf(kind, append(others, standard))
	return rule{takes: accepts.takes, empty: standard, check: func(path string, v reflect.Value) string {
		problem := accepts.check(path, v)
		if v.String() == standard {
			v.SetString("")
		}
		return problem
	}}
}

func number(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

func numberRule(accepts func(float64) bool, needs string) rule {
	return rule{takes: needs, check: func(path string, v reflect.Value) string {
		if accepts(number(v)) {
			return ""
		}
		return fmt.Sprintf("%s is %v; it must be %s", path, v.Interface(), needs)
	}}
}

func atLeast(low float64) rule {
	return numberRule(func(x float64) bool { return x >= low }, fmt.Sprintf("at least %v", low))
}

// Rules of numbers that several keys share: a share that is kept may be all, one that is taken
// may be nothing.
var (
	positive   = numberRule(func(x float64) bool { return x > 0 }, "above 0")
	shareKept  = numberRule(func(x float64) bool { return x > 0 && x <= 1 }, "above 0 and at most 1")
	shareTaken = numberRule(func(x float64) bool { return x >= 0 && x < 1 }, "at least 0 and below 1")
	bound      = numberRule(func(x float64) bool { return x == 0 || x >= 1 }, "0 (none) or at least 1")
)

// plainFolder matches what may name a folder: it leads nowhere else, and no file system
// or shell takes it for something else.
var plainFolder = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// folderForm is plainFolder in words.
const folderForm = "up to 100 letters, digits, and - _ . but not first"

func folderName(path string, v reflect.Value) string {
	if plainFolder.MatchString(v.String()) {
		return ""
	}
	return fmt.Sprintf("%s is %q; it names a folder: %s", path, v.String(), folderForm)
}
