package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// thinned has a variant of each domain, with the same fractions.
const thinned = `experiment: shift
dataset: {name: digits}
tasks: [mnist-usps]
variants: [full, source-07, Target-07]
methods: [dann]
seeds: [1]
overrides:
  - when: {variant: "*-07"}
    dataset: {class_fractions: [0.5, 0.5, 1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]}
`

func TestClassFractions(t *testing.T) {
	file := parse(t, thinned)
	want := []float64{0.5, 0.5, 1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}
	hashes := map[string]string{}
	for variant, fractions := range map[string][]float64{"full": nil, "source-07": want, "target-07": want} {
		run := resolved(t, file, "mnist-usps", variant, "dann", 1)
		if diff := cmp.Diff(fractions, run.Dataset.ClassFractions); diff != "" {
			t.Errorf("%s: %s", variant, diff)
		}
		if other, same := hashes[run.Hash()]; same {
			t.Errorf("%s and %s have the same hash", variant, other)
		}
		hashes[run.Hash()] = variant
		text := yamlOf(t, run)
		again, err := parse(t, string(text)).Resolve("mnist-usps", variant, "dann", 1)
		if err != nil || again.Hash() != run.Hash() {
			t.Errorf("%s: %v; another run after a round trip through\n%s", variant, err, text)
		}
	}
	other, err := parse(t, strings.Replace(thinned, "0.7]", "0.8]", 1)).Resolve("mnist-usps", "source-07", "dann", 1)
	if err != nil || hashes[other.Hash()] != "" {
		t.Errorf("%v; other fractions have the same hash", err)
	}
}

func TestClassFractionsMistakes(t *testing.T) {
	for _, test := range []struct{ old, new, variant, want string }{
		{"[0.5, 0.5", "[0.5", "source-07",
			"f.yaml:9:32: dataset.class_fractions has 9 values for the 10 classes of digits"},
		{`{variant: "*-07"}`, "{variant: source-*}", "target-07",
			"f.yaml:4:29: variant target-07 has no dataset.class_fractions; give it in an override, as when: {variant: target-07}"},
		{`{variant: "*-07"}`, "{task: mnist-usps}", "full",
			"f.yaml:9:32: dataset.class_fractions is not for the variant full, but for variants source-… and target-…; give it in an override, as when: {variant: source-*}"},
	} {
		file := parse(t, strings.Replace(thinned, test.old, test.new, 1))
		if _, err := file.Resolve("mnist-usps", test.variant, "dann", 1); err == nil || err.Error() != test.want {
			t.Errorf("got\n%v\nwant\n%s", err, test.want)
		}
	}
	for _, test := range []struct{ old, new, want string }{
		{"0.7]", "0]", "f.yaml:9:76: dataset.class_fractions[9] is 0; it must be above 0 and at most 1"},
		{"0.7]", "x]", `f.yaml:9:76: dataset.class_fractions[9] must be a number, not the text "x"`},
		{"source-07", "sauce-07", `f.yaml:4:18: unknown variant "sauce-07"; choose from full, subsampled, source-NAME, target-NAME`},
		{"source-07", "source-", `f.yaml:4:18: unknown variant "source-"; choose from full, subsampled, source-NAME, target-NAME`},
	} {
		if _, err := Parse("f.yaml", []byte(strings.Replace(thinned, test.old, test.new, 1))); err == nil || err.Error() != test.want {
			t.Errorf("got\n%v\nwant\n%s", err, test.want)
		}
	}
}
