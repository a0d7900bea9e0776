package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"iwda/experiments/report/sheet"
)

// TestDivergences compares all 44 divergences with the paper's in print, and
// one table with the paper's layout.
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
		"## Digits and VisDA, subsampled\n\n| source |   MNIST |    USPS |    Real |\n| ------ | ------: | ------: | ------: |\n" +
			"| MNIST  |       0 | 6.52e-2 |       – |\n| USPS   | 2.75e-2 |       0 |       – |\n| Synth. |       – |       – | 6.81e-2 |\n",
		"## Office-31, full\n\n| source |  Amazon |    DSLR |  Webcam |",
		"| Amazon |       0 | 1.76e-2 | 9.52e-3 |\n",
	} {
		if !strings.Contains(markdown.String(), want) {
			t.Errorf("no\n%s in\n%s", want, &markdown)
		}
	}
}
