package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// Intervals hold about as often as the page says, from few draws of one cell each.
func TestHolds(t *testing.T) {
	const draws = 200
	for _, k := range []kind{calibrated, sure, useless} {
		held, width := holds(0.9, k, 50, draws)
		if share := float64(held) / draws; share < 0.9 || share > 0.995 || width < 0.1 || width > 0.2 {
			t.Errorf("%s: %v of %d, width %v", k, held, draws, width)
		}
	}
}

// A target's methods are as often right as they are to be.
func TestDrawTarget(t *testing.T) {
	wanted := []float64{0.8, 0.8, 0.88}
	got := drawTarget(wanted, 0.5, calibrated, rand.New(rand.NewPCG(1, 2)))
	for i, m := range got.methods {
		if a := got.accuracy(m); a < wanted[i]-0.03 || a > wanted[i]+0.03 {
			t.Errorf("method %d is right in %v, want %v", i, a, wanted[i])
		}
	}
}

// A table takes the place of the one before it.
func TestReplace(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("a\n<!-- x -->\nold\n<!-- /x -->\nb\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := replace(page, "x", []string{"new", "lines"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if want := "a\n<!-- x -->\nnew\nlines\n<!-- /x -->\nb\n"; err != nil || string(text) != want {
		t.Errorf("%q, want %q", text, want)
	}
	if replace(page, "y", nil) == nil {
		t.Error("a page without the comments is no error")
	}
}
