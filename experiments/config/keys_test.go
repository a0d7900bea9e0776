package config

import (
	"slices"
	"strings"
	"testing"
)

// TestKeys compares what a reference says of some keys.
func TestKeys(t *testing.T) {
	t.Setenv("IWDA_DATA", "/elsewhere")
	keys := map[string]Key{}
	for _, key := range Keys() {
		keys[key.Path] = key
	}
	for _, want := range []Key{
		{Path: "experiment", Type: "text", Takes: folderForm},
		{Path: "seeds", Type: "list", Takes: "at least 0"},
		{Path: "dataset.train_per_class", Type: "whole number", Takes: "at least 1 and at most 100000"},
		{Path: "dataset.domains.NAME.test", Type: "text"},
		{Path: "network.pretrained", Type: "text", Takes: expanded + "; or none", Images: "${IWDA_DATA:-data}/weights/resnet50-19c8e357.pth"},
		{Path: "network.normalise", Type: "text", Takes: "source, standard, matched, none", Default: "none", Images: "none"},
		{Path: "train.optimizer.lr", Type: "number", Takes: "above 0 and at most 1e+30", Default: "0.02", Images: "0.001"},
		{Path: "train.restarts", Type: "whole number", Takes: "at least 0 and at most 1000", Default: "0", Images: "0"},
		{Path: "train.graph", Type: "true or false", Default: "true", Images: "true"},
		{Path: "overrides", Type: "list"},
	} {
		if got := keys[want.Path]; got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

// Every number has a lower and an upper bound, which the error names with the key.
func TestNumbersAreBounded(t *testing.T) {
	const base = "experiment: e\ndataset: {name: glyphs}\ntasks: [clean-warped]\nvariants: [full]\nmethods: [source-only]\nseeds: [1]\nnetwork: {name: lenet}\n"
	numbers := 0
	for _, key := range Keys() {
		list := key.Path == "seeds" || key.Path == "dataset.class_fractions"
		if !list && key.Type != "number" && key.Type != "whole number" {
			continue
		}
		numbers++
		// Seeds may be any number that fits, and these factors absurd.
		tooMuch := []string{"4611686018427387904", "1e12"}
		if key.Path == "seeds" || key.Path == "losses.trade_off" || key.Path == "train.optimizer.lr" {
			tooMuch = nil
		}
		for _, value := range slices.Concat(tooMuch, []string{"0", "-1", "2147483648", "1e300", ".nan", ".inf", "-.inf"}) {
			file := parse(t, base)
			given := value
			if list {
				given = "[" + value + "]"
			}
			err := file.Set([]string{key.Path + "=" + given})
			switch {
			case err == nil && value != "0" && value != "2147483648":
				t.Errorf("%s takes %s", key.Path, value)
			case err != nil && !strings.Contains(err.Error(), key.Path):
				t.Errorf("%s=%s: the error does not name the key: %v", key.Path, value, err)
			case err != nil && value == "4611686018427387904" && !strings.Contains(err.Error(), "at most") && !strings.Contains(err.Error(), "below 1"):
				t.Errorf("%s=%s: the error does not name the bound: %v", key.Path, value, err)
			}
		}
	}
	if numbers < 30 {
		t.Errorf("only %d keys are numbers", numbers)
	}
}
