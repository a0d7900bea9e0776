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

// found is an experiment of which some runs are finished, one has failed and one is missing, and its folder of
// results.
func found(t testing.TB) (f plan.Found, results string) {
	t.Helper()
	file := must.Have(config.Parse("glyphs.yaml", []byte(experiment)))(t)
	f, results = plan.Found{Planned: must.Have(plan.Runs(file))(t), Notes: []string{"Left out: a note."}}, t.TempDir()
	for i, run := range f.Planned {
		switch i {
		case 0:
			dir := run.Dir(results)
			must.Do(t, dir.Begin())
			must.Do(t, dir.WriteFailure(hostile))
			continue
		case 1:
			continue
		}
		accuracy := 0.5 + 0.05*float64(i)
		f.Runs = append(f.Runs, store.Run{Result: store.Result{
			ID: run.ID.String(), BestAccuracy: store.Measured(accuracy), BestEpoch: store.Measured(1), LastAccuracy: store.Measured(accuracy),
			WeightDistance: store.Measured(0.1), JSD: store.Measured(0.0), Seconds: 10, PeakMemoryBytes: 1 << 30,
		}})
	}
	return f, results
}

// write returns a page of these runs.
func write(t testing.TB, f plan.Found, results string) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, Write(&b, "Glyphs <& more>", "<main><h1>Glyphs</h1>"+must.Have(Runs("glyphs", results, f))(t)+"</main>"))
	return b.String()
}

func writeFound(t testing.TB) string {
	f, results := found(t)
	return write(t, f, results)
}

func TestWrite(t *testing.T) {
	text := writeFound(t)
	for _, part := range []string{
		"<title>Glyphs &lt;&amp; more&gt;</title>", "<b>6</b> of 8 runs finished", "1 failed", "Left out: a note.",
		"epoch 3: loss is NaN &lt;/pre&gt;&lt;script&gt;", "full/clean-warped/dann/seed-1: failed<", "full/clean-warped/dann/seed-2: left<",
		"2 planned runs are not finished", "<th class=\"n\">best (%)</th>", ">75.00<", ">1024<",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not on the page", part)
		}
	}
	if again := writeFound(t); again != text {
		t.Error("the same runs gave two pages")
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
	f, results := found(t)
	f.Runs = nil
	text := write(t, f, results)
	for _, part := range []string{"<b>0</b> of 8 runs finished", "No run is finished.", "epoch 3: loss is NaN"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not on the page", part)
		}
	}
	checkSelfContained(t, text)
}

// Runs without target labels show what they know in the place of accuracies: no column of
// dashes, no NaN and no accuracy of 0.
func TestWithoutLabels(t *testing.T) {
	f, results := found(t)
	missing := store.Optional[float64]{}
	for i := range f.Runs {
		r := &f.Runs[i].Result
		r.BestAccuracy, r.LastAccuracy, r.WeightDistance, r.JSD = missing, missing, missing, missing
		r.BestEpoch = store.Optional[int]{}
		r.WithoutLabels = &store.WithoutLabels{
			PredictedShares: []float64{0.25, 0.75}, Certainty: 0.8125,
			Validation: &store.Validation{Rows: 10, Accuracy: 0.9375, Loss: 0.2},
		}
	}
	text := write(t, f, results)
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
