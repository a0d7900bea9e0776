package labelshift

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"iwda/classshares"
	"iwda/experiments/report/sheet"
	"iwda/weightest"
	"iwda/weightest/calibration"
	"iwda/weightest/shifttest"
)

// All estimators after all calibrations agree on rows without extremes.
func TestCompare(t *testing.T) {
	source, target := read2(t, three, 2000, 2000)
	c, err := Compare(source, target, Default())
	if err != nil {
		t.Fatal(err)
	}
	if want := len(weightest.EstimatorNames()) * len(calibration.Names()); len(c.Results) != want {
		t.Fatalf("%d results, want %d", len(c.Results), want)
	}
	for _, r := range c.Results {
		if r.Shares == nil {
			t.Errorf("%s, %s has no shares: %q", r.Estimator, r.Calibration, c.Notes)
		}
		if !(r.Distance < 0.05) {
			t.Errorf("%s, %s: %.3f, %.3f away", r.Estimator, r.Calibration, r.Shares, r.Distance)
		}
		if own := r.Estimator == c.Estimator && r.Calibration == c.Calibration; own && r.Distance != 0 {
			t.Errorf("the estimate itself is %v away", r.Distance)
		}
	}
	s := c.Sheet()
	if len(s.Records.Rows) != 3*len(c.Results) || len(s.Sections[1].Rows) != len(c.Results) {
		t.Errorf("%d records, %d lines", len(s.Records.Rows), len(s.Sections[1].Rows))
	}
}

// Records have the numbers of the analysis.
func TestRecords(t *testing.T) {
	source, target := read2(t, three, 500, 500)
	s := Default()
	s.Replicas = 50
	a, err := Analyse(source, target, s)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := a.Sheet().Write(&text, sheet.CSV); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(records) != 4 {
		t.Fatalf("%v, %v", records, err)
	}
	number := func(class int, column string) (value float64) {
		if _, err := fmt.Sscan(records[class+1][slices.Index(records[0], column)], &value); err != nil {
			t.Fatal(err)
		}
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

// An expected accuracy is said with its condition, if the test lets it be believed, and otherwise
// why there is none.
func TestExpectation(t *testing.T) {
	for want, test := range map[string]shifttest.LabelShift{
		"Expected accuracy on the target: 87.4% (86.0 to 88.9%) by corrected probabilities, 84.3% by those before; only if the classifier was not adapted": {DegreesOfFreedom: 6, P: 0.4, Detectable: 0.03},
		"No expected accuracy: more than the class shares is new in the target (p = 0.01).":                                                                {DegreesOfFreedom: 6, P: 0.01, Detectable: 0.03},
		"No expected accuracy: the test found nothing, but with so few rows it would not have found a loss of less than 20 points.":                        {DegreesOfFreedom: 6, P: 0.4, Detectable: 0.2},
	} {
		a := Analysis{ExpectedAccuracy: &classshares.Accuracy{Value: 0.874, Low: 0.86, High: 0.889}, Uncorrected: 0.8426, Tests: Tests{LabelShift: &test}}
		if got := a.expectation(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
