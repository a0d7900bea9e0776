package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"iwda/losses/form"
)

// Hash identifies what determines the result of the run: the first 16 hexadecimal
// digits of the SHA-256 of the lines key=value, sorted, of task, variant, method,
// seed and all settings. Left out are what changes no result (experiment, title, selection and
// withoutEffect) and keys with their zero value, so that a new key whose zero value means "as
// before" keeps the hashes of finished runs. Keys that are gone count by what every run does in
// their place, for the same reason. Files of the network count by their names where they lie
// outside the working directory, so that a run is the same wherever the data lie.
func (r Resolved) Hash() string {
	var lines []string
	for key, value := range r.determining() {
		lines = append(lines, linesOf(key, value)...)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])[:16]
}

// linesOf returns what a key with its value adds to a hash: discriminator.normalise what it was
// when it was a truth value beside discriminator.scale.
func linesOf(key string, value any) []string {
	if key == "discriminator.normalise" {
		switch value {
		case RowScale:
			return []string{"discriminator.normalise=true"}
		case SharedScale:
			return []string{"discriminator.normalise=true", `discriminator.scale="shared"`}
		}
	}
	return []string{key + "=" + source(value)}
}

// Differences lists, in the order of their keys, what two configurations of a run do
// not share of that which determines its result, as in "train.epochs: 12 there, 70
// here". It is empty exactly if their hashes are the same.
func Differences(there, here Resolved) []string {
	a, b := there.determining(), here.determining()
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	var list []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if source(a[key]) != source(b[key]) { // that of nil where one lacks the key
			list = append(list, fmt.Sprintf("%s: %s there, %s here", key, plain(a[key]), plain(b[key])))
		}
	}
	return list
}

// training returns what determines every bit of a run's metrics.csv, as text: what Hash counts, less the
// settings that the method does not use, and what the method does in place of its name. Runs that end
// before their methods align the domains may agree without having the same; see train.domain_from_epoch.
func (r Resolved) training() map[string]string {
	m, _ := ParseMethod(r.Method)
	m.Name = ""
	unused := map[string]bool{
		"losses.classification": !m.WeightClassification,
		"losses.mmd":            m.Alignment != DAN && m.Alignment != JAN,
		"losses.trade_off":      m.Alignment == NoAlignment, "train.domain_from_epoch": m.Alignment == NoAlignment,
		"discriminator": m.Alignment != DANN && m.Alignment != CDAN && m.Alignment != CDANE,
	}
	unused["discriminator.random_projection"] = unused["discriminator"] || m.Alignment == DANN
	if inClassification := m.WeightClassification && r.Losses.Classification != string(form.Balanced); !inClassification && !m.WeightDomain {
		m.Weights = NoWeights // none enters what is minimised
	}
	unused["weights.shares"] = m.Weights != EstimatedWeights
	values := map[string]string{}
	for key, value := range r.determining() {
		if group, _, _ := strings.Cut(key, "."); !unused[key] && !unused[group] {
			values[key] = source(value)
		}
	}
	values["method"] = source(m)
	return values
}

// withoutEffect are the settings that change no result, or, as the machine does, only its rounding.
var withoutEffect = []string{"dataset.root", "dataset.workers", "dataset.cache", "train.graph"}

// asBefore are keys that are gone, by what every run does in their place: they keep the hashes of
// finished runs.
var asBefore = map[string]any{"discriminator.reversal.alpha": 10, "discriminator.reversal.high": 1, "train.optimizer.name": "sgd", "weights.estimator": "qp"}

// countedBelow are the folders below which the files of settings count.
var countedBelow = map[string]string{"network.pretrained": "data/weights/", "network.file": "data/"}

// counted returns the value of a key as it counts: of a file outside the working directory the
// path that it has where IWDA_DATA is not set.
func counted(key string, value reflect.Value) any {
	if folder, isFile := countedBelow[key]; isFile && !filepath.IsLocal(value.String()) {
		return folder + filepath.Base(value.String())
	}
	return value.Interface()
}

// determining returns the values of all keys that determine the run's result and are
// not zero.
func (r Resolved) determining() map[string]any {
	values := map[string]any{"task": r.Task, "variant": r.Variant, "method": r.Method, "seed": r.Seed}
	maps.Copy(values, asBefore)
	for _, leaf := range leaves("", reflect.ValueOf(r.Settings)) {
		if !slices.Contains(withoutEffect, leaf.name) && !leaf.value.IsZero() {
			values[leaf.name] = counted(leaf.name, leaf.value)
		}
	}
	return values
}

// source returns a value as Go source has it.
func source(value any) string { return fmt.Sprintf("%#v", value) }

// plain returns a value for people to read.
func plain(value any) string {
	if value == nil {
		return "not set"
	}
	return fmt.Sprint(value)
}
