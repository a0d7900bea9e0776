package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// goneKey is a key that experiment files had.
type goneKey struct {
	since  string // the first version without it
	advice string // what took its place, and what to do
	// now is the value by which every run goes in its place; nil where that is the zero value.
	now any
}

// goneValue is a value that a key had.
type goneValue struct {
	since, advice string
	// becomes is the value that means the same; none does where it is empty.
	becomes string
}

// goneKeys are the keys that are gone, by their paths. An experiment file that has one is
// refused with its advice; a run's config.yaml, which says how the run was made, is not.
var goneKeys = map[string]goneKey{
	"network.batch_norm":                 {since: "0.4.0", advice: "delete it: batch normalisation takes the statistics of each process's own rows, as with local"},
	"discriminator.scale":                {since: "0.4.0", advice: "write discriminator.normalise: rows or shared"},
	"discriminator.spectral_norm":        {since: "0.4.0", advice: "delete it; discriminator.normalise: rows keeps training steady, where it did not"},
	"discriminator.reversal.alpha":       {since: "0.4.0", now: 10, advice: "delete it, and divide discriminator.reversal.iterations by alpha/10: nothing but their ratio counted"},
	"discriminator.reversal.high":        {since: "0.4.0", now: 1, advice: "delete it: the coefficient grows to 1; losses.trade_off sets how strong the alignment is"},
	"discriminator.reversal.run_lengths": {since: "0.4.0", advice: "write discriminator.reversal.iterations, that many times the number of steps with a domain loss"},
	"losses.batch_weights":               {since: "0.4.0", advice: "delete it; recipe: robust keeps training steady, where it did not"},
	"train.optimizer.name":               {since: "0.4.0", now: "sgd", advice: "delete it: there is no optimizer but stochastic gradient descent"},
	"train.optimizer.clip_norm":          {since: "0.4.0", advice: "delete it; train.restarts begins a run that diverges again, recipe: robust keeps it from that"},
	"weights.shrinkage":                  {since: "0.4.0", advice: "delete it; weights.ema slows the weights down, recipe: robust keeps training steady"},
}

// goneValues are the values that are gone, by the paths of their keys.
var goneValues = map[string]map[string]goneValue{
	"discriminator.normalise": {
		"true":  {since: "0.4.0", advice: "write rows, or shared where discriminator.scale was shared", becomes: RowScale},
		"false": {since: "0.4.0", advice: "write none, or delete it", becomes: "none"},
	},
	"weights.estimator": {
		"qp-released": {since: "0.4.0", advice: "write qp: that of the released code solved another problem wherever the confusion matrix is not symmetric"},
	},
}

// goneKey reports a key that is gone, and whether it is.
func (d *decoder) goneKey(path string, n *yaml.Node) bool {
	key, gone := goneKeys[path]
	if gone {
		d.fail(n, "%s is gone since version %s; %s", path, key.since, key.advice)
	}
	return gone
}

// goneValue reports a value that is gone, and whether it is.
func (d *decoder) goneValue(path string, n *yaml.Node) bool {
	value, gone := goneValues[path][strings.ToLower(n.Value)]
	if gone {
		d.fail(n, "%s: %s is gone since version %s; %s", path, n.Value, value.since, value.advice)
	}
	return gone
}

// modernise turns what a run's config.yaml of a former version says into what one of this
// version would say. It returns the settings for which there is no other word any more and
// which made the run another one: they count in [Resolved.Hash] and [Differences].
func modernise(root *yaml.Node) (former map[string]any) {
	former = map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(goneValues)) {
		n := nodeAt(root, path)
		if n == nil {
			continue
		}
		if value, gone := goneValues[path][strings.ToLower(n.Value)]; gone && value.becomes != "" {
			n.Tag, n.Value = "!!str", value.becomes
		} else if gone {
			former[path] = n.Value
			take(root, path)
		}
	}
	for path, key := range goneKeys {
		n := take(root, path)
		if n == nil {
			continue
		}
		var value any
		if err := n.Decode(&value); err != nil || value == nil {
			continue
		}
		if ways := nodeAt(root, "discriminator.normalise"); path == "discriminator.scale" && ways != nil {
			if value == SharedScale {
				ways.Value = SharedScale
			}
		} else if key.now == nil && !reflect.ValueOf(value).IsZero() || key.now != nil && value != key.now {
			former[path] = value
		}
	}
	return former
}

// nodeAt returns the value at a path below a mapping, nil where it is not there.
func nodeAt(mapping *yaml.Node, path string) *yaml.Node {
	for key := range strings.SplitSeq(path, ".") {
		if mapping = valueOf(mapping, key); mapping == nil {
			break
		}
	}
	return mapping
}

// take removes the key at a path below a mapping and returns its value, nil where it is not
// there.
func take(mapping *yaml.Node, path string) *yaml.Node {
	parent := mapping
	key := path
	if dot := strings.LastIndexByte(path, '.'); dot >= 0 {
		parent, key = nodeAt(mapping, path[:dot]), path[dot+1:]
	}
	if parent == nil {
		return nil
	}
	n := valueOf(parent, key)
	for i := 0; n != nil && i+1 < len(parent.Content); i += 2 {
		if parent.Content[i+1] == n {
			parent.Content = slices.Delete(parent.Content, i, i+2)
		}
	}
	return n
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
