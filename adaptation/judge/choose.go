package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"iwda/inference/selection"
)

// Choice is one of the candidates, and why.
type Choice struct {
	Rule     string
	Better   string // which values of the rule are: "lowest" or "highest"
	Fails    string // when the rule is wrong
	Shared   Shared
	Judged   []Judgement // in the candidates' order
	Best     int         // by the rule, index in Judged
	Used     int         // what predicts, or the best run of the method that does
	AllSeeds bool        // all seeds of its method predict together
	Methods  []Method
	Problems []string // why candidates could not be judged, sentences

	// Correction is how probabilities are corrected, those of the other runs too.
	Correction Correction
	// Together are the runs that predict if [Comparison.Together] has chosen, indices in Judged, and why.
	Together []int
	Because  string
	// Votes are the weights of these runs in the mean of their probabilities, and sum to 1; nil if all are equal.
	Votes []float64
}

// Method is what is known of the runs of a method that differ in their seed. The risk of
// what they predict together, the mean of their probabilities, is at most the mean of their
// risks, as cross-entropy is convex. It cannot be measured itself: the rows that one seed
// holds out are those on which another was trained.
type Method struct {
	Name  string
	Runs  []int   // indices in [Choice.Judged] of those that the rule could judge
	Value float64 // of the rule, the mean over these; NaN where there are none
}

// Choose judges all candidates by a rule, the name of a criterion of package selection. Best is
// the run of the best value; used is one whose method is as good, within a tolerance that is a
// share of that value, and comes last ([Comparison]). Candidates that cannot be judged are passed
// over; that none can is an error.
func (c *Comparison) Choose(rule string, tolerance float64) (Choice, error) {
	criterion, err := selection.Find(rule)
	if err != nil {
		return Choice{}, err
	}
	choice := Choice{Correction: Full, Rule: rule, Better: "lowest", Fails: criterion.Fails, Shared: c.Shared, Judged: slices.Clone(c.Judged)}
	if criterion.Higher {
		choice.Better = "highest"
	}
	values := make([]float64, len(c.inputs))
	for i, in := range c.inputs {
		if values[i], err = criterion.Value(in); err != nil {
			values[i] = math.NaN()
			choice.Problems = append(choice.Problems, fmt.Sprintf("%s cannot be judged: %v.", c.Candidates[i].Run, err))
		}
		choice.Judged[i].Value = values[i]
	}
	if choice.Best = criterion.Best(values); choice.Best < 0 {
		return Choice{}, fmt.Errorf("the rule %s cannot judge any run: %s", rule, strings.Join(choice.Problems, " "))
	}
	choice.Used, choice.Methods = choice.Best, c.methods(values)
	choice.preferLater(tolerance)
	return choice, nil
}

// Method is that of the run that is used.
func (c Choice) Method() Method {
	return c.Methods[slices.IndexFunc(c.Methods, func(m Method) bool { return slices.Contains(m.Runs, c.Used) })]
}

// Predicting are the runs that predict, indices in Judged: those that were chosen together, all
// seeds of the used run's method, or that run alone.
func (c Choice) Predicting() []int {
	switch {
	case c.Together != nil:
		return c.Together
	case c.AllSeeds:
		return c.Method().Runs
	}
	return []int{c.Used}
}

// Telling are those of the runs that predict which say how frequent the classes are in the target:
// of several methods, which may well align classes with the wrong ones, those of the method with the
// least value of the rule.
func (c Choice) Telling() []int {
	if c.Together == nil {
		return c.Predicting()
	}
	var best Method
	for _, m := range c.Methods {
		if slices.Contains(c.Names(), m.Name) && (best.Runs == nil || m.Value < best.Value) {
			best = m
		}
	}
	return best.Runs
}

// Follow has all runs of a method predict, whatever the rule says of it. It is an error if that
// could judge none of them.
func (c *Choice) Follow(method string) error {
	at := slices.IndexFunc(c.Methods, func(m Method) bool { return m.Name == method && len(m.Runs) > 0 })
	if at < 0 {
		return fmt.Errorf("labels choose %s, but the rule %s cannot judge any of its runs", method, c.Rule)
	}
	c.Together, c.Votes, c.Used, c.AllSeeds = nil, nil, c.Methods[at].Runs[0], true
	return nil
}

// methods returns the methods of the candidates, with the rule's values.
func (c *Comparison) methods(values []float64) (methods []Method) {
	for i, candidate := range c.Candidates {
		name := MethodOf(candidate.Run)
		if n := len(methods); n == 0 || methods[n-1].Name != name {
			methods = append(methods, Method{Name: name, Value: math.NaN()})
		}
		if math.IsNaN(values[i]) {
			continue
		}
		m := &methods[len(methods)-1]
		if m.Runs = append(m.Runs, i); len(m.Runs) == 1 {
			m.Value = 0
		}
		m.Value += (values[i] - m.Value) / float64(len(m.Runs))
	}
	return methods
}

// preferLater has one of the methods used whose best run is worse than the best run of all by at
// most tolerance, a share of that one's value: the last one. A
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
