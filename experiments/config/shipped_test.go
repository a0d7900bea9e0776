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
		if _, err := Load(path); err != nil {
			t.Error(err)
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
		if generated := leaf.name == "dataset.train_per_class" || leaf.name == "dataset.test_per_class"; !given && !generated {
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
