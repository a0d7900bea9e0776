package config

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// minimal has all required keys; each bad file is it with a change or an addition.
const minimal = `experiment: digits
dataset: {name: digits}
tasks: [mnist-usps, usps-mnist]
variants: [full]
methods: [dann, iwdan]
seeds: [1, 2]
`

func replace(old, new string) string {
	if !strings.Contains(minimal, old) {
		panic("not in the minimal file: " + old)
	}
	return strings.Replace(minimal, old, new, 1)
}

func TestParseMistakes(t *testing.T) {
	t.Setenv("IWDA_UNSET", "")
	os.Unsetenv("IWDA_UNSET")
	for _, test := range []struct {
		name, file, want string
	}{
		// keys
		{"misspelt key", minimal + "train:\n  epohcs: 3\n",
			`f.yaml:8:3: unknown key "epohcs" in train; did you mean "epochs"?`},
		{"misspelt section", minimal + "trian: {epochs: 3}\n",
			`f.yaml:7:1: unknown key "trian"; did you mean "train"?`},
		{"key of another section", minimal + "train: {lr: 3}\n",
			`f.yaml:7:9: unknown key "lr" in train; did you mean train.optimizer.lr?`},
		{"key in several sections", minimal + "every: 3\n",
			`f.yaml:7:1: unknown key "every"; did you mean train.schedule.every or weights.every?`},
		{"key near none", minimal + "network: {colour: red}\n",
			`f.yaml:7:11: unknown key "colour" in network; choose from name, pretrained, file, features, layers, frozen, views, normalise, clip, within`},
		{"duplicate key", minimal + "train: {epochs: 1, epochs: 2}\n",
			`f.yaml:7:20: key "epochs" is given twice, first at f.yaml:7:9`},
		{"duplicate section", minimal + "seeds: [3]\n",
			`f.yaml:7:1: key "seeds" is given twice, first at f.yaml:6:1`},
		{"list as a key", minimal + "? [a]\n: b\n",
			`f.yaml:7:3: a key must be a word, not a list`},
		{"missing keys", "experiment: x\ndataset: {root: x}\nseeds: [1]\n",
			`f.yaml:1:1: missing: dataset.name, tasks, variants, methods; there is no default`},
		{"key without value", minimal + "train:\n",
			`f.yaml:7:7: train has no value; give one, or delete the key`},

		// types
		{"text for a whole number", minimal + "train: {epochs: many}\n",
			`f.yaml:7:17: train.epochs must be a whole number, not the text "many"`},
		{"a long text", minimal + "train: {epochs: " + strings.Repeat("many ", 1000) + "}\n",
			`f.yaml:7:17: train.epochs must be a whole number, not the text "` + strings.Repeat("many ", 10) + `"…`},
		{"fraction for a whole number", minimal + "train: {epochs: 1.5}\n",
			`f.yaml:7:17: train.epochs must be a whole number, not the number 1.5`},
		{"whole number out of range", replace("[1, 2]", "[99999999999999999999]"),
			`f.yaml:6:9: seeds[0] must be a whole number, not the number 99999999999999999999`},
		{"text for a number", minimal + "weights: {ema: half}\n",
			`f.yaml:7:16: weights.ema must be a number, not the text "half"`},
		{"text for a truth value", minimal + "train: {optimizer: {nesterov: yes}}\n",
			`f.yaml:7:31: train.optimizer.nesterov must be true or false, not the text "yes"`},
		{"number for text", replace("experiment: digits", "experiment: 7"),
			`f.yaml:1:13: experiment must be text, not the number 7; write it in quotes: "7"`},
		{"scalar for a list", replace("[dann, iwdan]", "dann"),
			`f.yaml:5:10: methods must be a list, as [a, b], not the text "dann"`},
		{"scalar for a mapping", minimal + "network: lenet\n",
			`f.yaml:7:10: network must be a mapping with the keys name, pretrained, file, features, layers, frozen, views, normalise, clip, within, not the text "lenet"`},
		{"mapping for a scalar", minimal + "network: {name: {a: b}}\n",
			`f.yaml:7:17: network.name must be text, not a mapping`},

		// values
		{"negative epochs", minimal + "train: {epochs: -1}\n",
			`f.yaml:7:17: train.epochs is -1; it must be at least 1`},
		{"no batch", minimal + "train: {batch: 0}\n",
			`f.yaml:7:16: train.batch is 0; it must be at least 1`},
		{"momentum of 1", minimal + "train: {optimizer: {momentum: 1}}\n",
			`f.yaml:7:31: train.optimizer.momentum is 1; it must be at least 0 and below 1`},
		{"infinite rate", minimal + "train: {optimizer: {lr: .inf}}\n",
			`f.yaml:7:25: train.optimizer.lr is .inf; it must be finite`},
		{"rate of 0", minimal + "train: {optimizer: {lr: 0}}\n",
			`f.yaml:7:25: train.optimizer.lr is 0; it must be above 0`},
		{"clip within the deviation", minimal + "network: {clip: 0.5}\n",
			`f.yaml:7:17: network.clip is 0.5; it must be 0 (none) or at least 1`},
		{"fraction of 0", replace("name: digits}", "name: digits, fraction: 0}"),
			`f.yaml:2:35: dataset.fraction is 0; it must be above 0 and at most 1`},
		{"negative seed", replace("[1, 2]", "[-1]"),
			`f.yaml:6:9: seeds[0] is -1; it must be at least 0`},
		{"a seed twice", replace("[1, 2]", "[1, 2, 1]"),
			`f.yaml:6:15: seeds holds 1 twice`},
		{"a task twice in other case", replace("usps-mnist]", "MNIST-USPS]"),
			`f.yaml:3:21: tasks holds mnist-usps twice`},
		{"no seed", replace("[1, 2]", "[]"),
			`f.yaml:6:8: seeds is empty; it needs at least one value`},
		{"experiment outside of the results", replace("experiment: digits", "experiment: ../x"),
			`f.yaml:1:13: experiment is "../x"; it names a folder: up to 100 letters, digits, and - _ . but not first`},
		{"unset variable", replace("name: digits}", `name: digits, root: "${IWDA_UNSET}/x"}`),
			`f.yaml:2:31: environment variable IWDA_UNSET is not set; set it, or write ${IWDA_UNSET:-default} in dataset.root`},
		{"unfinished variable", replace("name: digits}", `name: digits, root: "${IWDA_UNSET"}`),
			`f.yaml:2:31: dataset.root is "${IWDA_UNSET"; a variable is written ${NAME} or ${NAME:-default}`},

		// names
		{"misspelt task", replace("mnist-usps", "mnist-upss"),
			`f.yaml:3:9: unknown task "mnist-upss" of data set digits; did you mean "mnist-usps"?`},
		{"task that does not exist", replace("mnist-usps", "svhn-mnist"),
			`f.yaml:3:9: unknown task "svhn-mnist" of data set digits; choose from mnist-usps, usps-mnist`},
		{"task of another data set", replace("name: digits", "name: glyphs"),
			"f.yaml:3:9: unknown task \"mnist-usps\" of data set glyphs; choose from clean-warped, warped-clean\n" +
				`f.yaml:3:21: unknown task "usps-mnist" of data set glyphs; choose from clean-warped, warped-clean`},
		{"data set", replace("name: digits", "name: digit"),
			`f.yaml:2:17: unknown data set "digit"; did you mean "digits"?`},
		{"variant", replace("[full]", "[subsample]"),
			`f.yaml:4:12: unknown variant "subsample"; did you mean "subsampled"?`},
		{"method", replace("iwdan]", "iwdna]"),
			`f.yaml:5:17: unknown method "iwdna"; did you mean "iwdan"?`},
		{"network", minimal + "network: {name: transformer}\n",
			`f.yaml:7:17: unknown network "transformer"; choose from lenet, mlp, linear, forest, boosting, perceptron, resnet18, resnet34, resnet50, resnet101, resnet152, torchscript`},
		{"schedule", minimal + "train: {schedule: {name: steps}}\n",
			`f.yaml:7:26: unknown schedule "steps"; did you mean "step"?`},
		{"classification loss", minimal + "losses: {classification: blanced}\n",
			`f.yaml:7:26: unknown classification loss "blanced"; did you mean "balanced"?`},

		// overrides
		{"misspelt key in an override", minimal + "overrides:\n  - when: {task: usps-*}\n    train: {epoch: 3}\n",
			`f.yaml:9:13: unknown key "epoch" in train; did you mean "epochs"?`},
		{"impossible value in an override", minimal + "overrides:\n  - when: {task: usps-*}\n    train: {epochs: 0}\n",
			`f.yaml:9:21: train.epochs is 0; it must be at least 1`},
		{"misspelt condition", minimal + "overrides: [{when: {tsak: usps-*}, network: {name: lenet}}]\n",
			`f.yaml:7:21: unknown key "tsak" in when; did you mean "task"?`},
		{"condition that fits nothing", minimal + "overrides: [{when: {task: usps-mnits}, network: {name: lenet}}]\n",
			`f.yaml:7:27: when.task: "usps-mnits" fits no task of the file; did you mean "usps-mnist"?`},
		{"one of several fits nothing", minimal + "overrides: [{when: {seed: [1, 3]}, network: {name: lenet}}]\n",
			`f.yaml:7:31: when.seed: "3" fits no seed of the file; choose from 1, 2`},
		{"malformed pattern", minimal + "overrides: [{when: {task: '[usps'}, network: {name: lenet}}]\n",
			`f.yaml:7:27: when.task: "[usps" is no valid pattern: syntax error in pattern`},
		{"no condition", minimal + "overrides: [{network: {name: lenet}}]\n",
			`f.yaml:7:13: overrides[0] has no condition; give one, as when: {task: usps-mnist}` + "\n" +
				`f.yaml:7:13: overrides[0] changes nothing; add settings next to when`},
		{"no settings", minimal + "overrides: [{when: {seed: 1}}]\n",
			`f.yaml:7:13: overrides[0] changes nothing; add settings next to when`},
		{"another data set", minimal + "overrides: [{when: {seed: 1}, dataset: {name: glyphs}}]\n",
			`f.yaml:7:47: overrides[0] cannot change dataset.name: the tasks belong to the data set`},
		{"lists of the file", minimal + "overrides: [{when: {seed: 1}, methods: [dann]}]\n",
			`f.yaml:7:31: unknown key "methods"; choose from when, dataset, network, discriminator, losses, train, weights`},

		// YAML
		{"empty", "", `f.yaml:1:1: the file is empty; it needs experiment, dataset.name, tasks, variants, methods and seeds`},
		{"only a comment", "# nothing\n", `f.yaml:1:1: the file is empty; it needs experiment, dataset.name, tasks, variants, methods and seeds`},
		{"null", "null\n", `f.yaml:1:1: the file must hold keys with values, as experiment: digits, not nothing`},
		{"a list", "- a\n", `f.yaml:1:1: the file must hold keys with values, as experiment: digits, not a list`},
		{"tab", "experiment: x\n\tseeds: [1]\n", `f.yaml:2: no valid YAML here or below: found a tab character that violates indentation`},
		{"first line", "a: b: c\n", `f.yaml:1: no valid YAML here or below: mapping values are not allowed in this context`},
		{"indentation", "experiment: x\ntrain:\n  epochs: 3\n batch: 5\n", `f.yaml:4: no valid YAML here or below: did not find expected key`},
		{"open bracket", "tasks: [a, b\nmethods: [c]\n", `f.yaml:2: no valid YAML here or below: did not find expected ',' or ']'`},
		{"two documents", minimal + "---\nexperiment: y\n", `f.yaml:7:1: a second document begins; a file holds one experiment`},
		{"broken second document", minimal + "---\n[\n", `f.yaml:9: no valid YAML here or below: did not find expected node content`},
		{"not UTF-8", "experiment: x\ntitle: é\xff\n", `f.yaml:2:9: no UTF-8 from here on; save the file as UTF-8`},
		{"UTF-16", "\xff\xfee\x00", `f.yaml:1:1: no UTF-8 from here on; save the file as UTF-8`},
		{"alias", minimal + "title: &a x\nnetwork: {name: *a}\n",
			`f.yaml:8:17: alias *a: aliases are not supported; write the value out, or use overrides`},
		{"alias of itself", minimal + "train: &a {optimizer: *a}\n",
			`f.yaml:7:23: alias *a: aliases are not supported; write the value out, or use overrides`},
		{"unknown anchor", "experiment: x\ntitle: *a\n", `f.yaml:2:8: alias *a has no anchor; aliases are not supported`},
		{"too large", strings.Repeat("#", maxFileSize+1), `f.yaml: has 65537 bytes; an experiment file has at most 65536`},
	} {
		t.Run(test.name, func(t *testing.T) {
			file, err := Parse("f.yaml", []byte(test.file))
			if err == nil {
				t.Fatalf("no error, but %+v", file.Config)
			}
			if err.Error() != test.want {
				t.Errorf("got\n%v\nwant\n%v", err, test.want)
			}
			if !errors.As(err, new(Errors)) {
				t.Errorf("error of type %T, not Errors", err)
			}
		})
	}
}

func TestParseReportsAllMistakes(t *testing.T) {
	_, err := Parse("f.yaml", []byte(minimal+"train: {epochs: -1, batch: 0, epohcs: 2}\nnetwork: {name: x}\n"))
	var mistakes Errors
	if !errors.As(err, &mistakes) || len(mistakes) != 4 {
		t.Fatalf("want 4 mistakes, got %v", err)
	}
	if mistakes[2].Location != "f.yaml:7:31" {
		t.Errorf("third mistake at %s", mistakes[2].Location)
	}

	_, err = Parse("f.yaml", []byte(replace("[1, 2]", "["+strings.TrimSuffix(strings.Repeat("-1,", 13), ",")+"]")))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 11 || lines[10] != "and 3 more" {
		t.Errorf("want 10 lines and the number of the others, got\n%v", err)
	}
}

func TestLoadMissingFile(t *testing.T) {
	_, err := Load("testdata/missing.yaml")
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "testdata/missing.yaml") {
		t.Errorf("got %v", err)
	}
}

// TestRulesNameKeys finds a rule whose key is misspelt or was renamed: it would
// never be applied.
func TestRulesNameKeys(t *testing.T) {
	keys := map[string]bool{}
	for _, leaf := range leaves("", reflect.ValueOf(&document{}).Elem()) {
		name := leaf.name
		if leaf.value.Kind() == reflect.Slice {
			name += "[]"
		}
		keys[name] = true
	}
	for path := range rules {
		if !keys[path] {
			t.Errorf("the rule for %s belongs to no key", path)
		}
	}
	for key := range keys {
		free := []string{"title", "selection.label_shift", "train.optimizer.nesterov", "train.graph", "network.frozen", "dataset.pool", "dataset.random_crop", "dataset.mirror", "discriminator.annealed", "overrides[]", "tasks[]", "dataset.domains[]"}
		if _, ok := rules[key]; !ok && !slices.Contains(free, key) {
			t.Errorf("key %s accepts every value", key)
		}
	}
}
