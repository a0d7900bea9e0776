package adapt

import (
	"fmt"
	"strings"
	"testing"

	"iwda/adaptation/judge"
	"iwda/adaptation/labels"
	"iwda/experiments/config"
	"iwda/inference/trust"
	"iwda/internal/must"
)

// concluded is a conclusion about k classes, what was written of it, and its plan.
func concluded(t *testing.T, k int) (conclusion, written, *Plan) {
	t.Helper()
	p := &Plan{options: Options{Folder: "out"}, file: &config.File{Config: config.Config{Experiment: "adapt", Title: "here → <there>"}}}
	o := conclusion{Choice: judge.Choice{Rule: "target-risk", Better: "lowest", Fails: "never", Judged: []judge.Judgement{judged("full/source-target/mcc/seed-1", 0.5)}, Methods: []judge.Method{{Name: "mcc", Runs: []int{0}}}}}
	o.Shared.Run = "full/source-target/mcc/seed-1"
	w := written{drawn: []labels.Row{{ID: "row <3>", Class: "a", Confidence: 0.75}}}
	var h heldOutRows
	for class := range k {
		share := float64(class+1) / float64(k*(k+1)/2)
		o.Classes = append(o.Classes, ClassOutcome{Class: fmt.Sprintf("class <%d>", class), SourceShare: 1 / float64(k), TargetShare: share, TargetInterval: &TargetInterval{0.9 * share, 1.1 * share}, PredictedShare: share})
		o.Classes[class].weigh()
		row := make([]int, k)
		row[class], row[(class+1)%k] = 20, class
		h = append(h, row)
	}
	o.heldOut, w.classes = h, o.Classes
	return o, w, p
}

// reported writes the report and returns it.
func reported(t *testing.T, o conclusion, w written, p *Plan, outcome *Outcome) string {
	t.Helper()
	var text strings.Builder
	must.Do(t, o.writeReport(&text, p, w, outcome))
	return text.String()
}

// invented is the outcome of such a conclusion.
func invented(o conclusion) *Outcome {
	outcome := &Outcome{
		Source: DomainOutcome{Rows: 60}, Target: DomainOutcome{Rows: 70}, Method: "mcc", Used: []string{"full/source-target/mcc/seed-1"},
		Rule: o.Rule, Better: o.Better, Fails: o.Fails, Classes: o.Classes,
		Headline: "nobody knows", Cases: []trust.Case{{If: trust.OnlyShares, Missing: "too few <rows>"}}, Needs: []trust.Answer{{Need: "accuracy >= 0.9", Answer: trust.Untold, Because: "no accuracy is known"}},
		Runs:    []RunOutcome{{Run: "full/source-target/mcc/seed-1", Used: true, Value: number(0.5)}},
		HeldOut: o.heldOut.outcome(1), Warnings: []string{"Beware of <b>."}, Decisions: []Decision{{"length", "9 epochs", "it suffices"}},
		Failed: []FailedRun{{Run: "full/source-target/mcc/seed-2", Reason: "epoch 3: loss is NaN </pre><script>alert(1)</script>"}},
	}
	return outcome
}

// The report shows few classes in their order and a whole table of confusions, everything in it
// escaped, and says why what is missing is.
func TestReport(t *testing.T) {
	o, w, p := concluded(t, 3)
	outcome := invented(o)
	text := reported(t, o, w, p, outcome)
	for _, part := range []string{
		"<h1>here → &lt;there&gt;</h1>", `<p class="claim">Nobody knows.</p>`, `<li class="no">Accuracy &gt;= 0.9. Cannot be told.</li>`, "too few &lt;rows&gt;",
		"No target label was used.", "class &lt;2&gt;", "33.3</td>", "45.0–55.0", "1.50</td>",
		`<td class="n right" style="--share:0.91">20</td>`,
		"row &lt;3&gt;", "iwrun evaluate out out/to_label.csv", "<summary>1 warning</summary>", "judged; 1 run failed</summary>", "<h3>full/source-target/mcc/seed-2: failed</h3><pre>epoch 3: loss is NaN &lt;/pre&gt;&lt;script&gt;", "Beware of &lt;b&gt;.", "it suffices",
		"or of the first 30 or more, into the column label of to_label.csv. Then run:", "The first 1 of 1 row, drawn at random.",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in the report", part)
		}
	}
	for _, part := range []string{"rarer classes", "The pairs of classes", ">NaN", "NaN%", "<no value>", "%!", "<b>."} {
		if strings.Contains(text, part) {
			t.Errorf("%q is in the report", part)
		}
	}
	outcome.Needs[0].Answer, outcome.Cases[0].Accuracy, outcome.SharesRejected = trust.Yes, trust.NumberOf(0.9, 0.8, 0.95), "the test says so"
	outcome.Classes[0].ShareRejected, outcome.Classes[0].MeanProbability = true, 0.123
	p.options.Folder = "an out"
	w.drawn = []labels.Row{{ID: "x"}}
	if text = reported(t, o, w, p, outcome); !strings.Contains(text, "iwrun evaluate &#39;an out&#39; &#39;an out/to_label.csv&#39;") {
		t.Error("a folder of two words is not one word of the command")
	}
	w.drawn, w.kept = nil, "label this"
	text = reported(t, o, w, p, outcome)
	for _, part := range []string{`<li class="yes">`, "90.0% (80.0–95.0%)", `class="fill rejected"`, ">12.3</td>", "class shares cannot be estimated, because the test says so", "<p>label this</p>"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in the report", part)
		}
	}
}

// Of many classes those that are rare in the target are folded away, and confusions are pairs.
func TestReportOfManyClasses(t *testing.T) {
	o, w, p := concluded(t, 40)
	text := reported(t, o, w, p, invented(o))
	for _, part := range []string{"<summary>10 rarer classes</summary>", "sorted by their estimated share", "The pairs of classes", `<th scope="row">class &lt;39&gt;</th><td>class &lt;0&gt;</td><td class="n">39</td><td class="n">66.1</td>`} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in the report", part)
		}
	}
	if first, last := strings.Index(text, `<th scope="row">class &lt;39&gt;`), strings.Index(text, `<th scope="row">class &lt;0&gt;`); first > last {
		t.Error("the rarest class comes before the most frequent one")
	}
	if strings.Contains(text, `class="confusion"`) {
		t.Error("a table of 1,600 confusions")
	}
	if len(text) > 300_000 {
		t.Errorf("%d bytes", len(text))
	}
}
