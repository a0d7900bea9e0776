package config

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/allocation"
	"iwda/internal/testfiles"
)

// A file and an assignment of any content are a configuration or mistakes with their
// places. What is accepted names folders that lead nowhere else, and a run's
// configuration reads from its own file as it was.
func FuzzParse(f *testing.F) {
	f.Add([]byte(minimal), "train.epochs=2")
	f.Add([]byte(minimal+"overrides: [{when: {seed: [1, '*']}, train: {epochs: 3}}]\n"), "overrides=[]")
	f.Add([]byte(replace("name: digits", "name: files, domains: {a: {path: a.npz}, b: {path: b.npz}}")), "tasks=[a-b]")
	f.Add([]byte("a: &a [*a, *a]\n? {b: c}\n: <<\n"), "a.b=*x")
	f.Add([]byte("%YAML 1.1\n---\n!!binary x: !!float y\n...\n---"), "seeds=[1")
	f.Add([]byte(minimal+"discriminator: {scale: {a: [*b]}, normalise: &b true}\nlosses: {batch_weights: [1]}\n"), "weights.cap=1")
	for _, name := range shippedFiles(f) {
		content := testfiles.Read(f, name)
		f.Add(content, "variants=[full]")
	}
	f.Fuzz(func(t *testing.T, data []byte, assign string) {
		var file *File
		var err error
		allocation.Within(t, min(1<<24+20_000*len(data), allocation.Allowed(len(data))), func() { file, err = Parse("f.yaml", data) })
		if run, err := ParseRun("f.yaml", data); err == nil {
			_ = run.Hash()
		}
		if err != nil {
			placed(t, err, "f.yaml")
			return
		}
		safe(t, file)
		allocation.Within(t, min(1<<24+20_000*(len(data)+len(assign)), allocation.Allowed(len(data)+len(assign))), func() { err = file.Set([]string{assign}) })
		if err != nil {
			placed(t, err, "f.yaml", "--set ")
		}
		safe(t, file)
	})
}

// placed fails the test unless every mistake begins with one of the places.
func placed(t *testing.T, err error, places ...string) {
	t.Helper()
	var mistakes Errors
	if !errors.As(err, &mistakes) || len(mistakes) == 0 {
		t.Fatalf("error of type %T: %v", err, err)
	}
	for _, mistake := range mistakes {
		if !slices.ContainsFunc(places, func(place string) bool { return strings.HasPrefix(mistake.Location, place) }) {
			t.Errorf("no place: %v", mistake)
		}
	}
}

// safe fails the test if a name of the configuration is more than the name of a folder,
// or a run's file reads as another run.
func safe(t *testing.T, file *File) {
	t.Helper()
	c := file.Config
	for _, name := range slices.Concat([]string{c.Experiment}, c.Tasks, c.Variants, c.Methods) {
		if !filepath.IsLocal(name) || name == "." || filepath.Base(name) != name {
			t.Errorf("%q names no folder", name)
		}
	}
	run, err := file.Resolve(c.Tasks[0], c.Variants[0], c.Methods[0], c.Seeds[0])
	if err != nil {
		placed(t, err, "f.yaml", "--set ")
		return
	}
	text := yamlOf(t, run)
	again, err := Parse("run.yaml", text)
	if err != nil {
		t.Fatalf("a run's file is refused: %v\n%s", err, text)
	}
	second, err := again.Resolve(run.Task, run.Variant, run.Method, run.Seed)
	if err != nil || second.Hash() != run.Hash() {
		t.Errorf("a run's file reads as another: hash %s, not %s, error %v\n%s", second.Hash(), run.Hash(), err, text)
	}
}
