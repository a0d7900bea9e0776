package labelshift

import (
	"fmt"
	"math"
	"strings"

	"iwda/classshares"
	"iwda/experiments/report/sheet"
	"iwda/internal/heading"
	"iwda/weightest"
	"iwda/weightest/intervals"
)

// class is a row of the table.
type class struct {
	*Analysis
	number int
}

// each returns the rows of all classes.
func (a *Analysis) each() (rows []class) {
	for number := range a.Classes {
		rows = append(rows, class{a, number})
	}
	return rows
}

// at is a class's entry, NaN if there is no estimate.
func at(ofClasses []float64, number int) float64 {
	if ofClasses == nil {
		return math.NaN()
	}
	return ofClasses[number]
}

// Sheet is the analysis as tables: the tests under their verdict, and the classes.
func (a *Analysis) Sheet() sheet.Sheet {
	columns, rows := a.columns(), a.each()
	s := a.sheet()
	s.Sections = append(s.Sections, sheet.NewSection(a.method(), columns, rows))
	s.Legend = "Source: share of the class among the source's labels. Target: its estimated share in the target. Weight: target share divided by source share, for which mlls takes the mean calibrated probability of source rows."
	if a.Uncertainty != nil {
		s.Legend += fmt.Sprintf(" Each interval contains the true number with probability %v. The joint intervals in CSV and JSON contain all of them at once with this probability.", a.Level)
	}
	s.Records = sheet.NewRecords(columns, rows)
	return s
}

// sheet is what analyses and comparisons have in common.
func (a *Analysis) sheet() sheet.Sheet {
	verdict := a.Tests.Verdict()
	s := sheet.Sheet{
		Experiment: "labelshift",
		Title:      "Class shares of " + a.Target,
		Verdict:    verdict,
		Sections:   []sheet.Section{a.Tests.section(strings.ToUpper(verdict[:1]) + verdict[1:])},
		Facts:      a.facts(),
	}
	s.Notes = append(s.Notes, fmt.Sprintf("%s: %d rows; %s: %d rows.", a.Source, a.SourceRows, a.Target, a.TargetRows))
	if a.Source == a.Target {
		s.Notes[0] = fmt.Sprintf("%s: %d source rows and %d target rows.", a.Source, a.SourceRows, a.TargetRows)
	}
	condition := fmt.Sprintf("%.3g", a.ConditionNumber)
	if math.IsInf(a.ConditionNumber, 1) {
		condition = "infinite (C is singular)"
	}
	s.Notes = append(s.Notes,
		fmt.Sprintf("Condition number of C, the confusion matrix of hard predictions: %s.", condition),
		fmt.Sprintf("Effective sample size of the weighted source: %.0f of %d rows.", a.EffectiveRows, a.SourceRows))
	if said := a.expectation(); said != "" {
		s.Notes = append(s.Notes, said)
	}
	s.Notes = append(s.Notes, a.Notes...)
	return s
}

// facts are the numbers of an analysis besides those of the classes, as JSON has them. What is not
// to be had, and what is infinite, is null.
type facts struct {
	Source    domainFacts           `json:"source"`
	Target    domainFacts           `json:"target"`
	Tests     testFacts             `json:"tests"`
	Expected  *classshares.Accuracy `json:"expected_accuracy"`
	Before    sheet.Value           `json:"uncorrected_accuracy"`
	Withheld  *string               `json:"expected_accuracy_withheld"`
	Condition sheet.Value           `json:"condition_number"`
	Effective sheet.Value           `json:"effective_rows"`
	Intervals *intervalFacts        `json:"intervals"`
}

type domainFacts struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
}

type testFacts struct {
	ChiSquared        testFact  `json:"chi_squared"`
	KolmogorovSmirnov *testFact `json:"kolmogorov_smirnov"`
	LabelShift        *testFact `json:"label_shift"`
}

// testFact is what a test found; a test leaves out what it has not.
type testFact struct {
	Statistic        sheet.Value  `json:"statistic"`
	DegreesOfFreedom *int         `json:"degrees_of_freedom,omitempty"`
	Class            string       `json:"class,omitempty"`
	P                sheet.Value  `json:"p"`
	Detectable       *sheet.Value `json:"detectable_loss,omitempty"`
}

type intervalFacts struct {
	Level    float64 `json:"level"`
	Replicas int     `json:"replicas"`
}

func (a *Analysis) facts() facts {
	f := facts{
		Source: domainFacts{a.Source, a.SourceRows}, Target: domainFacts{a.Target, a.TargetRows},
		Tests:    a.Tests.facts(a.Classes),
		Expected: a.ExpectedAccuracy, Before: sheet.Number(a.Uncorrected),
		Condition: sheet.Number(a.ConditionNumber), Effective: sheet.Number(a.EffectiveRows),
	}
	if why := a.withheld(); why != "" {
		f.Withheld = &why
	}
	if a.Uncertainty != nil {
		f.Intervals = &intervalFacts{a.Level, a.Replicas}
	}
	return f
}

// withheld says why no expected accuracy is to be believed, "" if one is or the test was not made.
func (a *Analysis) withheld() string {
	if a.Tests.LabelShift == nil {
		return ""
	}
	return classshares.Withheld(*a.Tests.LabelShift)
}

func (t Tests) facts(classes []string) testFacts {
	c := t.ChiSquared
	f := testFacts{ChiSquared: testFact{Statistic: sheet.Number(c.Statistic), DegreesOfFreedom: &c.DegreesOfFreedom, P: sheet.Number(c.P)}}
	if k := t.KolmogorovSmirnov; k != nil {
		f.KolmogorovSmirnov = &testFact{Statistic: sheet.Number(k.Distances[k.Class]), Class: classes[k.Class], P: sheet.Number(k.P)}
	}
	if l := t.LabelShift; l != nil {
		detectable := sheet.Number(l.Detectable)
		f.LabelShift = &testFact{Statistic: sheet.Number(l.Statistic), DegreesOfFreedom: &l.DegreesOfFreedom, P: sheet.Number(t.labelShiftP()), Detectable: &detectable}
	}
	return f
}

// expectation says what accuracy is expected, and if what, or why none is; "" if the notes do.
func (a *Analysis) expectation() string {
	if why := a.withheld(); why != "" {
		return fmt.Sprintf("No expected accuracy: %s.", why)
	}
	e := a.ExpectedAccuracy
	if e == nil {
		return ""
	}
	return fmt.Sprintf("Expected accuracy on the target: %.1f%% (%.1f to %.1f%%) of the corrected predictions, %.1f%% of the classifier's own. This is valid only if the classifier was not adapted to this target; an adapted one passes the test in any case.",
		100*e.Value, 100*e.Low, 100*e.High, 100*a.Uncorrected)
}

// method names the estimator and what goes with it.
func (a *Analysis) method() string {
	text := fmt.Sprintf("Estimator %s, calibration %s", a.Estimator, a.Calibration)
	if a.Uncertainty == nil {
		return text
	}
	return fmt.Sprintf("%s, intervals from %d bootstrap replicas", text, a.Replicas)
}

// columns are those of the classes.
func (a *Analysis) columns() []sheet.Column[class] {
	share, weight := sheet.Printf("%.4f"), sheet.Printf("%.3f")
	number := func(of func(c class) float64) func(class) sheet.Value {
		return func(c class) sheet.Value { return sheet.Number(of(c)) }
	}
	columns := []sheet.Column[class]{
		{Name: "estimator", Value: func(c class) sheet.Value { return sheet.Word(c.Estimator) }},
		{Name: "calibration", Value: func(c class) sheet.Value { return sheet.Word(c.Calibration) }},
		{Name: "label_shift_p", Value: number(func(c class) float64 { return c.Tests.labelShiftP() })},
		{Name: heading.Class, Head: "class", Key: true, Value: func(c class) sheet.Value { return sheet.Word(c.Classes[c.number]) }},
		{Name: heading.SourceShare, Head: "source", Format: share, Value: number(func(c class) float64 { return c.SourceShares[c.number] })},
		{Name: heading.TargetShare, Head: "target", Format: share, Value: number(func(c class) float64 { return at(c.Estimate.TargetDistribution, c.number) })},
	}
	if u := a.Uncertainty; u != nil {
		columns = append(columns, intervalColumns(heading.TargetShare, u.Level, u.Shares, sheet.Printf("%.4f", "–%.4f"))...)
	}
	columns = append(columns, sheet.Column[class]{
		Name: heading.Weight, Head: "weight", Format: weight, Value: number(func(c class) float64 { return at(c.Estimate.Weights, c.number) }),
	})
	if u := a.Uncertainty; u != nil {
		columns = append(columns, intervalColumns(heading.Weight, u.Level, u.Weights, sheet.Printf("%.3f", "–%.3f"))...)
	}
	return columns
}

// intervalColumns are one column for readers, with both ends of the interval of each
// class, and four for programs.
func intervalColumns(of string, level float64, intervals intervals.Intervals, format sheet.Format) []sheet.Column[class] {
	end := func(name string, of func(number int) float64) sheet.Column[class] {
		return sheet.Column[class]{Name: name, Value: func(c class) sheet.Value { return sheet.Number(of(c.number)) }}
	}
	return []sheet.Column[class]{
		{Head: fmt.Sprintf("%v%% interval", math.Round(1e4*level)/1e2), Format: format, Value: func(c class) sheet.Value {
			return sheet.Number(intervals.Each[c.number].Low, intervals.Each[c.number].High)
		}},
		end(of+heading.Low, func(i int) float64 { return intervals.Each[i].Low }),
		end(of+heading.High, func(i int) float64 { return intervals.Each[i].High }),
		end(of+heading.JointLow, func(i int) float64 { return intervals.Joint[i].Low }),
		end(of+heading.JointHigh, func(i int) float64 { return intervals.Joint[i].High }),
	}
}

// testResult is a row of the table of tests.
type testResult struct {
	name             string
	statistic        float64
	degreesOfFreedom sheet.Value
	p                float64
}

// labelShiftP is NaN where the test was not made or nothing could be tested.
func (t Tests) labelShiftP() float64 {
	if t.LabelShift == nil || !t.LabelShift.Tested() {
		return math.NaN()
	}
	return t.LabelShift.P
}

// section is the table of the tests under a title.
func (t Tests) section(title string) sheet.Section {
	rows := []testResult{{"any shift: predicted classes (χ²)", t.ChiSquared.Statistic, sheet.Count(t.ChiSquared.DegreesOfFreedom), t.ChiSquared.P}}
	if k := t.KolmogorovSmirnov; k != nil {
		rows = append(rows, testResult{name: "any shift: probabilities (Kolmogorov–Smirnov)", statistic: k.Distances[k.Class], p: k.P})
	}
	if l := t.LabelShift; l != nil {
		rows = append(rows, testResult{"more than label shift (over-identification)", l.Statistic, sheet.Count(l.DegreesOfFreedom), t.labelShiftP()})
	}
	return sheet.NewSection(title, []sheet.Column[testResult]{
		{Head: "test", Key: true, Value: func(r testResult) sheet.Value { return sheet.Word(r.name) }},
		{Head: "statistic", Format: sheet.Printf("%.4g"), Value: func(r testResult) sheet.Value { return sheet.Number(r.statistic) }},
		{Head: "degrees of freedom", Value: func(r testResult) sheet.Value { return r.degreesOfFreedom }},
		{Head: "p", Value: func(r testResult) sheet.Value { return pValue(r.p) }},
	}, rows)
}

// pValue is a p-value in print.
func pValue(p float64) sheet.Value {
	switch {
	case math.IsNaN(p):
		return sheet.Value{}
	case p < 0.001:
		return sheet.Word("< 0.001")
	}
	return sheet.Word(fmt.Sprintf("%.3f", p))
}

// printedClasses is the number of classes up to which a comparison prints the shares of
// all.
const printedClasses = 12

// Sheet is the comparison as tables.
func (c *Comparison) Sheet() sheet.Sheet {
	columns := []sheet.Column[Result]{
		{Head: "calibration", Key: true, Value: func(r Result) sheet.Value { return sheet.Word(r.Calibration) }},
		{Head: "estimator", Key: true, Value: func(r Result) sheet.Value { return sheet.Word(r.Estimator) }},
		{Head: "distance", Format: sheet.Printf("%.4f"), Value: func(r Result) sheet.Value { return sheet.Number(r.Distance) }},
		{Head: "effective rows", Format: sheet.Printf("%.0f"), Value: func(r Result) sheet.Value { return sheet.Number(r.EffectiveRows) }},
	}
	var rows []class
	for _, r := range c.Results {
		of := *c.Analysis
		of.Estimator, of.Calibration, of.Estimate = r.Estimator, r.Calibration, weightest.Estimate{TargetDistribution: r.Shares, Weights: r.Weights}
		rows = append(rows, of.each()...)
	}
	s := c.sheet()
	s.Legend = fmt.Sprintf("Distance: half the sum of the absolute differences from the shares by %s after %s. Effective rows: how many unweighted rows the weighted source is worth.", c.Estimator, c.Calibration)
	if len(c.Classes) <= printedClasses {
		for i, name := range c.Classes {
			columns = append(columns, sheet.Column[Result]{Head: name, Format: sheet.Printf("%.4f"), Value: func(r Result) sheet.Value { return sheet.Number(at(r.Shares, i)) }})
		}
		s.Legend += " The other columns are the shares of the classes in the target."
	} else {
		s.Notes = append(s.Notes, "CSV and JSON have the shares of all classes.")
	}
	s.Sections = append(s.Sections, sheet.NewSection("All estimators", columns, c.Results))
	s.Records = sheet.NewRecords(c.columns(), rows)
	return s
}
