package status

import (
	"regexp"
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// A result that cannot be read is none, whatever its hash: the run is made again.
func TestDamagedResult(t *testing.T) {
	file := must.Have(config.Parse("f.yaml", []byte("experiment: e\ndataset: {name: glyphs}\ntasks: [clean-warped]\nvariants: [full]\nmethods: [dann]\nseeds: [1]\n")))(t)
	runs := must.Have(plan.Runs(file))(t)
	results := t.TempDir()
	dir := runs[0].Dir(results)
	must.Do(t, dir.Begin())
	testfiles.Write(t, dir.Path(store.ResultFile), `{"config_hash": "`+runs[0].Config.Hash()+`", "best_acc`)
	if got := Inspect(runs, results)[0]; got.State != Left || !strings.Contains(got.Reason, store.ResultFile) {
		t.Errorf("%+v", got)
	}
	var said strings.Builder
	must.Do(t, Print(&said, "e", Inspect(runs, results)))
	if !regexp.MustCompile(`(?m)^0 +full/clean-warped/dann/seed-1 +left `).MatchString(said.String()) {
		t.Errorf("index and id do not begin a line of\n%s", &said)
	}
}
