package config

import (
	"strings"
	"testing"

	"iwda/selection"
)

// Rules are the criteria, a gone one or a gone key says what took its place, and how runs are
// chosen from does not count for a run.
func TestSelection(t *testing.T) {
	resolve := func(set ...string) (Resolved, error) {
		file, err := Load("../../configs/demo.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Set(set); err != nil {
			return Resolved{}, err
		}
		c := file.Config
		return file.Resolve(c.Tasks[0], c.Variants[0], "iwdan", c.Seeds[0])
	}
	for set, want := range map[string]string{
		"selection.rule=guarded-risk":        "take target-risk, the default",
		"selection.rule=Guarded-AMI":         "selection.rule: guarded-ami is gone since version 0.4.0; it chose epochs",
		"selection.rule=transfer-score":      "was never computed; take target-risk",
		"selection.rule=snd":                 "selection.rule: snd is gone since version 0.4.0; it needs features",
		"selection.rule=dev":                 "selection.rule: dev is gone since version 0.4.0; it needs features",
		"selection.rule=best":                `unknown rule "best"`,
		"selection.criteria=[iwcv]":          "selection.criteria is gone",
		"selection={rule: im, criteria: []}": "selection.criteria is gone",
		"train.keep=selected":                "train.keep is gone since version 0.4.0; delete it: a run leaves its last network",
		"selection.tolerance=1":              "at least 0 and below 1",
	} {
		if _, err := resolve(set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", set, err, want)
		}
	}
	standard, err := resolve()
	if err != nil || standard.Selection.RuleOrDefault() != "target-risk" {
		t.Fatal(standard.Selection, err)
	}
	for _, rule := range selection.Names() {
		r, err := resolve("selection.rule="+rule, "selection.choose=method", "selection.tolerance=0.2")
		if err != nil || r.Selection.RuleOrDefault() != rule || r.Hash() != standard.Hash() {
			t.Errorf("%s: %+v, %v", rule, r.Selection, err)
		}
	}
}
