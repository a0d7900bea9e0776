package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A key or a value that is gone is an error with its place, since when, and what to do: in
// the file, in an override, and in an assignment.
func TestGoneKeys(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{minimal + "losses: {batch_weights: true}\n",
			"f.yaml:7:10: losses.batch_weights is gone since version 0.4.0; delete it; recipe: robust keeps training steady, where it did not"},
		{minimal + "train:\n  optimizer: {lr: 0.1, name: sgd}\n",
			"f.yaml:8:24: train.optimizer.name is gone since version 0.4.0; delete it: there is no optimizer but stochastic gradient descent"},
		{minimal + "discriminator: {normalise: true, scale: shared}\n",
			"f.yaml:7:28: discriminator.normalise: true is gone since version 0.4.0; write rows, or shared where discriminator.scale was shared\n" +
				"f.yaml:7:34: discriminator.scale is gone since version 0.4.0; write discriminator.normalise: rows or shared"},
		{minimal + "network: {normalise: centred, scale: shared}\n",
			"f.yaml:7:22: network.normalise: centred is gone since version 0.4.0; write source if columns mean the same in both domains, standard or matched if they have moved\n" +
				"f.yaml:7:31: network.scale is gone since version 0.4.0; delete it: each column is divided by its own deviation"},
		{strings.Replace(minimal, "name: digits", "name: features", 1),
			"f.yaml:2:17: dataset.name: features is gone since version 0.4.0; write files, and dataset.domains with the file of each domain, as in domains: {photos: {path: photos.npz, test: photos-test.npz}}"},
		{minimal + "overrides: [{when: {seed: 1}, weights: {estimator: QP-Released}}]\n",
			"f.yaml:7:41: weights.estimator is gone since version 0.4.0; delete it: class weights are those of the quadratic program; the others did not keep training steady"},
	} {
		if _, err := Parse("f.yaml", []byte(test.file)); err == nil || err.Error() != test.want {
			t.Errorf("got\n%v\nwant\n%s", err, test.want)
		}
	}
	err := parse(t, minimal).Set([]string{"discriminator.reversal.run_lengths=2", "discriminator.normalise=false"})
	want := "--set discriminator.reversal.run_lengths=2: discriminator.reversal.run_lengths is gone since version 0.4.0; " +
		"write discriminator.reversal.iterations, that many times the number of steps with a domain loss\n" +
		"--set discriminator.normalise=false: discriminator.normalise: false is gone since version 0.4.0; write none, or delete it"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// No key is both there and gone, and each that is gone says since when and what to do.
func TestGoneKeysAreGone(t *testing.T) {
	var there []string
	for _, leaf := range leaves("", reflect.ValueOf(&document{}).Elem()) {
		there = append(there, leaf.name)
	}
	for name, word := range gone {
		path, _, isValue := strings.Cut(name, ": ")
		if slices.Contains(there, path) != isValue || word.since == "" || word.advice == "" {
			t.Errorf("%s: %+v", name, word)
		}
	}
}

// written is a run's config.yaml as version 0.3.0 wrote it, of the hash that it had then.
func written(t *testing.T, old ...string) Resolved {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "config-0.3.0.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	run, err := ParseRun("config.yaml", []byte(strings.NewReplacer(old...).Replace(string(text))))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// The configuration of a run that a former version made is read, with the hash that it has
// in its result: settings that are gone are said in the words of today, or else make it
// another run than any that can be made.
func TestRunsOfFormerVersions(t *testing.T) {
	whole := written(t)
	if got := whole.Hash(); got != "837665e9b6d228d5" {
		t.Errorf("hash %s", got)
	}
	if d := whole.Discriminator; d.Normalise != SharedScale || d.Reversal.Iterations != 200 || whole.CheckMade() != nil {
		t.Errorf("%+v, %v", d, whole.CheckMade())
	}
	text, err := whole.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if again := parse(t, string(text)); strings.Contains(string(text), "sgd") || again.Config.Discriminator.Normalise != SharedScale {
		t.Errorf("written again as\n%s", text)
	}
	rows := written(t, "  scale: shared\n", "")
	if got := Differences(rows, whole); !slices.Equal(got, []string{"discriminator.normalise: rows there, shared here"}) || rows.Discriminator.Normalise != RowScale {
		t.Errorf("%q", got)
	}
	none := written(t, "  normalise: true\n  scale: shared\n", "")
	if none.Discriminator.Normalise != "" || none.Hash() == rows.Hash() {
		t.Errorf("not normalised: %+v", none.Discriminator)
	}
	for setting, c := range map[string]struct {
		old  []string
		want string
	}{
		"a truth value": {[]string{"  trade_off: 1\n", "  trade_off: 1\n  batch_weights: true\n"}, "losses.batch_weights: true there, not set here"},
		"a number":      {[]string{"alpha: 10", "alpha: 5"}, "discriminator.reversal.alpha: 5 there, 10 here"},
		"one of 0.3.0":  {[]string{"estimator: qp", "estimator: mlls"}, "weights.estimator: mlls there, qp here"},
		"an estimator":  {[]string{"estimator: qp", "estimator: qp-released"}, "weights.estimator: qp-released there, qp here"},
		"a limit":       {[]string{"    nesterov: false\n", "    nesterov: false\n    clip_norm: 0.5\n"}, "train.optimizer.clip_norm: 0.5 there, not set here"},
	} {
		run := written(t, c.old...)
		if got := Differences(run, whole); !slices.Equal(got, []string{c.want}) || run.Hash() == whole.Hash() {
			t.Errorf("%s: %q", setting, got)
		}
		if err := run.CheckMade(); err == nil || !strings.Contains(err.Error(), strings.Split(c.want, " there")[0]) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

// A run on the data set features is read as one on files of the names that its domains had.
func TestRunsOnFeatures(t *testing.T) {
	for task, c := range map[string]struct{ hash, domains string }{
		"[upright-turned]":         {"1678a8935168867b", "upright: upright.npz, turned: turned.npz"},
		"[[upright, turned-more]]": {"d4751718849e5002", "upright: upright.npz, turned-more: turned-more.npz"},
	} {
		run := written(t, "  name: moons\n", "  name: features\n", "[upright-turned]", task, "  layers: 2\n", "  layers: 2\n  normalise: standard\n")
		if run.Hash() != c.hash || run.Dataset.Domains.String() != c.domains {
			t.Errorf("%s: hash %s, domains %s", task, run.Hash(), run.Dataset.Domains)
		}
		if err := run.CheckMade(); err == nil || !strings.Contains(err.Error(), "dataset.name: features") {
			t.Errorf("%s: %v", task, err)
		}
	}
}

// A way of normalising columns that is gone is read with what else the run says of columns, and
// counts in its hash as it did.
func TestFormerWaysOfNormalising(t *testing.T) {
	read := func(way string) Resolved {
		return written(t, "dataset:\n", "dataset:\n  domains: {upright: {path: a.npz}, turned: {path: b.npz}}\n", "  name: moons\n", "  name: files\n",
			"  layers: 2\n", "  layers: 2\n  normalise: "+way+"\n")
	}
	standard := read("standard\n  clip: 2")
	for way, c := range map[string]struct {
		hash string
		want []string
	}{
		"centred\n  scale: shared\n  clip: 2": {"37afe45ab9bb1915",
			[]string{"network.normalise: centred there, standard here", "network.scale: shared there, not set here"}},
		"standard\n  scale: shared\n  clip: 2": {"5a5de553b16be6b7", []string{"network.scale: shared there, not set here"}},
	} {
		run := read(way)
		if got := Differences(run, standard); !slices.Equal(got, c.want) || run.Hash() != c.hash || run.Network != standard.Network {
			t.Errorf("%q: %q, hash %s, %+v", way, got, run.Hash(), run.Network)
		}
		if err := run.CheckMade(); err == nil || !strings.Contains(err.Error(), strings.Split(c.want[0], " there")[0]) {
			t.Errorf("%q: %v", way, err)
		}
	}
}
