package config

import (
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"iwda/datasets/catalogue"
	"iwda/datasets/normalise"
	"iwda/inference/selection"
	"iwda/internal/nearest"
	"iwda/losses/form"
	"iwda/nets/architecture"
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
	"seeds[]":    between(0, math.MaxInt64),

	"recipe":              oneOf("recipe", slices.Sorted(maps.Keys(recipes))),
	"selection.rule":      oneOf("rule", selection.Names()),
	"selection.choose":    emptyFor("run", "choice", ChooseMethod),
	"selection.tolerance": shareTaken,
	"selection.alike[]":   methods,
	"selection.moved[]":   methods,

	"dataset.name":              oneOf("data set", catalogue.Names()),
	"dataset.root":              {takes: expanded, check: expandVariables},
	"dataset.fraction":          shareKept,
	"dataset.class_fractions[]": shareKept,
	"dataset.train_per_class":   between(1, 1e5),
	"dataset.test_per_class":    between(1, 1e5),

	"dataset.resize":  between(1, 4096),
	"dataset.crop":    between(1, 4096),
	"dataset.workers": between(1, 1024),
	"dataset.cache":   oneOf("cache", []string{NoCache, "memory", "disk"}),

	"network.name":       oneOf("network", architecture.Names()),
	"network.pretrained": {takes: expanded + "; or " + NotPretrained, check: weightsFile},
	"network.file":       {takes: expanded, check: expandVariables},
	"network.features":   between(1, 16384),
	"network.layers":     between(1, 64),
	"network.views":      between(0, 1000),
	"network.normalise":  emptyFor(normalise.None, "normalisation", normalise.OfSource, normalise.Standard, normalise.Matched),
	"network.clip":       bound,
	"network.within":     bound,

	"discriminator.hidden":              between(1, 16384),
	"discriminator.dropout":             shareTaken,
	"discriminator.random_projection":   between(0, 65536),
	"discriminator.normalise":           emptyFor("none", "normalisation", RowScale, SharedScale),
	"discriminator.reversal.iterations": between(1, mostSteps),

	"losses.classification": oneOf("classification loss", form.ClassificationNames()),
	"losses.mmd":            oneOf("form of the MMD", form.MMDNames()),
	"losses.trade_off":      between(0, mostReal),

	"train.epochs":                 between(1, 1e6),
	"train.steps":                  between(1, mostSteps),
	"train.eval_every":             between(1, mostSteps),
	"train.head_rate":              above0(1e6),
	"train.batch":                  between(1, 1e6),
	"train.domain_from_epoch":      between(1, 1e6),
	"train.eval_batch":             between(1, 1e6),
	"train.restarts":               between(0, 1000),
	"train.validation":             shareTaken,
	"train.optimizer.lr":           above0(mostReal),
	"train.optimizer.momentum":     shareTaken,
	"train.optimizer.weight_decay": between(0, 1000),
	"train.schedule.name":          oneOf("schedule", schedules),
	"train.schedule.every":         between(1, mostSteps),
	"train.schedule.factor":        above0(1000),
	"train.schedule.gamma":         above0(1000),
	"train.schedule.power":         above0(1000),

	"weights.ema":                shareTaken,
	"weights.every":              between(1, 1e6),
	"weights.warmup":             between(0, 1e6),
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

// mostSteps bounds what counts steps; products of it and of a number of epochs stay whole numbers.
const mostSteps = 1e9

// mostReal bounds factors that may be absurd: with it, products are still numbers of float32.
const mostReal = 1e30

// numberRule is the rule of numbers that are at most most and are accepted, in words.
func numberRule(accepts func(float64) bool, needs string, most float64) rule {
	limit := fmt.Sprint("at most ", most)
	if most < 1e15 {
		limit = "at most " + strconv.FormatFloat(most, 'f', -1, 64)
	}
	takes := needs + " and " + limit
	if most == math.MaxInt64 || math.IsInf(most, 1) { // what their types and words limit
		takes = needs
	}
	return rule{takes: takes, check: func(path string, v reflect.Value) string {
		switch x := number(v); {
		case x > most:
			return fmt.Sprintf("%s is %v; it must be %s", path, v.Interface(), limit)
		case !accepts(x):
			return fmt.Sprintf("%s is %v; it must be %s", path, v.Interface(), needs)
		}
		return ""
	}}
}

func between(low, most float64) rule {
	return numberRule(func(x float64) bool { return x >= low }, fmt.Sprintf("at least %v", low), most)
}

func above0(most float64) rule {
	return numberRule(func(x float64) bool { return x > 0 }, "above 0", most)
}

// Rules of numbers that several keys share: a share that is kept may be all, one that is taken
// may be nothing.
var (
	shareKept  = numberRule(func(x float64) bool { return x > 0 && x <= 1 }, "above 0 and at most 1", math.Inf(1))
	shareTaken = numberRule(func(x float64) bool { return x >= 0 && x < 1 }, "at least 0 and below 1", math.Inf(1))
	bound      = numberRule(func(x float64) bool { return x == 0 || x >= 1 }, "0 (none) or at least 1", 1e6)
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

// Key is a setting of an experiment file, as a reference lists it.
type Key struct {
	Path string // with the keys above it, train.optimizer.lr
	Type string // in words
	// Takes says which values of the type are possible, "" for all.
	Takes string
	// Default is the value as YAML that counts if the file does not give one, and Images that of
	// experiments on image files; "" for none.
	Default, Images string
}

// AnyName stands in paths of keys for a name that the user gives.
const AnyName = "NAME"

// Keys returns every key of an experiment file, in the order of the schema.
func Keys() []Key {
	of := func(kind catalogue.Kind) []field {
		d := document{Config: Default(catalogue.Dataset{Kind: kind})}
		return leaves("", reflect.ValueOf(&d).Elem())
	}
	var keys []Key
	images := of(catalogue.ImageFiles)
	for i, leaf := range of(catalogue.SmallImages) {
		r := rules[leaf.name]
		key := Key{Path: leaf.name, Type: typeInWords(leaf.value.Type()), Takes: r.takes, Default: r.standard(leaf.value), Images: r.standard(images[i].value)}
		if leaf.name == "network.pretrained" {
			key.Images = usualWeights // as a file has it, whatever the variable is
		}
		if leaf.value.Kind() == reflect.Slice {
			key.Takes = rules[leaf.name+"[]"].takes
		}
		keys = append(keys, key)
		if leaf.value.Type() == reflect.TypeFor[Domains]() {
			for _, of := range leaves(join(leaf.name, AnyName), reflect.ValueOf(catalogue.Files{})) {
				keys = append(keys, Key{Path: of.name, Type: typeInWords(of.value.Type())})
			}
		}
	}
	return keys
}

func typeInWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Int, reflect.Int64:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "true or false"
	}
	if t == reflect.TypeFor[Domains]() {
		return "mapping"
	}
	return "list"
}

// standard is a default as it stands in a file. A zero that no file may hold is none.
func (r rule) standard(v reflect.Value) string {
	switch {
	case v.IsZero() && (v.Kind() == reflect.String || v.Kind() == reflect.Slice || r.check != nil && r.check("", v) != ""):
		return r.empty
	case v.Kind() == reflect.Slice:
		return strings.Trim(fmt.Sprint(v), "[]")
	}
	return fmt.Sprint(v)
}
