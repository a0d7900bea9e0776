package report

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
)

// TestDivergenceSheet compares all 44 divergences with the paper's in print, and
// one table with the paper's layout.
func TestDivergenceSheet(t *testing.T) {
	sheet, err := DivergenceSheet(PublishedCounts)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(sheet.Records.Rows); n != 2*(2+1+6+12) {
		t.Errorf("%d divergences", n)
	}
	for _, row := range sheet.Records.Rows {
		if got, want := threeDigits(row[4].(float64)), threeDigits(row[5].(float64)); got != want {
			t.Errorf("%v: got %s, printed %s", row[:4], got, want)
		}
	}
	var markdown, latex bytes.Buffer
	if err := errors.Join(sheet.WriteMarkdown(&markdown), sheet.WriteLaTeX(&latex)); err != nil {
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
	if want := `MNIST & 0 & $6.52\mathrm{e}{-2}$ & -- \\`; !strings.Contains(latex.String(), want) {
		t.Errorf("no %s in\n%s", want, &latex)
	}
}

func TestDivergenceSheetErrors(t *testing.T) {
	if _, err := DivergenceSheet(func(string, string) ([]int, error) { return nil, errors.New("no disk") }); err == nil {
		t.Error("the error was lost")
	}
	_, err := DivergenceSheet(func(_, domain string) ([]int, error) { return make([]int, len(domain)), nil })
	if err == nil || !strings.Contains(err.Error(), "classes in mnist") {
		t.Errorf("domains of different classes: %v", err)
	}
}

func TestThreeDigits(t *testing.T) {
	for value, want := range map[float64]string{0.00664: "6.64e-3", 0.0999: "9.99e-2", 0.09999: "1.00e-1", 1: "1.00e0"} {
		if got := threeDigits(value); got != want {
			t.Errorf("%v: %s, want %s", value, got, want)
		}
	}
	if got := threeDigits(math.NaN()); got != none {
		t.Errorf("NaN: %s", got)
	}
}
