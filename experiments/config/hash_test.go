package config

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferences(t *testing.T) {
	there := resolve(t, parse(t, minimal), "usps-mnist", "iwdan", 1)
	here := there
	if got := Differences(there, here); len(got) != 0 {
		t.Errorf("of a configuration with itself: %q", got)
	}
	here.Experiment, here.Title, here.Dataset.Root, here.Dataset.Workers = "other", "Other", "/elsewhere", 9
	if got := Differences(there, here); len(got) != 0 {
		t.Errorf("in what changes no result: %q", got)
	}
	here.Seed, here.Method, here.Train.Epochs = 2, "dann", 12
	here.Train.Steps, here.Train.Schedule.Every = 100, 0
	here.Dataset.ClassFractions = []float64{0.5, 1}
	want := []string{
		"dataset.class_fractions: not set there, [0.5 1] here",
		"method: iwdan there, dann here",
		"seed: 1 there, 2 here",
		"train.epochs: 70 there, 12 here",
		"train.schedule.every: 5 there, not set here",
		"train.steps: not set there, 100 here",
	}
	if diff := cmp.Diff(want, Differences(there, here)); diff != "" {
		t.Error(diff)
	}
}

// TestDifferencesAgreeWithHash changes every key on its own.
func TestDifferencesAgreeWithHash(t *testing.T) {
	original := resolve(t, parse(t, minimal), "usps-mnist", "iwdan", 1)
	for _, leaf := range leaves("", reflect.ValueOf(original.Settings)) {
		changed := original
		for _, other := range leaves("", reflect.ValueOf(&changed.Settings).Elem()) {
			if other.name == leaf.name {
				change(other.value)
			}
		}
		got := Differences(original, changed)
		if len(got) == 0 != (original.Hash() == changed.Hash()) || len(got) > 1 {
			t.Errorf("%s: %q, but the hashes are %s and %s", leaf.name, got, original.Hash(), changed.Hash())
		}
		if len(got) == 0 != slices.Contains(withoutEffect, leaf.name) {
			t.Errorf("%s: %q", leaf.name, got)
		}
	}
}
