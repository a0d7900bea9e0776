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

// Where IWDA_DATA points changes no hash; the name of a file does, and so does a path in the
// working directory.
func TestHashOfFiles(t *testing.T) {
	const office = "experiment: o\ndataset: {name: office31}\ntasks: [amazon-dslr]\nvariants: [full]\nmethods: [iwdan]\nseeds: [1]\n"
	hash := func(data, more string) string {
		t.Setenv("IWDA_DATA", data)
		return resolve(t, parse(t, office+more), "amazon-dslr", "iwdan", 1).Hash()
	}
	const module = "network: {name: torchscript, file: '${IWDA_DATA:-data}/b.pt'}\n"
	for _, network := range []string{"", "network: {pretrained: '${IWDA_DATA:-data}/weights/r.pth'}\n", module} {
		want := hash("", network)
		for _, data := range []string{"/datasets", "../datasets"} {
			if got := hash(data, network); got != want {
				t.Errorf("%q: %s with IWDA_DATA=%s, %s without", network, got, data, want)
			}
		}
	}
	seen := map[string]string{}
	for _, network := range []string{
		"", module, "network: {pretrained: none}\n", "network: {pretrained: /w/r.pth}\n", "network: {pretrained: /w/s.pth}\n", "network: {pretrained: w/s.pth}\n",
		"network: {name: torchscript, file: /b/c.pt}\n", "network: {name: torchscript, file: c.pt}\n",
	} {
		of := hash("", network)
		if other, twice := seen[of]; twice {
			t.Errorf("%q and %q have the same hash", other, network)
		}
		seen[of] = network
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
