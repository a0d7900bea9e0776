package config

import (
	"strings"
	"testing"

	"iwda/inference/selection"
)

// Rules are the criteria. How runs are chosen
// from does not count for a run, so that no override can change it.
func TestSelection(t *testing.T) {
	load := func(set ...string) (*File, error) {
		file := load(t, "../../configs/demo.yaml")
		return file, file.Set(set)
	}
	run := func(file *File) Resolved { return resolve(t, file, file.Config.Tasks[0], "iwdan", 1) }
	for set, want := range map[string]string{
		"selection.rule=best":                                  `unknown rule "best"`,
		"selection.label_shift=true":                           "--set selection.label_shift=true: selection.label_shift is for the methods of selection.alike, if there is no selection.rule",
		"selection.tolerance=1":                                "at least 0 and below 1",
		"overrides=[{when: {seed: 1}, selection: {rule: im}}]": `unknown key "selection"`,
	} {
		if _, err := load(set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", set, err, want)
		}
	}
	standard, err := load()
	if err != nil || standard.Config.Selection.RuleOrDefault() != "target-risk" {
		t.Fatal(standard.Config.Selection, err)
	}
	for _, rule := range selection.Names() {
		file, err := load("selection.rule="+rule, "selection.choose=method", "selection.tolerance=0.2")
		if err != nil || file.Config.Selection.RuleOrDefault() != rule || run(file).Hash() != run(standard).Hash() {
			t.Errorf("%s: %+v, %v", rule, file.Config.Selection, err)
		}
	}
}
