package adapt

import (
	"fmt"
	"math"
	"path"
	"strings"

	"iwda/experiments/report/sheet"
	"iwda/selection"
)

// Method is what is known of the runs of a method that differ in their seed. The risk of
// what they predict together, the mean of their probabilities, is at most the mean of their
// risks, as cross-entropy is convex. It cannot be measured itself: the rows that one seed
// holds out are those on which another was trained.
type Method struct {
	Name  string
	Runs  []int   // indices in [Choice.Judged] of those that the rule could judge
	Value float64 // of the rule, the mean over these; NaN where there are none
}

// methodsOf returns the methods of the judged runs, in their order.
func methodsOf(judged []Judgement) (methods []Method) {
	for i, j := range judged {
		name := methodOf(j.Run)
		if n := len(methods); n == 0 || methods[n-1].Name != name {
			methods = append(methods, Method{Name: name, Value: math.NaN()})
		}
		if math.IsNaN(j.Value) {
			continue
		}
		m := &methods[len(methods)-1]
		if m.Runs = append(m.Runs, i); len(m.Runs) == 1 {
			m.Value = 0
		}
		m.Value += (j.Value - m.Value) / float64(len(m.Runs))
	}
	return methods
}

// preferLater has one of the methods used whose best run is worse than the best run of all by at
// most tolerance, a share of that one's value: the one that the experiment file lists last. A
// rule without labels cannot tell such methods apart: it rests on few held-out rows, and not on
// what the target's classes look like.
func (c *Choice) preferLater(tolerance float64) {
	best := c.Judged[c.Best].Value
	for _, m := range c.Methods {
		of := -1
		for _, i := range m.Runs {
			if of < 0 || math.Abs(c.Judged[i].Value-best) < math.Abs(c.Judged[of].Value-best) {
				of = i
			}
		}
		if of >= 0 && math.Abs(c.Judged[of].Value-best) <= tolerance*math.Abs(best) {
			c.Used = of
		}
	}
}

// methodOf returns the method of the run of that id.
func methodOf(id string) string { return path.Base(path.Dir(id)) }

// methodsSection puts the methods side by side.
func (c Choice) methodsSection() sheet.Section {
	columns := []sheet.Column[Method]{
		{Head: "method", Key: true, Value: func(m Method) sheet.Value { return sheet.Word(m.Name) }},
		{Head: "seeds", Value: func(m Method) sheet.Value { return sheet.Count(len(m.Runs)) }, Format: sheet.Printf("%.0f")},
		{Head: c.Rule + ", mean", Format: numberFormat, Value: func(m Method) sheet.Value { return sheet.Number(m.Value) }},
	}
	return sheet.NewSection("Methods, by the mean of their seeds", columns, c.Methods)
}

// Chosen are the runs that predict: one, or the seeds of a method, the mean of whose
// probabilities counts.
type Chosen []Judgement

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
func (c Chosen) mean(of func(Judgement) float64) float64 {
	sum := 0.0
	for _, j := range c {
		sum += of(j)
	}
	return sum / float64(len(c))
}

// expected is the mean of the runs' expected accuracies and of their bounds; nil where one of
// them has none.
func (c Chosen) expected() *selection.ExpectedAccuracy {
	for _, j := range c {
		if j.Expected == nil {
			return nil
		}
	}
	return &selection.ExpectedAccuracy{
		Value: c.mean(func(j Judgement) float64 { return j.Expected.Value }),
		Low:   c.mean(func(j Judgement) float64 { return j.Expected.Low }),
		High:  c.mean(func(j Judgement) float64 { return j.Expected.High }),
	}
}
