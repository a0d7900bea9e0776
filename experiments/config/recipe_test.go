package config

import (
	"strings"
	"testing"

	"iwda/internal/must"
)

const withRecipe = `
experiment: e
recipe: robust
dataset: {name: glyphs}
tasks: [clean-warped]
variants: [subsampled]
methods: [iwdan, dann]
seeds: [1]
overrides:
  - when: {method: dann}
    discriminator: {normalise: none}
`

// A recipe takes the place of defaults: what the file, an override or an assignment says
// counts before it. The written run holds its settings, and is the same without its name.
func TestRecipe(t *testing.T) {
	resolved := func(text, method string, set ...string) Resolved {
		t.Helper()
		file := parse(t, text)
		setKeys(t, file, set...)
		run := resolved(t, file, "clean-warped", "subsampled", method, 1)
		return run
	}
	without := strings.Replace(withRecipe, "recipe: robust\n", "", 1)
	explicit := strings.Replace(withRecipe, "recipe: robust", "recipe: robust\ndiscriminator: {normalise: none}", 1)
	for _, c := range []struct {
		what string
		run  Resolved
		want string
	}{
		{"the recipe", resolved(withRecipe, "iwdan"), RowScale},
		{"no recipe", resolved(without, "iwdan"), ""},
		{"a recipe by assignment", resolved(without, "iwdan", "recipe=Robust"), RowScale},
		{"the file's own setting", resolved(explicit, "iwdan"), ""},
		{"an override", resolved(withRecipe, "dann"), ""},
		{"an assignment", resolved(withRecipe, "iwdan", "discriminator.normalise=none"), ""},
	} {
		if c.run.Discriminator.Normalise != c.want {
			t.Errorf("%s: discriminator.normalise is %q", c.what, c.run.Discriminator.Normalise)
		}
	}
	run := resolved(withRecipe, "iwdan")
	text, err := run.YAML()
	if err != nil || !strings.Contains(string(text), "normalise: rows") || strings.Contains(string(text), "recipe") {
		t.Errorf("%v, written as\n%s", err, text)
	}
	if written := resolved(without, "iwdan", "discriminator.normalise=rows", "discriminator.dropout=0"); written.Hash() != run.Hash() {
		t.Errorf("not the run of its settings: %v", Differences(written, run))
	}
}

func TestUnknownRecipe(t *testing.T) {
	must.Refuse(Parse("f.yaml", []byte(strings.Replace(withRecipe, "robust", "robuts", 1))))(t, `f.yaml:3:9: unknown recipe "robuts"`, `"robust"`)
}
