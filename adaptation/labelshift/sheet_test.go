package labelshift

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"iwda/experiments/report/sheet"
	"iwda/inference/trust"
	"iwda/internal/must"
	"iwda/weightest/shifttest"
)

// Records have the numbers of the analysis.
func TestRecords(t *testing.T) {
	source, target := read2(t, three, 500, 500)
	s := Default()
	s.Replicas = 50
	a := analyse(t, source, target, s)
	var text bytes.Buffer
	must.Do(t, a.Sheet().Write(&text, sheet.CSV))
	records, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(records) != 4 {
		t.Fatalf("%v, %v", records, err)
	}
	number := func(class int, column string) (value float64) {
		must.Have(fmt.Sscan(records[class+1][slices.Index(records[0], column)], &value))(t)
		return value
	}
	for class := range animals {
		for column, want := range map[string]float64{
			"source_share":            a.SourceShares[class],
			"target_share":            a.Estimate.TargetDistribution[class],
			"target_share_low":        a.Uncertainty.Shares.Each[class].Low,
			"target_share_joint_high": a.Uncertainty.Shares.Joint[class].High,
			"weight":                  a.Estimate.Weights[class],
			"weight_high":             a.Uncertainty.Weights.Each[class].High,
			"weight_joint_low":        a.Uncertainty.Weights.Joint[class].Low,
			"label_shift_p":           a.Tests.LabelShift.P,
		} {
			if got := number(class, column); got != want {
				t.Errorf("%s of class %d: %v, want %v", column, class, got, want)
			}
		}
	}
}

// JSON has the numbers of the tests and of the whole analysis, null for what is not known.
func TestFacts(t *testing.T) {
	source, target := read2(t, three, 5000, 5000)
	s := Default()
	s.Replicas = 20
	a := analyse(t, source, target, s)
	if a.Known == nil || a.Known.Cases[0].Accuracy.Low == nil || math.IsNaN(a.Tests.LabelShift.Detectable) {
		t.Fatalf("no accuracy, or nothing that the test detects: %+v, %+v", a.Known, a.Tests.LabelShift)
	}
	tests := a.Tests
	found := factsOf(t, a.Sheet())
	for name, want := range map[string]any{
		"source.name": source.Name, "source.rows": 5000.0, "target.name": target.Name, "target.rows": 5000.0,
		"tests.chi_squared.statistic":          tests.ChiSquared.Statistic,
		"tests.chi_squared.degrees_of_freedom": 2.0,
		"tests.chi_squared.p":                  tests.ChiSquared.P,
		"tests.kolmogorov_smirnov.statistic":   tests.KolmogorovSmirnov.Distances[tests.KolmogorovSmirnov.Class],
		"tests.kolmogorov_smirnov.class":       animals[tests.KolmogorovSmirnov.Class],
		"tests.kolmogorov_smirnov.p":           tests.KolmogorovSmirnov.P,
		"tests.label_shift.statistic":          tests.LabelShift.Statistic,
		"tests.label_shift.degrees_of_freedom": 6.0,
		"tests.label_shift.p":                  tests.LabelShift.P,
		"tests.label_shift.detectable_loss":    tests.LabelShift.Detectable,
		"headline":                             a.Known.Headline(),
		"reliable":                             trust.Together(a.Answers),
		"intervals.level":                      0.95, "intervals.replicas": 20.0,
	} {
		if got, there := found[name]; got != want || !there {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	// Without intervals, and of a test that rejects.
	a.Uncertainty, a.Known = nil, nil
	a.Tests.LabelShift = shifttest.LabelShift{DegreesOfFreedom: 6, P: 0.01, Detectable: math.NaN()}
	found = factsOf(t, a.Sheet())
	for _, name := range []string{"tests.label_shift.detectable_loss", "intervals"} {
		if got, there := found[name]; got != nil || !there {
			t.Errorf("%s: %v, want null", name, got)
		}
	}
}

// factsOf are the values of the sheet's JSON, under the names that lead to them.
func factsOf(t *testing.T, s sheet.Sheet) map[string]any {
	t.Helper()
	var text bytes.Buffer
	var whole map[string]any
	must.Do(t, errors.Join(s.Write(&text, sheet.JSON), json.Unmarshal(text.Bytes(), &whole)))
	found := map[string]any{}
	var add func(before string, values map[string]any)
	add = func(before string, values map[string]any) {
		for name, value := range values {
			if inner, ok := value.(map[string]any); ok {
				add(before+name+".", inner)
			} else {
				found[before+name] = value
			}
		}
	}
	add("", whole)
	return found
}
