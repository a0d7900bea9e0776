package config

import (
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
