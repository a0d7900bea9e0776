package table

import (
	"math"
	"strings"
	"testing"

	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
	"iwda/internal/must"
)

// Means over tasks are of what each criterion chose there, and what is not known counts for
// nothing.
func TestCriteria(t *testing.T) {
	nan := math.NaN()
	s := criteria(summary.Criteria{
		Experiment: "digits",
		Choices: []summary.Choice{
			{Variant: "full", Task: "a-b", Criterion: "im", Run: "dann/seed-1", Method: "dann", Chosen: 70, Best: 80, Correlation: 0.4},
			{Variant: "full", Task: "b-a", Criterion: "im", Run: "iwdan/seed-2", Method: "iwdan", Chosen: 90, Best: 92, Correlation: nan},
			{Variant: "full", Task: "c-a", Criterion: "im", Run: "iwdan/seed-2", Method: "iwdan", Chosen: nan, Best: nan, Correlation: nan},
		},
	})
	var text strings.Builder
	must.Do(t, s.Write(&text, sheet.Markdown))
	squeezed := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{
		"| im | 2 | 80.00 | 6.00 | 10.00 | +0.40 |",
		"| full | a-b | im | dann/seed-1 | 70.00 | 80.00 | 10.00 | +0.40 |",
		"| iwdan/seed-2 | 90.00 | 92.00 | 2.00 | – |",
	} {
		if !strings.Contains(squeezed, want) {
			t.Errorf("no line %q in\n%s", want, text.String())
		}
	}
	const columns = "variant,task,criterion,run,method,chosen,best,regret,correlation"
	if fields := strings.Join(s.Records.Fields, ","); fields != columns || len(s.Records.Rows) != 3 {
		t.Errorf("records of %s, %d rows", fields, len(s.Records.Rows))
	}
}

// Of targets without labels there are choices and no numbers.
func TestCriteriaWithoutLabels(t *testing.T) {
	nan := math.NaN()
	s := criteria(summary.Criteria{Experiment: "mine", Choices: []summary.Choice{{Variant: "full", Task: "a-b", Criterion: "im", Run: "dann/seed-2", Method: "dann",
		Chosen: nan, Best: nan, Correlation: nan}}})
	var text strings.Builder
	must.Do(t, s.Write(&text, sheet.Markdown))
	if squeezed := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(squeezed, "| full | a-b | im | dann/seed-2 |") || strings.Contains(squeezed, "–") || strings.Contains(squeezed, "NaN") {
		t.Error(text.String())
	}
	if fields := strings.Join(s.Records.Fields, ","); fields != "variant,task,criterion,run,method" || len(s.Records.Rows) != 1 {
		t.Errorf("records of %s, %d rows", fields, len(s.Records.Rows))
	}
}
