package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/experiments/store"
	"iwda/internal/testfiles"
)

// What is damaged in a folder of runs and models, what does not fit together and what was left is
// found, named, and changed by nobody.
func TestCheck(t *testing.T) {
	trainPoints(t, "seeds=[1, 2]")
	second := filepath.Join(filepath.Dir(pointsRun), "seed-2")
	if status, _, said := call(t, "export", filepath.Dir(pointsRun), "-o", "results/m"); status != 0 {
		t.Fatal(said)
	}
	testfiles.Write(t, "half.csv", "a,b\n1,2\n")
	if status, out, said := call(t, "check", "results"); status != 0 || out != "" ||
		said != "results: 0 findings; runs: 2 finished, 0 unfinished, 0 running; 4 models, 0 of them without a checksum\n" {
		t.Fatalf("status %d\n%s%s", status, out, said)
	}
	if status, _, said := call(t, "check", "none"); status != 2 || !strings.Contains(said, "none") {
		t.Errorf("no such folder: status %d\n%s", status, said)
	}
	flip := func(name string) func() error {
		return func() error {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text[len(text)*2/3] ^= 4
			return os.WriteFile(name, text, 0o666)
		}
	}
	replace := func(name, old, by string) func() error {
		return func() error {
			text, err := os.ReadFile(name)
			if err == nil && !bytes.Contains(text, []byte(old)) {
				err = errors.New(name + " has no " + old)
			}
			return errors.Join(err, os.WriteFile(name, bytes.Replace(text, []byte(old), []byte(by), 1), 0o666))
		}
	}
	put := func(name, text string) func() error {
		return func() error { return os.WriteFile(name, []byte(text), 0o666) }
	}
	in := func(name string) string { return filepath.Join(pointsRun, name) }
	for name, c := range map[string]struct {
		damage func() error
		path   string
		want   string
	}{
		"checkpoint":          {flip(in(store.CheckpointFile)), in(store.CheckpointFile), "SHA-256"},
		"model.json of a run": {replace(in(store.ModelFile), `"classes"`, `"Classes"`), in(store.ModelFile), "SHA-256"},
		"unreadable result":   {put(in(store.ResultFile), "{"), in(store.ResultFile), "ends too early"},
		"curves":              {replace(in(store.MetricsFile), ",0.", ",1."), in(store.MetricsFile), "differs from what checkpoint.safetensors recorded"},
		"no curves":           {func() error { return os.Remove(in(store.MetricsFile)) }, in(store.MetricsFile), "is missing, which checkpoint.safetensors recorded"},
		"configuration":       {replace(in(store.ConfigFile), "batch: ", "batch: 1"), in(store.ResultFile), "belongs to a configuration with the hash"},
		"no configuration":    {put(in(store.ConfigFile), "a: ["), in(store.ConfigFile), "config.yaml"},
		"another run's model": {func() error { return copyTo(filepath.Join(second, store.ModelFile), in(store.ModelFile)) }, in(store.ModelFile), "is of another run than result.json"},
		"half a file":         {put(in(".metrics.csv.tmp-01"), ""), in(".metrics.csv.tmp-01"), "a process died while it wrote"},
		"former checkpoint":   {func() error { return copyTo(in(store.CheckpointFile), in(store.PreviousCheckpointFile)) }, in(store.PreviousCheckpointFile), "is left over from before"},
		"set aside":           {put(in("checkpoint.safetensors.damaged-1"), "x"), in("checkpoint.safetensors.damaged-1"), "set aside"},
		"links in a circle": {func() error {
			os.Remove(in(store.ResultFile))
			return os.Symlink(store.ResultFile, in(store.ResultFile))
		}, in(store.ResultFile), "too many levels"},
		"weights":                {flip("results/m/seed-2/model.safetensors"), "results/m/seed-2", "has the SHA-256"},
		"model.json":             {flip("results/m/seed-2/model.json"), "results/m/seed-2", "model.json"},
		"a model without a part": {func() error { return os.Remove("results/m/seed-1/model.safetensors") }, "results/m/seed-1", "is missing"},
		"a folder half replaced": {func() error { return os.Rename("results/m", "results/.m.tmp-0001") }, "results/.m.tmp-0001", "results/m, which is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			kept := t.TempDir()
			if err := os.CopyFS(kept, os.DirFS("results")); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := errors.Join(os.RemoveAll("results"), os.CopyFS("results", os.DirFS(kept))); err != nil {
					t.Fatal(err)
				}
			}()
			if err := c.damage(); err != nil {
				t.Fatal(err)
			}
			status, out, said := call(t, "check", "results")
			lines := strings.Split(out, "\n")
			if status != 1 || len(lines) < 3 || !strings.HasPrefix(out, c.path+": ") || !strings.Contains(lines[0], c.want) || !strings.HasPrefix(lines[1], "    ") {
				t.Errorf("status %d, want %q at %s\n%s%s", status, c.want, c.path, out, said)
			}
			if strings.Count(out, "\n") != 2 {
				t.Errorf("more than one finding\n%s", out)
			}
		})
	}
	// Of one checkpoint both curves are compared, in the order in which a run's folder is described.
	for _, name := range []string{store.MetricsFile, store.WeightsFile} {
		if err := replace(in(name), "\n1,", "\n2,")(); err != nil {
			t.Fatal(err)
		}
	}
	if _, out, _ := call(t, "check", "results"); strings.Index(out, in(store.MetricsFile)) != 0 || strings.Index(out, in(store.WeightsFile)) < 1 {
		t.Error(out)
	}
	// What is being made is not read.
	dir, err := store.DirOf(pointsRun)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := dir.Lock()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := flip(in(store.CheckpointFile))(); err != nil {
		t.Fatal(err)
	}
	if status, _, said := call(t, "check", "results"); status != 0 || !strings.Contains(said, "1 finished, 0 unfinished, 1 running") {
		t.Errorf("status %d\n%s", status, said)
	}
}

func copyTo(from, to string) error {
	text, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, text, 0o666))
}
