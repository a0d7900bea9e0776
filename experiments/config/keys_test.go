package config

import "testing"

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
		{Path: "dataset.train_per_class", Type: "whole number", Takes: "at least 1"},
		{Path: "dataset.domains.NAME.test", Type: "text"},
		{Path: "network.pretrained", Type: "text", Takes: expanded + "; or none", Images: "${IWDA_DATA:-data}/weights/resnet50-19c8e357.pth"},
		{Path: "network.normalise", Type: "text", Takes: "source, standard, matched, l2, none", Default: "none", Images: "none"},
		{Path: "train.optimizer.lr", Type: "number", Takes: "above 0", Default: "0.02", Images: "0.001"},
		{Path: "train.restarts", Type: "whole number", Takes: "at least 0", Default: "0", Images: "0"},
		{Path: "train.graph", Type: "true or false", Default: "true", Images: "true"},
		{Path: "overrides", Type: "list"},
	} {
		if got := keys[want.Path]; got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}
