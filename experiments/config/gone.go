package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"iwda/datasets/catalogue"
	"iwda/datasets/normalise"
)

// goneWord is a key that experiment files had, or a value of one.
type goneWord struct {
	since  string // the first version without it
	advice string // what to do
	// now is the value by which every run goes in the place of a key, nil for the zero value,
	// and the value that means the same as one that is gone, nil for none.
	now any
	// near is the value as which one that is gone, and means what none does now, is read of a
	// former run, so that the run's other settings still fit it; empty for the zero value.
	near string
}

// gone are the keys that are gone, by their paths, and the values, as in "path: value". An
// experiment file that has one is refused with its advice; a run's config.yaml, which says how
// the run was made, is not.
var gone = map[string]goneWord{
	"network.batch_norm":                 {since: "0.4.0", advice: "delete it: batch normalisation takes the statistics of each process's own rows, as with local"},
	"network.scale":                      {since: "0.4.0", advice: "delete it: each column is divided by its own deviation"},
	"discriminator.scale":                {since: "0.4.0", advice: "write discriminator.normalise: rows or shared"},
	"discriminator.spectral_norm":        {since: "0.4.0", advice: "delete it; discriminator.normalise: rows keeps training steady, where it did not"},
	"discriminator.reversal.alpha":       {since: "0.4.0", now: 10, advice: "delete it, and divide discriminator.reversal.iterations by alpha/10: nothing but their ratio counted"},
	"discriminator.reversal.high":        {since: "0.4.0", now: 1, advice: "delete it: the coefficient grows to 1; losses.trade_off sets how strong the alignment is"},
	"discriminator.reversal.run_lengths": {since: "0.4.0", advice: "write discriminator.reversal.iterations, that many times the number of steps with a domain loss"},
	"selection.criteria":                 {since: "0.4.0", advice: "delete it: the criteria that it named need features and fail under label shift; every evaluation measures the others"},
	"train.keep":                         {since: "0.4.0", advice: "delete it: a run leaves its last network, to which no rule was worth an earlier one"},
	"losses.batch_weights":               {since: "0.4.0", advice: "delete it; recipe: robust keeps training steady, where it did not"},
	"train.optimizer.name":               {since: "0.4.0", now: "sgd", advice: "delete it: there is no optimizer but stochastic gradient descent"},
	"train.optimizer.clip_norm":          {since: "0.4.0", advice: "delete it; train.restarts begins a run that diverges again, recipe: robust keeps it from that"},
	"weights.cap":                        {since: "0.4.0", advice: "delete it; weights.ema slows the weights down, recipe: robust keeps training steady"},
	"weights.estimator":                  {since: "0.4.0", now: "qp", advice: "delete it: class weights are those of the quadratic program; the others did not keep training steady"},
	"weights.shrinkage":                  {since: "0.4.0", advice: "delete it; weights.ema slows the weights down, recipe: robust keeps training steady"},

	"dataset.name: features": {since: "0.4.0", near: "files", advice: "write files, and dataset.domains with the file of each domain, as in domains: {photos: {path: photos.npz, test: photos-test.npz}}"},

	"network.normalise: centred":     {since: "0.4.0", near: normalise.Standard, advice: "write source if columns mean the same in both domains, standard or matched if they have moved"},
	"discriminator.normalise: true":  {since: "0.4.0", now: RowScale, advice: "write rows, or shared where discriminator.scale was shared"},
	"discriminator.normalise: false": {since: "0.4.0", now: "none", advice: "write none, or delete it"},
	"selection.rule: guarded-risk":   {since: "0.4.0", now: "target-risk", advice: "it chose epochs, and a run leaves its last one now; take target-risk, the default"},
	"selection.rule: guarded-ami":    {since: "0.4.0", now: "target-risk", advice: "it chose epochs, and a run leaves its last one now; take target-risk, the default"},
	"selection.rule: transfer-score": {since: "0.4.0", now: "target-risk", advice: "it was never computed; take target-risk, the default"},
	"selection.rule: snd":            needsFeatures,
	"selection.rule: class-ami":      needsFeatures,
	"selection.rule: iwcv":           needsFeatures,
	"selection.rule: dev":            needsFeatures,
}

// needsFeatures are the rules that read features.
var needsFeatures = goneWord{since: "0.4.0", now: "target-risk", advice: "it needs features, which runs do not leave, and fails under label shift; take target-risk, the default"}

// goneValue is the name in gone of a value.
func goneValue(path string, n *yaml.Node) string { return path + ": " + strings.ToLower(n.Value) }

// isGone reports a key or a value that is gone, and whether it is.
func (d *decoder) isGone(name string, n *yaml.Node) bool {
	word, is := gone[name]
	if is {
		d.fail(n, "%s is gone since version %s; %s", name, word.since, word.advice)
	}
	return is
}

// modernise turns what a run's config.yaml of a former version says into what one of this
// version would say. It returns the settings for which there is no other word any more and
// which made the run another one: they count in [Resolved.Hash] and [Differences].
func modernise(root *yaml.Node) (former map[string]any) {
	former = map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		path, _, isValue := strings.Cut(name, ": ")
		parent, n := nodeAt(root, path)
		if n == nil || isValue && goneValue(path, n) != name {
			continue
		}
		now := gone[name].now
		if isValue && now != nil {
			n.Tag, n.Value = "!!str", now.(string)
			continue
		}
		if near := gone[name].near; near != "" {
			if former[path], n.Value = n.Value, near; path == "dataset.name" {
				nameFiles(root, parent)
			}
			continue
		}
		at := slices.Index(parent.Content, n) - 1
		parent.Content = slices.Delete(parent.Content, at, at+2)
		if _, way := nodeAt(root, "discriminator.normalise"); name == "discriminator.scale" && way != nil {
			way.Value = n.Value // of rows that are normalised: rows or shared
			continue
		}
		var value any
		if err := n.Decode(&value); err != nil || value == nil || value == now || now == nil && reflect.ValueOf(value).IsZero() {
			continue
		}
		former[path] = value
	}
	return former
}

// nameFiles adds to the data set of a run what its name said: the file of a domain is DOMAIN.npz.
func nameFiles(root, dataset *yaml.Node) {
	_, tasks := nodeAt(root, "tasks")
	if tasks == nil || len(tasks.Content) != 1 {
		return
	}
	var names []string
	if err := tasks.Content[0].Decode(&names); err != nil {
		names = strings.SplitN(tasks.Content[0].Value, "-", 2)
	}
	domains := map[string]catalogue.Files{}
	for _, name := range names {
		domains[name] = catalogue.Files{Path: name + ".npz"}
	}
	var n yaml.Node
	if n.Encode(map[string]any{"domains": domains}) == nil {
		dataset.Content = append(dataset.Content, n.Content...)
	}
}

// nodeAt returns the value at a path below a mapping and the mapping that has it, nil if it is
// not there.
func nodeAt(mapping *yaml.Node, path string) (parent, value *yaml.Node) {
	value = mapping
	for key := range strings.SplitSeq(path, ".") {
		if parent, value = value, valueOf(value, key); value == nil {
			break
		}
	}
	return parent, value
}

// CheckMade returns an error for a run of a former version that this one cannot make: its
// config.yaml has settings that are gone.
func (r Resolved) CheckMade() error {
	var settings []string
	for _, path := range slices.Sorted(maps.Keys(r.former)) {
		settings = append(settings, fmt.Sprintf("%s: %v", path, r.former[path]))
	}
	if len(settings) == 0 {
		return nil
	}
	return fmt.Errorf("the run is of a former version, with settings that are gone: %s; it can be read, not made", strings.Join(settings, ", "))
}
