package adapt

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"iwda/experiments/store"
	"iwda/selection"
)

// Judgement is what is known of a candidate without a label of the target.
type Judgement struct {
	Run            string
	Value          float64   // of the rule; NaN where it could not judge the candidate
	SourceAccuracy float64   // on its held-out source rows
	Certainty      float64   // mean largest probability on the target, calibrated
	Shares         []float64 // mean probabilities on the target, calibrated
	// Unexplained is the share of the target's predictions that no mixture of the source's
	// classes explains; 0 where changed class shares are all that is new.
	Unexplained float64
	// Divergence is KL(p̄ ‖ q) of its predicted class shares p̄ to the shared estimate
	// q, and Agreement the share of target rows on which it predicts what all candidates
	// together do: guards against a candidate that is far from all the others.
	Divergence, Agreement float64
	// Expected is the accuracy on the target that the run's calibrated probabilities, corrected
	// for class shares, let expect; nil where that cannot be computed or, as LabelShiftP tells,
	// not be trusted.
	Expected *selection.ExpectedAccuracy
	// LabelShiftP is the p-value of the test that label shift explains what the run itself
	// predicts; not measured where there were too few rows.
	LabelShiftP store.Optional[float64]
}

// Choice is one of the candidates, and why.
type Choice struct {
	Rule     string
	Better   string // which values of the rule are: "lowest" or "highest"
	Fails    string // when the rule is wrong
	Shared   Shared
	Judged   []Judgement // in the candidates' order, those of a method one after another
	Best     int         // by the rule, index in Judged
	Used     int         // what predicts, or the best run of the method that does; see [Choice.preferLater]
	Methods  []Method
	Problems []string // why candidates could not be judged, sentences
}

// Choose judges all candidates by the rule: one of [selection.RuleNames] that needs no more than
// logits. It reads the logits of calibrated
// probabilities, so that a candidate's overconfidence does not decide. Candidates that
// cannot be judged are passed over; that none can is an error.
//
// TargetRisk is the class-weighted risk on held-out source rows, which estimates the risk on the
// target where the features of a class are distributed as in the source, plus the share of a
// candidate's predictions on the target that no mixture of the source's classes explains, as
// runs differ in how far they have aligned these features.
func Choose(rule string, candidates []Candidate, shared Shared) (Choice, error) {
	criterion, err := selection.RuleCriterion(rule)
	if err != nil {
		return Choice{}, err
	}
	inputs := make([]selection.Input, len(candidates))
	choice := Choice{Rule: rule, Better: "lowest", Fails: criterion.Fails, Shared: shared, Judged: make([]Judgement, len(candidates))}
	if criterion.Higher {
		choice.Better = "highest"
	}
	var logits []*mat.Dense
	for i, c := range candidates {
		if inputs[i], choice.Judged[i], err = judge(c, shared); err != nil {
			return Choice{}, err
		}
		logits = append(logits, inputs[i].TargetLogits)
	}
	votes, err := selection.Vote(logits)
	if err != nil {
		return Choice{}, err
	}
	values := make([]float64, len(candidates))
	for i := range candidates {
		inputs[i].Votes = votes
		if err := choice.Judged[i].guard(inputs[i]); err != nil {
			return Choice{}, fmt.Errorf("%s: %w", candidates[i].Run, err)
		}
		values[i], err = criterion.Value(inputs[i])
		switch {
		case errors.Is(err, selection.ErrMissing):
			return Choice{}, fmt.Errorf("the rule %s cannot be used here: %w", rule, err)
		case err != nil:
			values[i] = math.NaN()
			choice.Problems = append(choice.Problems, fmt.Sprintf("%s cannot be judged: %v.", candidates[i].Run, err))
		}
		choice.Judged[i].Value = values[i]
	}
	if choice.Best = criterion.Best(values); choice.Best < 0 {
		return Choice{}, fmt.Errorf("the rule %s can judge no run: %s", rule, choice.Problems[0])
	}
	choice.Used, choice.Methods = choice.Best, methodsOf(choice.Judged)
	return choice, nil
}

// judge returns what criteria read of the candidate, and what is known of it besides.
func judge(c Candidate, shared Shared) (selection.Input, Judgement, error) {
	in, _, err := c.calibrated()
	if err != nil {
		return selection.Input{}, Judgement{}, err
	}
	in.ClassWeights, in.TargetShares = shared.weightsOver(c.SourceLabels), shared.TargetShares
	shares, certainty := selection.Predicted(in.TargetLogits)
	return in, Judgement{Run: c.Run, Shares: shares, Certainty: certainty}, nil
}

// expect adds what a run expects of itself.
func (j *Judgement) expect(known *store.WithoutLabels) {
	if known != nil {
		j.Expected, j.LabelShiftP = known.TrustedAccuracy(), known.LabelShiftP
	}
}

// guard adds the values of criteria that stand beside the rule.
func (j *Judgement) guard(in selection.Input) error {
	for _, beside := range []struct {
		name  string
		value *float64
	}{{"source-accuracy", &j.SourceAccuracy}, {"unexplained", &j.Unexplained}, {"prior-divergence", &j.Divergence}, {"ensv", &j.Agreement}} {
		criterion, err := selection.Find(beside.name)
		if err != nil {
			return err
		}
		if *beside.value, err = criterion.Value(in); err != nil {
			return err
		}
	}
	return nil
}
