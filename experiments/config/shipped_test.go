package config

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShippedFiles(t *testing.T) {
	paths, err := filepath.Glob("../../configs/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in configs: %v", err)
	}
	for _, path := range paths {
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
	file, err := Load("../../configs/digits.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range leaves("", reflect.ValueOf(file.Config.Settings)) {
		_, given := file.at[leaf.name]
		// A setting whose value is zero is one of other data sets.
		if !given && !leaf.value.IsZero() {
			t.Errorf("%s is left out", leaf.name)
		}
	}
	if diff := cmp.Diff(Default("digits").Settings, file.Config.Settings); diff != "" {
		t.Errorf("not the default: %s", diff)
	}
	for task, every := range map[string]int{"mnist-usps": 5, "usps-mnist": 6} {
		run, err := file.Resolve(task, "subsampled", "iwdan", 1)
		if err != nil {
			t.Fatal(err)
		}
		if run.Train.Schedule.Every != every {
			t.Errorf("%s halves the rate every %d epochs, want %d", task, run.Train.Schedule.Every, every)
		}
	}
}
