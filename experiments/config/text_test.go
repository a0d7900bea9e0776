package config

import (
	"strings"
	"testing"

	"iwda/internal/must"
)

// A file with its assignments gives the same runs as the file without them and the
// assignments, and the reasons in its comments stay.
func TestText(t *testing.T) {
	const text = `# what it is
experiment: demo
dataset: {name: glyphs}
tasks: [clean-warped]
variants: [full]
# why these
methods: [dann, iwdan]
seeds: [1, 2] # two

train:
  epochs: 3 # enough
  batch: 20
`
	file := parse(t, text)
	if err := file.Set([]string{"methods=[iwdan]", "train.epochs=5", "train.schedule.every=2", "title=a: b"}); err == nil {
		t.Fatal("title=a: b is no text in YAML")
	}
	setKeys(t, file, "methods=[iwdan]", "train.epochs=5", "train.schedule={name: step, every: 2, factor: 0.1}", "train.schedule.every=3", "title='a: b'")
	written := must.Have(file.Text())(t)
	for _, part := range []string{"# what it is\n", "# why these\nmethods: [iwdan]\n", "seeds: [1, 2] # two\n", "epochs: 5 # enough\n", "every: 3", "title: 'a: b'\n"} {
		if !strings.Contains(string(written), part) {
			t.Errorf("%q is not in\n%s", part, written)
		}
	}
	again := parse(t, string(written))
	for _, seed := range []int64{1, 2} {
		want := resolved(t, file, "clean-warped", "full", "iwdan", seed)
		got, err := again.Resolve("clean-warped", "full", "iwdan", seed)
		if err != nil || got.Hash() != want.Hash() || got.Title != want.Title {
			t.Errorf("seed %d: %v, %v", seed, Differences(want, got), err)
		}
	}
	if first, err := file.Text(); err != nil || string(first) != string(written) {
		t.Errorf("writing it changed the file: %v\n%s", err, first)
	}
}
