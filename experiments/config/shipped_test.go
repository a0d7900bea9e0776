package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"iwda/datasets/catalogue"
	"iwda/internal/must"
)

// shippedFiles returns the experiments in configs.
func shippedFiles(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("../../configs/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in configs: %v", err)
	}
	return paths
}

func TestShippedFiles(t *testing.T) {
	for _, path := range shippedFiles(t) {
		file, err := Load(path)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, task := range file.Config.Tasks {
			for _, variant := range file.Config.Variants {
				for _, method := range file.Config.Methods {
					if _, err := file.Resolve(task, variant, method, file.Config.Seeds[0]); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

// TestDigitsStatesThePaper checks that digits.yaml gives every setting, that these
// are the defaults, and what changes by task.
func TestDigitsStatesThePaper(t *testing.T) {
	file := load(t, "../../configs/digits.yaml")
	for _, leaf := range leaves("", reflect.ValueOf(file.Config.Settings)) {
		_, given := file.at[leaf.name]
		// A setting whose value is zero is one of other data sets.
		if !given && !leaf.value.IsZero() {
			t.Errorf("%s is left out", leaf.name)
		}
	}
	digits := must.Have(catalogue.Find("digits"))(t)
	standard := Default(digits)
	if diff := cmp.Diff(standard.Settings, file.Config.Settings); diff != "" {
		t.Errorf("not the default: %s", diff)
	}
	for task, every := range map[string]int{"mnist-usps": 5, "usps-mnist": 6} {
		run := resolved(t, file, task, "subsampled", "iwdan", 1)
		if run.Train.Schedule.Every != every {
			t.Errorf("%s halves the rate every %d epochs, want %d", task, run.Train.Schedule.Every, every)
		}
	}
}

// TestWrittenConfigurationIsTheSame changes every truth value, number and text of every
// shipped file, for two methods with settings of their own, and reads what the run's folder
// would hold.
func TestWrittenConfigurationIsTheSame(t *testing.T) {
	changed := map[string]bool{} // keys of which some file took another value
	took := map[string]int{}     // how often a key took a value: two methods are enough
	for _, path := range shippedFiles(t) {
		file := load(t, path)
		c := file.Config
		var before Settings
		for _, method := range c.Methods {
			run := resolved(t, file, c.Tasks[0], c.Variants[0], method, c.Seeds[0])
			if reflect.DeepEqual(run.Settings, before) {
				continue
			}
			before = run.Settings
			for _, leaf := range leaves("", reflect.ValueOf(run.Settings)) {
				for _, value := range otherValues(leaf.value) {
					other := *file
					assignment := fmt.Sprintf("%s=%v", leaf.name, value)
					if took[assignment] == 2 || other.Set([]string{assignment}) != nil {
						continue
					}
					run, err := other.Resolve(c.Tasks[0], c.Variants[0], method, c.Seeds[0])
					if err != nil {
						continue // a value that does not fit the others
					}
					changed[leaf.name] = true
					took[assignment]++
					if diff := rewritten(t, run); diff != "" {
						t.Errorf("%s, %s, %s: %s", path, method, assignment, diff)
					}
				}
			}
		}
	}
	// One of one name, one that is never changed, one that needs another, and lists, which have tests of their own.
	for _, key := range []string{"dataset.name", "dataset.class_fractions", "dataset.domains", "selection.label_shift", "selection.alike", "selection.moved", "weights.shares"} {
		changed[key] = true
	}
	for _, leaf := range leaves("", reflect.ValueOf(Settings{})) {
		if !changed[leaf.name] {
			t.Errorf("%s was never changed", leaf.name)
		}
	}
}

// otherValues returns values of a setting beside the one it has, as YAML has them; some
// will be refused.
func otherValues(v reflect.Value) []any {
	switch v.Kind() {
	case reflect.Bool:
		return []any{false, true}
	case reflect.Int, reflect.Int64:
		return []any{0, 1, v.Int() + 1, 2 * v.Int(), v.Int() / 2}
	case reflect.Float64:
		return []any{0, 1, v.Float() / 3, v.Float() + 1e-17, 2 * v.Float()}
	case reflect.String:
		return []any{`""`, "none", "constant", "inverse", "biased", "weighted-balanced", "mlls", "memory", "resnet18", "standard", "iwv-y", "method", "rows", "shared"}
	case reflect.Slice:
		return nil
	}
	return nil
}

// rewritten returns how a run differs from what its own YAML says.
func rewritten(t *testing.T, run Resolved) string {
	t.Helper()
	text := yamlOf(t, run)
	again, err := ParseRun("config.yaml", text)
	if err != nil {
		return err.Error()
	}
	if again.Hash() != run.Hash() {
		return fmt.Sprintf("another run: %v\n%s", Differences(run, again), text)
	}
	return cmp.Diff(run, again, cmpopts.IgnoreUnexported(Resolved{}))
}

// Every data set of the catalogue has defaults with which it is trained as it is.
func TestEveryDatasetHasDefaults(t *testing.T) {
	for _, data := range catalogue.All() {
		standard := Default(data)
		if standard.Dataset.Name != data.Name || data.Drawn() != (standard.Dataset.Root == "") {
			t.Errorf("%s: %+v", data.Name, standard.Dataset)
		}
		task := "some-other"
		if data.Tasks != nil {
			task = data.Tasks[0]
		}
		domains := ""
		if data.Named() {
			standard.Dataset.Domains = Domains{{Domain: "some", Path: "some.npz"}, {Domain: "other", Path: "other.csv"}}
			domains = ", domains: {some: {path: some.npz}, other: {path: other.csv}}"
		}
		file, err := Parse("f.yaml", fmt.Appendf(nil, "experiment: e\ndataset: {name: %s%s}\ntasks: [%s]\nvariants: [full]\nmethods: [dann]\nseeds: [1]\n", data.Name, domains, task))
		if err != nil {
			t.Error(err)
			continue
		}
		run, err := file.Resolve(task, "full", "dann", 1)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(standard.Settings, run.Settings); diff != "" {
			t.Errorf("%s: not the default: %s", data.Name, diff)
		}
	}
}
