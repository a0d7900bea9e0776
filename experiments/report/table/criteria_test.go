package table

import (
	"math"
	"strings"
	"testing"

	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
)

// Means over tasks are of what each criterion chose there, and a correlation that does not
// exist counts for nothing.
func TestCriteria(t *testing.T) {
	s := criteria(summary.Criteria{
		Experiment: "digits",
		Epochs:     []summary.EpochChoice{{Criterion: "im", Runs: 3, Chosen: 60, Best: 80, Last: 70, Regret: 20, WorstRegret: 30, WorstLoss: 25, Correlation: -0.5}},
		Runs: []summary.RunChoice{
			{Variant: "full", Task: "a-b", Criterion: "im", Candidates: 2, Run: "dann/seed-1", Chosen: 70, Best: 80, Correlation: 0.4},
			{Variant: "full", Task: "b-a", Criterion: "im", Candidates: 2, Run: "iwdan/seed-2", Chosen: 90, Best: 92, Correlation: math.NaN()},
		},
		Ensembles: []summary.Ensemble{{Variant: "full", Task: "a-b", Method: "iwdan", Members: 2, Accuracy: 91, Mean: 90.25}},
		Methods:   []summary.MethodChoice{{Variant: "full", Task: "a-b", Criterion: "iwv-y", Method: "iwdan", Chosen: 91, Best: 93, Run: 89.5}, {Variant: "full", Task: "b-a", Criterion: "iwv-y", Method: "dann", Chosen: 82, Best: 83, Run: 82.5}},
	})
	var text strings.Builder
	if err := s.Write(&text, sheet.Markdown); err != nil {
		t.Fatal(err)
	}
	squeezed := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{
		"| im | 3 | 60.00 | 70.00 | 80.00 | 20.00 | 30.00 | 25.00 | -0.50 |",
		"| im | 2 | 80.00 | 86.00 | 6.00 | 10.00 | +0.40 |",
		"| full | a-b | im | dann/seed-1 | 70.00 | 80.00 | 10.00 | +0.40 |",
		"| full | a-b | iwdan | 2 | 91.00 | 90.25 |",
		"| full | a-b | iwv-y | iwdan | 91.00 | 93.00 | 2.00 | 89.50 |",
		"| iwv-y | 2 | 86.50 | 88.00 | 1.50 | 2.00 | 86.00 |",
	} {
		if !strings.Contains(squeezed, want) {
			t.Errorf("no line %q in\n%s", want, text.String())
		}
	}
	if fields := strings.Join(s.Records.Fields, ","); fields != "variant,task,criterion,run,chosen,best,regret,correlation" || len(s.Records.Rows) != 2 {
		t.Errorf("records of %s, %d rows", fields, len(s.Records.Rows))
	}
}

// Of targets without labels there are choices and no numbers.
func TestCriteriaWithoutLabels(t *testing.T) {
	s := criteria(summary.Criteria{Experiment: "mine", Unlabelled: []summary.Choice{{Variant: "full", Task: "a-b", Criterion: "im", Run: "dann/seed-2", Method: "iwdan"}}})
	var text strings.Builder
	if err := s.Write(&text, sheet.Markdown); err != nil {
		t.Fatal(err)
	}
	if squeezed := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(squeezed, "| full | a-b | im | dann/seed-2 | iwdan |") || strings.Contains(squeezed, "NaN") {
		t.Error(text.String())
	}
	if fields := strings.Join(s.Records.Fields, ","); fields != "variant,task,criterion,run,method" || len(s.Records.Rows) != 1 {
		t.Errorf("records of %s, %d rows", fields, len(s.Records.Rows))
	}
}
