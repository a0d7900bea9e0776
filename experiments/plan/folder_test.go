package plan

import (
	"slices"
	"strings"
	"testing"

	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// TestConflict: what a folder says of its work, whatever it lacks.
func TestConflict(t *testing.T) {
	run := plan(t)[0]
	yaml := must.Have(run.Config.YAML())(t)
	own, other := string(yaml), strings.Replace(string(yaml), "epochs: 3\n", "epochs: 12\n", 1)
	ownResult, otherResult := `{"config_hash": "`+run.Config.Hash()+`"}`, `{"config_hash": "123"}`
	epochs := []string{"train.epochs: 12 there, 3 here"}
	hash := []string{"its result has the hash 123 instead of " + run.Config.Hash()}
	for name, test := range map[string]struct {
		config, result, checkpoint string // "": no such file
		want                       []string
		unreadable                 bool
	}{
		"nothing":                           {},
		"no work":                           {config: other},
		"own checkpoint":                    {config: own, checkpoint: "x"},
		"own result":                        {config: own, result: ownResult},
		"other checkpoint":                  {config: other, checkpoint: "x", want: epochs},
		"other result":                      {config: other, result: otherResult, want: epochs},
		"damaged result":                    {config: own, result: "{"},
		"result alone":                      {result: otherResult, want: hash},
		"own result alone":                  {result: ownResult},
		"checkpoint alone":                  {checkpoint: "x"},
		"unreadable, checkpoint":            {config: "future: key\n", checkpoint: "x", unreadable: true},
		"unreadable, other result":          {config: "future: key\n", result: otherResult, want: hash, unreadable: true},
		"of several runs, with checkpoint":  {config: experiment, checkpoint: "x", unreadable: true},
		"own configuration, other's result": {config: own, result: otherResult, want: hash},
	} {
		t.Run(name, func(t *testing.T) {
			dir := run.Dir(t.TempDir())
			must.Do(t, dir.Begin())
			for file, text := range map[string]string{
				store.ConfigFile: test.config, store.ResultFile: test.result, store.CheckpointFile: test.checkpoint,
			} {
				if text == "" {
					continue
				}
				testfiles.Write(t, dir.Path(file), text)
			}
			got, err := run.Conflict(dir)
			if !slices.Equal(got, test.want) || (err != nil) != test.unreadable {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
}
