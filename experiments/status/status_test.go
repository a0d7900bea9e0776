package status

import (
	"os"
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// A result that cannot be read is none, whatever its hash: the run is made again.
func TestDamagedResult(t *testing.T) {
	file, err := config.Parse("f.yaml", []byte("experiment: e\ndataset: {name: glyphs}\ntasks: [clean-warped]\nvariants: [full]\nmethods: [dann]\nseeds: [1]\n"))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := plan.Runs(file)
	if err != nil {
		t.Fatal(err)
	}
	results := t.TempDir()
	dir := runs[0].Dir(results)
	if err := dir.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir.Path(store.ResultFile), []byte(`{"config_hash": "`+runs[0].Config.Hash()+`", "best_acc`), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := Inspect(runs, results)[0]; got.State != Left || !strings.Contains(got.Reason, store.ResultFile) {
		t.Errorf("%+v", got)
	}
}
