package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The shipped protocols ask for the published conditions, all of which have numbers.
func TestShippedProtocols(t *testing.T) {
	loaded, err := load("labelshift-mnist.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a := loaded.(*Alexandari)
	published := 0
	for _, c := range a.conditions() {
		for _, m := range a.methods() {
			if _, ok := alexandariNumbers()[alexandariKey{c, m, weightMSE}]; ok {
				published++
			}
		}
	}
	if published != 6*3*17 || a.Networks*a.Draws != 100 {
		t.Errorf("%d published medians of %d draws, want 306 of 100", published, a.Networks*a.Draws)
	}
	if loaded, err = load("labelshift-mnist-bbse.yaml"); err != nil {
		t.Fatal(err)
	}
	l := loaded.(*Lipton)
	for _, row := range l.rows(nil) {
		if !row.isPublished {
			t.Errorf("no published number of %v", row.condition)
		}
	}
	if l.Runs != 20 {
		t.Errorf("%d runs, want the published 20", l.Runs)
	}
}

func TestProtocolErrors(t *testing.T) {
	for _, test := range []struct{ from, old, replacement, want string }{
		{tinyAlexandari, "alexandari2020", "alexandari", `protocol: "alexandari"; it must be alexandari2020 or lipton2018`},
		{tinyAlexandari, "experiment: tiny", "experiment: ../tiny", "experiment"},
		{tinyAlexandari, "draws: 3", "drawn: 3", "line 7: field drawn not found"},
		{tinyAlexandari, "draws: 3", "draws: 0", "draws: 0; it must be at least 1"},
		{tinyAlexandari, "[100, 150]", "[100, 201]", "rows: [100 201]"},
		{tinyAlexandari, "[16]", "[]", "network.hidden"},
		{tinyAlexandari, "epochs: 4", "epochs: 0", "network.epochs"},
		{tinyAlexandari, "batch: 20", "batch: 0", "network.batch"},
		{tinyAlexandari, "0.05", ".nan", "network.learning_rate"},
		{tinyAlexandari, "momentum: 0.5", "momentum: 1", "network.momentum"},
		{tinyAlexandari, "0.0005", "-1", "network.decay"},
		{tinyAlexandari, "kind: dirichlet", "kind: dirichlett", "dirichlet or tweak-one"},
		{tinyAlexandari, "parameter: 1", "parameter: 0", "above 0"},
		{tinyAlexandari, "parameter: 0.5", "parameter: 1.5", "from 0 to 1"},
		{tinyAlexandari, "class: 3", "class: 10", "from 0 to 9"},
		{tinyAlexandari, "mlls", "mls", "mls"},
		{tinyAlexandari, "bcts", "bts", "bts"},
		{tinyAlexandari, "draws: 3", "draws: 3\n---", "more than one document"},
		{tinyLipton, "runs: 3", "runs: 0", "runs: 0"},
		{tinyLipton, "[100, 200]", "[100, 1]", "rows"},
		{tinyLipton, "retrained: [100]", "retrained: [300]", "retrained: 300"},
	} {
		text := strings.Replace(test.from, test.old, test.replacement, 1)
		if text == test.from {
			t.Errorf("no %q to replace", test.old)
		}
		path := filepath.Join(t.TempDir(), "p.yaml")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := load(path)
		if !errors.Is(err, errInvalidProtocol) || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.replacement, err, test.want)
		}
	}
	if _, err := load("nowhere.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
}
