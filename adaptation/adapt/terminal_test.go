package adapt

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"iwda/adaptation/labels"
	"iwda/inference/evaluation"
	"iwda/inference/trust"
)

// Few classes are shown as they come, of many the most frequent in the target, in aligned lines
// that a terminal has.
func TestPrintOutcome(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	recall := trust.NumberOf(0.81, 0.74, 0.87)
	o := &Outcome{
		Method: "source-only", Used: []string{"a", "b"}, Runs: make([]RunOutcome, 6),
		Reliable: trust.Yes, Headline: "90.0% (85.0–95.0%) of the predictions should be right, if only class shares differ",
		Needs: []trust.Answer{{Need: "right more often than always the most frequent class", Answer: trust.Yes, Because: "the accuracy is 90.0% (85.0–95.0%), if only class shares differ"}},
		Cases: []trust.Case{
			{If: trust.OnlyShares, Accuracy: trust.NumberOf(0.9, 0.85, 0.95), For: "the test found nothing against label shift (p = 0.5); it would have found a loss of accuracy of 3 points or more"},
			{If: trust.Anything, Missing: "too few rows"},
		},
		Warnings: []string{"1 of 3 columns has only one value in one domain, but not in the other: \"z\". Check that it is measured alike in both."},
		Classes: []ClassOutcome{
			{Class: "ant", SourceShare: 0.75, TargetShare: 0.1, TargetInterval: &TargetInterval{0.08, 0.123}, PredictedShare: 0.11, Recall: &recall},
			{Class: "größer", SourceShare: 0.25, TargetShare: 0.9, PredictedShare: 0.89},
		},
	}
	print := func() string {
		var b strings.Builder
		o.Print(&b, folder)
		for line := range strings.SplitSeq(b.String(), "\n") {
			if utf8.RuneCountInString(strings.ReplaceAll(line, folder, "out")) > 80 {
				t.Errorf("a long line: %s", line)
			}
		}
		return b.String()
	}
	text := print()
	for _, part := range []string{
		"known       90.0% (85.0–95.0%) of the predictions should be right, if only class\n",
		"need        right more often than always the most frequent class: yes (the\n",
		`
what may have happened    accuracy of the predictions
only class shares differ  90.0% (85.0–95.0%)
  for       the test found nothing against label shift`,
		"nothing is known          not known\n  because   too few rows\n",
		`
class   source  target  95% interval  predicted       recall  precision
ant      75.0%   10.0%     8.0–12.3%      11.0%  81% (74–87)          –
größer   25.0%   90.0%             –      89.0%            –          –
`,
		"predicts    the mean of 2 of 6 runs: source-only\n",
		"warning     1 of 3 columns",
		"next        iwrun predict " + folder + " INPUT -o FILE\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	o.Files = map[string]string{"to_label": "to_label.csv"}
	for _, m := range []Measured{{60, 50, labels.Accuracy{Estimate: &evaluation.Estimate{Value: 0.8, Low: 0.7, High: 0.9}}}, {60, 60, labels.Accuracy{Estimate: &evaluation.Estimate{Value: 0.8, Low: 0.8, High: 0.8}}}} {
		o.Measured = &m
		if text := print(); strings.Contains(text, "labels      80.0% (70.0 to 90.0%)") != (m.Labels < m.Rows) || strings.Contains(text, "next        label") != (m.Labels < m.Rows) {
			t.Errorf("%+v:\n%s", m, text)
		}
	}
	o.Measured, o.Files = nil, nil
	o.Classes[0].TargetInterval, o.Classes[0].ShareRejected, o.Classes[0].MeanProbability, o.SharesRejected = nil, true, 0.2, "the test says so"
	for _, part := range []string{"\nant      75.0%  20.0%*             –", "            * mean of the probabilities, which errs too: the class shares cannot"} {
		if text := print(); !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	o.Classes = nil
	for i := range 300 {
		o.Classes = append(o.Classes, ClassOutcome{Class: fmt.Sprintf("%03d %s", i, strings.Repeat("long ", i)), TargetShare: float64(i%299) / 1e4})
	}
	if text := print(); !strings.Contains(text, "and 280 more classes\n") || !strings.Contains(text, "\n298 ") || strings.Contains(text, "\n299 ") {
		t.Errorf("%s", text)
	}
}

// Columns stand below each other where letters of names are as wide as two.
func TestWideNames(t *testing.T) {
	o := &Outcome{Classes: []ClassOutcome{{Class: "ant"}, {Class: "図書館"}, {Class: "a\tb\nc"}, {Class: strings.Repeat("館", 40)}}}
	var b strings.Builder
	newFacts(&b).table(o.Classes)
	want := -1
	for line := range strings.Lines(b.String()) {
		if width := uniseg.StringWidth(line); want >= 0 && width != want {
			t.Errorf("a line is %d wide, the first %d:\n%s", width, want, b.String())
		} else {
			want = width
		}
	}
	if want > 80 {
		t.Errorf("lines are %d wide", want)
	}
}
