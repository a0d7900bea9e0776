package adapt

import (
	"fmt"
	"path"
	"strings"

	"iwda/classshares"
	"iwda/experiments/judge"
	"iwda/experiments/report/sheet"
)

// methodsSection puts the methods side by side.
func (o Outcome) methodsSection() sheet.Section {
	columns := []sheet.Column[judge.Method]{
		{Head: "method", Key: true, Value: func(m judge.Method) sheet.Value { return sheet.Word(m.Name) }},
		{Head: "seeds", Value: func(m judge.Method) sheet.Value { return sheet.Count(len(m.Runs)) }, Format: sheet.Printf("%.0f")},
		{Head: o.Rule + ", mean", Format: numberFormat, Value: func(m judge.Method) sheet.Value { return sheet.Number(m.Value) }},
	}
	return sheet.NewSection("Methods, by the mean of their seeds", columns, o.Methods)
}

// Chosen are the runs that predict: one, or the seeds of a method, the mean of whose
// probabilities counts.
type Chosen []judge.Judgement

// Name is that of the run, or of the method and its seeds.
func (c Chosen) Name() string {
	if len(c) == 1 {
		return c[0].Run
	}
	var seeds []string
	for _, j := range c {
		seeds = append(seeds, path.Base(j.Run))
	}
	return fmt.Sprintf("%s, %s and %s together", path.Dir(c[0].Run), strings.Join(seeds[:len(seeds)-1], ", "), seeds[len(seeds)-1])
}

// mean of what is known of the runs one by one.
func (c Chosen) mean(of func(judge.Judgement) float64) float64 {
	sum := 0.0
	for _, j := range c {
		sum += of(j)
	}
	return sum / float64(len(c))
}

// expected is the mean of the runs' expected accuracies and of their bounds; nil where one of
// them has none.
func (c Chosen) expected() *classshares.Accuracy {
	for _, j := range c {
		if j.Expected == nil {
			return nil
		}
	}
	return &classshares.Accuracy{
		Value: c.mean(func(j judge.Judgement) float64 { return j.Expected.Value }),
		Low:   c.mean(func(j judge.Judgement) float64 { return j.Expected.Low }),
		High:  c.mean(func(j judge.Judgement) float64 { return j.Expected.High }),
	}
}
