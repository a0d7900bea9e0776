package printable

import (
	"strings"
	"testing"
)

func TestCells(t *testing.T) {
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "@SUM(A1)": "'@SUM(A1)", "+x": "'+x", "-x": "'-x", "\tx": "'\tx", "-": "'-", "-1e5,3": "'-1e5,3",
		"-1": "-1", "+2.5": "+2.5", "": "", "x=1": "x=1", "'": "'", "'x": "'x", "'=1": "''=1", "''-1": "'''-1", "'-1": "''-1", "5'": "5'",
	} {
		if got := Cell(text); got != want || FromCell(got) != text {
			t.Errorf("%q becomes %q, want %q, and then %q", text, got, want, FromCell(got))
		}
	}
}

func FuzzCells(f *testing.F) {
	for _, seed := range []string{"=", "'=", "-1", "'-1", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cell := Cell(text)
		if FromCell(cell) != text {
			t.Errorf("%q becomes %q and then %q", text, cell, FromCell(cell))
		}
		if cell != "" && strings.ContainsRune(formulaStarts, rune(cell[0])) && !isNumber(cell) {
			t.Errorf("%q is left as %q", text, cell)
		}
	})
}
