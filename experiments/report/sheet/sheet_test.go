package sheet

import (
	"bytes"
	"strings"
	"testing"
)

// LaTeX fails with more floats than it can hold back.
func TestLaTeXFloats(t *testing.T) {
	for tables, want := range map[int]int{1: 0, 18: 0, 19: 1, 37: 2} {
		var text bytes.Buffer
		if err := (Sheet{Tabulars: make([]Tabular, tables)}).Write(&text, LaTeX); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(text.String(), "\n\\clearpage\n"); got != want {
			t.Errorf("%d tables: %d new pages, want %d", tables, got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	if got, want := Escape(`50% of a_b & {c} ± Δ \d`), `50\% of a\_b \& \{c\} $\pm$ $\Delta$ \textbackslash{}d`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
