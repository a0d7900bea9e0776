package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"iwda/experiments/report/sheet"
)

// TestDivergences compares all 42 divergences with the paper's in print.
func TestDivergences(t *testing.T) {
	built := Divergences()
	if n := len(built.Records.Rows); n != 2*(2+1+6+12) {
		t.Errorf("%d divergences", n)
	}
	for _, row := range built.Records.Rows {
		if got, want := fmt.Sprintf("%.2e", row[4].Number()), fmt.Sprintf("%.2e", row[5].Number()); got != want {
			t.Errorf("%v: got %s, printed %s", row[:4], got, want)
		}
	}
	var markdown bytes.Buffer
	if err := built.Write(&markdown, sheet.Markdown); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## digits\n\n| variant    | source | target |     JSD |   paper |\n", "| subsampled | mnist  | usps   | 6.52e-2 | 6.52e-2 |\n", "## officehome\n",
	} {
		if !strings.Contains(markdown.String(), want) {
			t.Errorf("no\n%s in\n%s", want, &markdown)
		}
	}
}
