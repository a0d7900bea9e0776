package config

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// goneWord is a key that experiment files had, or a value of one.
type goneWord struct {
	since  string // the first version without it
	advice string // what to do
}

// gone are the keys that are gone, by their paths, and the values, as in "path: value". A file that
// has one is refused with its advice.
var gone = map[string]goneWord{
	"network.batch_norm":                 {since: "0.4.0", advice: "delete it: batch normalisation takes the statistics of each process's own rows, as with local"},
	"network.scale":                      {since: "0.4.0", advice: "delete it: each column is divided by its own deviation"},
	"discriminator.scale":                {since: "0.4.0", advice: "write discriminator.normalise: rows or shared"},
	"discriminator.spectral_norm":        {since: "0.4.0", advice: "delete it; discriminator.normalise: rows keeps training steady, where it did not"},
	"discriminator.reversal.alpha":       {since: "0.4.0", advice: "delete it, and divide discriminator.reversal.iterations by alpha/10: nothing but their ratio counted"},
	"discriminator.reversal.high":        {since: "0.4.0", advice: "delete it: the coefficient grows to 1; losses.trade_off sets how strong the alignment is"},
	"discriminator.reversal.run_lengths": {since: "0.4.0", advice: "write discriminator.reversal.iterations, that many times the number of steps with a domain loss"},
	"selection.criteria":                 {since: "0.4.0", advice: "delete it: the criteria that it named need features and fail under label shift; every evaluation measures the others"},
	"train.keep":                         {since: "0.4.0", advice: "delete it: a run leaves its last network, to which no rule was worth an earlier one"},
	"losses.batch_weights":               {since: "0.4.0", advice: "delete it; recipe: robust keeps training steady, where it did not"},
	"train.optimizer.name":               {since: "0.4.0", advice: "delete it: there is no optimizer but stochastic gradient descent"},
	"train.optimizer.clip_norm":          {since: "0.4.0", advice: "delete it; train.restarts begins a run that diverges again, recipe: robust keeps it from that"},
	"weights.cap":                        {since: "0.4.0", advice: "delete it; weights.ema slows the weights down, recipe: robust keeps training steady"},
	"weights.estimator":                  {since: "0.4.0", advice: "delete it: class weights are those of the quadratic program; the others did not keep training steady"},
	"weights.shrinkage":                  {since: "0.4.0", advice: "delete it; weights.ema slows the weights down, recipe: robust keeps training steady"},

	"dataset.name: features": {since: "0.4.0", advice: "write files, and dataset.domains with the file of each domain, as in domains: {photos: {path: photos.npz, test: photos-test.npz}}"},

	"network.normalise: centred":     {since: "0.4.0", advice: "write source if columns mean the same in both domains, standard or matched if they have moved"},
	"discriminator.normalise: true":  {since: "0.4.0", advice: "write rows, or shared where discriminator.scale was shared"},
	"discriminator.normalise: false": {since: "0.4.0", advice: "write none, or delete it"},
	"selection.rule: guarded-risk":   {since: "0.4.0", advice: "it chose epochs, and a run leaves its last one now; take target-risk, the default"},
	"selection.rule: guarded-ami":    {since: "0.4.0", advice: "it chose epochs, and a run leaves its last one now; take target-risk, the default"},
	"selection.rule: transfer-score": {since: "0.4.0", advice: "it was never computed; take target-risk, the default"},
	"selection.rule: snd":            needsFeatures,
	"selection.rule: class-ami":      needsFeatures,
	"selection.rule: iwcv":           needsFeatures,
	"selection.rule: dev":            needsFeatures,
}

// needsFeatures are the rules that read features.
var needsFeatures = goneWord{since: "0.4.0", advice: "it needs features, which runs do not leave, and fails under label shift; take target-risk, the default"}

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
