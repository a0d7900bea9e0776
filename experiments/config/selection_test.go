package config

import (
	"strings"
	"testing"
)

// What is selected by must be there, and counts for a run exactly where it keeps what is
// selected.
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
	for _, c := range []struct {
		want string // of the error
		set  []string
	}{
		{"set train.validation", []string{"train.keep=selected"}},
		{"name it in selection.criteria too", []string{"train.keep=selected", "train.validation=0.1", "selection.rule=snd"}},
		{"class-ami is not measured", []string{"train.keep=selected", "train.validation=0.1", "selection.rule=guarded-ami"}},
		{"does not choose among the epochs", []string{"train.keep=selected", "train.validation=0.1", "selection.rule=ensv"}},
		{"unknown network to keep", []string{"train.keep=best"}},
		{"at least 0 and below 1", []string{"selection.tolerance=1"}},
		{"iwcv weighs source rows", []string{"selection.criteria=[iwcv]"}},
		{"unknown criterion of an evaluation", []string{"selection.criteria=[ensv]"}},
	} {
		if _, err := resolve(c.set...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.set, err, c.want)
		}
	}
	hash := func(set ...string) string {
		r, err := resolve(append(set, "train.validation=0.1")...)
		if err != nil {
			t.Fatal(err)
		}
		return r.Hash()
	}
	if hash() != hash("selection.rule=im") || hash() != hash("train.keep=last") || hash() != hash("selection.choose=method") || hash() != hash("selection.tolerance=0.2") {
		t.Error("a rule that nothing follows changes the hash")
	}
	if hash("train.keep=selected") == hash() || hash("train.keep=selected") == hash("train.keep=selected", "selection.rule=im") {
		t.Error("what a run keeps does not change the hash")
	}
}
