package main

import (
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/experiments/report/sheet"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestPublished(t *testing.T) {
	o := options{digits: writeDigits(t, 500, 300), results: "results", parallel: 1}
	t.Chdir(t.TempDir())
	writeFile(t, "protocol.yaml", tinyAlexandari)
	printed := func() (out, said string) {
		t.Helper()
		var prints, says strings.Builder
		o.say = log.New(&says, "", 0).Printf
		if err := run(t.Context(), "protocol.yaml", sheet.Markdown, o, &prints); err != nil {
			t.Fatal(err)
		}
		return prints.String(), says.String()
	}
	out, said := printed()
	if !strings.Contains(out, "## Dirichlet, α = 1\n") || !strings.Contains(out, "bbse-hard") || !strings.Contains(said, "seed-0: trained") {
		t.Fatalf("%s\n%s", out, said)
	}
	if again, said := printed(); again != out || strings.Contains(said, "trained") {
		t.Errorf("again: %s\n%s", again, said)
	}
	if files, err := filepath.Glob("results/tiny/logits/seed-0-*.npz"); err != nil || len(files) != 2 {
		t.Errorf("kept logits: %q, %v", files, err)
	}
}

func TestWrongUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "protocol.yaml", tinyAlexandari)
	writeFile(t, "wrong.yaml", strings.Replace(tinyAlexandari, "draws: 3", "draws: -2", 1))
	for _, test := range []struct{ path, format, want string }{
		{"", sheet.CSV, "name its file with -c FILE"},
		{"wrong.yaml", sheet.CSV, "wrong.yaml: not a protocol: draws: -2"},
		{"tiny.yaml", sheet.CSV, "tiny.yaml: no such file"},
		{"protocol.yaml", "xml", "-format xml"},
		{"protocol.yaml", sheet.CSV, "train-images-idx3-ubyte"},
	} {
		var out strings.Builder
		err := run(t.Context(), test.path, test.format, options{digits: "nowhere", results: "results"}, &out)
		if out.Len() > 0 || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v; %s", test.path, err, out.String())
		}
	}
	if _, err := os.Stat("results"); err == nil {
		t.Error("wrong usage left a folder of results")
	}
}
