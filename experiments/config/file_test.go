package config

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"iwda/internal/must"
)

func parse(t *testing.T, text string) *File {
	t.Helper()
	return must.Have(Parse("f.yaml", []byte(text)))(t)
}

func resolve(t *testing.T, file *File, task, method string, seed int64) Resolved {
	t.Helper()
	return resolved(t, file, task, "full", method, seed)
}

func resolved(t *testing.T, file *File, task, variant, method string, seed int64) Resolved {
	t.Helper()
	return must.Have(file.Resolve(task, variant, method, seed))(t)
}

// setKeys sets keys, as --set does.
func setKeys(t *testing.T, file *File, keys ...string) {
	t.Helper()
	must.Do(t, file.Set(keys))
}

// yamlOf is the run as YAML.
func yamlOf(t *testing.T, run Resolved) []byte {
	t.Helper()
	return must.Have(run.YAML())(t)
}

func load(t *testing.T, path string) *File {
	t.Helper()
	return must.Have(Load(path))(t)
}

func TestDefault(t *testing.T) {
	t.Setenv("IWDA_DATA", "/elsewhere")
	file := parse(t, minimal)
	want := Config{
		Experiment: "digits", Title: "digits",
		Tasks: []string{"mnist-usps", "usps-mnist"}, Variants: []string{"full"},
		Methods: []string{"dann", "iwdan"}, Seeds: []int64{1, 2},
		Settings: Settings{
			Dataset:       Dataset{Name: "digits", Root: "/elsewhere/digits", Fraction: 0.3},
			Network:       Network{Name: "lenet"},
			Discriminator: Discriminator{Hidden: 500, Dropout: 0.5, Reversal: Reversal{Iterations: 10000}},
			Losses:        Losses{Classification: "balanced", MMD: "released", TradeOff: 1},
			Train: Train{
				Epochs: 70, Batch: 64, DomainFromEpoch: 2,
				Optimizer: Optimizer{LR: 0.02, Momentum: 0.9, WeightDecay: 0.0005},
				Schedule:  Schedule{Name: "step", Every: 5, Factor: 0.5},
				EvalBatch: 500, Graph: true,
			},
			Weights: Weights{EMA: 0.5, Every: 1, Warmup: 1, MinSingularValue: 0.0001},
		},
	}
	if diff := cmp.Diff(want, file.Config, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Error(diff)
	}
}

func TestNamesInAnyCase(t *testing.T) {
	file := parse(t, strings.NewReplacer("[dann, iwdan]", "[DANN, IWDAN]", "full", "Full", "mnist-usps,", "MNIST-USPS,").Replace(minimal))
	c := file.Config
	if got := []string{c.Methods[0], c.Methods[1], c.Variants[0], c.Tasks[0]}; !reflect.DeepEqual(got, []string{"dann", "iwdan", "full", "mnist-usps"}) {
		t.Errorf("got %v", got)
	}
}

func TestRootVariables(t *testing.T) {
	t.Setenv("IWDA_DATA", "/d")
	t.Setenv("IWDA_EMPTY", "")
	for _, test := range []struct{ root, want string }{
		{"${IWDA_DATA}/digits", "/d/digits"},
		{"${IWDA_DATA:-x}/digits", "/d/digits"},
		{"${IWDA_EMPTY:-x}/digits", "x/digits"},
		{"${IWDA_EMPTY}/digits", "/digits"},
		{"a/${IWDA_NOT_THERE:-}${IWDA_DATA}", "a//d"},
		{"$IWDA_DATA", "$IWDA_DATA"},
	} {
		file := parse(t, replace("name: digits}", `name: digits, root: "`+test.root+`"}`))
		if got := file.Config.Dataset.Root; got != test.want {
			t.Errorf("%s: got %q, want %q", test.root, got, test.want)
		}
	}
}

func TestOverrides(t *testing.T) {
	file := parse(t, minimal+`train: {epochs: 10, schedule: {every: 3}}
overrides:
  - when: {task: usps-mnist}
    train: {schedule: {every: 6}}
  - when: {method: [iw*], seed: 2}
    train: {epochs: 20}
    weights: {ema: 0.25}
  - when: {task: "*-mnist", method: iwdan}
    train: {epochs: 30}
`)
	for _, test := range []struct {
		task, method  string
		seed          int64
		epochs, every int
		ema           float64
	}{
		{"mnist-usps", "dann", 1, 10, 3, 0.5},
		{"mnist-usps", "dann", 2, 10, 3, 0.5},
		{"mnist-usps", "iwdan", 1, 10, 3, 0.5},
		{"mnist-usps", "iwdan", 2, 20, 3, 0.25},
		{"usps-mnist", "dann", 2, 10, 6, 0.5},
		{"usps-mnist", "iwdan", 1, 30, 6, 0.5},
		{"usps-mnist", "iwdan", 2, 30, 6, 0.25}, // the later override wins
	} {
		run := resolve(t, file, test.task, test.method, test.seed)
		if run.Train.Epochs != test.epochs || run.Train.Schedule.Every != test.every || run.Weights.EMA != test.ema {
			t.Errorf("%s %s %d: epochs %d, every %d, ema %v; want %d, %d, %v", test.task, test.method, test.seed,
				run.Train.Epochs, run.Train.Schedule.Every, run.Weights.EMA, test.epochs, test.every, test.ema)
		}
		if run.Train.Schedule.Factor != 0.5 || run.Train.Schedule.Name != "step" {
			t.Errorf("an override of schedule.every changed %+v", run.Train.Schedule)
		}
	}
	if file.Config.Train.Epochs != 10 {
		t.Errorf("overrides changed the file's own epochs to %d", file.Config.Train.Epochs)
	}
}

func TestSetWinsOverOverrides(t *testing.T) {
	file := parse(t, minimal+"overrides: [{when: {task: usps-*}, train: {epochs: 20, schedule: {every: 6}}}]\n")
	setKeys(t, file, "train.epochs=2", "seeds=[7]", "methods=[ jan ]")
	run := resolve(t, file, "usps-mnist", "jan", 7)
	if run.Train.Epochs != 2 || run.Train.Schedule.Every != 6 {
		t.Errorf("epochs %d, every %d; want the assignment's 2 and the override's 6", run.Train.Epochs, run.Train.Schedule.Every)
	}
	setKeys(t, file, "train.epochs=3", "train={batch: 8}", "train.epochs=4", "overrides=[]")
	run = resolve(t, file, "usps-mnist", "jan", 7)
	if run.Train.Epochs != 4 || run.Train.Batch != 8 || run.Train.Schedule.Every != 5 {
		t.Errorf("got %+v; want 4 epochs, batch 8 and no override", run.Train)
	}
}

func TestSetOtherDataset(t *testing.T) {
	file := parse(t, minimal)
	setKeys(t, file, "dataset.name=glyphs", "tasks=[warped-clean]")
	if d := file.Config.Dataset; d.Root != "" || d.TrainPerClass != 400 || d.TestPerClass != 100 {
		t.Errorf("want the defaults of glyphs, got %+v", d)
	}
}

// TestSetFewerTasks keeps overrides for what an assignment leaves out.
func TestSetFewerTasks(t *testing.T) {
	file := parse(t, minimal+"overrides: [{when: {task: usps-mnist}, train: {epochs: 20}}]\n")
	if err := file.Set([]string{"tasks=[mnist-usps]"}); err != nil {
		t.Error(err)
	}
}

func TestSetMistakes(t *testing.T) {
	for _, test := range []struct{ assignment, want string }{
		{"train.epohcs=2", `--set train.epohcs=2: unknown key "epohcs" in train; did you mean "epochs"?`},
		{"trian.epochs=2", `--set trian.epochs=2: unknown key "trian"; did you mean "train"?`},
		{"epochs=2", `--set epochs=2: unknown key "epochs"; did you mean train.epochs?`},
		{"train.epochs=-1", `--set train.epochs=-1: train.epochs is -1; it must be at least 1`},
		{"train.epochs=two", `--set train.epochs=two: train.epochs must be a whole number, not the text "two"`},
		{"train.epochs=", `--set train.epochs=: train.epochs has no value; give one, or delete the key`},
		{"train.epochs", `--set train.epochs: an assignment is path=value, as train.epochs=2`},
		{"train..epochs=2", `--set train..epochs=2: an assignment is path=value, as train.epochs=2`},
		{"methods=[iwdan", `--set methods=[iwdan: the value is no valid YAML: line 1: did not find expected ',' or ']'`},
		{"methods=iwdan", `--set methods=iwdan: methods must be a list, as [a, b], not the text "iwdan"`},
		{"methods=[iwdna]", `--set methods=[iwdna]: unknown method "iwdna"; did you mean "iwdan"?`},
		{"tasks=[mnist-upss]", `--set tasks=[mnist-upss]: unknown task "mnist-upss" of data set digits; did you mean "mnist-usps"?`},
		{"tasks.0=mnist-usps", `--set tasks.0=mnist-usps: tasks must be a list, as [a, b], not a mapping`},
		{"overrides=[{when: {seed: 3}, train: {epochs: 2}}]",
			`--set overrides=[{when: {seed: 3}, train: {epochs: 2}}]: when.seed: "3" fits no seed of the file; choose from 1, 2`},
	} {
		file := parse(t, minimal)
		before := *file
		err := file.Set([]string{"train.batch=3", test.assignment})
		if err == nil || err.Error() != test.want {
			t.Errorf("got\n%v\nwant\n%v", err, test.want)
		}
		if !errors.As(err, new(Errors)) {
			t.Errorf("error of type %T, not Errors", err)
		}
		if !reflect.DeepEqual(before.Config, file.Config) || resolve(t, file, "mnist-usps", "dann", 1).Train.Batch != 64 {
			t.Errorf("%s: a failed Set changed the file", test.assignment)
		}
	}
}
