package page

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/must"
)

const experiment = `experiment: glyphs
title: "Glyphs <& more>"
dataset: {name: glyphs}
tasks: [clean-warped]
variants: [full, subsampled]
methods: [dann, iwdan]
seeds: [1, 2]
overrides: [{when: {method: iwdan}, train: {epochs: 3}}]
`

// hostile is the message of a failed run.
const hostile = `epoch 3: loss is NaN </pre><script>alert(1)</script>`

// content is an experiment of which some runs are finished, one without readable
// curves, one has failed and one is missing.
func content(t testing.TB) Content {
	t.Helper()
	file := must.Have(config.Parse("glyphs.yaml", []byte(experiment)))(t)
	planned := must.Have(plan.Runs(file))(t)
	c := Content{Config: file.Config, Found: plan.Found{Planned: planned, Notes: []string{"Left out: a note."}}}
	root := t.TempDir()
	for i, run := range planned {
		dir := store.NewDir(root, "glyphs", run.ID.String())
		must.Do(t, dir.Begin())
		switch i {
		case 0:
			must.Do(t, dir.WriteFailure(hostile))
			c.Problems = append(c.Problems, store.Problem{Path: dir.String(), Kind: store.Failed, Message: hostile})
			continue
		case 1:
			c.Problems = append(c.Problems, store.Problem{Path: dir.String(), Kind: store.Incomplete, Message: "no result.json yet"})
			continue
		}
		accuracy := 0.5 + 0.05*float64(i)
		if i > 2 {
			metrics := []store.Metrics{{Epoch: 0, Accuracy: store.Measured(0.1), WeightDistance: 3}, {Epoch: 1, Accuracy: store.Measured(accuracy), WeightDistance: 2}}
			must.Do(t, dir.WriteMetrics(metrics))
		}
		r := store.Result{
			ID: run.ID.String(), Experiment: "glyphs", Variant: run.ID.Variant, Task: run.ID.Task, Method: run.ID.Method, Seed: run.ID.Seed,
			ConfigHash: run.Config.Hash(), Versions: map[string]string{"iwda": "0.1.0", "go": "go1"}, Device: "cpu", Threads: 1,
			BestAccuracy: store.Measured(accuracy), BestEpoch: store.Measured(1), LastAccuracy: store.Measured(accuracy), MeanClassAccuracy: store.Measured(accuracy),
			Confusion: [][]int{{9, 1}, {2, 8}}, SourceConfusion: [][]int{{10, 0}, {1, 9}}, Classes: []string{"a", "b"},
			Weights: []float64{1, 1.5}, TrueWeights: []float64{1, 1.4}, WeightDistance: store.Measured(0.1), JSD: store.Measured(0.0),
			Seconds: 10, PeakMemoryBytes: 1 << 30,
		}
		r.LabelDistributions.Source, r.LabelDistributions.Target = []float64{0.5, 0.5}, []float64{0.4, 0.6}
		must.Do(t, dir.WriteResult(r))
		c.Runs = append(c.Runs, store.Run{Dir: dir, Result: r})
	}
	return c
}

func write(t testing.TB, c Content) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, Write(&b, c))
	return b.String()
}

func TestWrite(t *testing.T) {
	text := write(t, content(t))
	for _, part := range []string{
		"<h1>Glyphs &lt;&amp; more&gt;</h1>", "<b>6</b> of 8 runs finished", "1 failed", "Left out: a note.",
		"epoch 3: loss is NaN &lt;/pre&gt;&lt;script&gt;", "full/clean-warped/dann/seed-1", ">incomplete<",
		"2 planned runs are not finished", "metrics.csv",
		"glyphs: class weights", "glyphs: the paper&#39;s theorems", "glyphs: predictions by class",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not on the page", part)
		}
	}
	if n := strings.Count(text, "<figure "); n != 4 {
		t.Errorf("%d figures, want curves and predictions of two variants", n)
	}
	if again := write(t, content(t)); len(again) != len(text) {
		t.Errorf("the same content gave %d bytes, then %d", len(text), len(again))
	}
	checkSelfContained(t, text)
}

// checkSelfContained looks for whatever a browser would load from elsewhere, and
// that all elements are closed.
func checkSelfContained(t *testing.T, text string) {
	t.Helper()
	for _, match := range regexp.MustCompile(`(?i)(?:src|href)\s*=\s*"([^"]*)"|@import|url\(([^#)][^)]*)\)`).FindAllStringSubmatch(text, -1) {
		if target := match[1]; !strings.HasPrefix(target, "#") && !strings.HasPrefix(target, "data:") {
			t.Errorf("the page loads %q", match[0])
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(text[strings.Index(text, "<body>"):strings.Index(text, "<script>")]))
	decoder.Entity = xml.HTMLEntity
	var open []string
	for {
		token, err := decoder.Token()
		if err != nil {
			break // at the end of the part: body is still open
		}
		switch token := token.(type) {
		case xml.StartElement:
			open = append(open, token.Name.Local)
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
	if fmt.Sprint(open) != "[body]" {
		t.Errorf("elements left open: %v", open)
	}
}

func TestNothingFinished(t *testing.T) {
	c := content(t)
	c.Runs = nil
	text := write(t, c)
	for _, part := range []string{"<b>0</b> of 8 runs finished", "No run is finished.", "epoch 3: loss is NaN"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not on the page", part)
		}
	}
	checkSelfContained(t, text)
}

// What came of the runs comes first, and these are folded away after it.
func TestLead(t *testing.T) {
	c := content(t)
	if text := write(t, c); strings.Contains(text, "<summary>Curves and figures</summary>") {
		t.Error("figures are folded away on a page about the runs")
	}
	c.Lead = "<header><h1>What came</h1></header><section><h2>Verdict</h2></section>"
	text := write(t, c)
	at := strings.Index(text, "<h1>What came</h1>")
	for _, part := range []string{"<b>6</b> of 8 runs finished", "<summary>Curves and figures</summary>", "full/clean-warped/dann/seed-1", "<summary>Problems</summary>"} {
		if place := strings.Index(text, part); place < at {
			t.Errorf("%q is at %d, the lead at %d", part, place, at)
		}
	}
	if n := strings.Count(text, "<h1>"); n != 1 || at < 0 {
		t.Errorf("%d main headings", n)
	}
	checkSelfContained(t, text)
}

// Runs without target labels show what they know in the place of accuracies: no column of
// dashes, no NaN and no accuracy of 0.
func TestWithoutLabels(t *testing.T) {
	c := content(t)
	missing := store.Optional[float64]{}
	for i := range c.Runs {
		r := &c.Runs[i].Result
		r.BestAccuracy, r.LastAccuracy, r.MeanClassAccuracy, r.WeightDistance, r.JSD = missing, missing, missing, missing, missing
		r.BestEpoch = store.Optional[int]{}
		r.TrueWeights, r.LabelDistributions.Target, r.Confusion = nil, nil, nil
		r.WithoutLabels = &store.WithoutLabels{
			PredictedShares: []float64{0.25, 0.75}, Certainty: 0.8125,
			Validation: &store.Validation{Rows: 10, Accuracy: 0.9375, Loss: 0.2},
		}
	}
	text := write(t, c)
	for _, want := range []string{"<th class=\"n\">source accuracy (%)</th>", "93.75", "81.25"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	for _, other := range []string{"best (%)", ">NaN<", ">0.00<"} {
		if strings.Contains(text, other) {
			t.Errorf("%q is on the page", other)
		}
	}
}
