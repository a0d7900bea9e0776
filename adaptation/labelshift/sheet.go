package labelshift

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"iwda/experiments/report/sheet"
	"iwda/inference/trust"
	"iwda/internal/heading"
	"iwda/internal/printable"
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

// Sheet is the analysis as tables: the tests under their verdict, and the classes.
func (a *Analysis) Sheet() sheet.Sheet {
	columns, rows := a.columns(), a.each()
	s := a.sheet()
	if a.Known != nil {
		s.Sections = append(s.Sections, a.caseSection(), needSection(a.Answers))
	}
	s.Sections = append(s.Sections, sheet.NewSection(a.method(), columns, rows))
	if a.Sets != nil {
		s.Sections = append(s.Sections, a.Sets.section())
		s.Notes = append(s.Notes, a.Sets.notes()...)
	}
	s.Legend = "Source: share of the class among the source's labels. Target: its estimated share in the target. Weight: target share divided by source share, for which mlls takes the mean calibrated probability of source rows."
	if a.Known != nil {
		s.Legend += " Predicted, recall, precision: of the corrected predictions."
		if a.Known.Rejected != "" {
			s.Legend += " The estimated shares are marked with * because they are not to be believed; the mean of the probabilities errs too."
		}
	}
	if a.Uncertainty != nil {
		s.Legend += fmt.Sprintf(" Each interval contains the true number with probability %v. The joint intervals in CSV and JSON contain all of them at once with this probability.", a.Level)
	}
	s.Records = sheet.NewRecords(columns, rows)
	return s
}

// sheet is the analysis but for its classes.
func (a *Analysis) sheet() sheet.Sheet {
	verdict := a.Tests.LabelShift.Verdict()
	s := sheet.Sheet{
		Experiment: "labelshift",
		Title:      "Class shares of " + a.Target,
		Verdict:    verdict,
		Sections:   []sheet.Section{a.Tests.section(strings.ToUpper(verdict[:1]) + verdict[1:])},
		Facts:      a.facts(),
	}
	s.Notes = append(s.Notes, fmt.Sprintf("%s: %s; %s: %s.", a.Source, printable.Count(a.SourceRows, "row"), a.Target, printable.Count(a.TargetRows, "row")))
	if a.Source == a.Target {
		s.Notes[0] = fmt.Sprintf("%s: %d source rows and %d target rows.", a.Source, a.SourceRows, a.TargetRows)
	}
	if a.Known != nil {
		for _, c := range a.Known.Cases {
			for _, reason := range [][2]string{{"for", c.For}, {"against", c.Against}, {"no accuracy", c.Missing}} {
				if reason[1] != "" {
					s.Notes = append(s.Notes, fmt.Sprintf("If %s, %s: %s.", c.If, reason[0], reason[1]))
				}
			}
		}
		for _, answer := range a.Answers {
			s.Notes = append(s.Notes, fmt.Sprintf("Needed: %s: %s, because %s.", answer.Need, answer.Answer, answer.Because))
		}
		s.Notes = append(s.Notes, "What is known of the predictions is valid only if the classifier was not adapted to this target: an adapted one passes the test in any case.")
	}
	s.Notes = append(s.Notes, a.Notes...)
	return s
}

// facts are the numbers of an analysis besides those of the classes, as JSON has them. What is not
// to be had, and what is infinite, is null.
type facts struct {
	Source    domainFacts    `json:"source"`
	Target    domainFacts    `json:"target"`
	Tests     testFacts      `json:"tests"`
	Headline  string         `json:"headline,omitempty"`
	Reliable  string         `json:"reliable,omitempty"`
	Cases     []trust.Case   `json:"cases,omitempty"`
	Needs     []trust.Answer `json:"needs,omitempty"`
	Rejected  string         `json:"shares_rejected,omitempty"`
	Sets      *setFacts      `json:"sets,omitempty"`
	Intervals *intervalFacts `json:"intervals"`
}

type domainFacts struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
}

type testFacts struct {
	ChiSquared        testFact `json:"chi_squared"`
	KolmogorovSmirnov testFact `json:"kolmogorov_smirnov"`
	LabelShift        testFact `json:"label_shift"`
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

type setFacts struct {
	Level float64  `json:"level"`
	Rows  []int    `json:"rows_by_size"` // from 0 on
	Every []string `json:"classes_in_every_set,omitempty"`
}

func (a *Analysis) facts() facts {
	f := facts{
		Source: domainFacts{a.Source, a.SourceRows}, Target: domainFacts{a.Target, a.TargetRows},
		Tests: a.Tests.facts(a.Classes),
	}
	if k := a.Known; k != nil {
		f.Headline, f.Reliable, f.Cases, f.Needs, f.Rejected = k.Headline(), trust.Together(a.Answers), k.Cases, a.Answers, k.Rejected
	}
	if a.Sets != nil {
		f.Sets = &setFacts{a.Sets.Level, a.Sets.Sizes, a.Sets.Everywhere}
	}
	if a.Uncertainty != nil {
		f.Intervals = &intervalFacts{a.Level, a.Replicas}
	}
	return f
}

func (t Tests) facts(classes []string) testFacts {
	c, k, l := t.ChiSquared, t.KolmogorovSmirnov, t.LabelShift
	detectable := sheet.Number(l.Detectable)
	return testFacts{
		ChiSquared:        testFact{Statistic: sheet.Number(c.Statistic), DegreesOfFreedom: &c.DegreesOfFreedom, P: sheet.Number(c.P)},
		KolmogorovSmirnov: testFact{Statistic: sheet.Number(k.Distances[k.Class]), Class: classes[k.Class], P: sheet.Number(k.P)},
		LabelShift:        testFact{Statistic: sheet.Number(l.Statistic), DegreesOfFreedom: &l.DegreesOfFreedom, P: sheet.Number(t.labelShiftP()), Detectable: &detectable},
	}
}

// caseSection is what may have happened, under what is known.
func (a *Analysis) caseSection() sheet.Section {
	word := func(of func(c trust.Case) string) func(trust.Case) sheet.Value {
		return func(c trust.Case) sheet.Value { return sheet.Word(of(c)) }
	}
	return sheet.NewSection(printable.Sentence(a.Known.Headline()), []sheet.Column[trust.Case]{
		{Head: "what may have happened", Key: true, Value: word(func(c trust.Case) string { return c.If })},
		{Head: "accuracy", Value: word(func(c trust.Case) string { return cmp.Or(c.Accuracy.String(), "not known") })},
	}, a.Known.Cases)
}

// needSection is whether what is needed is met.
func needSection(answers []trust.Answer) sheet.Section {
	return sheet.NewSection("Is it enough?", []sheet.Column[trust.Answer]{
		{Head: "need", Key: true, Value: func(a trust.Answer) sheet.Value { return sheet.Word(a.Need) }},
		{Head: "answer", Value: func(a trust.Answer) sheet.Value { return sheet.Word(a.Answer) }},
	}, answers)
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
		{Name: heading.TargetShare, Head: map[bool]string{false: "target", true: "target*"}[a.Known != nil && a.Known.Rejected != ""], Format: share, Value: number(func(c class) float64 { return c.Estimate.TargetDistribution[c.number] })},
	}
	if u := a.Uncertainty; u != nil {
		columns = append(columns, intervalColumns(heading.TargetShare, u.Level, u.Shares, sheet.Printf("%.4f", "–%.4f"))...)
	}
	columns = append(columns, sheet.Column[class]{
		Name: heading.Weight, Head: "weight", Format: weight, Value: number(func(c class) float64 { return c.Estimate.Weights[c.number] }),
	})
	if u := a.Uncertainty; u != nil {
		columns = append(columns, intervalColumns(heading.Weight, u.Level, u.Weights, sheet.Printf("%.3f", "–%.3f"))...)
	}
	if a.Known == nil {
		return columns
	}
	known := func(c class) trust.Class { return a.Known.Classes[c.number] }
	rejected := map[bool]string{false: "no", true: "yes"}[a.Known.Rejected != ""]
	columns = append(columns,
		sheet.Column[class]{Name: heading.MeanProbability, Head: "mean probability", Format: share, Value: number(func(c class) float64 { return known(c).Mean })},
		sheet.Column[class]{Name: heading.PredictedShare, Head: "predicted", Format: share, Value: number(func(c class) float64 { return known(c).Predicted })},
		sheet.Column[class]{Name: heading.ShareRejected, Value: func(class) sheet.Value { return sheet.Word(rejected) }},
	)
	for _, of := range []struct {
		name string
		of   func(c class) *trust.Number
	}{{heading.Recall, func(c class) *trust.Number { return known(c).Recall }}, {heading.Precision, func(c class) *trust.Number { return known(c).Precision }}} {
		part := func(which func(n trust.Number) *float64) func(class) sheet.Value {
			return func(c class) sheet.Value {
				if v := which(of.of(c).Of()); v != nil {
					return sheet.Number(*v)
				}
				return sheet.Value{}
			}
		}
		columns = append(columns,
			sheet.Column[class]{Head: of.name, Value: func(c class) sheet.Value { return sheet.Word(of.of(c).Of().String()) }},
			sheet.Column[class]{Name: of.name, Value: part(func(n trust.Number) *float64 { return n.Value })},
			sheet.Column[class]{Name: of.name + heading.Low, Value: part(func(n trust.Number) *float64 { return n.Low })},
			sheet.Column[class]{Name: of.name + heading.High, Value: part(func(n trust.Number) *float64 { return n.High })})
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

// labelShiftP is NaN where nothing could be tested.
func (t Tests) labelShiftP() float64 {
	if !t.LabelShift.Tested() {
		return math.NaN()
	}
	return t.LabelShift.P
}

// section is the table of the tests under a title.
func (t Tests) section(title string) sheet.Section {
	c, k, l := t.ChiSquared, t.KolmogorovSmirnov, t.LabelShift
	rows := []testResult{
		{"any shift: predicted classes (χ²)", c.Statistic, sheet.Count(c.DegreesOfFreedom), c.P},
		{name: "any shift: probabilities (Kolmogorov–Smirnov)", statistic: k.Distances[k.Class], p: k.P},
		{"more than label shift (over-identification)", l.Statistic, sheet.Count(l.DegreesOfFreedom), t.labelShiftP()},
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
