package adapt

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/judge"
	"iwda/experiments/schedule"
	"iwda/inference/trust"
	"iwda/internal/input"
	"iwda/internal/version"
)

// outcomeFormat is the number of the form of outcome.json: a change that readers could get
// wrong has a higher one.
const outcomeFormat = 4

// Outcome is what came of an adaptation: everything that the terminal and the report say, and
// the content of outcome.json. Shares and accuracies are fractions of 1; what is not known is
// left out.
type Outcome struct {
	Format int           `json:"format"`
	Source DomainOutcome `json:"source"` // all sources, without a path if there are several
	Target DomainOutcome `json:"target"`
	// Sources are those of several.
	Sources []DomainOutcome `json:"sources,omitempty"`
	Form    string          `json:"form,omitempty"` // of the columns, if somebody said it: Table or Array
	// Method is the one that predicts, Used the ids of its runs that do, Seeds their seeds.
	Method string   `json:"method"`
	Used   []string `json:"used"`
	Seeds  []int64  `json:"seeds"`
	// Votes are the weights of these runs in the mean of their probabilities, and sum to 1; missing if all are
	// equal.
	Votes []float64 `json:"votes,omitempty"`
	// Correction is how probabilities are corrected for the target's class shares, those of each
	// method too.
	Correction judge.Correction `json:"correction"`
	// Rule chose: its criterion, which values are better, when it is wrong, and the tolerance
	// within which methods are as good. Best is the run with the best value.
	Rule      string         `json:"rule"`
	Better    string         `json:"better"` // lowest or highest
	Fails     string         `json:"rule_fails"`
	Tolerance float64        `json:"tolerance"`
	Best      string         `json:"best"`
	Runs      []RunOutcome   `json:"runs"` // those that were judged
	HeldOut   HeldOutOutcome `json:"held_out"`
	Classes   []ClassOutcome `json:"classes"`
	// Headline says what is known, Cases what follows for the accuracy from each thing that may have
	// happened, and Needs whether what is needed is met: what was Asked for, or what is usual. Reliable is
	// the answer to all of them: yes, no or cannot be told.
	Headline string         `json:"headline"`
	Reliable string         `json:"reliable"`
	Cases    []trust.Case   `json:"cases"`
	Asked    []string       `json:"asked,omitempty"`
	Needs    []trust.Answer `json:"needs"`
	// SharesRejected says why the target's class shares are not those that were estimated; missing if
	// nothing speaks against them.
	SharesRejected string       `json:"shares_rejected,omitempty"`
	Measured       *Measured    `json:"measured_accuracy,omitempty"`
	LabelShift     TestOutcome  `json:"label_shift"`
	Labels         *LabelChoice `json:"labels,omitempty"` // if labels chose the method
	Decisions      []Decision   `json:"decisions"`
	Warnings       []string     `json:"warnings"`
	Failed         []FailedRun  `json:"failed"`
	// Files are the paths of what was written, relative to the folder, by what they hold.
	Files    map[string]string  `json:"files"`
	Versions map[string]string  `json:"versions"` // of the programs that made the used runs, and of iwda now
	Seconds  map[string]float64 `json:"seconds"`  // look, train, conclude
}

// DomainOutcome is what was seen of a domain.
type DomainOutcome struct {
	Path     string `json:"path,omitempty"`
	Domain   string `json:"domain,omitempty"` // its value in the column of domains
	Rows     int    `json:"rows"`
	Columns  int    `json:"columns,omitempty"` // of features
	Labelled int    `json:"labelled"`          // rows
}

// RunOutcome is what is known of a run without a label of the target; see [judge.Judgement].
type RunOutcome struct {
	Run             string    `json:"run"`
	Method          string    `json:"method"`
	Used            bool      `json:"used"`
	Value           *float64  `json:"value,omitempty"` // of the rule
	SourceAccuracy  float64   `json:"source_accuracy"`
	Certainty       float64   `json:"certainty"`
	Unexplained     float64   `json:"unexplained"`
	Divergence      float64   `json:"divergence"` // nats
	Agreement       float64   `json:"agreement"`
	PredictedShares []float64 `json:"predicted_shares"`
	LabelShiftP     *float64  `json:"label_shift_p,omitempty"`
}

// ClassOutcome is what is known of a class. Intervals are of 95%, nil if there are none.
type ClassOutcome struct {
	Class       string  `json:"class"`
	SourceShare float64 `json:"source_share"`
	TargetShare float64 `json:"target_share"`
	*TargetInterval
	Weight float64 `json:"weight"`
	*WeightInterval
	// ShareRejected tells that TargetShare is not to be believed: see SharesRejected. MeanProbability, of
	// the uncorrected probabilities, errs too, but does not assume that only class shares differ.
	ShareRejected   bool    `json:"share_rejected,omitempty"`
	MeanProbability float64 `json:"mean_probability"`
	PredictedShare  float64 `json:"predicted_share"` // of the target's rows
	// Recall and Precision are those of the predictions in the target; missing if nothing is known.
	Recall    *trust.Number `json:"recall,omitempty"`
	Precision *trust.Number `json:"precision,omitempty"`
}

// TargetInterval is that of a class's share of the target.
type TargetInterval struct {
	Low  float64 `json:"target_share_low"`
	High float64 `json:"target_share_high"`
}

// WeightInterval is that of a class's weight.
type WeightInterval struct {
	Low  float64 `json:"weight_low"`
	High float64 `json:"weight_high"`
}

// TestOutcome is the test whether what a run says of the target, by which all are compared,
// contradicts that only class shares changed.
type TestOutcome struct {
	Run              string   `json:"run"`
	P                *float64 `json:"p,omitempty"` // missing if nothing could be tested
	Statistic        float64  `json:"statistic"`
	DegreesOfFreedom int      `json:"degrees_of_freedom"`
	Verdict          string   `json:"verdict"`
}

// Decision is something that was decided by the data, and why.
type Decision struct {
	About   string `json:"about"`
	Choice  string `json:"choice"`
	Because string `json:"because"`
}

// FailedRun is a run that failed, and why.
type FailedRun struct {
	Run    string `json:"run"`
	Reason string `json:"reason"`
}

// outcome returns the record of a conclusion and of what was written of it.
func (o conclusion) outcome(p *Plan, w written, failed []schedule.Failure) (*Outcome, error) {
	how := p.file.Config.Selection
	record := &Outcome{
		Format: outcomeFormat,
		Source: p.Data.domain(p.Data.Source), Target: p.Data.domain(p.Data.Target), Form: p.Data.Form,
		Method: o.Method().Name, Correction: o.Correction, Classes: w.classes,
		Rule: o.Rule, Better: o.Better, Fails: o.Fails, Tolerance: how.Tolerance, Best: o.Judged[o.Best].Run,
		Cases: o.known.Cases, SharesRejected: o.known.Rejected, Asked: p.options.Needs,
		LabelShift: testOutcome(o.Shared),
		Labels:     o.labels, Measured: w.measured,
		Decisions: p.decisions(), Warnings: append(append([]string{}, o.Problems...), w.problems...),
		Failed:   []FailedRun{},
		Files:    map[string]string{"experiment": names.Experiment, "predictions": names.Predictions, "classes": names.Classes, "report": names.Report, "model": names.Model, "runs": names.Runs},
		Versions: map[string]string{},
	}
	for _, of := range p.Data.Parts {
		record.Source.Path = ""
		record.Sources = append(record.Sources, p.Data.domain(of))
	}
	if names.Exists(p.path(names.ToLabel)) {
		record.Files["to_label"] = names.ToLabel
	}
	if by := o.labelCase(w.measured); by != nil {
		record.Cases = append([]trust.Case{*by}, record.Cases...)
	}
	if o.Together != nil {
		record.Method, record.Votes = strings.Join(o.Names(), "+"), o.Votes
	}
	record.Decisions = append(record.Decisions, Decision{"method", record.Method, o.used()})
	maps.Copy(record.Versions, o.versions)
	record.Versions["iwda"] = version.Version
	used := map[string]bool{}
	for _, run := range o.Runs {
		id := run.ID.String()
		used[id] = true
		record.Used, record.Seeds = append(record.Used, id), append(record.Seeds, run.ID.Seed)
	}
	record.HeldOut = o.heldOut.outcome(len(o.Runs))
	for _, j := range o.Judged {
		r := RunOutcome{
			Run: j.Run, Method: judge.MethodOf(j.Run), Used: used[j.Run], Value: number(j.Value),
			SourceAccuracy: j.SourceAccuracy, Certainty: j.Certainty, Unexplained: j.Unexplained, Divergence: j.Divergence,
			Agreement: j.Agreement, PredictedShares: j.Shares, LabelShiftP: number(j.LabelShiftP.OrNaN()),
		}
		record.Runs = append(record.Runs, r)
	}
	for _, f := range failed {
		record.Failed = append(record.Failed, FailedRun{f.Run.ID.String(), f.Reason})
	}
	return record, record.Ask(nil)
}

func (d Data) domain(seen Domain) DomainOutcome {
	return DomainOutcome{seen.Path, seen.DomainValue, seen.Rows, d.Width, seen.labelled()}
}

func testOutcome(shared judge.Shared) TestOutcome {
	t := TestOutcome{Run: shared.Run, Statistic: shared.Test.Statistic, DegreesOfFreedom: shared.Test.DegreesOfFreedom, Verdict: shared.Test.Verdict()}
	if shared.Test.Tested() {
		t.P = number(shared.Test.P)
	}
	return t
}

// ReadOutcome reads the outcome of an adaptation's folder. One of another format is an error.
func ReadOutcome(folder string) (*Outcome, error) {
	path := filepath.Join(folder, names.Outcome)
	text, err := input.Read(path, input.Text)
	if err != nil {
		return nil, err
	}
	o := new(Outcome)
	if err := json.Unmarshal(text, o); err != nil && (o.Format == 0 || o.Format == outcomeFormat) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if o.Format != outcomeFormat {
		return nil, fmt.Errorf("%s: has the format %d; this version of iwrun reads %d: give the same iwrun adapt command again, which trains no finished run again, or use the version that wrote it", path, o.Format, outcomeFormat)
	}
	return o, nil
}

// number is nil for NaN, which JSON lacks.
func number(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// FirstUsed returns the folder of the first of the runs that predict in the folder of an adaptation.
func FirstUsed(folder string) (string, error) {
	o, err := ReadOutcome(folder)
	if err != nil {
		return "", err
	}
	runs, err := finished(folder)
	if err != nil {
		return "", err
	}
	for _, run := range runs {
		if slices.Contains(o.Used, run.ID.String()) {
			return run.Dir(filepath.Join(folder, names.Runs)).String(), nil
		}
	}
	return "", fmt.Errorf("%s: none of the runs that predict is there any more: run iwrun adapt again", folder)
}
