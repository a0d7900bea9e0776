package config

import (
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

const withShares = "experiment: e\ndataset: {name: glyphs}\ntasks: [clean-warped]\nvariants: [full]\nmethods: [iwdan]\nseeds: [1]\nweights: {shares: SHARES}\n"

// A list, a mapping and a file give the same shares, and what is written of a run gives them again, with
// the same hash.
func TestKnownShares(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shares.csv")
	testfiles.Write(t, path, "share,class\n30%,b\n10%,a\n")
	hashes := map[string]string{}
	for name, text := range map[string]string{"list": "[1, 3]", "mapping": "{b: 0.3, a: 0.1}", "file": path} {
		file := parse(t, strings.Replace(withShares, "SHARES", text, 1))
		run := must.Have(file.Single())(t)
		if shares, err := run.Weights.Shares.Of([]string{"a", "b"}); err != nil || !floats.EqualApprox(shares, []float64{0.25, 0.75}, 1e-12) {
			t.Errorf("%s: %v, %v", name, shares, err)
		}
		written := yamlOf(t, run)
		again, err := ParseRun("again.yaml", written)
		if err != nil || again.Hash() != run.Hash() {
			t.Errorf("%s: %v, differences %v\n%s", name, err, Differences(again, run), written)
		}
		hashes[name] = run.Hash()
	}
	if hashes["mapping"] != hashes["file"] {
		t.Errorf("hashes %v", hashes)
	}
	for text, want := range map[string]string{
		"[0.5, -0.5]": "negative", "[0, 0]": "no share is above 0", "{a: 1, a: 2}": `class "a" is there twice`,
		"[0.5, x]": "f.yaml:7:25", "missing.csv": "no such file", "[.nan, 1]": "must be finite",
	} {
		if _, err := Parse("f.yaml", []byte(strings.Replace(withShares, "SHARES", text, 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{"[1, 2, 3]": "3 shares of 2 classes", "{a: 1, c: 2}": `"c" is no class`} {
		file := parse(t, strings.Replace(withShares, "SHARES", text, 1))
		if _, err := file.Config.Weights.Shares.Of([]string{"a", "b"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
