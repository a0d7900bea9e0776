package plan

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/internal/must"
)

const experiment = `experiment: digits
dataset: {name: digits}
tasks: [usps-mnist, mnist-usps]
variants: [subsampled, full]
methods: [iwdan, dann]
seeds: [2, 1]
overrides: [{when: {method: iwdan, seed: 2}, train: {epochs: 3}}]
`

func load(t *testing.T, text string) *config.File {
	t.Helper()
	return must.Have(config.Parse("f.yaml", []byte(text)))(t)
}

func plan(t *testing.T) []Run {
	t.Helper()
	return must.Have(Runs(load(t, experiment)))(t)
}

func ids(runs []Run) []string {
	var ids []string
	for _, run := range runs {
		ids = append(ids, run.ID.String())
	}
	return ids
}

func TestRuns(t *testing.T) {
	runs := plan(t)
	want := []string{
		"subsampled/usps-mnist/iwdan/seed-2", "subsampled/usps-mnist/iwdan/seed-1",
		"subsampled/usps-mnist/dann/seed-2", "subsampled/usps-mnist/dann/seed-1",
		"subsampled/mnist-usps/iwdan/seed-2", "subsampled/mnist-usps/iwdan/seed-1",
		"subsampled/mnist-usps/dann/seed-2", "subsampled/mnist-usps/dann/seed-1",
		"full/usps-mnist/iwdan/seed-2", "full/usps-mnist/iwdan/seed-1",
		"full/usps-mnist/dann/seed-2", "full/usps-mnist/dann/seed-1",
		"full/mnist-usps/iwdan/seed-2", "full/mnist-usps/iwdan/seed-1",
		"full/mnist-usps/dann/seed-2", "full/mnist-usps/dann/seed-1",
	}
	if got := ids(runs); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, run := range runs {
		c := run.Config
		if run.ID != (store.ID{Variant: c.Variant, Task: c.Task, Method: c.Method, Seed: c.Seed}) {
			t.Errorf("%s has the configuration of %s/%s/%s/%d", run.ID, c.Variant, c.Task, c.Method, c.Seed)
		}
		wantEpochs := 70
		if run.ID.Method == "iwdan" && run.ID.Seed == 2 {
			wantEpochs = 3
		}
		if c.Train.Epochs != wantEpochs {
			t.Errorf("%s: %d epochs, want %d", run.ID, c.Train.Epochs, wantEpochs)
		}
	}
}

func TestRunsReportsAMistakeOnce(t *testing.T) {
	_, err := Runs(load(t, experiment+"train: {optimizer: {nesterov: true, momentum: 0}}\n"))
	want := "f.yaml:8:31: train.optimizer.nesterov needs train.optimizer.momentum above 0"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestOnly(t *testing.T) {
	runs := plan(t)
	for _, test := range []struct {
		globs []string
		want  []string
	}{
		{[]string{"full/usps-mnist/iwdan/seed-1"}, []string{"full/usps-mnist/iwdan/seed-1"}},
		{[]string{"full/*/iw*/seed-[12]"}, []string{
			"full/usps-mnist/iwdan/seed-2", "full/usps-mnist/iwdan/seed-1", "full/mnist-usps/iwdan/seed-2", "full/mnist-usps/iwdan/seed-1",
		}},
		// Several globs give their union, each run once, in the order of the plan.
		{[]string{"full/mnist-usps/dann/*", "*/mnist-usps/dann/seed-2"}, []string{
			"subsampled/mnist-usps/dann/seed-2", "full/mnist-usps/dann/seed-2", "full/mnist-usps/dann/seed-1",
		}},
		{nil, ids(runs)},
	} {
		only, err := Only(runs, test.globs)
		if err != nil {
			t.Errorf("%v: %v", test.globs, err)
		}
		if got := ids(only); !slices.Equal(got, test.want) {
			t.Errorf("%v: got %v, want %v", test.globs, got, test.want)
		}
	}
}

func TestOnlyMistakes(t *testing.T) {
	for _, test := range []struct {
		globs []string
		want  string
	}{
		{[]string{"full/usps-mnist/iwdna/seed-1"}, "--only full/usps-mnist/iwdna/seed-1: fits no run; iwrun run --dry-run lists their ids"},
		{[]string{"usps-mnist"}, "--only usps-mnist: 4 parts are wanted, and the pattern has 1; a run id is variant/task/method/seed-n"},
		{[]string{"*/*/*/seed-[1"}, `--only */*/*/seed-[1: no valid pattern; * ? and [a-z] have a special meaning, and \ takes it away`},
		{[]string{"*/*/*/*", "a", "b"}, "--only a: 4 parts are wanted, and the pattern has 1; a run id is variant/task/method/seed-n\n" +
			"--only b: 4 parts are wanted, and the pattern has 1; a run id is variant/task/method/seed-n"},
	} {
		only, err := Only(plan(t), test.globs)
		if err == nil || err.Error() != test.want {
			t.Errorf("got %v,\n%v\nwant\n%s", only, err, test.want)
		}
		if !errors.As(err, new(config.Errors)) {
			t.Errorf("error of type %T", err)
		}
	}
}

func TestCheckData(t *testing.T) {
	there := t.TempDir()
	text := strings.Replace(experiment, "name: digits}", "name: digits, root: "+there+"}", 1)
	text = strings.Replace(text, "train: {epochs: 3}", "dataset: {root: missing}", 1)
	runs := must.Have(Runs(load(t, text)))(t)
	// Four runs share the missing folder.
	want := `f.yaml:7:62: dataset.root: "missing" does not exist; set IWDA_DATA to the folder that holds "digits", ` +
		"or dataset.root to the folder of the data\nMNIST as IDX files (train-images-idx3-ubyte and the other three), " +
		"USPS as LIBSVM's files usps and usps.t,\ncompressed (.gz, .bz2) or not, in missing."
	if err := CheckData(runs); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	runs = must.Have(Only(runs, []string{"*/*/dann/*"}))(t)
	if err := CheckData(runs); err != nil {
		t.Errorf("no selected run needs the missing folder: %v", err)
	}
}

// A run of one epoch does not align the domains with the settings that digits have otherwise.
func TestNeverAligned(t *testing.T) {
	if got := NeverAligned(plan(t)); got != "" {
		t.Error(got)
	}
	text := strings.Replace(experiment, "[iwdan, dann]", "[iwdan, dann, source-only]", 1)
	runs := must.Have(Runs(load(t, strings.Replace(text, "{method: iwdan, seed: 2}, train: {epochs: 3}", "{task: usps-mnist, variant: full, seed: 2}, train: {epochs: 1}", 1))))(t)
	if got, want := NeverAligned(runs), "In 2 runs the domains are never aligned, as train.domain_from_epoch is after the last epoch: full/usps-mnist/iwdan/seed-2, full/usps-mnist/dann/seed-2."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Methods that are trained alike would fill a table with the same runs under two names.
func TestMethodsThatAreTrainedAlike(t *testing.T) {
	for _, c := range []struct {
		name, methods, settings string
		alike                   []string // none: all differ
	}{
		{"the body's loss contains no weight", "dann, dann+wc, iwdan, dann+wc-o", "", []string{"dann+wc", "dann+wc-o", "losses.classification: balanced", "f.yaml:5:33"}},
		{"the appendix's does", "dann+wc, dann+wc-o, cdan+wc, cdan+wc-o", "losses: {classification: weighted-balanced}", nil},
		{"the released code's does", "dann+wc, dann+wc-o", "losses: {classification: weighted-balanced-released}", nil},
		{"weights in the domain loss", "dann+wda, dann+wda-o, iwdan, iwdan-o, cdan, iwcdan", "", nil},
		{"the same under two names", "dann, dann@again", "overrides: [{when: {method: dann@again}, train: {epochs: 70}}]", []string{"dann", "dann@again", "changes nothing"}},
		{"a loss that the method does not have", "dann, dann@other", "overrides: [{when: {method: dann@other}, losses: {classification: weighted-balanced, mmd: biased}}]", []string{"dann", "dann@other"}},
		{"no discriminator", "source-only, source-only@other", "overrides: [{when: {method: '*@other'}, discriminator: {normalise: rows}, losses: {trade_off: 2}}]", []string{"source-only@other"}},
		{"what is estimated is in metrics.csv", "dann, dann@other", "overrides: [{when: {method: '*@other'}, weights: {ema: 0.9}}]", nil},
		{"alike with one seed of two", "iwdan, iwdan@other", "overrides: [{when: {method: iwdan, seed: 1}, train: {batch: 32}}]", []string{"iwdan@other"}},
	} {
		text := "experiment: e\ndataset: {name: digits}\ntasks: [usps-mnist]\nvariants: [full]\nmethods: [" + c.methods + "]\nseeds: [1, 2]\n" + c.settings + "\n"
		_, err := Runs(load(t, text))
		if (err != nil) != (c.alike != nil) {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, word := range c.alike {
			if err != nil && !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v does not say %q", c.name, err, word)
			}
		}
		if err != nil && strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%s: said of each seed: %v", c.name, err)
		}
	}
}

// No file in configs plans a training twice.
func TestShippedFilesPlanNoTrainingTwice(t *testing.T) {
	paths, err := filepath.Glob("../../configs/*.yaml")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d files in configs: %v", len(paths), err)
	}
	for _, path := range paths {
		file := must.Have(config.Load(path))(t)
		if _, err := Runs(file); err != nil {
			t.Error(err)
		}
	}
}
