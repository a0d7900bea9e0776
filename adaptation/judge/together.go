package judge

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets"
	"iwda/experiments/config"
	"iwda/inference/selection"
)

// likeSource is the ratio of a classifier's mean certainty on the target to its accuracy on source rows,
// both with classes as frequent as halfway between the domains, from which on columns count as meaning
// the same: it finds in the target what it learned. Of 29 arrays in research/suite whose columns
// differ, and are near, eight have 0.967 and more, 21 have 0.953 and less.
const likeSource = 0.96

// farMeans is the distance of the columns' means from which on they moved, whatever a classifier says
// of them, in deviations: no half of a column's rows is further from all of them than one.
const farMeans = 1

// clearlyChanged is the p-value of the test that classes are as probable in both domains below which
// class shares have changed: chance moves the estimate of few rows by much. research/suite/changed.md
// has what was compared.
const clearlyChanged = 0.01

// votesOfOwn is the part of all votes that classifiers with each domain's own statistics have beside others.
// research/suite/gaps.md has what was compared.
const votesOfOwn = 0.25

// stranger is the part of the others' agreement, in the median, below which a run has no vote among equal ones. Two runs
// that had collapsed, and said so by nothing else as clearly, were at 0.60, one among six arrays with a gap and one
// among the ten of research/suite/seventh.md; the 59 others of these ten are at 0.75 and above.
const stranger = 2. / 3

// clearGain is the gain of classifiers over the first of them, in standard errors (see stack), from which on all of them
// predict beside networks: of few rows, chance decides. research/suite/arrays.md has what was compared.
const clearGain = 2

// Together chooses the methods whose assumption nothing contradicts, whose runs predict together,
// by what the run that aligns nothing ([Shared]) says of the target:
//
//   - If the columns of both domains agree under the target's estimated class shares, those of SameMeaning
//     predict: uncorrected if classes are as probable in both on average, and otherwise corrected for the shares, as
//     far as it pays if all have judged source rows that they had not learnt from.
//   - If they don't, or cannot be compared, and no method of ColumnsMoved aligns the domains, predictions are not
//     corrected. Those of SameMeaning predict if rows were selected, it seems, as other shares follow from that, and those
//     of ColumnsMoved if no selection along one column explains what differs, and there are any. Source rows then tell
//     less of which classifier is good in the target.
//   - If some do align, columns may have moved. The further they did, the less certain a classifier is of the
//     target. If it is as certain as it is accurate in the source, and nothing is far away, those of SameMeaning
//     predict after all, corrected halfway; otherwise those of ColumnsMoved, each corrected for its own estimate.
//
// If somebody knows that only class shares changed, those of SameMeaning predict, corrected in full, and
// [Comparison.Trust] reckons with it.
//
// Classifiers that have judged the same source rows, none of which they had learnt from, have votes by how likely
// they make the labels of these together; see stack. If rows were selected, it seems, or columns of a table have moved,
// these votes are drawn halfway to equal ones; in the latter case a quarter of all is of those that standardise each
// domain by its own statistics. Beside networks that are trained in steps they count as one
// method, or the first does if all are not clearly better. The networks have equal votes, but a stranger has none: a
// run that predicts what all predict together on far fewer rows than the others do.
//
// Of the methods those count that have runs, as one of SameMeaning must ([Comparison.Has]). All values
// are those of [selection.TargetRisk].
func (c *Comparison) Together(how config.Selection) (Choice, error) {
	c.Shared.AssumeLabelShift = how.LabelShift
	choice, err := c.Choose(selection.TargetRisk.Name, 0)
	if err != nil {
		return Choice{}, err
	}
	var names []string
	names, choice.Correction, choice.Because = c.Decide(Lists(how, c.Has))
	for i, candidate := range c.Candidates {
		if slices.Contains(names, MethodOf(candidate.Run)) {
			choice.Together = append(choice.Together, i)
		}
	}
	if err := c.vote(&choice); err != nil {
		return choice, err
	}
	if agree, _ := c.Shared.evidence(); agree && !how.LabelShift && choice.Correction == Full && !c.anySteps(choice.Together) {
		c.weaken(&choice)
	}
	choice.Used = choice.Together[0]
	return choice, nil
}

// Lists returns how without ColumnsMoved if these methods never predict: as somebody knows that only class shares
// changed, or none of them aligns the domains and has a run, as has tells of several methods.
func Lists(how config.Selection, has func(methods []string) bool) config.Selection {
	aligning := slices.DeleteFunc(slices.Clone(how.ColumnsMoved), func(method string) bool { return !Aligns(method) })
	if how.LabelShift || len(aligning) > 0 && !has(aligning) || !has(how.ColumnsMoved) {
		how.ColumnsMoved = nil
	}
	return how
}

// Decide returns which of the [Lists] predicts, how it is corrected, and why; see [Comparison.Together].
func (c *Comparison) Decide(lists config.Selection) (names []string, correction Correction, because string) {
	sameMeaning, columnsMoved := lists.SameMeaning, lists.ColumnsMoved
	stays := !slices.ContainsFunc(columnsMoved, Aligns) // whatever predicts then
	if columnsMoved == nil {
		columnsMoved = sameMeaning
	}
	agree, found := c.Shared.evidence()
	_, against := c.Shared.selection()
	certain, right := c.Shared.halfway()
	name := MethodOf(c.Candidates[c.reference.run].Run)
	switch {
	case lists.LabelShift:
		if because = "you said that only the class shares differ"; !agree {
			because += ", but " + found
		}
		return sameMeaning, Full, because
	case agree && c.Shared.Changed >= clearlyChanged:
		return sameMeaning, None, fmt.Sprintf("%s, and a test found no change of the class shares (p = %.2g)", found, c.Shared.Changed)
	case agree:
		return sameMeaning, Full, found
	case stays && against != "":
		return columnsMoved, None, found + "; " + against + ", so columns may have moved"
	case stays:
		return sameMeaning, None, found + "; the target may be a selection of rows, for which a correction would be wrong"
	case certain >= likeSource*right && (c.Shared.Columns == nil || c.Shared.Columns.Distance <= farMeans):
		return sameMeaning, Halfway, fmt.Sprintf("%s, but the certainty of %s on the target (%.0f%%) is about as high as its accuracy on source rows (%.0f%%)", found, name, 100*certain, 100*right)
	case certain >= likeSource*right:
		return columnsMoved, Full, fmt.Sprintf("%s, and the column means have moved by %.1f standard deviations on average", found, c.Shared.Columns.Distance)
	}
	return columnsMoved, Full, fmt.Sprintf("%s, and the certainty of %s on the target (%.0f%%) is lower than its accuracy on source rows (%.0f%%)", found, name, 100*certain, 100*right)
}

// anySteps tells whether one of the runs was made in steps, as networks are.
func (c *Comparison) anySteps(runs []int) bool {
	return slices.ContainsFunc(runs, func(i int) bool { return c.Candidates[i].HeldOutRows == nil })
}

// weaken corrects as far as it pays: as far as source rows that no run has learnt from are right most often if classes
// are as frequent as estimated, the least far of equals, and less by the part of what the runs predict that no mixture
// of classes explains. The accuracy that is expected so is linear in the shares, so that their mean decides, and how
// well they are known does not. research/suite/correction.md has what was compared.
func (c *Comparison) weaken(choice *Choice) {
	const steps = 10
	best, most := None, -1.
	for step := range steps + 1 {
		far := Correction(step) / steps
		if right := c.Shared.right(far, c.Shared.Target()); right > most {
			best, most = far, right
		}
	}
	unexplained, votes := 0., 0.
	for j, i := range choice.Together {
		vote := 1.
		if choice.Votes != nil {
			vote = choice.Votes[j]
		}
		unexplained, votes = unexplained+vote*max(0, c.Judged[i].Unexplained), votes+vote
	}
	unexplained /= votes
	choice.Correction = Correction(math.Round(100*float64(best)*(1-unexplained)) / 100)
	choice.Because += fmt.Sprintf("; source rows with the estimated shares are right most often corrected by %.0f%%, and no mixture of classes explains %.0f%% of the predictions", 100*best, 100*unexplained)
}

// vote sets the votes of the runs that predict together, and leaves out those that have none.
func (c *Comparison) vote(choice *Choice) error {
	var crossed, own, networks []int
	methods := map[string]bool{}
	for _, i := range choice.Together {
		switch {
		case c.ownBeside(i):
			own = append(own, i)
		case c.Candidates[i].HeldOutRows != nil:
			crossed = append(crossed, i)
		default:
			networks = append(networks, i)
			methods[MethodOf(c.Candidates[i].Run)] = true
		}
	}
	networks = choice.withoutStrangers(networks)
	votes, _, gain, err := c.stack(crossed)
	switch {
	case err != nil:
		return err
	case len(networks) > 0 && (len(crossed) == 1 || votes != nil && gain < clearGain):
		votes = make([]float64, len(crossed))
		votes[0] = 1
	case votes == nil:
		choice.Together = append(crossed, networks...)
		return nil
	}
	if agree, _ := c.Shared.evidence(); !agree && choice.Correction == None && len(networks) == 0 {
		for j, vote := range votes { // halfway to equal ones; research/suite/votes.md has what was compared
			votes[j] = (vote + 1/float64(len(votes))) / 2
		}
	}
	each := 1 / float64(len(methods)+1)
	floats.Scale(each, votes)
	for range networks {
		votes = append(votes, (1-each)/float64(len(networks)))
	}
	if len(own) > 0 {
		floats.Scale(1-votesOfOwn, votes)
	}
	for range own {
		votes = append(votes, votesOfOwn/float64(len(own)))
	}
	choice.Together = nil
	for j, i := range slices.Concat(crossed, networks, own) {
		if votes[j] > 0 {
			choice.Together, choice.Votes = append(choice.Together, i), append(choice.Votes, votes[j])
		}
	}
	return nil
}

// ownBeside tells whether a run without steps has standardised each domain by its own statistics, and another has not.
func (c *Comparison) ownBeside(i int) bool {
	own := func(c Candidate) bool { return c.Known != nil && c.Known.OwnStatistics }
	return own(c.Candidates[i]) && c.Candidates[i].HeldOutRows != nil && slices.ContainsFunc(c.Candidates, func(other Candidate) bool { return other.HeldOutRows != nil && !own(other) })
}

// withoutStrangers returns those of three or more runs that are none.
func (c *Choice) withoutStrangers(all []int) (left []int) {
	for _, i := range all {
		var others []float64
		for _, j := range all {
			if j != i {
				others = append(others, c.Judged[j].Agreement)
			}
		}
		slices.Sort(others)
		if n := len(others); n > 1 && c.Judged[i].Agreement < stranger*others[n/2] {
			c.Problems = append(c.Problems, fmt.Sprintf("%s: this run has no vote, as it predicts what all predict together on %.0f%% of the rows, and the others on %.0f%%.", c.Judged[i].Run, 100*c.Judged[i].Agreement, 100*others[n/2]))
			continue
		}
		left = append(left, i)
	}
	return left
}

// evidence tells whether nothing contradicts that only class shares changed, and in words what
// was found: by columns if the run compared them, otherwise by its predictions.
func (s Shared) evidence() (agree bool, found string) {
	switch columns := s.Columns; {
	case columns != nil && columns.P >= s.Test.Level():
		return true, fmt.Sprintf("the target's columns do not contradict that only the class shares changed (p = %.2g)", columns.P)
	case columns != nil:
		return false, fmt.Sprintf("the target's columns contradict that only the class shares changed, most of all %q (p = %.2g)", columns.Odd, columns.P)
	case !s.Test.Tested():
		return false, s.Test.Untested() + " to tell whether only the class shares changed"
	case !s.Test.Rejected():
		return true, fmt.Sprintf("the predictions of the target do not contradict that only the class shares changed (p = %.2g)", s.Test.P)
	}
	return false, fmt.Sprintf("the predictions of the target contradict that only the class shares changed (p = %.2g)", s.Test.P)
}

// selection says in words what speaks for a selection of the target's rows along one column, or against it, if columns
// do not agree; both are empty if that is not known.
func (s Shared) selection() (reason, against string) {
	switch c := s.Columns; {
	case c == nil || c.Selected == "":
		return "", ""
	case c.SelectedP < clearlyChanged:
		return "", fmt.Sprintf("no selection of rows along one column explains how the others differ (p = %.2g)", c.SelectedP)
	default:
		return fmt.Sprintf("rows that were selected along %q would have all other columns as they are (p = %.2g)", c.Selected, c.SelectedP), ""
	}
}

// halfway returns the classifier's mean certainty on the target and its accuracy on source rows, both
// with class shares halfway between the domains.
func (s Shared) halfway() (certain, right float64) {
	k := s.Sample.Classes()
	_, labels := s.Sample.Source()
	shares := Halfway.Shares(datasets.KnownLabels(labels).Shares(k), s.Target())
	weights, corrected := weightsOver(shares, labels), make([]float64, k)
	target := s.Sample.Target()
	for row := range slices.Chunk(target, k) {
		floats.MulTo(corrected, row, weights)
		certain += floats.Max(corrected) / floats.Sum(corrected) * float64(k) / float64(len(target))
	}
	return certain, s.right(Halfway, shares)
}

// right returns the classifier's accuracy on source rows, corrected so far, if classes are as frequent as shares (k) say.
func (s Shared) right(correction Correction, shares []float64) (right float64) {
	k := s.Sample.Classes()
	rows, labels := s.Sample.Source()
	weights, frequent := weightsOver(correction.Shares(datasets.KnownLabels(labels).Shares(k), s.Target()), labels), weightsOver(shares, labels)
	corrected := make([]float64, k)
	for i, y := range labels {
		if floats.MaxIdx(floats.MulTo(corrected, rows[i*k:(i+1)*k], weights)) == y {
			right += frequent[y] / float64(len(labels))
		}
	}
	return right
}

// Aligns tells whether a method does so with the domains.
func Aligns(method string) bool {
	m, _ := config.ParseMethod(method) // a run's is known
	return m.Alignment != config.NoAlignment
}

// Has tells whether one of the methods has a run, or would have one if it could predict.
func (c *Comparison) Has(methods []string) bool {
	return slices.ContainsFunc(methods, func(method string) bool {
		return slices.Contains(c.Absent, method) || slices.ContainsFunc(c.Candidates, func(c Candidate) bool { return MethodOf(c.Run) == method })
	})
}

// Correction is how far probabilities are corrected for the target's class shares: the weight, from 0 to 1, of the
// estimated shares in the geometric mean with the source's.
type Correction float64

const (
	None    Correction = 0
	Halfway Correction = 0.5
	Full    Correction = 1
)

// Shares returns those that probabilities are corrected for which speak for some shares (k), if
// others are estimated for the target (k).
func (c Correction) Shares(speaksFor, target []float64) []float64 {
	switch c {
	case None:
		return speaksFor
	case Full:
		return target
	}
	between := make([]float64, len(target))
	for i, q := range target {
		between[i] = math.Pow(q, float64(c)) * math.Pow(speaksFor[i], 1-float64(c))
	}
	floats.Scale(1/floats.Sum(between), between)
	return between
}

// Names are those of the methods of the runs that predict together, each once.
func (c Choice) Names() (names []string) {
	for _, i := range c.Together {
		if name := MethodOf(c.Judged[i].Run); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
